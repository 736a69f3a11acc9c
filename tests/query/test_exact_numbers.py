"""Numbers that a double does not hold are compared as they are, and means are rounded outwards."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

import reticent as rt

LARGE = 2**62


@pytest.fixture(scope="module")
def release() -> rt.Release:
    """Exact quasi-identifiers that differ in their last digit alone, two rows of each."""
    numbers = [LARGE + step for step in range(20)]
    frame = pl.DataFrame({"number": numbers * 2, "illness": ["flu", "cold"] * 20})
    columns = {"number": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method="anatomy")
    return rt.publish(job, frame=frame, seed=1)


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (f"number >= {LARGE + 7}", 26),
        (f"number > {LARGE + 7}", 24),
        (f"number = {LARGE + 7}", 2),
        (f"number <> {LARGE + 7}", 38),
        (f"number BETWEEN {LARGE + 3} AND {LARGE + 4}", 4),
        (f"number IN ({LARGE + 1}, {LARGE + 5})", 4),
        (f"number < -{LARGE}", 0),
    ],
)
def test_whole_numbers_beyond_a_double_are_told_apart(release, condition, wanted):
    answer = release.query(f"SELECT COUNT(*) FROM release WHERE {condition}")
    assert (answer.lower, answer.upper) == (wanted, wanted)


def test_a_mean_of_decimals_lies_between_its_bounds_as_a_fraction():
    """Every group's mean is a third or a seventh of something: no double is one of them."""
    values = [0.1, 0.2, 0.7, 1.3, 2.9, 0.1, 0.3] * 6
    frame = pl.DataFrame(
        {"age": [20 + i % 7 for i in range(42)], "cost": values, "illness": ["flu", "cold", "gout"] * 14}
    )
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "cost": rt.insensitive(acknowledge=True)}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(3)], method="mondrian")
    release = rt.publish(job, frame=frame, seed=1)
    for condition in ("age >= 20", "age >= 23", "illness = 'flu'"):
        answer = release.query(f"SELECT AVG(cost) FROM release WHERE {condition}")
        kept = frame.filter(pl.sql_expr(condition))["cost"].to_list()
        mean = sum(map(Fraction, kept)) / len(kept)
        assert Fraction(answer.lower) <= mean <= Fraction(answer.upper)


def _true(aggregate: str, numbers: list[int]) -> Fraction:
    if aggregate in ("SUM", "AVG"):
        return Fraction(sum(numbers), 1 if aggregate == "SUM" else len(numbers))
    return Fraction(min(numbers) if aggregate == "MIN" else max(numbers))


@pytest.mark.parametrize("least", [2**62, -(2**62), 2**53, -(2**53) - 19, 0])
def test_bounds_over_groups_hold_of_whole_numbers_that_a_double_does_not_hold(least):
    numbers = [least + step for step in range(20)]
    frame = pl.DataFrame({"number": numbers * 2, "illness": (["flu", "cold"] * 10 + ["cold", "flu"] * 10)})
    columns = {"number": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method="anatomy")
    release = rt.publish(job, frame=frame, seed=1)
    for condition in ("illness = 'flu'", f"illness = 'flu' AND number > {least + 12}"):
        kept = frame.filter(pl.sql_expr(condition))["number"].to_list()
        for aggregate in ("SUM", "AVG", "MIN", "MAX"):
            answer = release.query(f"SELECT {aggregate}(number) FROM release WHERE {condition}")
            truth = _true(aggregate, kept)
            assert Fraction(answer.lower) <= truth <= Fraction(answer.upper), (aggregate, condition)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_that_would_best_be_of_nothing_is_rounded_outwards(sign):
    """Of one table both rows are selected, of the other none, which is no sum."""
    costs = [sign * 0.1, sign * 0.2]
    frame = pl.DataFrame({"cost": costs, "illness": ["flu", "cold"]})
    columns = {"cost": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method="anatomy")
    release = rt.publish(job, frame=frame, seed=1)
    both = f"(cost = {costs[0]} AND illness = 'flu') OR (cost = {costs[1]} AND illness = 'cold')"
    answer = release.query(f"SELECT SUM(cost) FROM release WHERE {both}")
    assert Fraction(answer.lower) <= sum(map(Fraction, costs)) <= Fraction(answer.upper)


UNSIGNED = {
    "anatomized quasi": ({"number": rt.quasi(), "illness": rt.sensitive()}, rt.ProbabilisticLDiversity(2), "anatomy"),
    "anatomized": ({"age": rt.quasi(), "number": rt.sensitive()}, rt.ProbabilisticLDiversity(2), "anatomy"),
    "carried": (
        {"age": rt.quasi(), "illness": rt.sensitive(), "number": rt.insensitive(acknowledge=True)},
        rt.KAnonymity(3),
        "mondrian",
    ),
}


@pytest.mark.parametrize("least", [0, 2**63])
@pytest.mark.parametrize("kind", list(UNSIGNED))
def test_bounds_hold_of_whole_numbers_without_a_sign(kind, least):
    columns, promise, method = UNSIGNED[kind]
    numbers = pl.Series([least + step // 2 for step in range(24)], dtype=pl.UInt64)
    frame = pl.DataFrame({"age": range(20, 44), "number": numbers, "illness": ["flu", "cold", "gout"] * 8})
    job = rt.Job(columns=columns, promises=[promise], method=method, release=rt.Output(undeclared="drop"))
    release = rt.publish(job, frame=frame, seed=1)
    asked = ["illness = 'flu'"] if "illness" in columns else []
    for condition in ("number >= 0", f"number > {least + 5}", *asked):
        kept = frame.filter(pl.sql_expr(condition))["number"].to_list()
        for aggregate in ("SUM", "AVG", "MIN", "MAX"):
            answer = release.query(f"SELECT {aggregate}(number) FROM release WHERE {condition}")
            assert Fraction(answer.lower) <= _true(aggregate, kept) <= Fraction(answer.upper), (aggregate, condition)
            assert least or aggregate == "AVG" or (type(answer.lower), type(answer.upper)) == (int, int)


def test_ranges_of_whole_numbers_beyond_64_bits_are_refused_by_name():
    numbers = pl.Series([2**63 + step // 2 for step in range(24)], dtype=pl.UInt64)
    frame = pl.DataFrame({"number": numbers, "illness": ["flu", "cold", "gout"] * 8})
    job = rt.Job(columns={"number": rt.quasi(numeric=True), "illness": rt.sensitive()}, promises=[rt.KAnonymity(3)])
    release = rt.publish(job, frame=frame, seed=1)
    with pytest.raises(rt.RequestError, match=r"'number' .* beyond 2"):
        release.query("SELECT COUNT(*) FROM release WHERE number > 5")
    assert release.query("SELECT COUNT(*) FROM release WHERE illness = 'flu'").lower == 8
