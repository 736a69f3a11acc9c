"""A source that types its columns is believed: text that spells numbers holds codes.  Of a CSV types are guessed, and that is said."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import duckdb
import polars as pl
import pytest

import reticent as rt
from tests.support.code_columns import PEOPLE

COLUMNS = {"sex": rt.quasi(), "age": rt.quasi(), "ward": rt.quasi(), "illness": rt.sensitive()}
JOB = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(4)], release=rt.Output(undeclared="drop"))
GUESSED = "are read as numbers: a CSV says no types"
KEPT = "are read as categories: the source says text"


def types(release):
    return {entry.name: (entry.type, entry.dtype) for entry in release.columns}


CATEGORIES = ("categorical", "String")
TEXTS = {"sex": CATEGORIES, "age": ("numeric", "Int64"), "ward": CATEGORIES, "illness": CATEGORIES}
NUMBERS = dict.fromkeys(TEXTS, ("numeric", "Int64"))


def in_file(folder, ending):
    path = folder / f"people{ending}"
    writers = {".parquet": PEOPLE.write_parquet, ".arrow": PEOPLE.write_ipc, ".csv": PEOPLE.write_csv}
    writers[ending](path)
    return rt.Source(path=str(path))


def in_folder(folder):
    for at, part in enumerate(PEOPLE.iter_slices(60)):
        part.write_parquet(folder / f"{at}.parquet")
    return rt.Source(path=str(folder))


def in_sqlite(folder):
    with sqlite3.connect(folder / "people.db") as connection:
        connection.execute("CREATE TABLE people (sex TEXT, age INTEGER, ward TEXT, day TEXT, illness TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", PEOPLE.iter_rows())
    connection.close()
    return rt.Source(url=f"sqlite:///{folder}/people.db", table="people")


def in_duckdb(folder):
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.register("given", PEOPLE.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return rt.Source(url=f"duckdb:///{folder}/people.duckdb", table="people")


TYPED = {
    "Parquet": lambda folder: in_file(folder, ".parquet"),
    "Arrow": lambda folder: in_file(folder, ".arrow"),
    "a folder of Parquet": in_folder,
    "SQLite": in_sqlite,
    "DuckDB": in_duckdb,
}


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("source", TYPED)
def test_text_of_a_typed_source_stays_text_whatever_it_spells(source, engine, tmp_path):
    release = rt.publish(JOB.at(source=TYPED[source](tmp_path)), seed=1, engine=engine)
    assert types(release) == TEXTS
    assert any(KEPT in notice for notice in release.notices)
    assert not any(GUESSED in notice for notice in release.notices)
    assert release.frame()["illness"].dtype == pl.String


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "lazy", "categories"])
def test_text_of_a_frame_stays_text_whatever_it_spells(kind):
    frame = {
        "polars": lambda: PEOPLE,
        "pandas": lambda: PEOPLE.to_pandas(),
        "pyarrow": lambda: PEOPLE.to_arrow(),
        "lazy": lambda: PEOPLE.lazy(),
        "categories": lambda: PEOPLE.with_columns(pl.col(pl.String).cast(pl.Categorical)),
    }[kind]()
    assert types(rt.publish(JOB, frame=frame, seed=1)) == TEXTS


def test_a_frame_is_typed_though_the_job_names_a_csv(tmp_path):
    job = JOB.at(source=in_file(tmp_path, ".csv"))
    assert types(rt.publish(job, frame=PEOPLE, seed=1)) == TEXTS


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_the_types_of_a_csv_are_guessed_and_that_is_said(engine, tmp_path):
    job = JOB.at(source=in_file(tmp_path, ".csv"))
    release = rt.publish(job, seed=1, engine=engine)
    assert types(release) == NUMBERS
    said = next(notice for notice in release.notices if GUESSED in notice)
    assert all(repr(name) in said for name in TEXTS)
    assert said in rt.check(job, methods=[], engine=engine).warnings


def test_what_is_declared_wins_over_source_and_guess(tmp_path):
    declared = {**COLUMNS, "ward": rt.quasi(type="numeric"), "sex": rt.quasi(type="categorical")}
    for source in (in_file(tmp_path, ".csv"), in_file(tmp_path, ".parquet")):
        found = types(rt.publish(JOB.at(source=source, columns=declared), seed=1))
        assert found["ward"][0] == "numeric" and found["sex"][0] == "categorical"


@pytest.mark.parametrize(
    "said", [{"domain": (0, 9)}, {"top": 5}, {"bottom": 2}, {"hierarchy": {"build": "intervals", "width": [2]}}]
)
def test_an_option_that_speaks_of_numbers_declares_them(said):
    declared = {**COLUMNS, "ward": rt.quasi(**said)}
    release = rt.publish(JOB.at(columns=declared), frame=PEOPLE, seed=1)
    assert types(release)["ward"][0] == "numeric"


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize(("ending", "wanted"), [(".csv", NUMBERS), (".parquet", TEXTS)])
def test_batches_read_the_types_that_the_whole_source_has(ending, wanted, engine, tmp_path):
    job = JOB.at(source=in_file(tmp_path, ending))
    summary = rt.publish_batches(job, "day", tmp_path / "out", seed=1, engine=engine)
    assert summary["published"] == 3
    for name in ("d0", "d1", "d2"):
        assert types(rt.open(tmp_path / "out" / name)) == wanted


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_releases_of_either_source_are_kept_against_it(ending, tmp_path):
    source = in_file(tmp_path, ending)
    rt.publish(JOB.at(source=source), seed=1, to=tmp_path / "release")
    assert rt.audit(tmp_path / "release", source=source.path).kept


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("population", ["texts", "numbers"])
def test_a_population_fits_whatever_types_it_has(ending, population, tmp_path):
    people = pl.concat([PEOPLE, PEOPLE]).select("sex", "age", "ward")
    people = people if population == "texts" else people.cast({"sex": pl.Int64, "ward": pl.Int64})
    job = JOB.at(source=in_file(tmp_path, ending), promises=[rt.KMap(4, people)])
    release = rt.publish(job, seed=1)
    assert release.audited.kept


@pytest.mark.parametrize(("ending", "wanted"), [(".csv", "numeric"), (".parquet", "categorical")])
def test_a_plain_file_is_judged_by_the_types_it_has(ending, wanted, tmp_path):
    from reticent.audit.subject import read_table_subject

    subject = read_table_subject(in_file(tmp_path, ending), COLUMNS)
    found = {entry.name: entry.type for entry in subject.columns}
    assert found == {"sex": wanted, "age": "numeric", "ward": wanted, "illness": wanted}


def test_ranges_in_a_plain_parquet_are_read_as_ranges_of_numbers(tmp_path):
    from reticent.audit.subject import read_table_subject

    labels = PEOPLE.with_columns(ward=pl.lit("[1-3]"), sex=pl.lit("*"))
    found = {entry.name: entry.type for entry in read_table_subject(labels, COLUMNS).columns}
    assert found["ward"] == "numeric"
    assert found["sex"] == "categorical"


def test_a_comparison_of_a_csv_reads_the_types_that_publishing_it_reads(tmp_path):
    job = JOB.at(source=in_file(tmp_path, ".csv"))
    compared = rt.compare(job, methods=["mondrian"], attacks=[], classification=False)
    assert compared.rows[0]["reached"]
    published = rt.publish(job, seed=compared.seed).audited.utility["ail_by_column"]
    assert compared.rows[0]["loss"]["ail_by_column"] == published
    assert compared.rows[0]["average_of"] == "illness"


def test_a_draft_of_a_typed_source_proposes_no_numbers_for_text(tmp_path):
    from reticent.job.draft import draft_job

    found = {
        ending: {one.name: one.type for one in draft_job(in_file(tmp_path, ending)).columns}
        for ending in (".csv", ".parquet")
    }
    assert found[".parquet"]["ward"] is None and found[".parquet"]["age"] == "numeric"
    assert found[".csv"]["ward"] == "numeric"


def test_marks_of_missing_values_hold_for_numbers_and_days_too():
    frame = PEOPLE.with_columns(
        age=pl.when(pl.col("age") < 30).then(999).otherwise(pl.col("age")),
        born=pl.Series(["1980-01-01", "9999-12-31"] * 120).str.to_date(),
        weight=pl.Series([70.5, -9.0] * 120),
    )
    columns = {**COLUMNS, "born": rt.quasi(), "weight": rt.quasi()}
    source = rt.Source(missing=["999", "-9", "9999-12-31", "?"])
    release = rt.publish(replace(JOB, source=source, columns=columns), frame=frame, seed=1)
    domains = {entry.name: entry for entry in release.columns}
    assert domains["age"].null and domains["born"].null and domains["weight"].null
    assert max(map(float, domains["age"].domain)) <= 90
