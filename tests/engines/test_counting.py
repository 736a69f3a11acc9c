"""Combinations that are tallied in an array are those of a group-by, whatever the columns and the pieces."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from reticent.engines import counting
from reticent.engines.counting import TallyLimits

COLUMNS = {
    "small": lambda rng, n: pl.Series(rng.integers(0, 5, n), dtype=pl.UInt8),
    "negative": lambda rng, n: pl.Series(rng.integers(-7, 3, n)),
    "huge": lambda rng, n: pl.Series(rng.integers(0, 4, n), dtype=pl.UInt64) + (2**64 - 9),
    "large": lambda rng, n: pl.Series(rng.integers(0, 3, n), dtype=pl.UInt64) + 2**40,
    "far apart": lambda rng, n: pl.Series(rng.integers(-(2**62), 2**62, n)),
    "truth": lambda rng, n: pl.Series(rng.integers(0, 2, n), dtype=pl.Boolean),
    "text": lambda rng, n: pl.Series(rng.choice(["a", "b", ""], n)).cast(pl.Categorical),
    "day": lambda rng, n: pl.Series([date(1999, 1, 1) + timedelta(int(d)) for d in rng.integers(0, 4, n)]),
    "fraction": lambda rng, n: pl.Series(rng.integers(0, 3, n) / 4),
    "nothing": lambda rng, n: pl.Series([None] * n, dtype=pl.Int16),
}


def with_nulls(series: pl.Series, rng: np.random.Generator) -> pl.Series:
    return series.set(pl.Series(rng.random(len(series)) < 0.2), None)


@pytest.mark.parametrize(
    "pieces",
    [
        {},
        {"batch_rows": 40, "block_rows": 8},
        {"batch_rows": 40, "combinations_per_row": 1},
        {"batch_rows": 40, "combinations": 12},
        {"batch_rows": 40, "combinations": 12, "held_rows": 90},
        {"batch_rows": 20, "held_rows": 5},
    ],
)
@pytest.mark.parametrize("missing", [False, True])
def test_tallies_are_those_of_a_group_by(pieces, missing):
    rng = np.random.default_rng(7)
    for trial in range(12):
        names = list(rng.choice(list(COLUMNS), rng.integers(1, 4), replace=False))
        made = [COLUMNS[name](rng, 200).alias(name) for name in names]
        frame = pl.DataFrame([with_nulls(one, rng) if missing and trial % 2 else one for one in made])
        found = counting.count_combinations(frame.lazy(), "times", "Counting", TallyLimits(**pieces))
        wanted = frame.group_by(names).len(name="times")
        assert_frame_equal(found, wanted, check_row_order=False)


def test_a_table_without_rows_has_no_combinations():
    frame = pl.DataFrame({"a": []}, schema={"a": pl.Int8})
    assert len(counting.count_combinations(frame.lazy(), "times", "Counting")) == 0


def test_few_possible_combinations_are_tallied_and_many_are_grouped():
    frame = pl.DataFrame({"a": [1, 2, 2], "b": [0, 9, 9]})
    assert counting.CombinationCounter().add(frame)
    assert not counting.CombinationCounter(TallyLimits(combinations_per_row=6)).add(frame)
    assert not counting.CombinationCounter(TallyLimits(combinations=19)).add(frame)


def test_numbers_beyond_those_so_far_make_the_array_anew():
    pieces = [[5, 5], [7], [None, 5], [-3, 7, None], [None]]
    tallies = counting.CombinationCounter()
    for piece in pieces:
        assert tallies.add(pl.DataFrame({"a": pl.Series(piece, dtype=pl.Int64)}))
    assert dict(tallies.get_result("times").rows()) == {5: 3, 7: 2, None: 3, -3: 1}


def test_a_column_that_begins_with_missing_values_is_numbered_by_those_that_follow():
    tallies = counting.CombinationCounter()
    for piece in ([None], [1000, None], [1001]):
        assert tallies.add(pl.DataFrame({"a": pl.Series(piece, dtype=pl.Int64)}))
    assert tallies.spans == [counting.CodeSpan(1000, 1001, True)]
    assert dict(tallies.get_result("times").rows()) == {None: 2, 1000: 1, 1001: 1}


def test_rows_that_are_tried_again_are_counted_once():
    """Two rows have room for 64 combinations, however often they are tried."""
    tallies = counting.CombinationCounter()
    piece = pl.DataFrame({"number": [0, 99]})
    assert not tallies.add(piece) and not tallies.add(piece, came_before=True)
    assert tallies.add(piece)
