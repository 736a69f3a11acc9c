"""Controls are at their expected rates: where the sensitive attribute is independent of the rest, and where lists are strangers'."""

from __future__ import annotations

from math import sqrt

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.attacks import attack
from reticent.attacks.target import observe

ROWS = 2_400
VALUES = 6
COLUMNS = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "c": rt.quasi(), "s": rt.sensitive()}
GIVEN = {"background": {"bandwidth": "1", "t": "0.2"}}
GUESSED = ("naive-bayes", "definetti", "skewness", "inference", "background")
"""Attacks on values whose control has the same groups with shuffled values: a guess by it is right as often as by chance."""


@pytest.fixture(scope="module")
def independent() -> pl.DataFrame:
    """Six values, equally frequent, that have nothing to do with anything."""
    rng = np.random.default_rng(4)
    values = rng.permutation(np.repeat(list("uvwxyz"), ROWS // VALUES))
    quasi = {"a": rng.integers(0, 60, ROWS), "b": rng.integers(0, 30, ROWS), "c": rng.choice(["f", "m"], ROWS)}
    return pl.DataFrame({**quasi, "s": values})


@pytest.fixture(scope="module")
def releases(independent) -> dict[str, rt.Release]:
    methods = (rt.Mondrian(), rt.Mosaic(effort="quick"), rt.Anatomy())
    job = rt.Job(columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(3)])
    return {method.name: rt.publish(job.at(method=method), frame=independent, seed=1) for method in methods}


def near(found: float, expected: float, targets: int, spreads: float = 4.0) -> bool:
    return abs(found - expected) <= spreads * sqrt(expected * (1 - expected) / targets)


@pytest.mark.parametrize(
    ("name", "method"),
    [(name, method) for name in GUESSED for method in ("mondrian", "mosaic", "anatomy")] + [("overlap", "mosaic")],
)
def test_of_an_independent_attribute_a_control_is_right_as_often_as_chance(name, method, releases, independent):
    found = attack(releases[method], independent, name, **GIVEN.get(name, {})).to_dict()
    assert near(found["control"], 1 / VALUES, found["targets"])
    assert found["control_low"] <= found["control"] <= found["control_high"]


@pytest.mark.parametrize("name", ["matrix", "matrix-learned"])
def test_of_an_independent_attribute_the_control_of_redrawn_values_is_right_as_often_as_chance(name, independent):
    job = rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(2)], method=rt.BetaPerturbation())
    found = attack(rt.publish(job, frame=independent, seed=1), independent, name).to_dict()
    assert near(found["control"], 1 / VALUES, found["targets"])


def test_of_an_independent_attribute_the_control_of_families_is_a_family_s_share(independent):
    families = [[value, "early" if value < "x" else "late", "*"] for value in "uvwxyz"]
    columns = COLUMNS | {"s": rt.sensitive(hierarchy=families)}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(3)], method=rt.Mondrian())
    found = attack(rt.publish(job, frame=independent, seed=1), independent, "similarity").to_dict()
    assert near(found["control"], 1 / 2, found["targets"])


def test_of_an_independent_attribute_who_learns_from_everybody_guesses_hardly_better(releases, independent):
    """Their own value is among those learned from: a little above chance, and far below what groups say of their own."""
    found = attack(releases["mosaic"], independent, "naive-bayes").to_dict()
    assert 1 / VALUES - 0.03 < found["success"] < 1 / VALUES + 0.12


def test_joining_with_noise_reaches_no_more_than_the_release_alone_and_no_less_than_chance(releases, independent):
    job = rt.Job(columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(3)], method=rt.Mondrian(weights={"a": 4}))
    other = rt.publish(job, frame=independent, seed=1)
    found = attack(releases["mondrian"], independent, "composition", joined=[other]).to_dict()
    assert 1 / VALUES < found["control"] <= found["alone"] + 0.01 < found["success"]


def test_strangers_are_linked_as_often_as_two_people_drawn_apart_point_to_one_group(releases, independent):
    """The expected rate, from the release's own labels: over groups, the shares of people who point there by each list."""
    release = releases["mondrian"]
    found = attack(release, independent, "linkability", first=["a"]).to_dict()
    expected = _by_loop(observe(release, independent))
    assert 0 < expected < 0.05 and near(found["control"], expected, found["targets"], 5)


def _by_loop(people) -> float:
    sight = people.sight
    shares = []
    for axes in ([0], [1, 2]):
        room = np.prod(sight.widths[axes].astype(float), axis=0)
        held = np.zeros(len(room))
        for point, many in zip(people.points, people.people, strict=True):
            able = np.ones(len(room), bool)
            for axis in axes:
                able &= sight.covers[axis].table(point[axis : axis + 1])[0][sight.label[axis]]
            best = np.flatnonzero(able & (room == room[able].min()))
            held[best] += many / len(best)
        shares.append(held / held.sum())
    return float(shares[0] @ shares[1])


def test_every_attack_that_guesses_values_of_people_is_among_these_or_has_a_test_of_its_own():
    here = {*GUESSED, "overlap", "composition", "linkability", "matrix", "matrix-learned", "similarity"}
    elsewhere = {"minimality", "downcoding"}  # tests/attacks/test_minimality.py, test_downcoding.py
    assert {name for name, row in catalogue.ATTACKS.items() if row.guesses and row.needs_source} <= here | elsewhere
