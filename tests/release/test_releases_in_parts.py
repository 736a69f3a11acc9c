"""What is done with a release in parts: its README's lines, every command, exports in pieces, and the disk."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest import mock

import polars as pl
import pytest

import reticent as rt
from reticent.errors import BundleDamaged
from reticent.format import data_files
from reticent.format.data_files import read_batches_on_demand
from reticent.release import bundle
from tests.support import method_promise_pairs
from tests.support.method_promise_pairs import drafted
from tests.support.releases_in_parts import FORMATS, KINDS, released

pytestmark = pytest.mark.usefixtures("small_parts")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_readme_says_how_to_read_parts_and_its_lines_run(kind, format, monkeypatch):
    pytest.importorskip("pandas")
    release = released(kind, format, 17)[0]
    text = (release.folder / bundle.README_FILE).read_text(encoding="utf-8")
    assert "cut into parts of 17" in text and all(len(line) <= 120 for line in text.splitlines() if line[:1] != "|")
    first, second = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[:2]
    monkeypatch.chdir(release.folder)
    for code in (first, second):
        known: dict = {}
        exec(code, known)
        cut = {name: table for name, table in release.tables.items() if len(table) > 17}
        for name, table in cut.items():
            read = pl.DataFrame(pl.from_pandas(known[name]) if code is second else known[name])
            assert read.columns == table.columns and len(read) == len(table)
            whole = next((column for column in table.columns if table[column].dtype.is_integer()), None)
            if whole is not None:
                assert read[whole].cast(table[whole].dtype).to_list() == table[whole].to_list()


@pytest.mark.parametrize("kind", KINDS)
def test_every_command_that_opens_a_release_takes_parts(kind, tmp_path):
    (whole, frame), (part, _) = released(kind), released(kind, part_rows=17)
    question = "SELECT COUNT(*) FROM release WHERE age > 40"
    assert part.query(question) == whole.query(question)
    assert rt.risk(part.folder).to_dict() == rt.risk(whole.folder).to_dict()
    page = rt.report(part.folder)
    assert (
        f'pl.read_parquet("{data_files.format_file_pattern(next(iter(data_files.group_files_by_table(part.manifest.data).values())))}")'
        in page.markdown()
    )
    target = part.save(tmp_path / "out", again=True)
    assert rt.open(target).digest == part.digest
    assert rt.audit(target, source=frame).source.passed


def read_few_rows(file: data_files.DataFile, schema: dict, rows: int):
    """Read as an export does, seven rows at a time."""
    assert rows > 7
    return read_batches_on_demand(file, schema, 7)


@pytest.mark.parametrize("bounds", [False, True], ids=["plain", "with bounds"])
@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_export_reads_a_few_rows_at_a_time_and_writes_what_the_whole_is(kind, database, bounds, tmp_path):
    whole = released(kind)[0]
    part = released(kind, part_rows=17)[0]
    url = f"{database}:///{tmp_path}/out.db"
    read = mock.patch("reticent.release.kind.read_data", side_effect=AssertionError("read whole"))
    with read, mock.patch("reticent.release.export.read_batches_on_demand", read_few_rows):
        names = rt.open(part.folder).to_database(url, "people", bounds=bounds)
    people = next(iter(whole.tables))
    wanted = {**whole.tables, **({people: whole.frame(bounds=True)} if bounds else {})}
    for name, table in zip(names[:-1], wanted.values(), strict=True):
        found = pl.DataFrame(stored(tmp_path / "out.db", database, name), orient="row", infer_schema_length=None)
        assert found.rows() == table.rows()


def stored(path: Path, database: str, table: str) -> list[tuple]:
    if database == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute(f'SELECT * FROM "{table}"').fetchall()
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        return connection.execute(f'SELECT * FROM "{table}"').fetchall()


def test_whole_numbers_beyond_sqlite_in_a_later_part_make_the_column_text(tmp_path):
    rows = pl.DataFrame({"age": [30] * 40, "number": pl.Series([*range(39), 2**64 - 1], dtype=pl.UInt64)})
    columns = {"age": rt.quasi(), "number": rt.insensitive(acknowledge=True)}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(2)], release=rt.Output(part_rows=9))
    release = rt.publish(job, frame=rows, seed=1)
    with mock.patch("reticent.release.export.read_batches_on_demand", read_few_rows):
        release.to_database(f"sqlite:///{tmp_path}/out.db", "people")
    found = [row[1] for row in stored(tmp_path / "out.db", "sqlite", "people")]
    assert sorted(found, key=int) == [*map(str, range(39)), str(2**64 - 1)]


def test_every_part_is_on_the_disk_before_the_release_has_its_name(tmp_path):
    """What was not synced can be lost after the folder has been put in place."""
    synced = set()
    real = os.fsync

    def noted(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        real(handle)

    draft = drafted(method_promise_pairs.pairs()[0], method_promise_pairs.cut)
    with mock.patch("os.fsync", noted):
        release = rt.publish(draft.job(), frame=draft.frame, to=tmp_path / "release")
    assert len(release.manifest.data) == 15
    assert {path.stat().st_ino for path in release.folder.iterdir()} <= synced


def test_batches_are_cut_each_by_itself(tmp_path):
    frame = pl.DataFrame({"age": [20 + row % 40 for row in range(90)], "day": ["a"] * 30 + ["b"] * 60})
    job = rt.Job(
        columns={"age": rt.quasi()}, promises=[rt.KAnonymity(5)], release=rt.Output(part_rows=30, undeclared="drop")
    )
    rt.publish_batches(job, "day", tmp_path / "days", frame=frame, seed=1)
    assert rt.open(tmp_path / "days" / "a").manifest.data == ("data.parquet",)
    assert rt.open(tmp_path / "days" / "b").manifest.data == ("data-00000.parquet", "data-00001.parquet")


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
@pytest.mark.parametrize("error", [BundleDamaged, KeyboardInterrupt])
def test_an_export_that_fails_while_it_reads_says_why_and_leaves_nothing(database, error, tmp_path):
    release = released("anatomized", part_rows=17)[0]

    def fails(file, schema, rows):
        yield from list(read_few_rows(file, schema, rows))[:3]
        raise error("a part cannot be read.")

    with (
        mock.patch("reticent.release.export.read_batches_on_demand", fails),
        pytest.raises(error, match="a part cannot be read"),
    ):
        release.to_database(f"{database}:///{tmp_path}/out.db", "people")
    assert not any(tmp_path.iterdir())
