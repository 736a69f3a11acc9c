"""Combinations are numbered alike whether they are marked in an array or sorted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from reticent.audit.groups import NumberedColumn, combine_columns, enumerate_words


@pytest.mark.parametrize("dense", [1, 20, 300, 1 << 21])
@pytest.mark.parametrize("word", [50, 1 << 62])
def test_combinations_are_numbered_in_the_order_of_their_codes(dense, word):
    rng = np.random.default_rng(3)
    for _ in range(20):
        sizes = rng.integers(1, 9, rng.integers(1, 5))
        codes = np.column_stack([rng.integers(0, size, 60) for size in sizes])
        columns = [
            NumberedColumn(column.astype(np.int32), pl.Series(range(size)))
            for column, size in zip(codes.T, sizes, strict=True)
        ]
        many, of_row = combine_columns(columns, 60, max_word=word, max_marked=dense)
        distinct, wanted = np.unique(codes, axis=0, return_inverse=True)
        assert many == len(distinct)
        assert (of_row == wanted.reshape(-1)).all()


def test_no_columns_are_one_combination_and_no_rows_are_none():
    assert combine_columns([], 3)[0] == 1
    assert enumerate_words(np.zeros(0, np.int64), 1)[0].tolist() == []
