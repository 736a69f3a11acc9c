"""Adversaries who know the matrix that values were redrawn by: as enumeration says, within the promise, and no better than chance
where there is nothing to learn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.perturbation import PerturbedRows, learn_prior
from tests.oracle.perturbed_beliefs import posteriors

COLUMNS = {"age": rt.quasi(), "town": rt.quasi(), "ill": rt.sensitive()}


def people(rows: int, tied: bool, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    town = rng.integers(0, 3, rows)
    place = (
        np.where(rng.random(rows) < 0.8, (age >= 40) * 2 + (town > 1), rng.integers(0, 4, rows))
        if tied
        else rng.integers(0, 4, rows)
    )
    return pl.DataFrame({"age": age, "town": [f"t{one}" for one in town], "ill": [f"v{one}" for one in place]})


def released(frame: pl.DataFrame, beta=2) -> rt.Release:
    job = rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(beta)], method=rt.BetaPerturbation())
    return rt.publish(job, frame=frame, seed=1)


def test_the_posterior_equals_an_enumeration_of_every_table():
    """Up to four people share a point; both with one prior for all and with one of each point."""
    frame = pl.DataFrame(
        {
            "age": [20, 20, 20, 20, 30, 30, 40],
            "town": list("aaaabbb"),
            "ill": ["v0", "v1", "v2", "v0", "v1", "v0", "v2"],
        }
    )
    rows = PerturbedRows.from_release(released(frame), frame, ())
    matrix = [[Fraction(float(part)) for part in line] for line in rows.matrix]
    for prior in (np.repeat(rows.overall[None, :], len(rows.shown), axis=0), learn_prior(rows, "release")):
        found = rows.posterior(prior)
        for point, line in enumerate(rows.shown.astype(int)):
            shown = [value for value, number in enumerate(line) for _ in range(number)]
            believed = [Fraction(float(part)) for part in prior[point]]
            wanted = posteriors([believed] * len(shown), matrix, shown)
            for person in wanted:
                assert found[point] == pytest.approx([float(part) for part in person], rel=1e-9)


@pytest.mark.parametrize("beta", [1, 3])
def test_who_knows_the_matrix_and_the_overall_distribution_stays_within_beta_likeness(beta):
    frame = people(600, tied=True)
    found = rt.attack(released(frame, beta), frame, "matrix").to_dict()
    assert found["growth"] <= beta + 1e-9
    assert found["worst_posterior"] <= found["promised"] + 1e-9
    assert found["targets"] == 600


def test_who_learns_a_prior_from_the_release_guesses_better_where_values_go_with_quasi_identifiers():
    frame = people(4_000, tied=True)
    release = released(frame, 1)
    plain, better = (rt.attack(release, frame, name).to_dict() for name in ("matrix", "matrix-learned"))
    known = rt.attack(release, frame, "matrix-learned", prior="source").to_dict()
    assert better["success"] > plain["success"] + 0.1
    assert known["success"] >= better["success"] - 0.02


def test_where_values_go_with_nothing_a_better_prior_is_worth_nothing():
    """The control: the same release of people whose values are independent of all else."""
    frame = people(4_000, tied=False)
    release = released(frame, 1)
    plain, better = (rt.attack(release, frame, name).to_dict() for name in ("matrix", "matrix-learned"))
    assert better["success"] <= plain["success"] + 0.02


def test_a_release_without_a_matrix_is_refused_with_the_reason():
    frame = people(200, tied=True)
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)])
    for name in ("matrix", "matrix-learned"):
        with pytest.raises(rt.RequestError, match="has none"):
            rt.attack(rt.publish(job, frame=frame), frame, name)
    with pytest.raises(rt.RequestError, match="not known"):
        rt.attack(released(frame), frame, "matrix-learned", prior="rumour")


def test_people_who_are_not_in_the_source_are_counted_and_not_shown():
    frame = people(200, tied=True)
    with pytest.raises(rt.RequestError, match=r"values? that the source lacks"):
        rt.attack(released(frame), frame.filter(pl.col("age") > 30), "matrix")
