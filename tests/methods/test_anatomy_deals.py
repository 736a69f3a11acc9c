"""Who knows that anatomy dealt the groups, and not its key, learns nothing beyond them: every deal of every tiny table is tried.

The theorem is in docs/methods/anatomy.md: all tables that fit a release lead to it by equally many deals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import reticent as rt
from reticent.methods.anatomy import Anatomy
from reticent.models.promise import Promises
from studies.minimality.adversary import Belief, Points, Release, beliefs, counted, people, tables

HALF = Promises.from_iterable([rt.ProbabilisticLDiversity(2)])


class Deal:
    """A source of randomness whose draws are chosen: the orders of the rows of each value."""

    def __init__(self, orders: tuple[tuple[int, ...], ...]):
        self.orders = iter(orders)

    def stream(self, name: str) -> Deal:
        return self

    def shuffle(self, rows: np.ndarray) -> None:
        rows[:] = rows[list(next(self.orders))]


def members(recipe) -> list[tuple[str, tuple]]:
    """The people of each group, by their quasi-identifiers."""
    groups = recipe.as_groups()
    found: list[list[tuple[int, ...]]] = [[] for _ in groups.sizes]
    for group, cell, many in zip(groups.group.tolist(), groups.cell.tolist(), groups.quota.tolist(), strict=True):
        found[group] += [tuple(groups.cells.codes[cell].tolist())] * many
    return [("people", tuple(sorted(held))) for held in found]


def behind(points: Points, counts: tuple[int, ...]) -> dict[Release, Counter]:
    """What each release may come from: tables, with how many deals lead to it."""
    found: dict[Release, Counter] = defaultdict(Counter)
    for table in tables(counts):
        cells = counted(points, table)
        for orders in product(*(permutations(range(count)) for count in counts)):
            recipe = Anatomy().plan(cells, HALF, Deal(orders))
            held = map(tuple, recipe.as_groups().histogram(0).tolist())
            found[tuple(zip(members(recipe), held, strict=True))][table] += 1
    return found


def of_groups(points: Points, release: Release) -> list[Belief]:
    """Each person's group's shares, where no two people have the same quasi-identifiers."""
    of = {point: counts for (_, members), counts in release for point in members}
    return [tuple(Fraction(count, sum(of[point])) for count in of[point]) for point in points]


@pytest.mark.parametrize("counts", [(2, 2, 2), (3, 2, 1)], ids=str)
@pytest.mark.parametrize("number", range(6))
def test_no_deal_of_anatomy_lets_who_knows_the_method_believe_more_than_its_groups_say(number, counts):
    points = people(number, 6)
    for release, weights in behind(points, counts).items():
        known = beliefs(weights, len(counts))
        assert max(map(max, known)) <= Fraction(1, 2)
        if len(set(points)) == len(points):
            assert known == of_groups(points, release)
            assert len(set(weights.values())) == 1, "every table that fits is as likely as another"


def test_the_points_tried_have_people_who_share_theirs_and_people_who_do_not():
    assert {len(set(people(number, 6))) == 6 for number in range(6)} == {True, False}
