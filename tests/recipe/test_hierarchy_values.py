"""A hierarchy may list numbers that the type of its column does not have."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt

PEOPLE = pl.DataFrame(
    {
        "age": pl.Series([20, 21, 22, 23, 30, 31, 32, 33] * 5, dtype=pl.UInt8),
        "town": ["a", "b"] * 20,
        "illness": ["flu", "cold", "gout", "acne"] * 10,
    }
)
AGES = [[str(age), f"{age // 10}x", "*"] for age in range(-20, 300)]
METHODS = [
    (rt.KAnonymity(5), rt.Mondrian()),
    (rt.ProbabilisticLDiversity(2), rt.Anatomy()),
    (rt.BetaLikeness(2), rt.BetaPerturbation()),
    (rt.PPrivacy("source"), rt.Distribution()),
]


@pytest.mark.parametrize(("promise", "method"), METHODS, ids=lambda part: part.name)
def test_leaves_that_no_value_can_be_do_not_hinder_publishing(promise, method):
    columns = {"age": rt.quasi(hierarchy=AGES, numeric=True), "town": rt.quasi(), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[promise], method=method), frame=PEOPLE, seed=1)
    assert rt.audit(release.folder, source=PEOPLE).source.passed
    answer = release.query("SELECT COUNT(*) FROM release WHERE age < 25")
    assert answer.lower <= 20 <= answer.upper
