"""Two routes to one count: with and without a table of all values, by point and by group."""

from __future__ import annotations

import numpy as np
import pytest

import reticent as rt
from reticent.engines import local
from reticent.labels.adversary_view import GroupMembers
from reticent.utility.query_error import _count_by_value, _split_by_value
from reticent.utility.workload import Workload
from tests.support import repeated_releases


@pytest.fixture(scope="module")
def cells():
    frame = repeated_releases.people(400)
    names = frame.columns
    columns = {name: rt.quasi() for name in names[:-1]} | {names[-1]: rt.sensitive()}
    return local.count_rows(frame.lazy(), columns).cells


def draw(cells, queries: int = 80) -> Workload:
    return Workload.draw(cells, predicates=1, selectivity=0.2, queries=queries, rng=np.random.default_rng(2))


def test_exact_answers_are_those_of_the_histograms_of_all_values(cells):
    asked = draw(cells)
    assert np.array_equal(asked.exact(cells), asked.exact(cells, asked.histograms(cells)))


def test_counts_by_the_value_of_a_column_are_those_of_a_question_for_each_value(cells):
    asked = draw(cells, 20)
    for axis, domain in enumerate([*cells.quasi, cells.sensitive[0]]):
        each = _split_by_value(asked, axis, domain.size, cells.sensitive[0].size)
        assert np.array_equal(_count_by_value(asked, axis, cells).reshape(-1), each.exact(cells))


def test_people_in_few_groups_are_counted_as_people_in_many_are(cells):
    asked = draw(cells)
    rng = np.random.default_rng(3)
    points, at = np.unique(cells.codes, axis=0, return_inverse=True)
    people = np.bincount(at.reshape(-1), weights=cells.counts)
    counts = rng.integers(1, 9, (5, cells.sensitive[0].size))
    members = GroupMembers(points, rng.integers(0, 5, len(points)), people, counts)
    by_group = asked.matched(members)
    assert np.allclose(by_group, asked.matched(members, max_groups=0))
