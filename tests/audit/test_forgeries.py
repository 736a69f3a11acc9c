"""Folders that somebody changed and sealed again: every checksum fits, and the audit against the source still finds it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import reticent as rt
from reticent import datasets
from reticent.errors import BundleDamaged
from reticent.release import bundle
from tests.support.forgeries import METHODS, rewritten
from tests.support.release_folders import resealed

QUASI = {"age": rt.quasi(), "education": rt.quasi()}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    found = datasets.load("census", rows=2_400, seed=3).select("age", "education", "gender", "salary_class")
    names = [f"Canary-{number:05d}" for number in range(len(found))]
    return found.with_columns(pl.Series("name", names)).sort("age", "salary_class")


def published(people: pl.DataFrame, kind: str, folder: Path, format: str = "parquet", **columns) -> Path:
    method, promises = METHODS[kind]
    job = rt.Job(
        columns={**QUASI, "salary_class": rt.sensitive(), "name": rt.identifying(), **columns},
        promises=promises,
        method=method,
        release=rt.Output(undeclared="drop", format=format),
    )
    rt.publish(job, frame=people, to=folder / kind, seed=1, again=True)
    return folder / kind


def audited(folder: Path, people: pl.DataFrame) -> rt.Audit:
    """The audit against the source of a folder that somebody changed and sealed again."""
    resealed(folder)
    return rt.audit(folder, source=people)


@pytest.mark.parametrize("kind", METHODS)
def test_an_honest_release_passes_whole(kind, people, tmp_path):
    found = rt.audit(published(people, kind, tmp_path), source=people)
    assert found.kept is True and found.source.passed, str(found)


@pytest.mark.parametrize("kind", METHODS)
def test_names_in_the_metadata_of_a_parquet_file_are_refused(kind, people, tmp_path):
    folder = published(people, kind, tmp_path)
    path = sorted(folder.glob("*.parquet"))[0]
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"note": ";".join(people["name"].to_list())}), path)
    with pytest.raises(BundleDamaged, match="texts beside the columns"):
        audited(folder, people)


@pytest.mark.parametrize("kind", METHODS)
def test_bytes_that_no_page_reads_are_refused(kind, people, tmp_path):
    folder = published(people, kind, tmp_path)
    path = sorted(folder.glob("*.parquet"))[0]
    raw = path.read_bytes()
    length = int.from_bytes(raw[-8:-4], "little")
    path.write_bytes(raw[: -8 - length] + b"\x01\x02\x03" + raw[-8 - length :])
    with pytest.raises(BundleDamaged, match="bytes that no column reads"):
        audited(folder, people)


@pytest.mark.parametrize("kind", ["generalized", "perturbed"])
def test_rows_in_the_order_of_the_source_are_found(kind, people, tmp_path):
    """These kinds shuffle their rows; the source is sorted by age, so sorted rows stand in its order."""
    folder = published(people, kind, tmp_path)

    def by_age(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.sort(pl.col("age").cast(pl.String).str.extract(r"(\d+)").cast(pl.Int64))

    found = rt.audit(rewritten(folder, "data", by_age), source=people)
    assert not found.source.order.shuffled and found.kept is False


@pytest.mark.parametrize("carried", [{}, {"gender": rt.insensitive()}], ids=["alone", "carried"])
def test_anatomized_rows_in_the_order_of_their_true_values_are_refused(carried, people, tmp_path):
    """Full disclosure: within a group the order says which row has which value."""
    folder = published(people, "anatomized", tmp_path, **carried)
    assert rt.audit(folder).kept
    true = people.unique(["age", "education"]).select("age", "education", "salary_class")
    with pytest.raises(BundleDamaged, match="not sorted by all that they show"):
        rt.audit(
            rewritten(
                folder,
                "quasi",
                lambda rows: (
                    rows.join(true, on=["age", "education"], how="left")
                    .sort("group", "salary_class")
                    .drop("salary_class")
                ),
            )
        )


def test_values_of_a_group_in_another_order_are_refused(people, tmp_path):
    folder = published(people, "anatomized", tmp_path)
    with pytest.raises(BundleDamaged, match="not listed once each"):
        rt.audit(rewritten(folder, "sensitive", lambda rows: rows.sample(fraction=1, shuffle=True, seed=1)))


def test_values_that_change_places_between_anatomized_groups_are_found(people, tmp_path):
    """Both groups keep as many rows as values; the people of a group do not have them."""
    folder = published(people, "anatomized", tmp_path)

    def moved(rows: pl.DataFrame) -> pl.DataFrame:
        shift = rows.with_columns((pl.col("group") + 1) % (rows["group"].max() + 1))
        counts = rows.group_by("group").agg(pl.col("count").sum())
        same = set(counts.join(shift.group_by("group").agg(pl.col("count").sum()), on=["group", "count"])["group"])
        there = {group for group in same if group - 1 in same}
        pairs = [group for group in sorted(there) if group % 2]
        swap = {group: group - 1 for group in pairs} | {group - 1: group for group in pairs}
        return rows.with_columns(pl.col("group").replace(swap)).sort("group", "salary_class")

    found = rt.audit(rewritten(folder, "sensitive", moved), source=people)
    assert found.source.to_dict()["misplaced_values"] > 0 and found.kept is False


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("place", ["column", "promise", "method", "file", "top", "stage"])
def test_a_key_that_does_not_belong_is_refused_at_every_depth(kind, place, people, tmp_path):
    folder = published(people, kind, tmp_path)
    rows = people.rows()[:5]

    def hide(manifest: dict) -> None:
        where = {
            "column": lambda: manifest["columns"][0],
            "promise": lambda: manifest["promises"][0],
            "method": lambda: manifest["method"],
            "top": lambda: manifest,
        }
        if place == "stage":
            manifest["prepare"] = [{"name": "suppression", "l": 2, "people": [list(map(str, row)) for row in rows]}]
        elif place != "file":
            where[place]()["people"] = [list(map(str, row)) for row in rows]

    resealed(folder, hide)
    if place == "file":
        path = folder / bundle.MANIFEST_FILE
        raw = json.loads(path.read_text())
        next(iter(raw["files"].values()))["rows"] = "hidden"
        path.write_text(bundle.format_manifest(raw))
    with pytest.raises(BundleDamaged, match="not belong"):
        rt.audit(folder)


def test_a_manifest_that_says_a_key_twice_is_refused(people, tmp_path):
    folder = published(people, "generalized", tmp_path)
    path = folder / bundle.MANIFEST_FILE
    path.write_text(path.read_text().replace('"withheld": 0', '"withheld": 7,\n "withheld": 0'))
    with pytest.raises(BundleDamaged, match="says something twice"):
        rt.audit(folder)


@pytest.mark.parametrize("kind", METHODS)
def test_a_bit_for_each_row_in_the_quoting_of_a_csv_is_found(kind, people, tmp_path):
    folder = published(people, kind, tmp_path, "csv")
    path = sorted(folder.glob("*.csv"))[0]
    head, *lines = path.read_text().splitlines()
    quoted = [
        line if i % 2 else ",".join([f'"{(p := line.split(",", 1))[0]}"', p[1]]) if not line.startswith('"') else line
        for i, line in enumerate(lines)
    ]
    path.write_text("\n".join([head, *quoted]) + "\n")
    found = audited(folder, people)
    assert found.source.odd == (path.name,) and found.kept is False


@pytest.mark.parametrize("changed", ["promise", "hierarchy", "stage", "role"])
def test_a_manifest_that_does_not_say_what_the_job_declares_is_found(changed, people, tmp_path):
    values = sorted(people["salary_class"].unique().to_list())
    tree = [[str(value), f"band {value // 10}", "*"] for value in values]
    people = people.with_columns(pl.col("salary_class").cast(pl.String))
    job = rt.Job(
        columns={**QUASI, "salary_class": rt.sensitive(hierarchy=tree), "name": rt.identifying()},
        promises=[rt.KAnonymity(4), rt.SemanticLikeness(4, level=1)],
        prepare=[],
        release=rt.Output(undeclared="drop"),
    )
    rt.publish(job, frame=people, to=tmp_path / "release", seed=1, again=True)

    def change(manifest: dict) -> None:
        if changed == "promise":
            manifest["promises"][0]["k"] = 2
        if changed == "hierarchy":
            column = next(c for c in manifest["columns"] if c["name"] == "salary_class")
            column["hierarchy"] = [[row[0], row[0] + " alone", "*"] for row in column["hierarchy"]]
        if changed == "stage":
            manifest["prepare"] = [{"name": "suppression", "kind": "safe", "l": 2}]
        if changed == "role":
            column = next(c for c in manifest["columns"] if c["name"] == "age")
            column.clear()
            column |= {"name": "age", "role": "insensitive", "type": "carried", "dtype": "String"}

    folder = tmp_path / "release"
    assert rt.audit(folder, source=people, job=job).kept
    resealed(folder, change)
    found = rt.audit(folder, job=job)
    assert found.disagreements and found.kept is False


def test_what_describes_a_plain_table_is_refused_for_a_folder(people, tmp_path):
    folder = published(people, "generalized", tmp_path)
    for given in ({"quasi": ["age"]}, {"sensitive": ["salary_class"]}, {"hierarchy": {"age": []}}, {"columns": QUASI}):
        if not next(iter(given.values())):
            continue
        with pytest.raises(rt.RequestError, match="a release folder describes itself"):
            rt.audit(folder, **given)


@pytest.mark.parametrize("kind", ["generalized", "anatomized"])
def test_promises_to_judge_beside_those_of_the_manifest_take_effect(kind, people, tmp_path):
    folder = published(people, kind, tmp_path)
    found = rt.audit(folder, promises=[rt.DistinctLDiversity(2), rt.BetaLikeness("0.0001")])
    assert [verdict.kept for verdict in found.promises] == [True, True, False]
