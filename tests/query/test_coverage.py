"""Intervals at 95 % cover the truth in 93 to 97 % of releases drawn again from one table.

That is what `make queries` asks of 1,500 draws.  The suite draws 60, of which the share that is covered varies by more than that: it
allows three standard deviations of 60 draws, as if all questions to a draw were covered together, and so finds gross faults only.
"""

from __future__ import annotations

import os

import numpy as np
import polars as pl
import pytest

from reticent.query import QueryOptions, ask
from reticent.release.sampled import CUT_GROUPS_NOTE
from tests.oracle import query_answers as oracle
from tests.query import questions
from tests.support import repeated_releases

FULL = os.environ.get("RETICENT_QUERIES") == "all"
DRAWS = 1_500 if FULL else 60
REACH = 0.02 if FULL else 3 * (0.95 * 0.05 / DRAWS) ** 0.5
CONSTANTS = {"age": [24, 30, 38, 45, 52], "town": ["a", "b", "c"], "pay": repeated_releases.PAYS}
ANY = [
    ("count", None, ("=", "pay", 10)),
    ("count", None, ("and", ("=", "pay", 50), ("and", ("=", "town", "a"), ("<", "age", 23)))),
    ("count", None, ("or", (">=", "pay", 30), ("<", "age", 30))),
    ("sum", "pay", (">", "age", 50)),
    ("avg", "pay", ("=", "town", "a")),
    ("avg", "age", ("=", "pay", 10)),
    ("sum", "age", ("and", ("<>", "pay", 20), ("=", "town", "b"))),
]
OF_VALUES = [
    ("count", None, ("=", "pay", 10)),
    ("count", None, (">=", "pay", 30)),
    ("count", None, ("or", ("=", "pay", 50), ("=", "pay", 20))),
    ("sum", "pay", (">=", "pay", 20)),
    ("avg", "pay", ("<>", "pay", 30)),
]
OF_BOXES = [
    ("count", None, ("and", ("<", "pay", 30), ("=", "town", "a"))),
    ("count", None, ("and", ("=", "pay", 40), ("<>", "town", "b"))),
    ("count", None, ("or", ("=", "pay", 10), ("=", "town", "c"))),
    ("sum", "pay", ("=", "town", "b")),
    ("avg", "pay", ("=", "town", "c")),
]

CUT = [
    ("count", None, ("and", ("<", "age", 24), ("<", "pay", 30))),
    ("count", None, ("and", (">", "age", 50), ("=", "pay", 10))),
    ("count", None, ("and", (">=", "age", 30), ("and", ("<", "age", 38), (">=", "pay", 30)))),
    ("sum", "pay", ("<", "age", 30)),
    ("avg", "pay", (">", "age", 45)),
]


def text(name, column, condition) -> str:
    return f"SELECT {name}({column or '*'}) FROM release WHERE {questions.sql(condition)}"


def truth(frame: pl.DataFrame, name, column, condition):
    return float(
        oracle.aggregated(name, [oracle.outcome(condition, column, row) for row in frame.iter_rows(named=True)])
    )


def coverage(frame, manifest, draw, asked) -> float:
    rng = np.random.default_rng(3)
    inside = 0
    true = [truth(frame, *one) for one in asked]
    for _ in range(DRAWS):
        tables = draw(rng)
        for one, wanted in zip(asked, true, strict=True):
            low, high = ask(tables, manifest, text(*one)).interval
            inside += low <= wanted <= high
    return inside / (DRAWS * len(asked))


def drawn(number: int) -> list:
    """Random conditions that speak of the sensitive column and select somebody."""
    rng = np.random.default_rng(4)
    found = []
    rows = list(repeated_releases.people().iter_rows(named=True))
    while len(found) < number:
        condition = questions.condition(rng, CONSTANTS)
        some = sum(oracle.outcome(condition, None, row) is not None for row in rows)
        if "pay" in questions.columns_of(condition) and 0 < some < len(rows):
            found.append(("count", None, condition))
    return found


def test_intervals_of_a_perturbed_release_cover_the_truth_whatever_the_condition():
    frame = repeated_releases.people()
    assert coverage(frame, *repeated_releases.perturbed(frame), [*ANY, *drawn(8)]) == pytest.approx(0.95, abs=REACH)


def test_intervals_of_a_sampled_release_cover_the_truth_where_the_sensitive_column_alone_is_asked_about():
    frame = repeated_releases.people()
    manifest, draw = repeated_releases.sampled(frame)
    assert coverage(frame, manifest, draw, OF_VALUES) == pytest.approx(0.95, abs=REACH)


def test_intervals_of_a_sampled_release_cover_the_truth_where_boxes_are_selected_as_a_whole():
    """No group has people of two towns."""
    frame = repeated_releases.people()
    manifest, draw = repeated_releases.sampled(frame)
    for one in OF_BOXES:
        assert CUT_GROUPS_NOTE not in ask(draw(np.random.default_rng(1)), manifest, text(*one)).note
    assert coverage(frame, manifest, draw, OF_BOXES) == pytest.approx(0.95, abs=REACH)


def test_intervals_of_a_sampled_release_hold_where_a_handful_of_groups_is_selected():
    """Eight groups of sixty: few rows cannot tell their own spread, and may all show one value."""
    frame = repeated_releases.people()
    manifest, draw = repeated_releases.sampled(frame, k=60)
    assert len(draw(np.random.default_rng(1))["data"]) == 8
    assert coverage(frame, manifest, draw, OF_BOXES) == pytest.approx(0.95, abs=REACH)


def test_where_a_condition_cuts_boxes_of_people_who_are_spread_evenly_intervals_hold_nearly():
    """What is left is that ages are not spread quite evenly; docs/queries.md has the figures."""
    frame = repeated_releases.people()
    for k in (10, 60):
        manifest, draw = repeated_releases.sampled(frame, k=k)
        assert "biased" in ask(draw(np.random.default_rng(1)), manifest, text(*CUT[0])).note
        assert coverage(frame, manifest, draw, CUT) >= 0.95 - REACH - 0.01


def test_where_a_condition_cuts_boxes_the_answer_says_that_it_may_be_biased():
    frame = repeated_releases.people(uneven=True)
    manifest, draw = repeated_releases.sampled(frame, k=60)
    asked = ("count", None, ("and", ("<", "age", 24), ("<", "pay", 30)))
    rng = np.random.default_rng(1)
    found = [ask(draw(rng), manifest, text(*asked)) for _ in range(DRAWS)]
    assert "biased" in found[0].note
    bias = np.mean([one.estimate for one in found]) - truth(frame, *asked)
    assert not FULL or abs(bias) > 2 * np.std([one.estimate for one in found]) / np.sqrt(DRAWS)


@pytest.mark.parametrize("level", [0.5, 0.99])
def test_a_level_can_be_chosen(level):
    manifest, draw = repeated_releases.perturbed(repeated_releases.people())
    found = ask(
        draw(np.random.default_rng(1)),
        manifest,
        "SELECT COUNT(*) FROM release WHERE pay = 10",
        QueryOptions(level=level),
    )
    low, high = found.interval
    assert found.to_dict()["level"] == level
    assert (high - low) / (2 * found.std_error) == pytest.approx({0.5: 0.6745, 0.99: 2.5758}[level], rel=0.02)
