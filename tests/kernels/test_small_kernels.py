"""Small kernels, compiled and as they stand, against NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reticent.kernels import (
    audit_tallies,
    cell_tallies,
    group_order,
    matching_taken,
    redrawn_counts,
    tree_places,
    within_groups,
)
from tests.support.pure_kernels import pure

pytest.importorskip("cython", reason="a kernel's source imports cython, which the test extra installs")


@pytest.mark.parametrize("kernel", [group_order, pure("group_order")], ids=["compiled", "as it stands"])
@pytest.mark.parametrize("whole", [np.int32, np.int64])
def test_numbers_by_group_are_in_the_order_of_a_stable_sort(kernel, whole):
    rng = np.random.default_rng(1)
    for groups in (1, 7, 400):
        group, number = rng.integers(0, groups, 300).astype(whole), rng.integers(0, 50, 300).astype(whole)
        begin = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))
        placed = np.empty(300, whole)
        kernel.order_by_group(number, group, begin, placed)
        assert (placed == number[np.argsort(group, kind="stable")]).all()


@pytest.mark.parametrize("kernel", [tree_places, pure("tree_places")], ids=["compiled", "as it stands"])
def test_what_rows_add_is_spread_over_the_places_of_their_labels(kernel):
    rng = np.random.default_rng(2)
    covered = rng.random((9, 12)) < 0.4
    first = np.append(0, np.cumsum(covered.sum(axis=1)))
    place = np.nonzero(covered)[1].astype(np.int32)
    label = rng.integers(0, 8, 50).astype(np.int32)  # nobody has the last label
    tallies, scale = rng.random((50, 3)), rng.random(9)
    held, found = np.zeros((9, 4)), np.zeros((6, 3))
    kernel.spread_tallies(label, tallies, scale, first, place, 4, held, found)
    wanted = (covered * scale[:, None])[label].T @ tallies
    assert np.allclose(found, wanted[4:10], rtol=1e-12)
    assert not held.any()


@pytest.mark.parametrize("kernel", [cell_tallies, pure("cell_tallies")], ids=["compiled", "as it stands"])
def test_numbers_are_tallied_and_first_met_where_numpy_says(kernel):
    word = np.random.default_rng(3).integers(0, 40, 200)
    times, first = np.zeros(50, np.int64), np.empty(50, np.int64)
    fresh = kernel.tally_numbers(word[120:], 120, times, first, kernel.tally_numbers(word[:120], 0, times, first, 0))
    numbers, met = np.unique(word, return_index=True)
    assert (times == np.bincount(word, minlength=50)).all()
    assert (np.sort(first[:fresh]) == np.sort(met)).all() and (word[first[:fresh]] == word[np.sort(met)]).all()
    assert fresh == len(numbers)


@pytest.mark.parametrize("kernel", [audit_tallies, pure("audit_tallies")], ids=["compiled", "as it stands"])
def test_a_table_by_hash_counts_as_numpy_does_and_stops_when_it_is_full(kernel):
    word = np.random.default_rng(4).integers(0, 1 << 62, 30)[np.random.default_rng(5).integers(0, 30, 200)]
    keys, times = np.full(64, -1), np.zeros(64, np.int64)
    begin, held = kernel.tally_words(word, 0, keys, times, 0, 16)
    assert held == 16 == (keys >= 0).sum() and begin < len(word)
    larger, counted = np.full(128, -1), np.zeros(128, np.int64)
    kernel.place_words(keys[keys >= 0], times[keys >= 0], larger, counted)
    assert kernel.tally_words(word, begin, larger, counted, held, 64) == (200, len(np.unique(word)))
    order = np.argsort(larger[larger >= 0])
    wanted, often = np.unique(word, return_counts=True)
    assert (larger[larger >= 0][order] == wanted).all() and (counted[larger >= 0][order] == often).all()


@pytest.mark.parametrize("kernel", [redrawn_counts, pure("redrawn_counts")], ids=["compiled", "as it stands"])
def test_rows_are_published_as_the_first_value_whose_share_reaches_the_number_drawn(kernel):
    rng = np.random.default_rng(6)
    counts, rank = rng.integers(1, 9, 20), rng.integers(0, 3, 20)
    until = np.array([[10, 10, 30], [0, 29, 30], [30, 30, 30]])  # a value of no share is never published
    drawn, found = rng.integers(0, 30, counts.sum()), np.empty((60, 3), np.int64)
    entries = kernel.count_perturbed(counts, rank, until, drawn, np.zeros(3, np.int64), found)
    cell = np.repeat(np.arange(20), counts)
    outcome = [int(np.searchsorted(until[rank[of]], one, side="right")) for of, one in zip(cell, drawn, strict=True)]
    wanted, often = np.unique(np.column_stack([cell, outcome]), axis=0, return_counts=True)
    assert (found[:entries] == np.column_stack([wanted, often])).all()


@pytest.mark.parametrize("kernel", [within_groups, pure("within_groups")], ids=["compiled", "as it stands"])
def test_numbers_are_sorted_within_small_groups(kernel):
    rng = np.random.default_rng(7)
    sizes = np.bincount(rng.integers(0, 30, 200), minlength=30)
    begin, number = np.append(0, np.cumsum(sizes)), rng.integers(0, 50, 200).astype(np.int32)
    before, most = number.copy(), int(np.median(sizes))
    kernel.sort_within(number, begin, most)
    for start, end in pairwise(begin):
        here = before[start:end]
        assert (number[start:end] == (np.sort(here) if end - start <= most else here)).all()


@pytest.mark.parametrize("kernel", [matching_taken, pure("matching_taken")], ids=["compiled", "as it stands"])
def test_of_each_group_the_values_of_the_least_places_are_taken(kernel):
    rng = np.random.default_rng(3)
    sizes = rng.integers(0, 6, 40)
    until = np.append(0, np.cumsum(sizes))
    place, number = rng.integers(0, 9, until[-1]), rng.integers(0, 4, until[-1])
    room = rng.integers(0, 9, 40)
    taken = np.full(until[-1], -1)
    kernel.take_first(until, place, number, room, np.empty(5, np.int64), taken)
    for group, (first, last) in enumerate(pairwise(until)):
        left, wanted = room[group], np.zeros(last - first, np.int64)
        for at in np.argsort(place[first:last], kind="stable"):
            wanted[at] = min(left, number[first + at])
            left -= wanted[at]
        assert (taken[first:last] == wanted).all()
