"""Numbering and grouping of any column type, against Python's own sets and counters."""

from collections import Counter
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

from reticent.audit.groups import group_rows, number_values

SERIES = {
    "texts": pl.Series(["b", "a", None, "", "b"]),
    "categories": pl.Series(["b", "a", None, "a"], dtype=pl.Categorical),
    "small": pl.Series([3, 200, None, 3], dtype=pl.UInt8),
    "negative": pl.Series([-128, 127, None, -128], dtype=pl.Int8),
    "far apart": pl.Series([-(2**63), 2**63 - 1, None, 0], dtype=pl.Int64),
    "unsigned": pl.Series([2**64 - 1, 0, None, 5], dtype=pl.UInt64),
    "sparse": pl.Series([10**15, -5, None, 10**15], dtype=pl.Int64),
    "reals": pl.Series([0.5, float("nan"), None, 0.5, -1.0]),
    "truths": pl.Series([True, None, False, True]),
    "dates": pl.Series([date(2001, 1, 1), None, date(1901, 1, 1)]),
    "times": pl.Series([datetime(2001, 1, 1, 5), None, datetime(2001, 1, 1, 5)]),
    "nothing": pl.Series([None, None, None]),
    "no texts": pl.Series([None, None], dtype=pl.String),
    "no numbers": pl.Series([None, None], dtype=pl.Int64),
}


@pytest.mark.parametrize("name", SERIES)
def test_equal_values_share_a_number_and_no_others_do(name):
    series = SERIES[name]
    found = number_values(series)
    values = [None if value != value else value for value in series.to_list()]
    assert [found.distinct.to_list()[code] for code in found.codes.tolist()] == values
    assert len(found) == len(set(values))


@pytest.mark.parametrize("word", [1 << 62, 40])
def test_groups_are_the_distinct_rows_even_where_they_do_not_fit_a_word(word):
    rng = np.random.default_rng(0)
    columns = [pl.Series(rng.integers(0, 5, 300).astype(str)) for _ in range(4)]
    numbered = [number_values(column) for column in columns]
    found = group_rows(numbered, 300, max_word=word)
    rows = Counter(zip(*(column.to_list() for column in columns), strict=True))
    labels = [
        tuple(column.distinct[int(code)] for column, code in zip(numbered, row, strict=True)) for row in found.labels
    ]
    assert dict(zip(labels, found.sizes.tolist(), strict=True)) == rows
    values = pl.Series(rng.choice(["x", "y", "z"], 300))
    counts = found.counts(number_values(values), max_word=word)
    assert counts.sizes.tolist() == found.sizes.tolist()
    pairs = Counter(zip(*(column.to_list() for column in columns), values.to_list(), strict=True))
    assert sorted(counts.count.tolist()) == sorted(pairs.values())
