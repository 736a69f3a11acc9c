"""Anatomized releases are counted by plain SQL as they are here, and perturbed ones reconstructed."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import polars as pl
import pytest

import reticent as rt
from reticent.errors import SourceError
from reticent.query.run import ask_database
from tests.support import repeated_releases

QUESTIONS = [
    "SELECT COUNT(*) FROM release WHERE age < 33",
    "SELECT COUNT(*) FROM release WHERE age < 33 AND pay IN (10, 40)",
    "SELECT town, COUNT(*) FROM release WHERE NOT (pay = 20 OR pay > 40) AND age >= 30 GROUP BY town",
    "SELECT COUNT(*) FROM release WHERE age > 99 AND pay = 10",
]


@pytest.fixture(scope="module")
def release():
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    return rt.publish(job, frame=repeated_releases.people(200), seed=1)


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_a_database_gives_the_same_numbers(release, tmp_path, database):
    url = f"{database}:///{tmp_path}/r.db"
    release.to_database(url, "people")
    for question in QUESTIONS:
        ours, theirs = (
            [one.to_dict() for one in (found if isinstance(found, list) else [found])]
            for found in (release.query(question), ask_database(release.manifest, question, url, "people"))
        )
        assert theirs == [pytest.approx(one) for one in ours]


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("SELECT AVG(pay) FROM release", "AVG"),
        ("SELECT COUNT(*), SUM(pay) FROM release", "2 aggregates"),
        ("SELECT COUNT(*) FROM release WHERE age < 30 OR pay = 10", "mixes"),
        ("SELECT COUNT(*) FROM release GROUP BY pay", "GROUP BY"),
        ("SELECT SUM(age) FROM release", "another column"),
    ],
)
def test_what_plain_sql_cannot_give_is_refused_by_name(release, question, why):
    with pytest.raises(rt.RequestError, match=why):
        release.sql(question, "duckdb")


REDRAWN = [
    *QUESTIONS,
    "SELECT SUM(pay) FROM release WHERE town = 'a'",
    "SELECT AVG(pay) FROM release",
    "SELECT town, AVG(pay) FROM release WHERE age < 45 GROUP BY town",
    "SELECT COUNT(*) FROM release WHERE age = 24 AND pay = 10",
]


@pytest.fixture(scope="module")
def redrawn():
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.BetaLikeness(2)], method=rt.BetaPerturbation())
    return rt.publish(job, frame=repeated_releases.people(200), seed=1)


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_a_question_to_a_database_without_the_tables_says_to_export_first(release, tmp_path, database):
    url = f"{database}:///{tmp_path}/r.db"
    release.to_database(url, "people")
    with pytest.raises(SourceError, match="has no such table") as caught:
        ask_database(release.manifest, QUESTIONS[0], url, "nobody")
    assert "`reticent export` to it first, with --table nobody" in caught.value.attempt


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_a_database_reconstructs_a_perturbed_release_with_the_same_standard_error(redrawn, tmp_path, database):
    url = f"{database}:///{tmp_path}/r.db"
    redrawn.to_database(url, "people")
    for question in REDRAWN:
        ours, theirs = (
            found if isinstance(found, list) else [found]
            for found in (redrawn.query(question), ask_database(redrawn.manifest, question, url, "people"))
        )
        assert [one.keys for one in theirs] == [one.keys for one in ours], question
        for one, wanted in zip(theirs, ours, strict=True):
            assert one.estimate == pytest.approx(wanted.estimate, abs=1e-9), question
            assert one.std_error == pytest.approx(wanted.std_error, abs=1e-6), question


def test_values_that_are_texts_are_quoted(tmp_path):
    frame = repeated_releases.people(200)
    frame = frame.with_columns(pay=pl.col("pay").cast(pl.String).replace({"10": "it's"}))
    columns = {**repeated_releases.COLUMNS, "pay": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.BetaLikeness(2)], method=rt.BetaPerturbation())
    release = rt.publish(job, frame=frame, seed=1)
    url = f"duckdb:///{tmp_path}/r.db"
    release.to_database(url, "people")
    question = "SELECT COUNT(*) FROM release WHERE pay = 'it''s' AND age > 30"
    assert ask_database(release.manifest, question, url, "people").estimate == pytest.approx(
        release.query(question).estimate
    )


def test_what_redrawn_values_do_not_say_is_refused_by_name(redrawn):
    for question, why in (
        ("SELECT MIN(pay) FROM release", "MIN"),
        ("SELECT COUNT(*) FROM release WHERE age < 30 OR pay = 10", "mixes"),
    ):
        with pytest.raises(rt.RequestError, match=why):
            redrawn.sql(question, "duckdb")


def test_an_exported_table_of_bounds_is_looked_up_by_an_index(tmp_path):
    """Without one, SQLite reads the whole table for every group."""
    columns = {"age": rt.quasi(), "town": rt.quasi(), "pay": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.PPrivacy(target="source")], method=rt.Distribution(group_by=["town"]))
    release = rt.publish(job, frame=repeated_releases.people(200), seed=1)
    release.to_database(f"sqlite:///{tmp_path}/r.db", "people")
    sql = release.sql("SELECT SUM(pay) FROM release WHERE age < 40", "sqlite", "people")
    with closing(sqlite3.connect(tmp_path / "r.db")) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
    lookups = [step for step in plan if step.startswith(("SEARCH", "SCAN")) and (" x" in step or " b" in step)]
    assert lookups and all("people_bounds_by_group" in step for step in lookups), plan
