"""Small kernels, compiled and as they stand, against NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reticent.kernels import group_order, matching_taken, tree_places
from tests.methods.pure_kernels import pure

pytest.importorskip("cython", reason="a kernel's source imports cython, which the test extra installs")


@pytest.mark.parametrize("kernel", [group_order, pure("group_order")], ids=["compiled", "as it stands"])
def test_rows_by_group_are_those_of_a_stable_sort(kernel):
    rng = np.random.default_rng(1)
    for groups in (1, 7, 400):
        group = rng.integers(0, groups, 300)
        begin = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))
        order = np.empty(300, np.int64)
        kernel.by_group(group, begin, order)
        assert (order == np.argsort(group, kind="stable")).all()


@pytest.mark.parametrize("kernel", [tree_places, pure("tree_places")], ids=["compiled", "as it stands"])
def test_what_rows_add_is_spread_over_the_places_of_their_labels(kernel):
    rng = np.random.default_rng(2)
    covered = rng.random((9, 12)) < 0.4
    first = np.append(0, np.cumsum(covered.sum(axis=1)))
    place = np.nonzero(covered)[1].astype(np.int32)
    label = rng.integers(0, 8, 50).astype(np.int32)  # nobody has the last label
    tallies, scale = rng.random((50, 3)), rng.random(9)
    held, found = np.zeros((9, 4)), np.zeros((6, 3))
    kernel.spread(label, tallies, scale, first, place, 4, held, found)
    wanted = (covered * scale[:, None])[label].T @ tallies
    assert np.allclose(found, wanted[4:10], rtol=1e-12)
    assert not held.any()


@pytest.mark.parametrize("kernel", [matching_taken, pure("matching_taken")], ids=["compiled", "as it stands"])
def test_of_each_group_the_values_of_the_least_places_are_taken(kernel):
    rng = np.random.default_rng(3)
    sizes = rng.integers(0, 6, 40)
    until = np.append(0, np.cumsum(sizes))
    place, number = rng.integers(0, 9, until[-1]), rng.integers(0, 4, until[-1])
    room = rng.integers(0, 9, 40)
    taken = np.full(until[-1], -1)
    kernel.taken_first(until, place, number, room, np.empty(5, np.int64), taken)
    for group, (first, last) in enumerate(pairwise(until)):
        left, wanted = room[group], np.zeros(last - first, np.int64)
        for at in np.argsort(place[first:last], kind="stable"):
            wanted[at] = min(left, number[first + at])
            left -= wanted[at]
        assert (taken[first:last] == wanted).all()
