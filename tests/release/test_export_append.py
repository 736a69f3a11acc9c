"""Several releases in the tables of one database: a column says of which batch a row is; all or none."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3

import duckdb
import polars as pl
import pytest

import reticent as rt
from reticent.data.database import read_database
from reticent.errors import OutputExists, RequestError, SourceError
from reticent.release import export_append
from tests.support import repeated_releases

_NUMBERS = itertools.count()


@pytest.fixture(params=["postgresql", "duckdb", "sqlite"])
def url(request, tmp_path):
    """The address of a database without a table, which no other test uses."""
    if request.param != "postgresql":
        yield f"{request.param}:///{tmp_path}/warehouse.db"
        return
    import adbc_driver_postgresql.dbapi as dbapi

    server = request.getfixturevalue("postgres")
    name = f"append_{os.getpid()}_{next(_NUMBERS)}"
    with dbapi.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    yield server.replace("/postgres?", f"/{name}?")
    with dbapi.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def publish(seed: int, ages: int = 20, **columns: rt.Column) -> rt.Release:
    frame = pl.DataFrame(
        {
            "age": [ages + i % 7 for i in range(40)],
            "born": [f"19{50 + i % 4}-01-01" for i in range(40)],
            "illness": ["flu", "cold", "gout", "mumps"] * 10,
        }
    ).with_columns(pl.col("born").str.to_date())
    roles = {"age": rt.quasi(numeric=True), "born": rt.insensitive(), "illness": rt.sensitive()} | columns
    return rt.publish(rt.Job(columns=roles, promises=[rt.KAnonymity(5)]), frame=frame, seed=seed)


@pytest.fixture(scope="module")
def releases() -> list[rt.Release]:
    return [publish(seed, ages=20 + 10 * seed) for seed in range(3)]


def test_batches_share_a_table_and_each_has_its_manifest(url, releases):
    for number, release in enumerate(releases):
        tables = release.to_database(url, "people", append=True, batch=f"day {number}")
        assert tables == ["people", "people_manifest"]
    rows = read_database(url, "people")
    assert rows.columns == ["batch", *releases[0].frame().columns]
    for number, release in enumerate(releases):
        batch = rows.filter(pl.col("batch") == f"day {number}").drop("batch")
        assert sorted(batch["age"]) == sorted(release.frame()["age"].cast(pl.String))
    manifests = read_database(url, "people_manifest")
    assert manifests["batch"].to_list() == ["day 0", "day 1", "day 2"]
    assert [json.loads(text) for text in manifests["manifest"]] == [
        json.loads((release.folder / "manifest.json").read_text()) for release in releases
    ]


def test_a_batch_that_is_there_is_refused_and_replaced_by_a_word(url, releases):
    first, second, third = releases
    first.to_database(url, "people", append=True, batch="a'day")
    second.to_database(url, "people", append=True, batch="other")
    before = read_database(url, "people")
    with pytest.raises(OutputExists, match="is in the tables already"):
        third.to_database(url, "people", append=True, batch="a'day")
    assert read_database(url, "people").equals(before)
    third.to_database(url, "people", append=True, batch="a'day", replace_batch=True)
    rows = read_database(url, "people")
    assert sorted(rows.filter(pl.col("batch") == "a'day")["age"]) == sorted(third.frame()["age"].cast(pl.String))
    assert rows.filter(pl.col("batch") == "other").height == 40
    assert sorted(read_database(url, "people_manifest")["batch"]) == ["a'day", "other"]


def test_a_release_with_other_columns_is_refused_and_named(url, releases):
    releases[0].to_database(url, "people", append=True, batch="one")
    before = read_database(url, "people")
    with pytest.raises(RequestError, match="has other columns") as caught:
        publish(4, born=rt.identifying()).to_database(url, "people", append=True, batch="two")
    assert "'born'" in caught.value.why
    with pytest.raises(RequestError, match="has other columns"):
        releases[1].to_database(url, "people", append=True, batch="two", bounds=True)
    assert read_database(url, "people").equals(before)


def test_a_column_of_another_type_is_refused_with_both_types(url, releases):
    releases[0].to_database(url, "people", append=True, batch="one")
    frame = releases[1].frame().with_columns(pl.col("born").cast(pl.String).str.slice(0, 4).cast(pl.Int64))
    tables = {"data": export_append.ExportTable.from_frame(frame)}
    with pytest.raises(RequestError, match="has other columns") as caught:
        export_append.append_tables(tables, "{}", url, "people", batch="two")
    assert "'born' is " in caught.value.why


def test_a_table_that_was_exported_alone_takes_no_batch(url, releases):
    releases[0].to_database(url, "people")
    with pytest.raises(RequestError, match="has other columns") as caught:
        releases[1].to_database(url, "people", append=True)
    assert "no column 'batch'" in caught.value.why
    with pytest.raises(OutputExists):
        releases[1].to_database(url, "people")


def test_tables_of_which_one_is_missing_take_no_batch(url, releases):
    releases[0].to_database(url, "people", append=True, batch="one")
    if url.startswith("postgresql"):
        import adbc_driver_postgresql.dbapi as dbapi

        with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("DROP TABLE people_manifest")
    elif url.startswith("duckdb"):
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            connection.execute("DROP TABLE people_manifest")
    else:
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute("DROP TABLE people_manifest")
        connection.close()
    with pytest.raises(RequestError, match=r"has 'people' and not 'people_manifest'"):
        releases[1].to_database(url, "people", append=True, batch="two")


def test_an_export_that_fails_in_the_middle_adds_nothing(url, releases, monkeypatch):
    releases[0].to_database(url, "people", append=True, batch="one")
    before = read_database(url, "people")

    def fail(piece_source):
        yield from itertools.islice(piece_source, 1)
        raise RequestError("in the middle")

    add_column = export_append._add_batch_column

    def add_failing_column(table, name, batch):
        added = add_column(table, name, batch)
        return export_append.ExportTable(added.empty, lambda: fail(added.pieces()))

    monkeypatch.setattr(export_append, "_add_batch_column", add_failing_column)
    for options in ({"batch": "two"}, {"batch": "one", "replace_batch": True}):
        with pytest.raises((RequestError, SourceError)):
            releases[1].to_database(url, "people", append=True, **options)
        assert read_database(url, "people").equals(before)


def test_files_of_an_anatomized_release_share_the_batch_and_questions_to_them_are_refused(url):
    from reticent.query.run import ask_database

    job = rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    for seed in (1, 2):
        release = rt.publish(job, frame=repeated_releases.people(100 + seed), seed=seed)
        tables = release.to_database(url, "people", append=True, batch=str(seed))
    assert tables == ["people_quasi", "people_sensitive", "people_manifest"]
    for name in tables[:2]:
        assert set(read_database(url, name)["batch"]) == {"1", "2"}
    with pytest.raises(RequestError, match="hold several releases"):
        ask_database(release.manifest, "SELECT COUNT(*) FROM release WHERE age < 33", url, "people")


@pytest.mark.parametrize("batch", ["", "  ", "a\nb", "x" * 201])
def test_a_batch_needs_a_name_that_can_be_read(tmp_path, releases, batch):
    with pytest.raises(RequestError, match="name of the batch"):
        releases[0].to_database(f"duckdb:///{tmp_path}/w.db", "people", append=True, batch=batch)
    assert not list(tmp_path.iterdir())


def test_a_release_with_a_column_of_that_name_needs_another(tmp_path, releases):
    url = f"duckdb:///{tmp_path}/w.db"
    with pytest.raises(RequestError, match="has a column 'age'"):
        releases[0].to_database(url, "people", append=True, batch="1", batch_column="AGE")
    releases[0].to_database(url, "people", append=True, batch="1", batch_column="day")
    assert read_database(url, "people").columns[0] == "day"
    with pytest.raises(RequestError, match="has other columns"):
        releases[1].to_database(url, "people", append=True, batch="2")


def test_a_schema_of_duckdb_may_hold_the_shared_tables(tmp_path, releases):
    with duckdb.connect(str(tmp_path / "w.db")) as connection:
        connection.execute("CREATE SCHEMA public_use")
    url = f"duckdb:///{tmp_path}/w.db"
    for number, release in enumerate(releases):
        release.to_database(url, "public_use.people", append=True, batch=str(number))
    assert read_database(url, "public_use.people").height == 120
