"""What two tables have in common is estimated from a sample of the earlier one: against counting."""

from __future__ import annotations

import random
from collections import Counter

import polars as pl
import pytest

from reticent.ledger.fingerprint import SAMPLE_SIZE, CountedRows, HashedRows, measure_similarity

KEY = b"a key of a test, which makes the samples those of every run"


def rows(count: int, seed: int, values: int) -> list[tuple[int, ...]]:
    """Rows of three columns, some of them frequent."""
    draw = random.Random(seed)
    return [tuple(int(values * draw.random() ** 2) for _ in range(3)) for _ in range(count)]


def hashed(listed: list[tuple[int, ...]]) -> HashedRows:
    frame = pl.LazyFrame(listed, schema=["a", "b", "c"], orient="row")
    return CountedRows.from_frame(frame, ["a", "b", "c"]).hash_values(KEY)


def share(one: list, other: list) -> float:
    return (Counter(one) & Counter(other)).total() / min(len(one), len(other))


@pytest.mark.parametrize("values", [5, 30, 1_000])
@pytest.mark.parametrize("kept", [0, 500, 4_000, 7_000, 8_000])
@pytest.mark.parametrize("added", [0, 4_000])
def test_the_share_is_about_what_counting_finds(values, kept, added):
    earlier = rows(8_000, 1, values)
    later = earlier[:kept] + rows(added or 8_000 - kept, 2, values)
    if not later:
        later = earlier[1:]
    found = measure_similarity(hashed(later), hashed(earlier).content)
    assert found is not None
    exact = len(hashed(earlier).counts) <= SAMPLE_SIZE
    assert found.share == pytest.approx(share(earlier, later), abs=1e-9 if exact else 0.09)


@pytest.mark.parametrize("values", [2, 5, 30, 1_000])
def test_what_strangers_share_is_about_what_they_share(values):
    earlier = rows(8_000, 1, values)
    later = rows(8_000, 2, values)
    found = measure_similarity(hashed(later), hashed(earlier).content)
    assert found is not None
    assert found.strangers == pytest.approx(share(earlier, later), abs=0.1)
    assert not found.is_near
    assert measure_similarity(hashed(earlier[1:]), hashed(earlier).content).is_near


def test_tables_without_a_common_column_are_not_compared():
    other = CountedRows.from_frame(pl.LazyFrame({"x": [1, 2]}), ["x"]).hash_values(KEY)
    assert measure_similarity(other, hashed(rows(10, 1, 5)).content) is None


def test_spellings_and_missing_values_are_counted_as_what_they_mean():
    one = CountedRows.from_frame(
        pl.LazyFrame({"a": ["1", "1.0", "x", None, " x"], "b": [1, 1, None, 2, None]}), ["a", "b"]
    )
    two = CountedRows.from_frame(
        pl.LazyFrame({"b": [None, None, 1.0, 1.0, 2.0], "a": ["x", "x", "1", "1", None]}), ["b", "a"]
    )
    first = one.hash_values(KEY).content
    second = two.hash_values(KEY).content
    assert first.mark == second.mark
    assert sorted(first.counts) == sorted(second.counts) == [1, 2, 2]
