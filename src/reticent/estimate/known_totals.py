"""Totals across groups that a transformed release states, and the narrower bounds that they give.

Bounds of section 3.3 of Koudas et al. (VLDB 2009) are added up group by group, as if every group could be at its worst at
once.  But where the promise's target is made from the data, the reader knows a total across groups: "source" says that the
published rows have the target's distribution, "group" that the rows of all groups with one target have it (several groups
may share a target, and a mixture of distributions within a distance of P is within it too).  An exact target is met
exactly, a rounded one to within `distance` in total variation, which is the greatest difference of probability over all
sets of values.  So of n rows in such a block of groups, between n (P(W) - distance) and n (P(W) + distance) hold a value
of any set W, whatever the set.  No other target says how many rows hold a value.

COUNT of selected rows with a value in W.  In group g let a of N rows be selected, b = N - a others, let w be how many of the
N rows hold a value of W.  The group's nodes allow every w from lo to hi: lo = max(0, N - those that may stand for another
value), hi = min(N, those that may stand for one of W).  Values may stand with any row of the group, so that the selected
rows can hold every number from max(0, w - b) to min(a, w).  With T the number of rows of the block that hold one of W,

    upper = min( sum of min(a, hi),        most T - sum of max(0, lo - a) )
    lower = max( sum of max(0, lo - b),   least T - sum of min(b, hi) )

Proof.  Selected rows with one of W are those of the block less those of the others, and of the others sum of max(0, lo - a)
at least and sum of min(b, hi) at most hold one.  Both are reached over all numbers w between lo and hi that add up to a
possible T: raising a w by one raises min(a, w) by one or by none, so whatever is left of T after each group has lo goes
first where it counts, until T or every min(a, hi) is used up.

SUM, AVG, MIN and MAX by layers: with the numbers x_0 < x_1 < ... of the domain, a sum over a rows is a x_0 + the sum over j of
(x_j - x_(j-1)) times the number of rows with at least x_j, and each of these counts is bounded as above.  Without totals that is
the paper's bound exactly, so it is never wider.  Layers are bounded one by one, and may not be reached all at once: the
bounds are certain, and reached where all rows are one group.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from reticent.errors import BundleDamaged
from reticent.exact_arithmetic import find_common_denominator

MAX_LAYER_CELLS = 1 << 24  # blocks of groups times values of which layers are kept
UNIT_ROUNDOFF = 2.0**-52
MAX_SHARE_ROUNDINGS = 1024  # of one share, and of the last steps


@dataclass(frozen=True, eq=False)
class PublishedNodes:
    """What groups publish: entries of a group, the first and last place of the domain that a node covers, and how many."""

    group: np.ndarray
    first: np.ndarray
    last: np.ndarray
    count: np.ndarray


@dataclass(frozen=True, eq=False)
class KnownTotals:
    """What is known of the values of all rows of each block of groups.

    `rows` of each group and its `block`; of each block `shares[block, value]`, its target; its rows hold the values of
    any set within `distance` of the set's share.
    """

    nodes: PublishedNodes
    rows: np.ndarray
    block: np.ndarray
    shares: np.ndarray
    distance: Fraction

    @classmethod
    def from_target(
        cls,
        target: object,
        distance: Fraction,
        nodes: PublishedNodes,
        rows: np.ndarray,
        group_target: np.ndarray,
        shares: np.ndarray,
    ) -> KnownTotals | None:
        """Return what the target of a promise tells of totals; None if it tells none.

        `distance` is 0 where the target is exact; `group_target` is the number of each group's target in `shares`. A
        release whose target is "source" has one: several would not say of which rows each is the distribution.
        """
        if target not in ("source", "group") or (target == "source" and len(shares) != 1):
            return None
        return cls(nodes, rows, group_target, shares, distance)

    def narrow_count(
        self, selected: np.ndarray, may: np.ndarray, others: np.ndarray, wanted: np.ndarray
    ) -> tuple[int, int]:
        """Bound how many of the `selected` rows of each group hold a wanted value of the domain.

        Parameters
        ----------
        selected : the number of selected rows of each group
        may : how many of each group's published values may stand for a wanted value
        others : how many of them may stand for another value
        wanted : which values of the domain are wanted

        Raises BundleDamaged if the totals contradict the groups.
        """
        least, most = self._bound_total(self.shares @ wanted.astype(float))
        rest = self.rows - selected
        fewest = np.maximum(self.rows - others, 0)
        greatest = np.minimum(self.rows, may)
        if (self._add_up(fewest) > most).any() or (self._add_up(greatest) < least).any():
            raise _make_contradiction()
        upper = np.minimum(
            self._add_up(np.minimum(selected, greatest)), most - self._add_up(np.maximum(fewest - selected, 0))
        )
        lower = np.maximum(self._add_up(np.maximum(fewest - rest, 0)), least - self._add_up(np.minimum(rest, greatest)))
        return int(lower.sum()), int(upper.sum())

    def bound_layers(self, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Bound, for each place of the domain, how many of the selected rows hold its value or a later one.

        None if there are so many blocks and values that layers are not kept. Raises BundleDamaged if the totals
        contradict the groups.
        """
        if self.shares.size > MAX_LAYER_CELLS:
            return None
        least, most = self._layer_totals
        spare = self._spare
        rest = self.rows - selected
        surely_rest = self._certain_layers - self._first_layers.add_up_greatest(spare + selected)
        surely_selected = self._certain_layers - self._first_layers.add_up_greatest(spare + rest)
        upper = np.minimum(self._last_layers.add_up_greatest(selected), most - surely_rest)
        lower = np.maximum(surely_selected, least - self._last_layers.add_up_greatest(rest))
        if (lower > upper).any():
            raise _make_contradiction()
        return lower.sum(axis=0), upper.sum(axis=0)

    def _bound_total(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the greatest number of rows of each block, for shares whose sums were made in doubles.

        A sum of V doubles of at most 1 in all, each a product along a path of at most 256 nodes, is off by less than
        V + MAX_SHARE_ROUNDINGS roundings, which are counted in on both sides.
        """
        rows = np.bincount(self.block, weights=self.rows, minlength=len(self.shares))
        rows = rows.reshape((-1,) + (1,) * (share.ndim - 1))
        margin = rows * (self.shares.shape[1] + MAX_SHARE_ROUNDINGS) * UNIT_ROUNDOFF
        distance = float(self.distance)
        most = np.minimum(np.floor(rows * (share + distance) + margin), rows)
        least = np.maximum(np.ceil(rows * (share - distance) - margin), 0)
        return least.astype(np.int64), most.astype(np.int64)

    def _add_up(self, number: np.ndarray) -> np.ndarray:
        return np.bincount(self.block, weights=number, minlength=len(self.shares)).astype(np.int64)

    @cached_property
    def _spare(self) -> np.ndarray:
        """The values of each group that no row takes."""
        values = np.bincount(self.nodes.group, weights=self.nodes.count, minlength=len(self.rows))
        return values.astype(np.int64) - self.rows

    @cached_property
    def _layer_totals(self) -> tuple[np.ndarray, np.ndarray]:
        return self._bound_total(np.cumsum(self.shares[:, ::-1], axis=1)[:, ::-1])

    @cached_property
    def _first_layers(self) -> _EndLayers:
        return _EndLayers.from_nodes(self, self.nodes.first)

    @cached_property
    def _last_layers(self) -> _EndLayers:
        return _EndLayers.from_nodes(self, self.nodes.last)

    @cached_property
    def _certain_layers(self) -> np.ndarray:
        """(blocks, places): how many published values stand for that place or a later one, whatever they stand for."""
        layers = self._first_layers
        return layers.add_up(layers.count)


@dataclass(frozen=True, eq=False)
class _EndLayers:
    """Ends of published values, the greatest of each group first."""

    group: np.ndarray
    cell: np.ndarray  # block and place
    count: np.ndarray
    before: np.ndarray  # how many values of the group stand before these
    shape: tuple[int, int]

    @classmethod
    def from_nodes(cls, totals: KnownTotals, end: np.ndarray) -> _EndLayers:
        nodes = totals.nodes
        order = np.lexsort((-end, nodes.group))
        group = nodes.group[order]
        count = nodes.count[order]
        until = np.cumsum(count)
        first_of_group = np.searchsorted(group, group)
        before = until - count - np.append(0, until)[first_of_group]
        cell = totals.block[group] * totals.shares.shape[1] + end[order]
        return cls(group, cell, count, before, totals.shares.shape)

    def add_up(self, number: np.ndarray) -> np.ndarray:
        """Return (blocks, places): the sum over the entries that end at that place or later."""
        blocks, places = self.shape
        at_place = np.bincount(self.cell, weights=number, minlength=blocks * places).astype(np.int64)
        return np.cumsum(at_place.reshape(self.shape)[:, ::-1], axis=1)[:, ::-1]

    def add_up_greatest(self, number: np.ndarray) -> np.ndarray:
        """Add up the `number` greatest ends of each group: the sum over groups of min(number, ends there or later)."""
        return self.add_up(np.clip(number[self.group] - self.before, 0, self.count))


@dataclass(frozen=True, eq=False)
class DomainNumbers:
    """The numbers of a domain as whole multiples of 1 / `scale`, ascending."""

    units: list[int]
    scale: int

    @classmethod
    def from_texts(cls, texts: list[str]) -> DomainNumbers | None:
        """Read the numbers; None if they do not ascend."""
        try:
            numbers = [Fraction(text) for text in texts]
        except (ValueError, ZeroDivisionError):
            return None
        if any(later <= earlier for earlier, later in pairwise(numbers)):
            return None
        scale = find_common_denominator(numbers)
        return cls([int(number * scale) for number in numbers], scale)

    def read_number(self, place: int, *, whole: bool) -> int | float:
        """Return the number at a place as a whole number, or as the nearest double."""
        number = Fraction(self.units[place], self.scale)
        return int(number) if whole else float(number)

    def add_up_layers(self, layers: np.ndarray) -> Fraction:
        """Add up rows of which so many hold at least each number."""
        counts = layers.tolist()
        total = self.units[0] * counts[0]
        for place in range(1, len(counts)):
            if counts[place]:
                total += (self.units[place] - self.units[place - 1]) * counts[place]
        return Fraction(total, self.scale)


def _make_contradiction() -> BundleDamaged:
    return BundleDamaged(
        "The values of the release's groups contradict the totals that its promise states.",
        why="The target is the distribution of the published values, and no table with these groups has it.",
        attempt="getting the folder again from its publisher.",
    )
