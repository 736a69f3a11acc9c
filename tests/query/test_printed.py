"""Anatomized releases are counted by plain SQL as they are here."""

from __future__ import annotations

import pytest

import reticent as rt
from reticent.query.database import ask_at
from tests.query import redraws

QUESTIONS = [
    "SELECT COUNT(*) FROM r WHERE age < 33",
    "SELECT COUNT(*) FROM r WHERE age < 33 AND pay IN (10, 40)",
    "SELECT town, COUNT(*) FROM r WHERE NOT (pay = 20 OR pay > 40) AND age >= 30 GROUP BY town",
    "SELECT COUNT(*) FROM r WHERE age > 99 AND pay = 10",
]


@pytest.fixture(scope="module")
def release():
    job = rt.Job(columns=redraws.COLUMNS, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    return rt.publish(job, frame=redraws.people(200), seed=1)


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_a_database_gives_the_same_numbers(release, tmp_path, database):
    url = f"{database}:///{tmp_path}/r.db"
    release.to_database(url, "people")
    for question in QUESTIONS:
        ours, theirs = (
            [one.to_dict() for one in (found if isinstance(found, list) else [found])]
            for found in (release.query(question), ask_at(release.manifest, question, url, "people"))
        )
        assert theirs == [pytest.approx(one) for one in ours]


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("SELECT AVG(pay) FROM r", "AVG"),
        ("SELECT COUNT(*), SUM(pay) FROM r", "2 aggregates"),
        ("SELECT COUNT(*) FROM r WHERE age < 30 OR pay = 10", "mixes"),
        ("SELECT COUNT(*) FROM r GROUP BY pay", "GROUP BY"),
        ("SELECT SUM(age) FROM r", "another column"),
    ],
)
def test_what_plain_sql_cannot_give_is_refused_by_name(release, question, why):
    with pytest.raises(rt.RequestError, match=why):
        release.sql(question, "duckdb")
