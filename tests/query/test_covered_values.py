"""Estimates under `*` add up, and what no label shows has a line; decimals and large numbers are counted as they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt

TOWNS = [f"town{at}" for at in range(9)]


def people() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    shares = [0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.03, 0.02]
    towns = [None if rng.random() < 0.04 else TOWNS[at] for at in rng.choice(9, 600, p=shares)]
    ages = [None if rng.random() < 0.02 else int(age) for age in rng.integers(18, 90, 600)]
    weights = np.round(rng.normal(60, 10, 600), 1)
    return pl.DataFrame({"town": towns, "age": ages, "weight": weights, "illness": rng.choice(["a", "b", "c"], 600)})


@pytest.fixture(scope="module", params=["open", "declared"])
def release(request) -> rt.Release:
    town = rt.quasi(hierarchy=[[town, "*"] for town in TOWNS]) if request.param == "declared" else rt.quasi()
    age = rt.quasi(numeric=True, domain=[0, 120])
    columns = {"town": town, "age": age, "weight": rt.quasi(numeric=True), "illness": rt.sensitive()}
    return rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(20)]), frame=people(), seed=1)


def test_estimates_under_a_star_add_up_and_every_value_has_a_line(release):
    lines = release.query("SELECT town, COUNT(*) FROM release GROUP BY town")
    assert sum(line.estimate for line in lines) == pytest.approx(600)
    left = people()
    for line in lines:
        town = pl.col("town")
        here = (
            left
            if line.rest
            else left.filter(town.is_null() if line.keys["town"] is None else town == line.keys["town"])
        )
        left = left.join(here, on=left.columns, how="anti", nulls_equal=True)
        assert line.lower <= len(here) <= line.upper
        alone = "IS NULL" if line.keys["town"] is None else f"= '{line.keys['town']}'"
        if not line.rest:
            asked = release.query(f"SELECT COUNT(*) FROM release WHERE town {alone}")
            assert asked.estimate == pytest.approx(line.estimate)
    assert not len(left)
    assert None in [line.keys["town"] for line in lines]


def test_a_value_that_no_label_shows_is_not_expected_and_is_possible_unless_all_are_declared(release):
    answer = release.query("SELECT COUNT(*) FROM release WHERE town = 'nowhere'")
    stars = int((release.frame()["town"] == "*").sum())
    declared = release.manifest.columns[0].hierarchy is not None
    assert (answer.estimate, answer.lower, answer.upper) == (0, 0, 0 if declared else stars)


def test_missing_values_are_expected_where_labels_hide_them():
    columns = {"town": rt.quasi(), "age": rt.quasi(numeric=True), "illness": rt.sensitive()}
    frame = people().drop("weight")
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(20)]), frame=frame, seed=1)
    for name in ("town", "age"):
        answer = release.query(f"SELECT COUNT(*) FROM release WHERE {name} IS NULL")
        assert answer.lower <= frame[name].null_count() <= answer.upper
        assert answer.estimate > 0
    lost = release.query("SELECT AVG(age) FROM release")
    assert (lost.lower, lost.upper) == (None, None)
    assert "labels of 'age' cover any value" in lost.note


def test_a_declared_domain_limits_labels_that_hide_a_missing_value(release):
    answer = release.query("SELECT AVG(age) FROM release")
    assert answer.lower <= people()["age"].mean() <= answer.upper
    assert release.query("SELECT MAX(age) FROM release").upper <= 120


def test_equality_on_decimals_is_estimated(release):
    weights = people()["weight"]
    values = [float(value) for value in weights.unique().sort()]
    answers = [release.query(f"SELECT COUNT(*) FROM release WHERE weight = {value}") for value in values[::10]]
    assert all(answer.estimate > 0 for answer in answers)
    middle = release.query("SELECT COUNT(*) FROM release WHERE weight IN (59.8, 59.9, 60, 60.1, 60.2)")
    true = weights.is_in([59.8, 59.9, 60.0, 60.1, 60.2]).sum()
    assert middle.estimate == pytest.approx(true, abs=0.6 * true)
    mean = release.query("SELECT AVG(weight) FROM release WHERE weight = 60.1")
    assert mean.estimate == pytest.approx(60.1)
    between = release.query("SELECT AVG(weight) FROM release WHERE weight = 60.123")
    assert between.estimate == pytest.approx(60.123)


@pytest.mark.parametrize("least", [0, 2**53, 2**60, -(2**62)])
def test_estimates_of_large_whole_numbers_are_those_of_small_ones(least):
    rng = np.random.default_rng(2)
    steps = [int(step) for step in rng.integers(0, 200, 600)]
    frame = pl.DataFrame({"number": [least + step for step in steps], "illness": ["a", "b", "c"] * 200})
    columns = {"number": rt.quasi(numeric=True), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(20)]), frame=frame, seed=1)
    answer = release.query(
        f"SELECT COUNT(*) FROM release WHERE number BETWEEN {least + 3} AND {least + 20}", density="even"
    )
    expected = 0.0
    for label in release.frame()["number"].to_list():
        ends = [int(end) - least for end in label.strip("[]").split(", ")]
        first = max(ends[0], 3)
        last = min(ends[-1], 20)
        expected += max(last - first + 1, 0) / (ends[-1] - ends[0] + 1)
    assert answer.lower <= sum(3 <= step <= 20 for step in steps) <= answer.upper
    assert answer.estimate == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Decimal(10, 1), pl.Decimal(38, 20)])
@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_ends_of_decimals_are_numbers_of_their_type(dtype, method):
    values = pl.Series("weight", ["0.1", "0.2", "0.3", "0.7"] * 10).cast(dtype)
    frame = pl.DataFrame({"weight": values, "illness": ["a", "b", "c", "d"] * 10})
    promise = rt.KAnonymity(12) if method == "mondrian" else rt.ProbabilisticLDiversity(2)
    age = rt.quasi(numeric=True, labels="tight") if method == "mondrian" else rt.quasi(numeric=True)
    job = rt.Job(columns={"weight": age, "illness": rt.sensitive()}, promises=[promise], method=method)
    release = rt.publish(job, frame=frame, seed=1)
    for condition in ("illness = 'a'", "illness <> 'b'", "illness = 'd' OR illness = 'c'"):
        kept = [Fraction(value) for value in frame.filter(pl.sql_expr(condition))["weight"].to_list()]
        wanted = {"SUM": sum(kept), "AVG": sum(kept) / len(kept), "MIN": min(kept), "MAX": max(kept)}
        for aggregate, true in wanted.items():
            answer = release.query(f"SELECT {aggregate}(weight) FROM release WHERE {condition}")
            assert Fraction(answer.lower) <= true <= Fraction(answer.upper), (aggregate, condition)


@pytest.mark.parametrize("place", [rt.quasi(), rt.quasi(numeric=True)], ids=["values", "numbers"])
def test_numbers_of_which_nothing_is_published_are_not_estimated_and_every_row_has_a_line(place):
    """`*` for everybody and no domain: no number is a guess, and people of towns that no label shows stand in the last line."""
    rows = 40
    frame = pl.DataFrame(
        {
            "town": ["Ayr"] * 20 + [f"t{at}" for at in range(20)],
            "place": [None if at % 2 else at * 1.5 for at in range(rows)],
            "illness": ["flu", "cold"] * (rows // 2),
        }
    )
    columns = {"town": rt.quasi(), "place": place, "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(20)]), frame=frame, seed=1)
    assert set(release.frame()["place"]) == {"*"}
    for aggregate in ("MIN", "MAX", "AVG", "SUM"):
        answer = release.query(f"SELECT {aggregate}(place) FROM release")
        assert (answer.estimate, answer.lower, answer.upper) == (None, None, None)
        assert "nothing that is published limits their numbers" in answer.note
        counted = release.query("SELECT town, COUNT(*) FROM release GROUP BY town")
        lines = release.query(f"SELECT town, {aggregate}(place) FROM release GROUP BY town")
        assert [line.keys for line in lines] == [line.keys for line in counted]
        assert lines[-1].rest
