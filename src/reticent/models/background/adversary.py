"""Adv(B) bound to cells (Li, Li & Zhang, ICDE 2009, sections II to IV): prior beliefs at every point, and a judge of groups.

A point is a combination of quasi-identifiers with the people who have it.  Where a sensitive value is missing, the table is looked at
twice: with the null as a value like another, and without the people who have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from reticent.errors import JobError, listed, suggest
from reticent.kernels.background_risk import judge
from reticent.models.background import precise
from reticent.models.background.beliefs import ROUNDS, scaled
from reticent.models.background.distances import Distances, distances
from reticent.models.background.divergence import js, smoothed, smoothing
from reticent.models.background.margin import DOUBLE, units
from reticent.models.background.priors import Held, Priors
from reticent.models.background.weights import WHOLE, Bandwidth, Equality, weigh
from reticent.models.caps import left_out
from reticent.models.shapes import Groups
from reticent.table.cells import Cells
from reticent.table.domain import Domain

DECIDED, DOUBTFUL = 1, 2
MOST_VALUES = 4096  # of a column that a bandwidth is given for
VERDICTS_AT_ONCE = (
    1 << 24
)  # pairs of a point and a value judged in one call of compiled code: between calls a time limit can end it


@dataclass(frozen=True)
class Knowledge:
    """What an adversary knows: a bandwidth for every column or for each, and how beliefs are smoothed before they are compared."""

    bandwidth: Bandwidth | Mapping[str, Bandwidth]
    kernel: str = "epanechnikov"
    smoothing: Fraction = Fraction(0)
    distances: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, column: str) -> Bandwidth:
        if isinstance(self.bandwidth, Mapping):
            return self.bandwidth[column]
        return self.bandwidth

    def check(self, cells: Cells, at: int) -> None:
        """Bandwidths for the quasi-identifiers and for nothing else."""
        names = [domain.name for domain in cells.quasi]
        known = [*names, *(domain.name for domain in cells.sensitive)]
        if isinstance(self.bandwidth, Mapping):
            for column in self.bandwidth:
                if column not in names:
                    raise JobError(
                        f"A bandwidth is given for {column!r}, which is not quasi-identifying.",
                        attempt=suggest(column, names),
                    )
            if lacking := [name for name in names if name not in self.bandwidth]:
                raise JobError(
                    f"No bandwidth is given for {listed(lacking)}.",
                    why="A column that is not named could mean that the adversary knows all of it, or nothing.",
                    attempt='a number for it, or "whole" for what the adversary knows nothing of.',
                )
        for column in self.distances:
            if column not in known:
                raise JobError(
                    f"Distances are given for {column!r}, which has no role.", attempt=suggest(column, known)
                )
        if self.smoothing and at == cells.joint:
            raise JobError(
                "The combined values of several sensitive columns have no distances to smooth over.",
                attempt="smoothing = 0, or column = one of them.",
            )


class Adversary:
    """One bandwidth on one view of the cells: all people, or those whose sensitive value is known (`without` the null)."""

    def __init__(self, cells: Cells, at: int, knowledge: Knowledge, without: int):
        self.cells, self.at, self.knowledge, self.without = cells, at, knowledge, without
        here = cells.values[:, at] != without
        self.values = cells.sensitive[at].size
        self.present, point = np.unique(cells.point[here], return_inverse=True)
        first = np.flatnonzero(np.diff(cells.point, prepend=-1))
        codes = cells.codes[first][self.present]
        self.columns: list[precise.Column] = []
        local, weights = [], []
        for axis, domain in enumerate(cells.quasi):
            occurring, code = np.unique(codes[:, axis], return_inverse=True)
            bandwidth = knowledge.of(domain.name)
            apart = _distances(domain, occurring, knowledge) if bandwidth not in (0, WHOLE) else None
            self.columns.append((apart, bandwidth))
            local.append(code.reshape(-1) if bandwidth != WHOLE else np.zeros(len(codes), np.int64))
            weights.append(
                np.ones((1, 1)) if bandwidth == WHOLE
                else Equality(len(occurring)) if apart is None
                else weigh(apart, bandwidth, knowledge.kernel)
            )  # fmt: skip
        self.codes = np.column_stack(local).astype(np.int32)
        self.entries = np.column_stack([point.reshape(-1), cells.values[here, at], cells.counts[here]]).astype(np.int64)
        point_of, value_of, count_of = self.entries.T
        self.priors = Priors(Held(self.codes, point_of, value_of, count_of, self.values), weights)

    @cached_property
    def people(self) -> np.ndarray:
        """At every point of the cells."""
        found = np.zeros(int(self.cells.point[-1]) + 1, np.int64)
        np.add.at(found, self.present[self.entries[:, 0]], self.entries[:, 2])
        return found

    @cached_property
    def prior(self) -> np.ndarray:
        """(points of the cells, values): 0 throughout where nobody is."""
        found = np.zeros((len(self.people), self.values))
        found[self.present] = self.priors.table()
        return found

    @cached_property
    def smooth(self) -> np.ndarray:
        """(values, values), or empty where beliefs are not smoothed."""
        if not self.knowledge.smoothing:
            return np.zeros((0, self.values))
        domain = self.cells.sensitive[self.at]
        apart = distances(domain, np.arange(domain.size), self.knowledge.distances.get(domain.name))
        weights = weigh(apart, self.knowledge.smoothing, self.knowledge.kernel)
        return smoothing(weights, self._occurring)

    @property
    def _occurring(self) -> np.ndarray:
        return left_out(self.cells.totals(self.at), self.without) > 0

    def risks(self, groups: Groups, posterior: str) -> np.ndarray:
        """The risk in bits of each point of each group, as `groups.points` lists them; 0 where nobody is."""
        offsets, point = groups.points
        counts = left_out(groups.histogram(self.at), self.without)
        after = scaled(self.prior[point], offsets, self.people[point], counts, ROUNDS[posterior])
        found = js(smoothed(self.prior[point], self.smooth), smoothed(after, self.smooth))
        return np.where(self.people[point] > 0, found, 0.0)

    def judge(self, posterior: str, t: Fraction, base: str | int) -> Judge:
        return Judge(self, ROUNDS[posterior], t, base)


def _distances(domain: Domain, occurring: np.ndarray, knowledge: Knowledge) -> Distances:
    """Refused where the table of all pairs of values would not fit."""
    if len(occurring) > MOST_VALUES:
        raise JobError(
            f"{domain.name!r} has {len(occurring):,} values: a bandwidth compares every two, and at most {MOST_VALUES:,} will do.",
            attempt='bandwidth = 0 or "whole" for it, or coarser values.',
        )
    return distances(domain, occurring, knowledge.distances.get(domain.name))


class Judge:
    """Whether groups keep a promise of at most t: by doubles with a proven bound, and by sixty digits where that does not decide."""

    def __init__(self, adversary: Adversary, rounds: int, t: Fraction, base: str | int):
        self.adversary, self.rounds, self.t, self.base = adversary, rounds, t, base
        self.vacuous = t >= 1 if base == 2 else float(t) > 0.6931471805599454  # no divergence is larger than one bit
        smooth = adversary.smooth
        seen = [smoothed(adversary.prior, smooth)] if len(smooth) else []
        self.table = np.ascontiguousarray(np.column_stack([adversary.prior, *seen, adversary.people]), np.float64)
        error = [units(self._terms, n, adversary.values, rounds, bool(seen)) * DOUBLE for n in (0, 1)]
        bits = float(t) if base == 2 else float(t) / 0.6931471805599453
        self.settings = np.array([bits, error[0], error[1] - error[0], rounds])

    @property
    def _terms(self) -> int:
        gaussian = 32 * len(self.adversary.columns) if self.adversary.knowledge.kernel == "gaussian" else 0
        return self.adversary.priors.route.terms + gaussian

    def keeps(self, groups: Groups) -> np.ndarray:
        if self.vacuous:
            return np.ones(len(groups), bool)
        offsets, point = groups.points
        counts = np.ascontiguousarray(left_out(groups.histogram(self.adversary.at), self.adversary.without))
        verdict = np.zeros(len(groups), np.int8)
        work = np.zeros((4, self.adversary.values))
        smooth = np.ascontiguousarray(self.adversary.smooth)
        step = max(VERDICTS_AT_ONCE // max(len(point) // max(len(counts), 1) * self.adversary.values, 1), 1)
        for start in range(0, len(counts), step):
            here = slice(start, start + step)
            ends = offsets[start : start + step + 1]
            judge(ends, point, counts[here], self.table, smooth, self.settings, work, verdict[here])
        for g in np.flatnonzero(verdict == DOUBTFUL):
            verdict[g] = self._precisely(point[offsets[g] : offsets[g + 1]], counts[g])
        return verdict == DECIDED

    def _precisely(self, points: np.ndarray, counts: np.ndarray) -> bool:
        known = self.adversary
        points = points[known.people[points] > 0]
        if len(points) * len(known.entries) > precise.WORK:
            return False
        at = np.searchsorted(known.present, points)
        with precise.precisely():
            prior = precise.priors(known.columns, known.knowledge.kernel, known.codes, known.entries, known.values, at)
            t = precise.decimal(self.t)
            t = t if self.base == 2 else t / Decimal(2).ln()
            people, smooth = known.people[points].tolist(), self._smooth()
            return precise.within(prior, people, counts.tolist(), smooth, self.rounds, t, len(known.entries))

    def _smooth(self) -> list[list[Decimal]]:
        known = self.adversary
        if not len(known.smooth):
            return []
        domain, knowledge = known.cells.sensitive[known.at], known.knowledge
        column = distances(domain, np.arange(domain.size), knowledge.distances.get(domain.name)), knowledge.smoothing
        there = known._occurring
        rows = [
            [precise.weight(column, knowledge.kernel, i, j) if there[i] and there[j] else Decimal(0)
             for j in range(domain.size)] for i in range(domain.size)
        ]  # fmt: skip
        return [[x / sum(row) for x in row] if there[i] else row for i, row in enumerate(rows)]
