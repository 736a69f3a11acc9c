"""Adv(B) bound to cells (Li, Li & Zhang, ICDE 2009, sections II to IV): prior beliefs at every point, and a judge of groups.

A point is a combination of quasi-identifiers with the people who have it.  `BackgroundAdversary` estimates the prior
beliefs of one bandwidth at every point, and the risk that groups leave.  Where a sensitive value is missing, the table
is viewed twice: with the null as a value like another, and without the people who have it.

`BackgroundJudge` decides whether groups keep a promise of at most t.  It computes risks in doubles with a proven error
bound, and with sixty digits where doubles do not decide.

The error bound (`bound_rounding_units`), in units of rounding: nothing in a risk subtracts.  Priors, factors and
posteriors are sums, products and quotients of numbers >= 0, so each has a relative error of at most the number of
operations that lead to it (to first order; the whole is doubled for what follows).

    a weight                     1, the Gaussian 32; a product of them their sum         (`terms` counts these and the additions)
    a prior                      numerator and denominator: 2 terms + values + 2
    a factor, each round         the priors of all points added up, once for each round
    a posterior                  numerator and denominator of that
    smoothed                     another average over the values, renormalised

The divergence d itself: its derivative by p times p is p/2 log2(2p/(p + q)), at most 1/2 max(p, q) in size, and the
same holds for q: a relative error e of all p and q moves d by at most e.  Evaluating d adds a few units for each value.

The precise decision (`is_within_precisely`) uses the kernel's formulas on exact kernel weights.  A group that sixty
digits do not decide within *their* error bound counts as broken, and so does a group that is too large for this
computation: the promise is sacred, and one cut less costs little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from reticent.catalogue import OTHER_COLUMNS
from reticent.data.cells import Cells
from reticent.data.domain import Domain
from reticent.errors import JobError, quote_list, suggest
from reticent.exact_arithmetic import as_ratio
from reticent.kernels.background_risk import judge_groups
from reticent.models.background_knowledge.distances import (
    WHOLE_BANDWIDTH,
    Bandwidth,
    EqualityWeights,
    ValueDistances,
    compute_distances,
    compute_kernel_weights,
)
from reticent.models.background_knowledge.posteriors import (
    POSTERIOR_ROUNDS,
    compute_js_divergence,
    compute_scaled_posteriors,
    make_smoothing_matrix,
    smooth_beliefs,
)
from reticent.models.background_knowledge.priors import KernelPriors, PointCounts
from reticent.models.promise import CandidateGroups, exclude_value

DOUBLE_ROUNDING_UNIT = 2.0**-53
PRECISE_DIGITS = 60
MAX_PRECISE_PAIRS = 1 << 20  # pairs of a point of the group and an entry of the table
PreciseColumn = tuple[ValueDistances | None, Bandwidth]
VERDICT_WITHIN_LIMIT = 1
VERDICT_UNDECIDED = 2
MAX_COLUMN_VALUES = 4096  # of a column that a bandwidth is given for
# Pairs of a point and a value judged in one call of compiled code: between calls a time limit can end it.
CHUNK_VERDICT_WORK = 1 << 24


def bound_rounding_units(terms: int, points: int, values: int, rounds: int, smoothed: bool) -> int:
    """Bound the error of a risk in bits, in units of rounding (see the module's docstring)."""
    prior = 2 * terms + values + 40
    factor = rounds * (2 * prior + points + values + 8)
    posterior = 2 * (prior + factor + 2) + values + 4
    if smoothed:
        posterior = 2 * (posterior + values + 24) + values + 4
    return 2 * (posterior + 8 * values + 64)


def compute_precise_weight(column: PreciseColumn, kernel: str, i: int, j: int) -> Decimal:
    """Compute the kernel's weight of two codes."""
    distances, bandwidth = column
    if i == j or bandwidth == WHOLE_BANDWIDTH:
        return Decimal(1)
    if bandwidth == 0 or distances is None:
        return Decimal(0)
    d = Fraction(int(distances.parts[i, j]), distances.unit)
    assert isinstance(bandwidth, Fraction)  # a number: "whole" is answered above
    if d >= bandwidth:
        return Decimal(0)
    x = d / bandwidth
    if kernel == "uniform":
        return Decimal(1)
    if kernel == "gaussian":
        return (-to_decimal(Fraction(9, 2) * x * x)).exp()
    return to_decimal(1 - (x if kernel == "triangular" else x * x))


def to_decimal(x: Fraction) -> Decimal:
    """Return the nearest decimal of the context's digits."""
    numerator, denominator = as_ratio(x)
    return Decimal(numerator) / Decimal(denominator)


def compute_precise_priors(
    columns: Sequence[PreciseColumn],
    kernel: str,
    codes: np.ndarray,
    entries: np.ndarray,
    values: int,
    points: np.ndarray,
) -> list[list[Decimal]]:
    """Compute equation 2 at some points; entries are (point, value, count)."""
    priors = []
    for q in points.tolist():
        total = [Decimal(0)] * values
        weights: dict[int, Decimal] = {}
        for t, value, count in entries.tolist():
            if t not in weights:
                product = Decimal(1)
                for a, column in enumerate(columns):
                    product *= compute_precise_weight(column, kernel, int(codes[q, a]), int(codes[t, a]))
                    if not product:
                        break
                weights[t] = product
            total[value] += weights[t] * count
        belief_sum = sum(total)
        priors.append([x / belief_sum for x in total])
    return priors


def is_within_precisely(
    prior: list[list[Decimal]],
    people: Sequence[int],
    counts: Sequence[int],
    smooth: list[list[Decimal]],
    rounds: int,
    t: Decimal,
    terms: int,
) -> bool:
    """Tell whether every belief of the group moves by at most t bits, by a margin larger than the error of these digits."""
    values = len(counts)
    error = Decimal(bound_rounding_units(terms, len(prior), values, rounds, bool(smooth))) * Decimal(10) ** (
        1 - PRECISE_DIGITS
    )
    share = [Decimal(n) for n in people]
    factor = [Decimal(0)] * values
    for _ in range(rounds):
        column_sums = [
            sum((w * row[v] for w, row in zip(share, prior, strict=True)), Decimal(0)) for v in range(values)
        ]
        factor = [n / h if n else Decimal(0) for n, h in zip(counts, column_sums, strict=True)]
        row_sums = [sum((f * x for f, x in zip(factor, row, strict=True)), Decimal(0)) for row in prior]
        share = [n / w for n, w in zip(people, row_sums, strict=True)]
    for row, w in zip(prior, row_sums, strict=True):
        after = [f * x / w for f, x in zip(factor, row, strict=True)]
        if _compute_divergence_bits(_smooth_precisely(row, smooth), _smooth_precisely(after, smooth)) + error > t:
            return False
    return True


def use_precise_context() -> AbstractContextManager[Context]:
    """Return the decimal context in which the precise decision is computed."""
    return localcontext(Context(prec=PRECISE_DIGITS))


@dataclass(frozen=True)
class BackgroundKnowledge:
    """Knowledge of an adversary: one bandwidth for all columns, or one for each or by default, and how beliefs are smoothed before comparison."""

    bandwidth: Bandwidth | Mapping[str, Bandwidth]
    kernel: str = "epanechnikov"
    smoothing: Fraction = Fraction(0)
    distances: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def get_bandwidth(self, column: str) -> Bandwidth:
        if not isinstance(self.bandwidth, Mapping):
            return self.bandwidth
        return self.bandwidth[column if column in self.bandwidth else OTHER_COLUMNS]

    def check(self, cells: Cells, column_index: int) -> None:
        """Require bandwidths for the quasi-identifiers and for no other column.

        `default` is for all that are not named, unless it is the name of a quasi-identifier itself.
        """
        names = [domain.name for domain in cells.quasi]
        known_names = [*names, *(domain.name for domain in cells.sensitive)]
        if isinstance(self.bandwidth, Mapping):
            for column in self.bandwidth:
                if column not in (*names, OTHER_COLUMNS):
                    raise JobError(
                        f"A bandwidth is given for {column!r}, which is not quasi-identifying.",
                        attempt=suggest(column, names),
                    )
            has_default = OTHER_COLUMNS in self.bandwidth and OTHER_COLUMNS not in names
            lacking = [name for name in names if name not in self.bandwidth and not has_default]
            if lacking:
                raise JobError(
                    f"No bandwidth is given for {quote_list(lacking)}.",
                    why="A column that is not named could mean that the adversary knows all of it, or nothing.",
                    attempt='a number for it, "whole" for what the adversary knows nothing of, or a default for all others.',
                )
        for column in self.distances:
            if column not in known_names:
                raise JobError(
                    f"Distances are given for {column!r}, which has no role.", attempt=suggest(column, known_names)
                )
        if self.smoothing and column_index == cells.joint:
            raise JobError(
                "The combined values of several sensitive columns have no distances to smooth over.",
                attempt="smoothing = 0, or column = one of them.",
            )


class BackgroundAdversary:
    """An adversary of one bandwidth on one view of the cells: all people, or those whose sensitive value is known.

    `without` is the code of the null that the view leaves out.
    """

    def __init__(self, cells: Cells, column: int, knowledge: BackgroundKnowledge, excluded: int):
        self.cells = cells
        self.at = column
        self.knowledge = knowledge
        self.without = excluded
        is_viewed = cells.values[:, column] != excluded
        self.values = cells.sensitive[column].size
        self.present, point = np.unique(cells.point[is_viewed], return_inverse=True)
        first = np.flatnonzero(np.diff(cells.point, prepend=-1))
        codes = cells.codes[first][self.present]
        self.columns: list[PreciseColumn] = []
        local = []
        weights: list[np.ndarray | EqualityWeights] = []
        for axis, domain in enumerate(cells.quasi):
            occurring, code = np.unique(codes[:, axis], return_inverse=True)
            bandwidth = knowledge.get_bandwidth(domain.name)
            distances = None
            if bandwidth not in (0, WHOLE_BANDWIDTH):
                distances = _compute_limited_distances(domain, occurring, knowledge)
            self.columns.append((distances, bandwidth))
            local.append(code.reshape(-1) if bandwidth != WHOLE_BANDWIDTH else np.zeros(len(codes), np.int64))
            if bandwidth == WHOLE_BANDWIDTH:
                weights.append(np.ones((1, 1)))
            elif distances is None:
                weights.append(EqualityWeights(len(occurring)))
            else:
                weights.append(compute_kernel_weights(distances, bandwidth, knowledge.kernel))
        self.codes = np.column_stack(local).astype(np.int32)
        self.entries = np.column_stack(
            [point.reshape(-1), cells.values[is_viewed, column], cells.counts[is_viewed]]
        ).astype(np.int64)
        point_of, value_of, count_of = self.entries.T
        self.priors = KernelPriors(PointCounts(self.codes, point_of, value_of, count_of, self.values), weights)

    @cached_property
    def people(self) -> np.ndarray:
        """People at every point of the cells."""
        counts = np.zeros(int(self.cells.point[-1]) + 1, np.int64)
        np.add.at(counts, self.present[self.entries[:, 0]], self.entries[:, 2])
        return counts

    @cached_property
    def prior(self) -> np.ndarray:
        """Prior beliefs, (points of the cells, values): 0 throughout at a point without people."""
        beliefs = np.zeros((len(self.people), self.values))
        beliefs[self.present] = self.priors.table()
        return beliefs

    @cached_property
    def smooth(self) -> np.ndarray:
        """The smoothing matrix, (values, values), or empty where beliefs are not smoothed."""
        if not self.knowledge.smoothing:
            return np.zeros((0, self.values))
        domain = self.cells.sensitive[self.at]
        distances = compute_distances(domain, np.arange(domain.size), self.knowledge.distances.get(domain.name))
        weights = compute_kernel_weights(distances, self.knowledge.smoothing, self.knowledge.kernel)
        return make_smoothing_matrix(weights, self._occurring)

    @property
    def _occurring(self) -> np.ndarray:
        return exclude_value(self.cells.totals(self.at), self.without) > 0

    def risks(self, groups: CandidateGroups, posterior: str) -> np.ndarray:
        """Compute the risk in bits of each point of each group, in the order of `groups.points`; 0 at a point without people."""
        offsets, point = groups.points
        counts = exclude_value(groups.histogram(self.at), self.without)
        after = compute_scaled_posteriors(
            self.prior[point], offsets, self.people[point], counts, POSTERIOR_ROUNDS[posterior]
        )
        divergence = compute_js_divergence(
            smooth_beliefs(self.prior[point], self.smooth), smooth_beliefs(after, self.smooth)
        )
        return np.where(self.people[point] > 0, divergence, 0.0)

    def judge(self, posterior: str, t: Fraction, base: str | int) -> BackgroundJudge:
        return BackgroundJudge(self, POSTERIOR_ROUNDS[posterior], t, base)


class BackgroundJudge:
    """Decides whether groups keep a promise of at most t: by doubles with a proven bound, else by sixty digits."""

    def __init__(self, adversary: BackgroundAdversary, rounds: int, t: Fraction, base: str | int):
        self.adversary = adversary
        self.rounds = rounds
        self.t = t
        self.base = base
        self.vacuous = t >= 1 if base == 2 else float(t) > 0.6931471805599454  # no divergence is larger than one bit
        smooth = adversary.smooth
        smoothed = [smooth_beliefs(adversary.prior, smooth)] if len(smooth) else []
        self.table = np.ascontiguousarray(np.column_stack([adversary.prior, *smoothed, adversary.people]), np.float64)
        error = [
            bound_rounding_units(self._terms, n, adversary.values, rounds, bool(smoothed)) * DOUBLE_ROUNDING_UNIT
            for n in (0, 1)
        ]
        bits = float(t) if base == 2 else float(t) / 0.6931471805599453
        self.settings = np.array([bits, error[0], error[1] - error[0], rounds])

    @property
    def _terms(self) -> int:
        gaussian = 32 * len(self.adversary.columns) if self.adversary.knowledge.kernel == "gaussian" else 0
        return self.adversary.priors.route.terms + gaussian

    def keeps(self, groups: CandidateGroups) -> np.ndarray:
        if self.vacuous:
            return np.ones(len(groups), bool)
        offsets, point = groups.points
        counts = np.ascontiguousarray(exclude_value(groups.histogram(self.adversary.at), self.adversary.without))
        verdict = np.zeros(len(groups), np.int8)
        work = np.zeros((4, self.adversary.values))
        smooth = np.ascontiguousarray(self.adversary.smooth)
        step = max(CHUNK_VERDICT_WORK // max(len(point) // max(len(counts), 1) * self.adversary.values, 1), 1)
        for start in range(0, len(counts), step):
            chunk = slice(start, start + step)
            ends = offsets[start : start + step + 1]
            judge_groups(ends, point, counts[chunk], self.table, smooth, self.settings, work, verdict[chunk])
        for g in np.flatnonzero(verdict == VERDICT_UNDECIDED):
            verdict[g] = self._keeps_precisely(point[offsets[g] : offsets[g + 1]], counts[g])
        return verdict == VERDICT_WITHIN_LIMIT

    def _keeps_precisely(self, points: np.ndarray, counts: np.ndarray) -> bool:
        adversary = self.adversary
        points = points[adversary.people[points] > 0]
        if len(points) * len(adversary.entries) > MAX_PRECISE_PAIRS:
            return False
        places = np.searchsorted(adversary.present, points)
        with use_precise_context():
            prior = compute_precise_priors(
                adversary.columns,
                adversary.knowledge.kernel,
                adversary.codes,
                adversary.entries,
                adversary.values,
                places,
            )
            t = to_decimal(self.t)
            t = t if self.base == 2 else t / Decimal(2).ln()
            people = adversary.people[points].tolist()
            smooth = self._compute_smoothing_matrix()
            return is_within_precisely(prior, people, counts.tolist(), smooth, self.rounds, t, len(adversary.entries))

    def _compute_smoothing_matrix(self) -> list[list[Decimal]]:
        adversary = self.adversary
        if not len(adversary.smooth):
            return []
        domain = adversary.cells.sensitive[adversary.at]
        knowledge = adversary.knowledge
        column = (
            compute_distances(domain, np.arange(domain.size), knowledge.distances.get(domain.name)),
            knowledge.smoothing,
        )
        occurring = adversary._occurring
        rows = [
            [
                compute_precise_weight(column, knowledge.kernel, i, j) if occurring[i] and occurring[j] else Decimal(0)
                for j in range(domain.size)
            ]
            for i in range(domain.size)
        ]
        return [[x / sum(row) for x in row] if occurring[i] else row for i, row in enumerate(rows)]


def _compute_divergence_bits(p: list[Decimal], q: list[Decimal]) -> Decimal:
    total = Decimal(0)
    for a, b in zip(p, q, strict=True):
        for x in (a, b):
            if x:
                total += x * (2 * x / (a + b)).ln()
    return total / (2 * Decimal(2).ln())


def _smooth_precisely(belief: list[Decimal], smooth: list[list[Decimal]]) -> list[Decimal]:
    if not smooth:
        return belief
    smoothed = [sum((w * x for w, x in zip(row, belief, strict=True)), Decimal(0)) for row in smooth]
    belief_sum = sum(smoothed)
    return [x / belief_sum for x in smoothed]


def _compute_limited_distances(domain: Domain, occurring: np.ndarray, knowledge: BackgroundKnowledge) -> ValueDistances:
    """Compute the distances of all pairs of values; refuse a table of pairs that would not fit."""
    if len(occurring) > MAX_COLUMN_VALUES:
        raise JobError(
            f"{domain.name!r} has {len(occurring):,} values: a bandwidth compares every two, and at most {MAX_COLUMN_VALUES:,} will do.",
            attempt='bandwidth = 0 or "whole" for it, or coarser values.',
        )
    return compute_distances(domain, occurring, knowledge.distances.get(domain.name))
