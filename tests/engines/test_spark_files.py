"""Spark reads the files that `local` reads, as it reads them: whatever they are called, wherever they lie, however they are written."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reticent as rt
from reticent.engines.spark import session as sessions
from reticent.engines.spark import sources
from reticent.engines.spark.session import build_archive
from reticent.errors import ColumnError, SourceError, SourceUnreachable
from tests.support.release_comparison import rows_of, stated
from tests.support.spark_session import spark

pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning")]
PEOPLE = pl.DataFrame(
    {"q": [20 + at % 5 for at in range(60)], "s": ["abcd"[at // 5 % 4] for at in range(60)]}
).with_columns(note=pl.format("n{}{}", pl.col("q") % 2, "s"))
COLUMNS = {"q": rt.quasi(), "s": rt.sensitive(), "note": rt.insensitive(acknowledge=True)}
TEXT = PEOPLE.write_csv()


def alike(path: Path, more: dict | None = None, **source) -> rt.Release | str:
    """What both engines publish of a source, or the sentence with which both refuse it."""
    columns = {**COLUMNS, **(more or {})}
    job = rt.Job(source=rt.Source(path=str(path), **source), columns=columns, promises=[rt.KAnonymity(3)])
    found = []
    for engine in ("local", spark()):
        try:
            found.append(rt.publish(job, seed=3, engine=engine))
        except (ColumnError, SourceError) as error:
            found.append(str(error))
    one, other = found
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return one
    assert rows_of(one) == rows_of(other)
    assert stated(one) == stated(other)
    return other


NAMES = ["a b ü 50%", "a%20b#c?", "day=1 [1]{2,3}*"]


@pytest.mark.parametrize(("name", "regions"), [*((name, None) for name in NAMES), (NAMES[1], 2), (NAMES[2], 2)])
def test_a_place_may_be_called_anything_and_nothing_is_left_beside_it(name, regions, tmp_path):
    (tmp_path / name).mkdir()
    PEOPLE.write_parquet(tmp_path / name / "people [1].parquet")
    job = rt.Job(source=str(tmp_path / name / "people [1].parquet"), columns=COLUMNS, promises=[rt.KAnonymity(3)])
    release = rt.publish(
        job, to=tmp_path / name / "a release", ledger=tmp_path / "ledger", engine=replace(spark(), regions=regions)
    )
    assert len(release.frame()) == len(PEOPLE)
    assert {path.name for path in tmp_path.iterdir()} == {name, "ledger"}
    assert {path.name for path in (tmp_path / name).iterdir()} <= {"people [1].parquet", "a release", "reticent-owner"}


def test_files_in_folders_below_are_read_and_hidden_ones_are_not(tmp_path):
    for kind in ("parquet", "csv"):
        (tmp_path / kind / "below").mkdir(parents=True)
        (tmp_path / kind / "_temporary").mkdir()
        for part, place in ((PEOPLE[:20], "a"), (PEOPLE[20:], "below/b"), (PEOPLE, "_temporary/c"), (PEOPLE, ".d")):
            getattr(part, f"write_{kind}")(tmp_path / kind / f"{place}.{kind}")
        assert alike(tmp_path / kind).manifest.rows == len(PEOPLE)


HIVE = {
    "whole": ["1", "20", "__HIVE_DEFAULT_PARTITION__"],
    "code": ["1", "02", "__HIVE_DEFAULT_PARTITION__"],
    "number": ["1e5", "2", "3.5"],
    "truth": ["true", "false", "__HIVE_DEFAULT_PARTITION__"],
    "day": ["2020-01-31", "2021-02-01", "2021-02-02"],
    "moment": ["2020-01-31 10%3A00%3A00", "2020-01-31 11%3A30%3A00", "2020-02-01 00%3A00%3A00"],
    "text": ["+1", "a%2Fb", "__HIVE_DEFAULT_PARTITION__"],
}


def test_folders_of_a_hive_say_the_same_values(tmp_path):
    for at in range(3):
        place = tmp_path.joinpath("in", *(f"{name}={values[at]}" for name, values in HIVE.items()))
        place.mkdir(parents=True)
        PEOPLE.filter(pl.col("q") % 3 == at).write_parquet(place / "part.parquet")
    found = alike(tmp_path / "in", dict.fromkeys(HIVE, rt.insensitive(acknowledge=True)))
    assert found.frame().select(pl.col(*HIVE).n_unique()).row(0) == (3,) * len(HIVE)


CSVS = {
    "bytes that are not UTF-8": TEXT.replace("n0a", "\udce9").encode(errors="surrogateescape"),
    "blank lines": TEXT.replace("\n", "\n\n", 2).encode(),
    "line ends within quotes": TEXT.replace("n0a", '"x\r\ny"').replace("d\n", "d\r\n").encode(),
}


@pytest.mark.parametrize("name", CSVS)
def test_a_csv_is_read_or_refused_as_by_local(name, tmp_path):
    (tmp_path / "people.csv").write_bytes(CSVS[name])
    alike(tmp_path / "people.csv")


@pytest.mark.parametrize("encoding", ["cp1252", "utf8"])
def test_any_encoding_is_read(encoding, tmp_path):
    (tmp_path / "people.csv").write_bytes(TEXT.replace("n0a", "é").encode(encoding))
    assert "é" in alike(tmp_path / "people.csv", encoding=encoding).frame()["note"]


def test_csvs_of_different_marks_and_packings_are_one_table(tmp_path):
    PEOPLE[:20].write_csv(tmp_path / "a.csv")
    PEOPLE[20:40].write_csv(tmp_path / "b.csv", separator=";")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(PEOPLE[40:].write_csv().encode()))
    assert alike(tmp_path).manifest.rows == len(PEOPLE)


def test_a_csv_of_one_column_has_its_blank_rows(tmp_path):
    (tmp_path / "people.csv").write_text("q\n" + "1\n\n2\n" * 8)
    job = rt.Job(source=str(tmp_path / "people.csv"), columns={"q": rt.quasi()}, promises=[rt.KAnonymity(3)])
    assert rows_of(rt.publish(job, seed=1)) == rows_of(rt.publish(job, seed=1, engine=spark()))


def test_small_files_are_read_together_and_each_of_them_once(tmp_path):
    paths = [tmp_path / f"{at}.csv" for at in range(9)]
    for path in paths:
        path.write_text("q\n1\n")
    for at_once in (1, 2, 4, 100):
        groups = sources._group_files(paths, at_once)
        assert [name for group in groups for name in group] == [str(path) for path in paths]
        assert all(groups) and len(groups) <= max(len(paths), at_once)
    assert len(sources._group_files(paths, 1)) == 1


def test_a_file_that_an_executor_does_not_find_or_that_is_another_one_is_refused(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("q,s\n1,a\n2,b\n")
    asked = ([pa.record_batch({"id": [0]})], [[str(path)]], rt.Source(), ["q", "s"], [1])
    assert [row for batch in sources.read_csv_groups(*asked) for row in batch.to_pylist()] == [{"c0": "a"}, {"c0": "b"}]
    path.write_text("s,q\na,1\n")
    with pytest.raises(SourceError, match="changed while it was published"):
        list(sources.read_csv_groups(*asked))
    path.unlink()
    with pytest.raises(SourceUnreachable, match=r"An executor does not find the file people\.csv"):
        list(sources.read_csv_groups(*asked))


def test_moments_of_a_zone_and_old_moments_are_read(tmp_path):
    when = [datetime(2020, 1, 1 + at % 3, 5) for at in range(60)]
    table = PEOPLE.to_arrow()
    zoned = table.append_column("when", pa.array(when, pa.timestamp("us", "Europe/Berlin")))
    pq.write_table(zoned, tmp_path / "zoned.parquet")
    pq.write_table(
        table.append_column("when", pa.array(when, pa.timestamp("ns"))),
        tmp_path / "old.parquet",
        use_deprecated_int96_timestamps=True,
    )
    for name in ("zoned", "old"):
        alike(tmp_path / f"{name}.parquet", {"when": rt.quasi()})


def test_a_column_that_spark_does_not_read_is_refused_by_name_where_it_is_asked_for(tmp_path):
    hours = pl.Series("hour", [time(at % 24) for at in range(60)])
    PEOPLE.with_columns(hours, pl.Series("day", [datetime(2020, 1, 1)] * 60)).write_parquet(tmp_path / "people.parquet")
    columns = {**COLUMNS, "day": rt.insensitive()}
    job = rt.Job(
        source=str(tmp_path / "people.parquet"),
        columns=columns,
        promises=[rt.KAnonymity(3)],
        release=rt.Output(undeclared="drop"),
    )
    assert rows_of(rt.publish(job, seed=1)) == rows_of(rt.publish(job, seed=1, engine=spark()))
    with pytest.raises(ColumnError, match="a type that Spark does not read from Parquet: 'hour'"):
        rt.publish(job.at(columns={**columns, "hour": rt.insensitive(acknowledge=True)}), engine=spark())


def test_a_frame_of_spark_with_types_of_its_own_is_published_without_them():
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).rows.session
    frame = session.sql(
        "select id % 4 as q, cast(id % 3 as string) as s, make_ym_interval(1, int(id)) as span, array(now()) as times, "
        "timestamp_seconds(id % 2) as at from range(48)"
    )
    columns = {"q": rt.quasi(), "s": rt.sensitive(), "at": rt.quasi()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(3)], release=rt.Output(undeclared="drop"))
    assert rt.publish(job, frame=frame, engine=spark()).manifest.rows == 48
    with pytest.raises(ColumnError, match=r"'span' \(insensitive\) has the type Object"):
        rt.publish(job.at(columns={**columns, "span": rt.insensitive()}), frame=frame, engine=spark())


def test_the_package_is_shipped_from_a_folder_of_any_name(tmp_path, monkeypatch):
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).rows.session
    place = tmp_path / "a b#c 50%" / "reticent.zip"
    place.parent.mkdir()
    shutil.copy(build_archive()[0], place)
    monkeypatch.setattr(sessions, "build_archive", lambda: (place, "reticent-elsewhere"))
    monkeypatch.setattr(sessions, "_shipped_archives", {})
    assert sessions.map_on_executors(session, True, len, [("abc",), ("a",)]) == [3, 1]
