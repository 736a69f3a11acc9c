"""A sampled release against its source, region by region: values left as they were among neighbours are found, honest draws pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.audit.measure.statistical_tests import DRAW_SIGNIFICANCE, assess_draws, order_neighbours
from tests.support.sampled_forgeries import forge

GROUPS = 900
SIZE = 6
VALUES = 20
RETAINED = 0.45
SHARES = np.array([0.9**value for value in range(VALUES)])
RNG = np.random.default_rng(3)
TRUE = RNG.choice(VALUES, (GROUPS, SIZE), p=SHARES / SHARES.sum())
GROUP = np.repeat(np.arange(GROUPS), SIZE)
PAIRS, COUNT = np.unique(GROUP * VALUES + TRUE.ravel(), return_counts=True)
PLACES = {
    "'post'": RNG.integers(0, 90, GROUPS),
    "'age'": RNG.integers(18, 90, GROUPS),
    "'sex'": RNG.integers(0, 2, GROUPS),
}


def honest(rng: np.random.Generator) -> np.ndarray:
    """The value that each group shows: of one of its people, kept or drawn anew."""
    one = TRUE[np.arange(GROUPS), rng.integers(0, SIZE, GROUPS)]
    return np.where(rng.random(GROUPS) < RETAINED, one, rng.integers(0, VALUES, GROUPS))


def left_as_they_were(rng: np.random.Generator, region: np.ndarray) -> np.ndarray:
    one = TRUE[np.arange(GROUPS), rng.integers(0, SIZE, GROUPS)]
    return np.where(region, one, honest(rng))


def judged(shown: np.ndarray):
    return assess_draws(PAIRS // VALUES, PAIRS % VALUES, COUNT, shown, RETAINED, VALUES, PLACES)


def test_honest_draws_are_not_condemned_more_often_than_is_said():
    """A p-value of a or less comes up with a probability of at most a; 400 draws, three deviations."""
    rng = np.random.default_rng(11)
    draws = 400
    found = np.array([judged(honest(rng)).worst for _ in range(draws)])
    assert (found > DRAW_SIGNIFICANCE).all()
    for level in (0.5, 0.2, 0.05):
        assert (found <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / draws)


def test_the_ratio_of_a_region_has_the_mean_one_in_honest_draws():
    """Which is what its p-value stands on: small regions, where the mean can be seen."""
    rng = np.random.default_rng(12)
    share = np.zeros((GROUPS, VALUES))
    np.add.at(share, (GROUP, TRUE.ravel()), 1 / SIZE)
    for q in (0.999, (1 + RETAINED) / 2):
        ratio = (q * share + (1 - q) / VALUES) / (RETAINED * share + (1 - RETAINED) / VALUES)
        chance = RETAINED * share + (1 - RETAINED) / VALUES
        assert (ratio * chance).sum(axis=1) == pytest.approx(1.0)
        seen = [ratio[np.arange(GROUPS), honest(rng)].mean() for _ in range(200)]
        assert np.mean(seen) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ("what", "region"),
    [
        ("ten neighbouring postcodes", PLACES["'post'"] < 10),
        ("ten postcodes in the middle", (PLACES["'post'"] >= 40) & (PLACES["'post'"] < 50)),
        ("the oldest", PLACES["'age'"] >= 82),
        ("old people in the first postcodes", (PLACES["'age'"] >= 54) & (PLACES["'post'"] < 22)),
    ],
)
def test_values_left_as_they_were_in_a_region_are_found(what, region):
    """About a ninth of the groups; over all groups together the test saw nothing."""
    rng = np.random.default_rng(13)
    assert 0.06 < region.mean() < 0.15
    together = [
        assess_draws(PAIRS // VALUES, PAIRS % VALUES, COUNT, left_as_they_were(rng, region), RETAINED, VALUES)
        for _ in range(5)
    ]
    assert all(one.passed for one in together)
    found = [judged(left_as_they_were(rng, region)) for _ in range(20)]
    assert sum(not one.passed for one in found) >= 15


def test_as_many_neighbours_as_are_said_to_be_found_are_found():
    rng = np.random.default_rng(14)
    least = judged(honest(rng)).regions.detectable_groups
    assert least is not None and least < GROUPS / 6
    order = order_neighbours(PLACES)["'post'"]
    missed = 0
    for start in range(0, GROUPS - least, 37):
        region = np.zeros(GROUPS, bool)
        region[order[start : start + least]] = True
        missed += judged(left_as_they_were(rng, region)).passed
    assert missed <= 1


def test_a_published_release_with_ten_open_postcodes_is_condemned(tmp_path):
    rng = np.random.default_rng(1)
    rows = 6_000
    people = pl.DataFrame(
        {
            "post": rng.integers(1000, 1090, rows),
            "age": rng.integers(18, 90, rows),
            "s": rng.choice(VALUES, rows, p=SHARES / SHARES.sum()),
        }
    )
    columns = {"post": rt.quasi(), "age": rt.quasi(), "s": rt.sensitive(domain=[0, VALUES - 1])}
    job = rt.Job(
        columns=columns, promises=[rt.RhoGuarantee("0.2", "0.45", "0.2")], method=rt.PerturbedGeneralization(k=5)
    )
    folder = Path(rt.publish(job, frame=people, seed=1).save(tmp_path / "release"))
    before = rt.audit(folder, source=people)
    assert before.kept is True
    assert before.to_dict()["source"]["drawn"]["regions"]["p_value"] > 1e-3
    release = rt.open(folder)
    shown = release.frame()
    ends = release.frame(bounds=True)
    values = shown["s"].to_list()
    for at, row in enumerate(ends.iter_rows(named=True)):
        if row["post_upper"] < 1010:
            inside = people.filter(
                pl.col("post").is_between(row["post_lower"], row["post_upper"]),
                pl.col("age").is_between(row["age_lower"], row["age_upper"]),
            )
            values[at] = inside["s"][int(rng.integers(len(inside)))]
    found = rt.audit(forge(folder, shown.with_columns(pl.Series("s", values))), source=people)
    assert {verdict.kept for verdict in found.promises} == {False}
    assert found.to_dict()["source"]["drawn"]["regions"]["worst"] == "'post'"
