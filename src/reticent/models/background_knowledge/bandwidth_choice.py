"""A bandwidth for each column, chosen from the table: the adversary of the family who predicts the sensitive column best.

`bandwidth = "auto"` asks for it.  A small bandwidth overfits (whoever is alone with their quasi-identifiers is predicted
by nobody else), a large one ignores what the table teaches; between them is the one that predicts people it has not
seen.  Every person is held out once.  With S(q, v) the numerator of equation 2 at the person's point q, in which the
person has weight 1, the belief of the others in the person's own value v is

    (S(q, v) - 1 + f(v)) / (S(q) - 1 + 1)

where f(v) is the value's share among the others: one more person, who is like all the others together, so that somebody
without neighbours is believed to be like everybody else.  With "whole" in every column, and where everybody stands alone,
it is f(v) itself: who knows all and who knows nothing predict alike.  The score is the mean of log2 over all people,
computed on cells: one estimation of priors gives the score of everybody.  Whoever is the only one with their value is
left out, because no adversary of the family believes in it.

Bandwidths are taken from `CHOICE_GRID`.  The search starts from the best of: nothing known ("whole" in every
column), one bandwidth for all columns, and the best of each column alone.  It changes one column at a time until no
bandwidth of the grid is better in any one column by `MIN_GAIN_BITS`; of bandwidths that predict alike it keeps those that know less.  Nothing is drawn: the choice is a function of the table.

What the numbers themselves tell: they are published, and depend on everybody's values.  A column has at most
len(CHOICE_GRID) = 14 of them, so they are at most 3.9 bits for each column about the whole table; definition 1 does not
bound what they tell of a person, no more than that of the number of groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from reticent.catalogue.promise_fields import BANDWIDTH_CHOICES
from reticent.data.cells import Cells
from reticent.data.domain import Domain
from reticent.errors import JobError
from reticent.models.background_knowledge.adversary import MAX_COLUMN_VALUES
from reticent.models.background_knowledge.distances import (
    WHOLE_BANDWIDTH,
    Bandwidth,
    EqualityWeights,
    KernelWeights,
    compute_distances,
    compute_kernel_weights,
)
from reticent.models.background_knowledge.priors import KernelPriors, PointCounts, find_combinations

CHOICE_GRID: tuple[Bandwidth, ...] = BANDWIDTH_CHOICES
UNIFORM_STARTS = tuple(map(Fraction, ("0.1", "0.2", "0.4", "0.6", "1.2")))  # of CHOICE_GRID, for all columns alike
MIN_GAIN_BITS = (
    1e-6  # what another bandwidth must gain to be chosen: more than rounding, less than anybody would notice
)
MAX_TRIAL_WORK = 1 << 32  # work of one estimation of priors, as their route counts it: a hundred are made

Bandwidths = tuple[Bandwidth, ...]


@dataclass(frozen=True, slots=True)
class BandwidthChoice:
    """The bandwidth of each column, and how well they predict held-out people: mean log2 of the belief in their own value."""

    bandwidths: Mapping[str, Bandwidth]
    bits: float
    bits_without: float  # of the adversary who knows the overall distribution alone

    @property
    def gain(self) -> float:
        """What knowing the other columns is worth, in bits for each person."""
        return self.bits - self.bits_without


def choose_bandwidths(
    cells: Cells,
    column: int,
    kernel: str,
    distances: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    max_work: int = MAX_TRIAL_WORK,
) -> BandwidthChoice:
    """Choose a bandwidth for each quasi-identifier: those by which the other people predict a sensitive column best.

    Parameters
    ----------
    cells : Cells
        The table, whole.
    column : int
        The sensitive column.
    kernel : str
        The kernel of the adversary.
    distances : mapping, optional
        Distances of values for columns that have a matrix of their own.
    max_work : int
        What one estimation of priors may cost, as their route counts it.

    Returns
    -------
    BandwidthChoice
        A bandwidth of `CHOICE_GRID` for each column, and its score.
    """
    scores = HeldOutScores(cells, column, kernel, distances or {}, max_work)
    columns = range(len(cells.quasi))
    nothing_known: Bandwidths = (WHOLE_BANDWIDTH,) * len(cells.quasi)
    alone: Bandwidths = tuple(
        _choose_best(scores, [_exchange(nothing_known, axis, option) for option in reversed(scores.options[axis])])[
            axis
        ]
        for axis in columns
    )
    uniform = [tuple(scores.match_grid(axis, b) for axis in columns) for b in UNIFORM_STARTS]
    best = _climb(scores, _choose_best(scores, [nothing_known, alone, *uniform]))
    names = [domain.name for domain in cells.quasi]
    return BandwidthChoice(dict(zip(names, best, strict=True)), scores.measure(best), scores.measure(nothing_known))


@dataclass(eq=False)
class HeldOutScores:
    """Scores of bandwidths on a table: the mean log2 of the belief in a held-out person's own value."""

    cells: Cells
    column: int
    kernel: str
    distances: Mapping[str, Mapping[str, Any]]
    max_work: int = MAX_TRIAL_WORK
    _scores: dict[Bandwidths, float] = field(default_factory=dict)

    @cached_property
    def options(self) -> list[dict[Bandwidth, KernelWeights]]:
        """The bandwidths of each column that differ in some weight, the smallest of those that do not, with their weights."""
        return [self._list_options(domain, axis) for axis, domain in enumerate(self.cells.quasi)]

    def match_grid(self, axis: int, bandwidth: Bandwidth) -> Bandwidth:
        """Return the bandwidth among a column's options that means the same as one of the grid."""
        position = CHOICE_GRID.index(bandwidth)
        options = [option for option in self.options[axis] if CHOICE_GRID.index(option) <= position]
        return WHOLE_BANDWIDTH if bandwidth == WHOLE_BANDWIDTH else options[-1]

    def measure(self, bandwidths: Bandwidths) -> float:
        """Measure the score of bandwidths; refuse a table on which priors take too long to try many of them."""
        if bandwidths not in self._scores:
            self._scores[bandwidths] = self._compute(bandwidths)
        return self._scores[bandwidths]

    @cached_property
    def _codes(self) -> np.ndarray:
        """The codes of each cell among those that occur in its column."""
        return np.column_stack([np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in self.cells.codes.T])

    def _compute(self, bandwidths: Bandwidths) -> float:
        cells = self.cells
        known_axes = [axis for axis, bandwidth in enumerate(bandwidths) if bandwidth != WHOLE_BANDWIDTH]
        size = cells.sensitive[self.column].size
        points, point = _number_points(self._codes[:, known_axes])
        entries, entry = np.unique(point * size + cells.values[:, self.column], return_inverse=True)
        counts = np.bincount(entry.reshape(-1), weights=cells.counts)
        entry_points = entries // size
        entry_values = entries % size
        weights = [self.options[axis][bandwidths[axis]] for axis in known_axes]
        priors = KernelPriors(
            PointCounts(points.astype(np.int32), entry_points, entry_values, counts.astype(np.int64), size), weights
        )
        _require_affordable(priors, self.max_work)
        sums = priors.sum_weights()
        totals = np.bincount(entry_values, weights=counts, minlength=size)
        is_shared = totals[entry_values] > 1  # the only person with a value is predicted by nobody
        if not is_shared.any():
            return 0.0
        counts = counts[is_shared]
        point = entry_points[is_shared]
        value = entry_values[is_shared]
        others = np.maximum(sums[point, value] - 1, 0) + (totals[value] - 1) / (totals.sum() - 1)
        return float(counts @ np.log2(others / sums.sum(axis=1)[point]) / counts.sum())

    def _list_options(self, domain: Domain, axis: int) -> dict[Bandwidth, KernelWeights]:
        occurring = np.unique(self.cells.codes[:, axis])
        options: dict[Bandwidth, KernelWeights] = {Fraction(0): EqualityWeights(len(occurring))}
        if 1 < len(occurring) <= MAX_COLUMN_VALUES:
            for bandwidth, weights in self._list_near_weights(domain, occurring):
                options[bandwidth] = weights
        options[WHOLE_BANDWIDTH] = np.ones((1, 1))
        return options

    def _list_near_weights(self, domain: Domain, occurring: np.ndarray) -> Iterator[tuple[Bandwidth, np.ndarray]]:
        try:
            distances = compute_distances(domain, occurring, self.distances.get(domain.name))
        except JobError:  # neither an order nor a hierarchy: values are equal or they are not
            return
        last = np.eye(len(occurring))
        for bandwidth in CHOICE_GRID[1:-1]:
            weights = compute_kernel_weights(distances, bandwidth, self.kernel)
            if not np.array_equal(weights, last):
                yield bandwidth, weights
            last = weights


def _climb(scores: HeldOutScores, bandwidths: Bandwidths) -> Bandwidths:
    """Change one column at a time until no bandwidth of the grid gains in any: by neighbouring steps while these gain, then by any."""
    for reach in (1, len(CHOICE_GRID)):
        improved = True
        while improved:
            improved = False
            for axis in range(len(bandwidths)):
                while (moved := _find_gain(scores, bandwidths, axis, reach)) is not None:
                    bandwidths = moved
                    improved = True
    return bandwidths


def _find_gain(scores: HeldOutScores, bandwidths: Bandwidths, axis: int, reach: int) -> Bandwidths | None:
    """Return the best change of one column within so many steps of its options; None if it does not gain enough."""
    options = list(scores.options[axis])
    position = options.index(bandwidths[axis])
    near_options = options[max(position - reach, 0) : position + reach + 1]
    trials = [_exchange(bandwidths, axis, option) for option in reversed(near_options)]
    best = _choose_best(scores, [bandwidths, *trials])
    return None if best == bandwidths else best


def _choose_best(scores: HeldOutScores, trials: Sequence[Bandwidths]) -> Bandwidths:
    """Choose the first of the trials that no later one exceeds by enough."""
    best = trials[0]
    for trial in trials[1:]:
        if scores.measure(trial) > scores.measure(best) + MIN_GAIN_BITS:
            best = trial
    return best


def _exchange(bandwidths: Bandwidths, axis: int, bandwidth: Bandwidth) -> Bandwidths:
    return (*bandwidths[:axis], bandwidth, *bandwidths[axis + 1 :])


def _require_affordable(priors: KernelPriors, max_work: int) -> None:
    points = len(priors.counts.codes)
    if priors.route.work > max_work:
        raise JobError(
            f"No bandwidth can be chosen from this table: {points:,} combinations of quasi-identifiers take too long.",
            why="A hundred bandwidths are tried, and each compares all combinations with each other.",
            attempt='bandwidth = 0.3, or a table of numbers and "whole", or coarser values in the columns with most of them.',
        )


def _number_points(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct combinations of codes, and which of them each row is."""
    if not codes.shape[1]:
        return np.zeros((1, 0), np.int64), np.zeros(len(codes), np.int64)
    return find_combinations(codes, codes.max(axis=0) + 1)
