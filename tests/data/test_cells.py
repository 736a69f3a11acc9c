"""Cells: the same whatever the order of rows, packed in as few words as they need."""

import random

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data.cells import build_cells, pack_codes
from reticent.data.codec import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column, Role
from reticent.data.domain import build_range_domain
from tests.support.strategies import tables


def cells_of(table, rows):
    frame = pl.DataFrame(rows, schema_overrides={}, infer_schema_length=None)
    columns = {
        name: Column(
            entry["role"],
            type=entry["kind"] if entry["kind"] != "ordinal" else None,
            hierarchy=entry["hierarchy"],
            order=entry["order"],
            missing="category" if entry["role"] == "sensitive" else "refuse",
        )
        for name, entry in table.columns.items()
    }
    keys = list(columns)
    counted = frame.select(keys).group_by(keys).len(name=COUNT_COLUMN)
    return encode_cells(counted, columns)[0]


@given(tables(missing_sensitive=True, awkward=True), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_cells_do_not_depend_on_the_order_of_rows_and_count_every_row(table, chance):
    rows = list(table.rows)
    one = cells_of(table, rows)
    chance.shuffle(rows)
    two = cells_of(table, rows)
    assert np.array_equal(one.codes, two.codes) and np.array_equal(one.values, two.values)
    assert np.array_equal(one.counts, two.counts) and one.rows == len(rows)
    both = np.hstack([one.codes, one.values])
    assert [tuple(row) for row in both.tolist()] == sorted({tuple(row) for row in both.tolist()})


@given(tables(missing_sensitive=True), st.data())
@settings(max_examples=40, deadline=None)
def test_cells_are_the_distinct_rows_with_their_counts(table, data):
    cells = cells_of(table, table.rows)
    printed = {}
    domains = (*cells.quasi, *cells.sensitive)
    for codes, count in zip(np.hstack([cells.codes, cells.values]).tolist(), cells.counts.tolist(), strict=True):
        key = tuple(
            None if code == domain.null_code else domain.texts[code]
            for code, domain in zip(codes, domains, strict=True)
        )
        printed[key] = printed.get(key, 0) + count
    names = [
        name
        for role in (Role.QUASI, Role.SENSITIVE)
        for name, entry in table.columns.items()
        if entry["role"] == role.value
    ]
    expected: dict = {}
    for row in table.rows:
        key = tuple(None if row[name] is None else str(row[name]) for name in names)
        expected[key] = expected.get(key, 0) + 1
    assert sorted(printed.values()) == sorted(expected.values())
    if all(entry["kind"] != "numeric" for entry in table.columns.values()):
        assert printed == expected


def test_codes_beyond_one_word_take_several_and_sort_alike():
    draw = random.Random(5)
    sizes = np.array([2**30, 2**20, 2**20, 7])
    codes = np.array([[draw.randrange(int(size)) for size in sizes] for _ in range(200)], np.int32)
    words = pack_codes(codes, sizes)
    assert len(words) == 2
    assert np.lexsort(words[::-1]).tolist() == np.lexsort(codes.T[::-1]).tolist()
    assert len(pack_codes(codes[:, 1:], sizes[1:])) == 1


def test_equal_combinations_are_added_up():
    domain = build_range_domain("q", "numeric", "Int64", ["1", "2"], np.array([1, 2]), null=False)
    codes = np.array([[1], [0], [1]], np.int32)
    cells, cell = build_cells((domain,), (), codes, np.zeros((3, 0), np.int32), np.array([5, 6, 7]))
    assert cells.counts.tolist() == [6, 12] and cell.tolist() == [1, 0, 1] and len(cells) == 2


def test_no_columns_are_one_cell():
    nothing = np.zeros((3, 0), np.int32)
    cells, cell = build_cells((), (), nothing, nothing, np.array([1, 2, 3]))
    assert cells.counts.tolist() == [6] and cell.tolist() == [0, 0, 0]
