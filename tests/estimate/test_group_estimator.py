"""Counts by the numbers of each group are those by matching its rows and values, one question at a time."""

from __future__ import annotations

import pytest

import reticent as rt
from reticent.estimate import group_estimator
from tests.support import repeated_releases

KINDS = {
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "transformed": ([rt.PPrivacy("uniform")], rt.Distribution()),
    "transformed with fakes": ([rt.PPrivacy("uniform")], rt.Distribution(fakes=0.5)),
}
CONDITIONS = (
    "pay >= 20",
    "pay = 10 AND age < 30",
    "pay IN (10, 30) AND (town = 'a' OR age >= 40)",
    "NOT (pay < 20) AND town <> 'b'",
    "age < 0 AND pay = 10",
    "pay > 1000",
    "(town = 'a' AND pay = 10) OR (town = 'b' AND pay = 20)",
    "pay = 10 OR town = 'a'",
)
ASKED = (
    *(f"SELECT COUNT(*) FROM release WHERE {condition}" for condition in CONDITIONS),
    "SELECT town, COUNT(*) FROM release WHERE pay >= 20 GROUP BY town",
    "SELECT pay, COUNT(*) FROM release WHERE age < 40 GROUP BY pay",
    "SELECT town, pay, COUNT(*), COUNT(age), COUNT(pay) FROM release GROUP BY town, pay",
)


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_count_is_the_same_by_numbers_and_by_matching(kind, monkeypatch, tmp_path):
    promises, method = KINDS[kind]
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method)
    rt.publish(job, frame=repeated_releases.people(200), to=tmp_path / "release", seed=1, again=True)

    def answers() -> list[rt.Answer]:
        release = rt.open(tmp_path / "release")
        asked = [release.query(question) for question in ASKED]
        return [answer for found in asked for answer in (found if isinstance(found, list) else [found])]

    counted = answers()
    monkeypatch.setattr(group_estimator, "_find_common_pieces", lambda meets: None)
    matched = answers()
    assert [(a.keys, a.of, a.lower, a.upper) for a in counted] == [(a.keys, a.of, a.lower, a.upper) for a in matched]
    assert [a.estimate for a in counted] == pytest.approx([a.estimate for a in matched], rel=1e-12, abs=1e-12)
