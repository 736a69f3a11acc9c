"""Where people lie within their labels: the density that makes all published labels of a column most likely.

Labels of other rows say where people of a wide one may lie: among rows labelled [40, 99], [40, 40], [38, 45] and
[99, 99] few are near 70.  A density over a column is estimated from all labels together by expectation-maximisation, as
Turnbull (1976) does for censored data: every group of rows is shared out within its label as the density says, and the
density becomes what all groups then have.  It is estimated for one column at a time, by groups and not by rows, and
rows are shared out within their labels alone: a whole label counts in full, whatever the density is.

**Ranges** (`fit_range_shares`).  A line is cut into cells at the ends of labels; within a cell, nothing that is
published tells places apart, and people are spread evenly.  Where ends are values that people have, a group of n rows
labelled [a, b] has some row at a and some at b.  With q the density within [a, b], that has the probability

    H = 1 - (1 - q_a)^n - (1 - q_b)^n + (1 - q_a - q_b)^n

and given it a row is expected at v, at a and at b in the shares

    q_v (1 - (1 - q_a)^(n-1) - (1 - q_b)^(n-1) + (1 - q_a - q_b)^(n-1)) / H
    q_a (1 - (1 - q_b)^(n-1)) / H        q_b (1 - (1 - q_a)^(n-1)) / H

Each follows from what the other n - 1 rows lack.  They add up to 1, and are the expectation step; without known ends a
row is expected at v with q_v.  The likeliest density alone is all spikes where labels are few or overlap little, and
groups are no random intervals: methods choose them.  So a prior counts as much as the data (PRIOR_SHARE): the density
if every row lay evenly in its own label, one at each known end.  Each step raises

    sum over groups of (n log P + log H)  +  rows * PRIOR_SHARE / (1 - PRIOR_SHARE) * sum over cells of prior log mass

P being the density's mass within the label, because the step maximises its lower bound (Dempster, Laird & Rubin 1977).

**Nodes and sets** (`fit_value_weights`).  Values take the place of cells.  Frequent values are mostly published by
themselves, and a node covers those that could not be: half of a node's rows are shared out as the density says, half
evenly.  `*` of categories covers what has no other label, of which the others say too little: it stays even.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.errors import RequestError

DENSITIES = ("likelihood", "even")
"""How people may be taken to lie within their labels; the first is the default."""
PRIOR_SHARE = 0.5
EVEN_SHARE_OF_NODES = 0.5
MAX_STEPS = 200
STEP_TOLERANCE = 1e-6  # the mass that a step moves at which expectation-maximisation has settled
MIN_END_CHANCE = 1e-10  # a chance of known ends below which its differences of doubles say nothing
MAX_WHOLE_SPAN = 1 << 62
MAX_DECIMAL_PLACE = 1e10
"""How far apart whole places, and how far from zero decimal ones, are counted; farther out people are spread evenly."""


def require_known_density(density: str) -> None:
    """Refuse a density that is not known."""
    if density not in DENSITIES:
        raise RequestError(f"The density {density!r} is not known.", attempt='density = "likelihood" or "even".')


@dataclass(frozen=True, eq=False)
class LabelGroups:
    """Groups of rows by the label that they have in one column: (label, rows of a group, groups that are alike)."""

    label: np.ndarray
    size: np.ndarray
    times: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        return self.size * self.times

    def select(self, is_selected: np.ndarray) -> LabelGroups:
        return LabelGroups(self.label[is_selected], self.size[is_selected], self.times[is_selected])


@dataclass(frozen=True, eq=False)
class LineDensity:
    """A density over places that are one apart, the first being 0: the mass from one break until before the next, evenly."""

    breaks: np.ndarray
    mass: np.ndarray

    @cached_property
    def mass_before(self) -> np.ndarray:
        return np.append(0.0, np.cumsum(self.mass))

    @cached_property
    def moment_before(self) -> np.ndarray:
        """The sum of places, each times its mass, before each break."""
        starts = self.breaks.astype(float)
        return np.append(0.0, np.cumsum(self.mass * (starts[:-1] + starts[1:] - 1) / 2))

    def measure(self, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mass from one place to another, both included, and the mean place there."""
        low_mass, low_moment = self._accumulate(first)
        high_mass, high_moment = self._accumulate(last + 1)
        mass = np.maximum(high_mass - low_mass, 0.0)
        mean = _divide(high_moment - low_moment, mass)
        return mass, np.clip(mean, first.astype(float), last.astype(float))

    def _accumulate(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mass before a place, and the sum of the places that it has."""
        place = np.clip(place, 0, self.breaks[-1])
        cell = np.clip(np.searchsorted(self.breaks, place, side="right") - 1, 0, len(self.mass) - 1)
        start = self.breaks[cell].astype(float)
        inside = (place - self.breaks[cell]).astype(float)
        mass = self.mass[cell] * inside / (self.breaks[cell + 1] - self.breaks[cell]).astype(float)
        return self.mass_before[cell] + mass, self.moment_before[cell] + mass * (start + (inside - 1) / 2)


@dataclass(frozen=True, eq=False)
class RangeShares:
    """How the rows of each label on a line are shared out: by `density` times `inside`, and beside it at both ends.

    Places of the density are counted from `origin`.
    """

    density: LineDensity
    origin: np.int64 | np.float64
    first: np.ndarray
    last: np.ndarray
    inside: np.ndarray
    at_first: np.ndarray
    at_last: np.ndarray

    def measure(self, label: np.ndarray, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what labels have from one place to another, both within the label, and the mean place of it.

        There is nothing where `last` lies before `first`.
        """
        label_first = self.first[label]
        label_last = self.last[label]
        is_present = first <= last
        from_place = np.where(is_present, first, label_first) - self.origin
        to_place = np.where(is_present, last, label_last) - self.origin
        mass, mean = self.density.measure(from_place, to_place)
        within = np.where(is_present, self.inside[label] * mass, 0.0)
        at_first = np.where(is_present & (first == label_first), self.at_first[label], 0.0)
        at_last = np.where(is_present & (last == label_last), self.at_last[label], 0.0)
        share = within + at_first + at_last
        moment = within * mean + at_first * (label_first - self.origin) + at_last * (label_last - self.origin)
        return share, _divide(moment, share) + float(self.origin)


def fit_range_shares(
    first: np.ndarray, last: np.ndarray, is_range: np.ndarray, groups: LabelGroups, *, has_known_ends: bool
) -> RangeShares | None:
    """Fit a density to the labels of a line, and share the rows of each label out by it.

    Parameters:
        first: the first place that each label covers.
        last: the last one, included.
        is_range: the labels that are ranges; others, which cover any place, are shared out by the density and do not shape it.
        groups: how many groups of how many rows have each label.
        has_known_ends: in each group some row lies at the first place, and some at the last.

    Returns:
        The shares; None if there is no range, or places lie too far out to be counted.
    """
    groups = groups.select(is_range[groups.label])
    if not len(groups.label) or _lies_too_far(first, last):
        return None
    origin = first.min()
    fit = _RangeFit.from_groups(first[groups.label] - origin, last[groups.label] - origin, groups, has_known_ends)
    mass = fit.maximise()
    within, ends = fit.expect(mass)
    label_rows = np.bincount(groups.label, weights=groups.rows, minlength=len(first))

    def average(share: np.ndarray, otherwise: float) -> np.ndarray:
        total = np.bincount(groups.label, weights=groups.rows * share, minlength=len(first))
        return np.where(label_rows > 0, total / np.where(label_rows > 0, label_rows, 1), otherwise)

    density = LineDensity(fit.breaks, mass)
    return RangeShares(density, origin, first, last, average(within, 1.0), average(ends[0], 0.0), average(ends[1], 0.0))


def fit_value_weights(
    label: np.ndarray, value: np.ndarray, weight: np.ndarray, rows: np.ndarray, value_count: int
) -> np.ndarray:
    """Fit a density to labels that are sets of values, and weigh the values of each label by it and evenly, half and half.

    Parameters:
        label: of each pair of a label and a value that it covers, the label.
        value: the value.
        weight: how much of its label each pair has where people are spread evenly.
        rows: how many rows have each label.
        value_count: how many values there are.

    Returns:
        The weight of each pair; those of a label add up to what they were.
    """
    mass = np.full(value_count, 1 / max(value_count, 1))
    total_rows = max(float(rows.sum()), 1.0)
    for _ in range(MAX_STEPS):
        ratio = _divide(rows, np.bincount(label, weights=weight * mass[value], minlength=len(rows)))
        better = mass * np.bincount(value, weights=weight * ratio[label], minlength=value_count) / total_rows
        moved = float(np.abs(better - mass).sum())
        mass = better
        if moved <= STEP_TOLERANCE:
            break
    even_total = np.bincount(label, weights=weight, minlength=len(rows))
    likely = weight * mass[value]
    scale = _divide(even_total, np.bincount(label, weights=likely, minlength=len(rows)))
    is_weighed = scale[label] > 0
    mixed = EVEN_SHARE_OF_NODES * weight + (1 - EVEN_SHARE_OF_NODES) * likely * scale[label]
    return np.where(is_weighed, mixed, weight)


@dataclass(frozen=True, eq=False)
class _RangeFit:
    """Groups on cells: each covers the cells from `start` until before `stop`; `prior` is the mass that shrinks the density."""

    breaks: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    rows: np.ndarray
    others: np.ndarray  # the rows of each group but one
    has_ends: np.ndarray  # whether a row is known at either end, which are different
    prior: np.ndarray

    @classmethod
    def from_groups(cls, first: np.ndarray, last: np.ndarray, groups: LabelGroups, has_known_ends: bool) -> _RangeFit:
        cuts = [first, last + 1]
        if has_known_ends:  # each end is a cell of its own
            cuts += [first + 1, last]
        breaks = np.unique(np.concatenate(cuts))
        start = np.searchsorted(breaks, first)
        stop = np.searchsorted(breaks, last + 1)
        rows = groups.rows.astype(float)
        has_ends = (first < last) & (groups.size > 1) & has_known_ends
        at_ends = np.where(has_ends, groups.times, 0).astype(float)
        cells = len(breaks) - 1
        widths = np.diff(breaks).astype(float)
        covered = np.append(0.0, np.cumsum(widths))
        prior = widths * _add_over_cells(start, stop, (rows - 2 * at_ends) / (covered[stop] - covered[start]), cells)
        prior += np.bincount(start, weights=at_ends, minlength=cells)
        prior += np.bincount(stop - 1, weights=at_ends, minlength=cells)
        return cls(breaks, start, stop, rows, (groups.size - 1).astype(float), has_ends, prior / prior.sum())

    def maximise(self) -> np.ndarray:
        """Return the mass of each cell when a step moves next to nothing."""
        mass = self.prior
        for _ in range(MAX_STEPS):
            better = self.improve(mass)
            moved = float(np.abs(better - mass).sum())
            mass = better
            if moved <= STEP_TOLERANCE:
                break
        return mass

    def improve(self, mass: np.ndarray) -> np.ndarray:
        """Take one step: share the rows out by the density, and add up what every cell has, with the prior."""
        within, ends = self.expect(mass)
        cells = len(mass)
        counts = mass * _add_over_cells(self.start, self.stop, self.rows * within, cells)
        counts += np.bincount(self.start, weights=self.rows * ends[0], minlength=cells)
        counts += np.bincount(self.stop - 1, weights=self.rows * ends[1], minlength=cells)
        better: np.ndarray = (1 - PRIOR_SHARE) * counts / counts.sum() + PRIOR_SHARE * self.prior
        return better

    def expect(self, mass: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Share a row of each group out: what its density is multiplied by, and what lies at either end beside."""
        mass_before = np.append(0.0, np.cumsum(mass))
        label_mass = np.maximum(mass_before[self.stop] - mass_before[self.start], np.finfo(float).tiny)
        first_share = np.minimum(mass[self.start] / label_mass, 1.0)
        last_share = np.minimum(mass[self.stop - 1] / label_mass, 1.0)
        neither_share = np.maximum(1 - first_share - last_share, 0.0)
        none_at_first = (1 - first_share) ** self.others
        none_at_last = (1 - last_share) ** self.others
        none_at_either = neither_share**self.others
        both = 1 - none_at_first - none_at_last + none_at_either
        extra_first = first_share * (none_at_first - none_at_either)
        extra_last = last_share * (none_at_last - none_at_either)
        chance = both + extra_first + extra_last
        is_counted = self.has_ends & (chance > MIN_END_CHANCE)
        is_rare = self.has_ends & ~is_counted  # one row at each end, and the others anywhere
        size = np.maximum(self.others + 1, 2.0)
        within = np.where(is_counted, _divide(both, chance), np.where(is_rare, 1 - 2 / size, 1.0))
        at_first = np.where(is_counted, _divide(extra_first, chance), np.where(is_rare, 1 / size, 0.0))
        at_last = np.where(is_counted, _divide(extra_last, chance), np.where(is_rare, 1 / size, 0.0))
        return within / label_mass, (at_first, at_last)


def _add_over_cells(start: np.ndarray, stop: np.ndarray, amount: np.ndarray, cells: int) -> np.ndarray:
    """Add an amount to every cell from `start` until before `stop`, and return the sums of cells."""
    steps = np.bincount(start, weights=amount, minlength=cells + 1) - np.bincount(
        stop, weights=amount, minlength=cells + 1
    )
    return np.maximum(np.cumsum(steps)[:cells], 0.0)


def _divide(amount: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Divide where there is something to divide by; 0 elsewhere."""
    return np.divide(amount, by, out=np.zeros(np.shape(by)), where=by > 0)


def _lies_too_far(first: np.ndarray, last: np.ndarray) -> bool:
    """Tell whether whole places span too much, or decimals lie too far from zero, to be counted."""
    lowest = first.min().item()
    highest = last.max().item()
    if first.dtype.kind == "i":
        return bool(highest - lowest >= MAX_WHOLE_SPAN or highest + 1 >= 1 << 63)
    return not (lowest > -MAX_DECIMAL_PLACE and highest < MAX_DECIMAL_PLACE)
