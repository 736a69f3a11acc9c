"""The eligibility attack on a withheld person: the oracle's posterior, bounds that hold, and what each suppression lets through."""

# ruff: noqa: E741  `l` is the field's own letter

import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.eligibility.attack import (
    attack_release,
    compute_both_posteriors,
    compute_posterior,
    compute_withheld_posterior,
    count_published_values,
)
from reticent.attacks.eligibility.suppressed_tables import (
    PRIORS,
    CountPrior,
    PublishedCounts,
    count_arrangements,
    list_tables,
)
from reticent.errors import RequestError
from reticent.methods.anatomy import Anatomy
from reticent.methods.beta_perturbation import BetaPerturbation
from reticent.methods.suppression.stage import SUPPRESSION_KINDS, Suppression
from tests.oracle import skewed


def violating(number: int, most_values: int, most: int) -> tuple[list[int], int]:
    draw = random.Random(number)
    while True:
        counts = sorted((draw.randint(1, most) for _ in range(draw.randint(2, most_values))), reverse=True)
        l = draw.randint(2, len(counts))
        if l * counts[0] > sum(counts):
            return counts, l


def some_release(kind: str, counts: list[int], l: int, number: int) -> list[int]:
    return sorted(
        SUPPRESSION_KINDS[kind].draw(np.array(counts), l, np.random.default_rng(number)).tolist(), reverse=True
    )


@pytest.mark.parametrize("kind", SUPPRESSION_KINDS)
@pytest.mark.parametrize("number", range(8))
def test_the_posterior_of_a_withheld_person_is_the_oracles(kind, number):
    counts, l = violating(number, 4, 7)
    table = some_release(kind, counts, l, number)
    _, found = compute_both_posteriors(table, sum(counts), l, kind)
    theirs = skewed.withheld_on(tuple(table), sum(counts), l, getattr(skewed, kind))
    assert found.exact and found.worst == max(theirs.values())
    assert {count: share for count, share in found.by_count.items() if share} == {
        table[name]: share for name, share in theirs.items() if share
    }


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", SUPPRESSION_KINDS)
def test_bounds_and_intervals_hold_the_exact_posterior(kind, prior):
    for number in range(15):
        counts, l = violating(number, 5, 8)
        rows = sum(counts)
        table = some_release(kind, counts, l, number)
        seen = PublishedCounts(tuple(table), rows, l)
        leading = compute_posterior(table, rows, l, kind, prior)
        exact = compute_withheld_posterior(seen, SUPPRESSION_KINDS[kind], CountPrior(prior), leading, 10**9)
        bounds = compute_withheld_posterior(seen, SUPPRESSION_KINDS[kind], CountPrior(prior), leading, 0)
        assert exact.exact and bounds.low <= exact.worst <= bounds.high, (counts, l, table)
        for count, share in exact.by_count.items():
            assert share <= bounds.by_count[count]


@pytest.mark.parametrize("prior", PRIORS)
def test_safe_never_tells_more_than_one_in_l_of_a_withheld_person(prior):
    for values, l, rows in [(3, 2, 12), (4, 3, 14), (5, 4, 15), (6, 3, 16)]:
        weight = CountPrior(prior).weight
        assert max(skewed.withheld(rows, values, l, skewed.safe, weight).values()) <= Fraction(1, l)


@pytest.mark.parametrize("number", range(12))
def test_of_large_tables_calibrated_is_bounded_without_a_list(number):
    counts, l = violating(number + 100, 12, 3_000)
    leading, withheld = compute_both_posteriors(
        some_release("calibrated", counts, l, number), sum(counts), l, "calibrated"
    )
    assert 0 < withheld.low <= withheld.high <= Fraction(1, l)
    assert leading.high <= Fraction(1, l)


def frame() -> pl.DataFrame:
    return pl.DataFrame({"age": list(range(18)), "illness": ["a"] * 10 + ["b"] * 4 + ["c"] * 2 + ["d", "e"]})


def job(kind: str = "calibrated", **options) -> rt.Job:
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    stage = Suppression(l=3, kind=kind, prior="uniform" if kind == "calibrated" else None)
    options = {"promises": [rt.ProbabilisticLDiversity(3)], "prepare": [stage], **options}
    return rt.Job(columns=columns, **options)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["safe", "randomized", "calibrated"])
def test_an_anatomized_release_is_attacked_as_the_paper_publishes_it(kind, format, tmp_path):
    prepared = rt.publish(
        job(kind, method=Anatomy(), release=rt.Output(format=format)), frame=frame(), seed=4, to=tmp_path / "anatomized"
    )
    plain = rt.publish(job(kind), frame=frame(), seed=4)
    opened = rt.open(tmp_path / "anatomized")
    assert sorted(count_published_values(opened, "illness")) == sorted(plain.frame()["illness"].value_counts()["count"])
    assert sum(count_published_values(opened, "illness")) == prepared.manifest.rows
    assert attack_release(opened) == attack_release(plain)
    found = rt.attack(tmp_path / "anatomized", None, "eligibility").to_dict()
    assert found["worst_withheld_posterior"] == attack_release(plain)["worst_withheld_posterior"] > 0
    if kind != "randomized":
        assert found["worst_withheld_posterior"] <= found["promised"]


def test_a_column_named_count_is_no_weight():
    people = frame().rename({"age": "count"})
    columns = {"count": rt.quasi(), "illness": rt.sensitive()}
    stage = Suppression(l=3, kind="safe")
    release = rt.publish(
        rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(3)], prepare=[stage]), frame=people
    )
    assert sorted(count_published_values(release, "illness")) == [1, 1, 2, 2, 2]


def test_a_perturbed_release_is_refused_with_the_reason():
    people = pl.DataFrame({"age": list(range(60)), "illness": ["a"] * 30 + ["b"] * 12 + ["c"] * 10 + ["d"] * 8})
    prepared = job("safe", promises=[rt.BetaLikeness(2)], method=BetaPerturbation())
    release = rt.publish(prepared, frame=people, seed=1)
    with pytest.raises(RequestError, match="redrawn"):
        attack_release(release)


def test_shares_by_listing_are_those_of_every_table_there_is():
    rows = 16
    values = 5
    l = 3
    theirs = skewed.withheld(rows, values, l, skewed.calibrated)
    assert sum(count_arrangements(table) for table in list_tables(rows, values)) == len(
        list(skewed.tables(rows, values))
    )
    for table, worst in theirs.items():
        assert compute_both_posteriors(table, rows, l, "calibrated")[1].worst == worst
