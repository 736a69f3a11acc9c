"""Who is alone by some columns, against a count by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data.singling_out import count_single_people, number_column


def count_by_hand(rows: list[tuple], persons: list[int]) -> int:
    groups = defaultdict(set)
    for row, person in zip(rows, persons, strict=True):
        groups[row].add(person)
    return len({next(iter(group)) for group in groups.values() if len(group) == 1})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3, st.integers(0, 9)), min_size=1, max_size=30))
def test_counts_are_those_of_a_count_by_hand(rows):
    names = ["a", "b", "c"]
    columns = [np.array([row[place] for row in rows]) for place in range(3)]
    for persons in (None, np.array([row[3] for row in rows])):
        people = list(range(len(rows))) if persons is None else persons.tolist()
        counted = count_single_people(names, columns, persons=persons)
        assert counted.people == len(set(people))
        assert counted.alone == count_by_hand([row[:3] for row in rows], people)
        for entry in counted.columns:
            place = names.index(entry.columns[0])
            assert entry.alone == count_by_hand([(row[place],) for row in rows], people)
        pairs = {entry.columns: entry.alone for entry in counted.pairs}
        for first, second in combinations(range(3), 2):
            expected = count_by_hand([(row[first], row[second]) for row in rows], people)
            assert pairs.get((names[first], names[second]), 0) == expected


def test_entries_of_several_rows_are_counted_with_them():
    table = Counter({(1, 1): 1, (1, 2): 1, (2, 2): 5})
    columns = [np.array([entry[place] for entry in table]) for place in range(2)]
    counted = count_single_people(["a", "b"], columns, np.array(list(table.values())))
    assert (counted.people, counted.alone) == (7, 2)
    assert [entry.alone for entry in counted.columns] == [0, 1]


def test_no_columns_single_nobody_out():
    assert count_single_people([], []).to_dict() == {"people": 0, "alone": 0, "columns": [], "pairs": [], "steps": []}


def test_rows_without_a_value_share_a_code():
    codes = number_column(pl.Series(["x", None, "y", None, "x"])).tolist()
    assert codes[1] == codes[3] == 0 and codes[0] == codes[4] and len(set(codes)) == 3
    assert len(set(number_column(pl.Series([True, False, None])).tolist())) == 3
    assert len(set(number_column(pl.Series([1.5, 2.5, 1.5])).tolist())) == 2
