"""Anatomy's estimates lean to independence: the last row of the table in docs/methods/anatomy.md, run again."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.methods.anatomy import Anatomy

ILLNESSES = np.array(["acne", "flu", "gout", "ulcer", "cold", "cough"])
SIXTIES = pl.col("age").is_between(60, 69)


def correlated(own: float, rows: int = 2_000) -> pl.DataFrame:
    """Ages 20 to 79; with probability `own` a person has the illness of their decade, otherwise a random one."""
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, rows)
    has_own = rng.random(rows) < own
    illness = np.where(has_own, (age - 20) // 10, rng.integers(0, len(ILLNESSES), rows))
    return pl.DataFrame({"age": age, "illness": ILLNESSES[illness]})


def answers(people: pl.DataFrame, l: int, grouping: str) -> list:  # noqa: E741
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(l)], method=Anatomy(grouping=grouping))
    return [rt.publish(job, frame=people, seed=seed).count(SIXTIES, ["cold"]) for seed in range(20)]


@pytest.mark.parametrize(
    ("l", "grouping", "mean", "deviation"),
    [(2, "random", 145.1, 0.6), (2, "hilbert", 153.4, 1.2), (4, "random", 77.9, 0.9), (4, "hilbert", 77.4, 0.8)],
)
def test_on_correlated_data_estimates_lean_to_independence_and_hardly_vary(l, grouping, mean, deviation):  # noqa: E741
    people = correlated(0.8)
    held = pl.col("illness") == "cold"
    true, holders, selected = (len(people.filter(where)) for where in (SIXTIES & held, held, SIXTIES))
    assert (true, round(selected * holders / len(people), 1)) == (281, 55.1)
    found = answers(people, l, grouping)
    estimates = np.array([answer.estimate for answer in found])
    assert estimates.mean() == pytest.approx(mean, abs=0.06)
    assert estimates.std(ddof=1) == pytest.approx(deviation, abs=0.06)
    assert all(answer.lower <= true <= answer.upper for answer in found)


@pytest.mark.parametrize("l", [2, 4])
def test_with_random_groups_one_lth_of_the_truth_is_left(l):  # noqa: E741
    people = correlated(0.8)
    held = pl.col("illness") == "cold"
    true, holders, selected = (len(people.filter(where)) for where in (SIXTIES & held, held, SIXTIES))
    expected = true / l + (1 - 1 / l) * holders * (selected - true) / (len(people) - holders)
    mean = np.mean([answer.estimate for answer in answers(people, l, "random")])
    assert mean == pytest.approx(expected, abs=1)
