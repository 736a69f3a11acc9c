"""The oracle's own reader of labels, and its matching of published to source rows."""

from datetime import date
from fractions import Fraction as F
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.labels import covered, covers, describe, split_parts
from tests.oracle.row_matching import is_covering, matched_rows

AGE = describe("numeric", [20, 25, 29, 30, None])
TREE = describe("categorical", ["a", "b", "c"], hierarchy=[["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])


def test_a_range_covers_its_ends_and_never_the_null():
    assert covered("[20, 29]", AGE) == {F(20), F(25), F(29)}
    assert covers("[20, 29]", AGE, 22) and not covers("[20, 29]", AGE, None)
    assert covers("[-1.5, 2e1]", AGE, 20.0)


def test_a_star_covers_everything_and_an_empty_label_the_null_alone():
    assert covered("*", AGE) == {F(20), F(25), F(29), F(30), None}
    assert covered("", AGE) == covered(None, AGE) == {None}


def test_dates_are_read_as_iso():
    column = describe("date", ["2020-01-31", date(2020, 2, 1), "2021-01-01"])
    assert covered("[2020-01-01, 2020-12-31]", column) == {date(2020, 1, 31), date(2020, 2, 1)}
    assert covered("2021-01-01", column) == {date(2021, 1, 1)}


def test_an_ordinal_range_follows_the_given_order():
    column = describe("ordinal", ["low", "high"], order=["low", "medium", "high"])
    assert covered("[medium, high]", column) == {"medium", "high"}
    with pytest.raises(ValueError):
        covered("[a, c]", TREE)


def test_a_node_covers_its_leaves_and_the_root_the_null_too():
    assert covered("ab", TREE) == {"a", "b"}
    assert covered("c", TREE) == {"c"}
    assert covered("{a, c}", TREE) == {"a", "c"}
    assert None in covered("*", TREE) and None not in covered("ab", TREE)


def test_a_label_of_two_different_nodes_is_refused():
    twice = describe("categorical", [], hierarchy=[["a", "x", "y", "*"], ["b", "z", "x", "*"], ["c", "z", "x", "*"]])
    with pytest.raises(ValueError):
        covered("x", twice)


def test_an_interval_that_names_a_node_means_the_node():
    column = describe("numeric", [], hierarchy=[["1", "[1, 2]", "*"], ["2", "[1, 2]", "*"], ["3", "[3, 3]", "*"]])
    assert covered("[1, 2]", column) == {"1", "2"} and covers("[1, 2]", column, 2)


def test_quoted_values_are_taken_literally():
    column = describe("categorical", ["*", "{a, b}", "a", "b", "a, b", "", '"'])
    assert covered('"*"', column) == {"*"}
    assert covered('"{a, b}"', column) == {"{a, b}"}
    assert covered("{a, b}", column) == {"a", "b"}
    assert covered('{"a, b", b, ""}', column) == {"a, b", "b", ""}
    assert covered('""', column) == {""}
    assert covered('"\\""', column) == {'"'}


def test_a_value_the_column_lacks_is_an_error():
    with pytest.raises(ValueError):
        covered("z", TREE)
    assert split_parts('"a" b') is None and split_parts("a, ") is None


def test_rows_must_be_covered_with_their_own_sensitive_value():
    source = [((20,), "x"), ((25,), "y"), ((30,), "x")]
    published = [(("[20, 25]",), "x"), (("[20, 25]",), "y"), (("30",), "x")]
    assert is_covering(source, published, [AGE])
    swapped = [(("[20, 25]",), "x"), (("[20, 25]",), "x"), (("30",), "y")]
    assert not is_covering(source, swapped, [AGE])
    assert is_covering(source, swapped, [AGE], same_sensitive=False)
    assert is_covering(source, published[:2], [AGE], withheld=1)
    assert not is_covering(source, published[:2], [AGE])


def test_two_rows_may_not_stand_for_one_person():
    source = [((20,), "x"), ((30,), "x")]
    assert matched_rows(source, [(("20",), "x"), (("[20, 25]",), "x")], [AGE]) == 1
    assert matched_rows(source, [(("[20, 30]",), "x"), (("20",), "x")], [AGE]) == 2


def test_every_column_must_cover():
    assert matched_rows([((20, "a"), "x")], [(("20", "b"), "x")], [AGE, TREE]) == 0
    assert matched_rows([((20, "a"), "x")], [(("20", "ab"), "x")], [AGE, TREE]) == 1


ENDS = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(sorted)


def published_ranges(ranges):
    return [((f"[{low}, {high}]" if low < high else str(low),), "x") for low, high in ranges]


@given(st.lists(st.integers(0, 5), max_size=30), st.lists(ENDS, max_size=30))
def test_for_ranges_the_matching_is_glovers_who_serves_the_range_that_closes_first(ages, ranges):
    found = matched_rows([((age,), "x") for age in ages], published_ranges(ranges), [describe("numeric", range(6))])
    waiting = sorted(ranges, key=lambda ends: ends[1])
    served = 0
    for age in sorted(ages):
        first = next((ends for ends in waiting if ends[0] <= age <= ends[1]), None)
        if first is not None:
            waiting.remove(first)
            served += 1
    assert found == served


@given(st.lists(st.integers(0, 5), max_size=5), st.lists(ENDS, max_size=5))
def test_the_matching_is_as_large_as_the_best_of_all_assignments(ages, ranges):
    column = describe("numeric", range(6))
    found = matched_rows([((age,), "x") for age in ages], published_ranges(ranges), [column])
    padded = ages + [99] * len(ranges)
    tries = permutations(padded, len(ranges))
    best = max(sum(low <= a <= high for a, (low, high) in zip(t, ranges, strict=True)) for t in set(tries))
    assert found == best
