"""Whatever lies among the parts of a source and cannot be read is refused by its name; nothing is left out silently."""

from __future__ import annotations

import os

import polars as pl
import pytest

import reticent as rt
from reticent.errors import SourceError, SourceUnreachable
from tests.hostile.file_sets import PARTS, PLANTED

PEOPLE = pl.DataFrame(
    {
        "age": [20 + at % 40 for at in range(80)],
        "city": ["Ulm", "Jena"] * 40,
        "illness": ["flu", "cold", "gout", "pox"] * 20,
    }
)
JOB = rt.Job(columns={"age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive()}, promises=[rt.KAnonymity(4)])


def write(part, path):
    (part.write_csv if path.suffix == ".csv" else part.write_parquet)(path)


def in_files(folder, ending):
    """A folder of parts, the path of the one that is planted, and the source's path by pattern and by folder."""
    folder = folder / "parts"
    folder.mkdir()
    for at, part in enumerate(PEOPLE.iter_slices(len(PEOPLE) // PARTS)):
        write(part, folder / f"day-{at}{ending}")
    planted = folder / f"day-3{ending}"
    planted.unlink()
    return planted, {"pattern": folder / f"day-*{ending}", "folder": folder, "every file": folder / "**" / f"*{ending}"}


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("what", PLANTED)
def test_what_is_no_file_among_the_parts_is_refused_by_its_name(what, ending, engine, tmp_path):
    plant, said = PLANTED[what]
    planted, sources = in_files(tmp_path, ending)
    plant(planted)
    for source in sources.values():
        with pytest.raises(SourceError) as refused:
            rt.publish(JOB.at(source=str(source)), to=tmp_path / "release", seed=1, engine=engine)
        assert said in str(refused.value) and planted.name in str(refused.value)
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("what", ["a link to nothing", "a link to a folder", "a pipe"])
def test_what_is_no_file_in_a_folder_of_hive_is_refused_by_its_name(what, tmp_path):
    plant, said = PLANTED[what]
    root = tmp_path / "table"
    for city, part in PEOPLE.partition_by("city", as_dict=True, include_key=False).items():
        (root / f"city={city[0]}").mkdir(parents=True)
        part.write_parquet(root / f"city={city[0]}" / "a.parquet")
    assert rt.publish(JOB.at(source=str(root)), seed=1).manifest.rows == len(PEOPLE)
    plant(root / "city=Jena" / "b.parquet")
    with pytest.raises(SourceError, match=said):
        rt.publish(JOB.at(source=str(root)), seed=1)


@pytest.mark.parametrize("what", ["a link to nothing", "a folder"])
def test_batches_refuse_what_is_no_file_among_the_parts(what, tmp_path):
    plant, said = PLANTED[what]
    planted, sources = in_files(tmp_path, ".csv")
    plant(planted)
    job = JOB.at(source=str(sources["pattern"]), columns={"age": rt.quasi(), "illness": rt.sensitive()})
    with pytest.raises(SourceError, match=said):
        rt.publish_batches(job, "city", tmp_path / "batches", seed=1)
    assert not (tmp_path / "batches").exists()


def test_a_link_to_nothing_among_the_folders_of_a_pattern_is_refused(tmp_path):
    for at, part in enumerate(PEOPLE.iter_slices(20)):
        (tmp_path / f"week-{at}").mkdir()
        part.write_csv(tmp_path / f"week-{at}" / "people.csv")
    source = str(tmp_path / "week-*" / "people.csv")
    assert rt.publish(JOB.at(source=source), seed=1).manifest.rows == 80
    (tmp_path / "week-9").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="week-9 among the parts"):
        rt.publish(JOB.at(source=source), seed=1)


def test_a_folder_among_the_parts_that_cannot_be_listed_is_refused(tmp_path, monkeypatch):
    _, sources = in_files(tmp_path, ".parquet")
    more = sources["folder"] / "more"
    more.mkdir()
    PEOPLE.write_parquet(more / "day-4.parquet")
    assert rt.publish(JOB.at(source=str(sources["folder"])), seed=1).manifest.rows == 140
    listing = os.scandir

    def scandir(path="."):  # root may list any folder
        if str(path) == str(more):
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(SourceUnreachable, match="more among the parts of the source cannot be opened"):
        rt.publish(JOB.at(source=str(sources["folder"])), seed=1)


def test_what_is_no_data_by_its_name_may_be_anything(tmp_path):
    planted, sources = in_files(tmp_path, ".parquet")
    (planted.parent / "_temporary").mkdir()
    (planted.parent / "_temporary" / "a.parquet").symlink_to("nowhere")
    (planted.parent / ".crc").symlink_to("nowhere")
    for source in sources.values():
        assert rt.publish(JOB.at(source=str(source)), seed=1).manifest.rows == 60
