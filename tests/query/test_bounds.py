"""Guaranteed bounds are those of enumeration, and the true answer lies between them.

RETICENT_QUERIES=all asks every question of the full count (`make queries`); the suite asks a sample.
"""

from __future__ import annotations

import os

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.query import ask
from tests.oracle import query_answers as oracle
from tests.query import questions, worlds

FULL = os.environ.get("RETICENT_QUERIES") == "all"
SMALL = 2_000 if FULL else 30  # conditions for each kind, each with six aggregates
LARGE = 5_600 if FULL else 30
KINDS = ("generalized", "anatomized", "transformed", "sampled")
OF_BOXES = {name: worlds.CONSTANTS[name] for name in ("age", "town")}


def world(rng, kind: str, *, small: bool):
    if kind == "generalized":
        return worlds.generalized(rng, int(rng.integers(1, 5)) if small else int(rng.integers(5, 40)))
    sizes = rng.integers(1, 4, rng.integers(1, 3)) if small else rng.integers(2, 7, rng.integers(2, 9))
    if kind == "sampled":
        return worlds.sampled(rng, [int(size) for size in sizes])
    return worlds.grouped(rng, sizes.tolist(), kind)


def asked(rng, kind: str):
    """A condition, and the columns and aggregates to ask with it; what `bounds` looks up is not drawn, so it is not asked for."""
    if kind == "sampled":  # of these, bounds are over quasi-identifiers
        return questions.condition(rng, OF_BOXES), "age"
    condition = questions.condition(rng, worlds.CONSTANTS)
    column = ("age", "note", "pay")[rng.integers(3)]
    if kind == "transformed" and column == "pay" and "pay" not in questions.columns_of(condition):
        column = "age"
    return condition, column


def answers(made, condition, column):
    listed = ", ".join(["COUNT(*)", *(f"{name.upper()}({column})" for name in questions.AGGREGATES)])
    return ask(made.tables, made.manifest, f"SELECT {listed} FROM release WHERE {questions.sql(condition)}")


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_those_of_enumeration(kind: str):
    rng = np.random.default_rng(7)
    for _ in range(SMALL):
        made = world(rng, kind, small=True)
        condition, column = asked(rng, kind)
        rows = list(made.possible(condition, None))
        numbers = list(made.possible(condition, column))
        for name, found in zip(("rows", *questions.AGGREGATES), answers(made, condition, column), strict=True):
            ends = oracle.ends("count", rows) if name == "rows" else oracle.ends(name, numbers)
            told = None if found.lower is None and found.upper is None else (found.lower, found.upper)
            wanted = None if ends is None else tuple(float(end) for end in ends)
            assert (told if told is None else tuple(map(float, told))) == (
                wanted if wanted is None else pytest.approx(wanted, rel=1e-12)
            ), (name, column, condition, made.tables)
            if ends is not None and found.estimate is not None:
                assert found.lower <= found.estimate <= found.upper


@pytest.mark.parametrize("kind", ["generalized", "anatomized", "transformed"])
def test_bounds_with_withheld_rows_are_those_of_enumeration(kind: str):
    rng = np.random.default_rng(9)
    for _ in range(SMALL // 2):
        made = worlds.with_withheld(world(rng, kind, small=True), int(rng.integers(1, 3)))
        condition = questions.condition(rng, worlds.CONSTANTS)
        rows, numbers = (oracle.distinct(made.possible(condition, column)) for column in (None, "age"))
        for name, found in zip(("rows", *questions.AGGREGATES), answers(made, condition, "age"), strict=True):
            ends = oracle.ends("count", rows) if name == "rows" else oracle.ends(name, numbers)
            told = None if found.lower is None and found.upper is None else (found.lower, found.upper)
            wanted = None if ends is None else tuple(float(end) for end in ends)
            assert (told if told is None else tuple(map(float, told))) == (
                wanted if wanted is None else pytest.approx(wanted, rel=1e-12)
            ), (name, condition, made.tables)
            assert found.published is not None


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_never_miss(kind: str):
    rng = np.random.default_rng(8)
    for _ in range(LARGE):
        made = world(rng, kind, small=False)
        condition, column = asked(rng, kind)
        outcomes = {of: [oracle.outcome(condition, of, row) for row in made.original] for of in (None, column)}
        for name, found in zip(("rows", *questions.AGGREGATES), answers(made, condition, column), strict=True):
            true = (
                oracle.aggregated("count", outcomes[None])
                if name == "rows"
                else oracle.aggregated(name, outcomes[column])
            )
            if true is not None:
                slack = abs(float(true)) * 1e-15
                case = (name, column, condition, made.tables)
                assert found.lower is None or found.lower <= float(true) + slack, case
                assert found.upper is None or float(true) <= found.upper + slack, case


def test_an_average_of_decimals_is_found_where_two_matchings_differ_by_a_rounding_only():
    """Comparing doubles, the search for the best matching of these rows went round in circles."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 9, 80),
            "warmth": np.round(rng.normal(0, 5, 80), 1),
            "pay": rng.choice([-5, -1, 0, 3, 7, 12], 80),
        }
    )
    columns = {"age": rt.quasi(), "warmth": rt.quasi(), "pay": rt.sensitive(type="numeric")}
    job = rt.Job(columns=columns, promises=[rt.PPrivacy("uniform")], method=rt.Distribution())
    release = rt.publish(job, frame=frame, seed=1)
    for condition, kept in {
        "pay >= 11": pl.col("pay") >= 11,
        "age > 4 OR pay > 3": (pl.col("age") > 4) | (pl.col("pay") > 3),
        "(age > 4 OR pay <> -5) AND NOT pay < 11": pl.col("pay") >= 11,
    }.items():
        found = release.query(f"SELECT AVG(warmth) FROM release WHERE {condition}")
        assert found.lower <= frame.filter(kept)["warmth"].mean() <= found.upper
