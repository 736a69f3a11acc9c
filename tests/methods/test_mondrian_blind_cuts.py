"""Mondrian with `cuts = "blind"`: groups keep the promises, and depend on sensitive values by one number alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt

COLUMNS = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "s": rt.sensitive()}
BLIND = rt.Mondrian(cuts="blind")
PROMISES = [
    rt.KAnonymity(5),
    rt.ProbabilisticLDiversity(3),
    rt.BetaLikeness(2),
    rt.TCloseness("0.3"),
    rt.DeltaDisclosure(2, absent="ignore"),
    rt.BTPrivacy(bandwidth="0.3", t="0.7"),
]


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 80, rows),
            "town": rng.choice(list("abcd"), rows),
            "s": rng.choice(list("uvwxyz"), rows),
        }
    )


def job(promise: object) -> rt.Job:
    return rt.Job(columns=COLUMNS, promises=[promise], method=BLIND)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_a_blind_release_keeps_its_promise(promise):
    assert rt.publish(job(promise), frame=people(600, 1), seed=1).audited.kept


def test_of_many_tables_of_the_same_people_there_are_no_more_groupings_than_least_sizes():
    frame = people(300, 2)
    rng = np.random.default_rng(3)
    found = {}
    for _ in range(40):
        shuffled = frame.with_columns(s=pl.Series(rng.permutation(frame["s"].to_numpy())))
        planned = rt.plan(job(rt.ProbabilisticLDiversity(3)), frame=shuffled)
        found.setdefault(int(planned.sizes.min()), set()).add(tuple(sorted(planned.groups.rows())))
    assert len(found) > 1, "the one number depends on the values"
    assert sum(map(len, found.values())) <= 6, "and nothing else does"


def test_of_a_large_blind_release_nothing_is_concluded_by_who_knows_the_method():
    frame = people(600, 1)
    release = rt.publish(job(rt.ProbabilisticLDiversity(2)), frame=frame, seed=1)
    found = rt.attack(release, frame, "minimality").to_dict()
    assert found["how"] == "groups alone" and "by one number alone" in found["why"]
