"""beta-likeness by perturbation (Cao & Karras, VLDB 2012, section 5): exact quasi-identifiers, sensitive values redrawn.

Each row's sensitive value v_i is replaced by v with probability M[i][v], independently of all else.  The promise is
about the belief in v_i of someone who knows the overall distribution and the matrix and sees a person's row (definition
6).  Seeing v, the belief in v_i becomes p_i M[i][v] / sum_u p_u M[u][v]; its relative gain over p_i may not exceed the
value's bound, min(beta, -ln p_i) or beta.

The matrix is row-stochastic, M[i][v] = Pr(v_i -> v), in whole numbers over 10^9: the paper prints the transpose (errata
1.9).

    rank-one    M = a I + 1 b^T with b_v = a / (gamma_v - 1): always valid (errata 1.6)
    theorem3    uniform perturbation as printed; valid where every alpha is >= 0, else often not (errata 1.6)
    optimal     the most retention under the exact caps, by a linear programme with a conditioning constraint

Entries are rounded in the safe direction: the chance to change is rounded up, the chance to stay down.  `BetaPosterior`
of `models/beta_likeness.py` judges the rounded matrix.

Departs from the paper: the default matrix is the rank-one one, since theorem 3 does not ensure its own condition
(errata 1.6); every matrix is verified by its exact posterior before it is used; probabilities are exact decimals, drawn
as such; and rows of a cell are redrawn together, which is distributed as if each were redrawn alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.errors import ColumnError, InternalError, JobError, PromiseUnreachable, pluralize
from reticent.kernels.redrawn_counts import count_perturbed
from reticent.methods.base import Method, require_few_values
from reticent.methods.equivalence_classes import require_several_values
from reticent.models.beta_likeness import BetaLikeness, BetaPosterior
from reticent.models.promise import Promises
from reticent.models.rational_bounds import Number
from reticent.randomness import Random
from reticent.recipe.recipe import PerturbedRecipe
from reticent.validation import check_parameters, document_parameters

MATRIX_SCALE = 10**9  # entries are exact decimals of nine digits, as they are published
IntegerMatrix = list[list[int]]
CHUNK_ROWS = 1 << 20  # rows that are redrawn together, and those of one cell beyond
MAX_SENSITIVE_VALUES = 500  # different sensitive values: the matrix has as many rows and columns, each entry a fraction
MAX_OPTIMAL_VALUES = 100  # of them for the linear programme, which has their square of unknowns


def build_rank_one_matrix(p: Sequence[Fraction], gains: Sequence[Fraction], *, two_sided: bool) -> IntegerMatrix:
    """Build the matrix of each value's own share a and the same row b for all.

    a is such that the belief in v, seen v, just reaches its cap.
    """
    share = [compute_leak(p[v], gains[v]) for v in range(len(p))]
    if two_sided:  # a p_v / b_v may not push any other value further down than its own bound
        share = [max(share[v], p[v] / min([*gains[:v], *gains[v + 1 :]])) for v in range(len(p))]
    a = 1 / (1 + sum(share))
    b = [ceil(a * s * MATRIX_SCALE) for s in share]
    stay = MATRIX_SCALE - sum(b)
    return [[b[v] + stay * (i == v) for v in range(len(p))] for i in range(len(p))]


def compute_leak(p: Fraction, gain: Fraction) -> Fraction:
    """Compute b_v / a = 1 / (gamma_v - 1), 0 where the cap reaches 1 and gamma is infinite (errata 1.11)."""
    return max((1 - p * (1 + gain)) / gain, Fraction(0))


def compute_gammas(p: Sequence[Fraction], gains: Sequence[Fraction]) -> list[Fraction]:
    """Compute theorem 2's gamma_i = f/p * (1 - p)/(1 - f)."""
    if any(p_i * (1 + gain) >= 1 for p_i, gain in zip(p, gains, strict=True)):
        raise PromiseUnreachable(
            "theorem3 has no matrix for this promise: the cap of a frequent value reaches 1.",
            why="Its gamma is infinite, and the constant of theorem 3 becomes 0.",
            attempt='matrix = "rank-one", or enhanced = true.',
        )
    return [(1 + gain) * (1 - p_i) / (1 - p_i * (1 + gain)) for p_i, gain in zip(p, gains, strict=True)]


def build_theorem3_matrix(p: Sequence[Fraction], gains: Sequence[Fraction]) -> tuple[IntegerMatrix, int]:
    """Build the printed matrix, and count how many of its alphas are negative."""
    m = len(p)
    gamma = compute_gammas(p, gains)
    constant = 1 / (max(gamma) + m - 1)
    negative = sum(m * g * constant < 1 for g in gamma)  # alpha_i = (m gamma_i C - 1) / (m - 1)
    rows = []
    for i, g in enumerate(gamma):
        other = ceil((1 - g * constant) / (m - 1) * MATRIX_SCALE)
        rows.append([MATRIX_SCALE - (m - 1) * other if i == v else other for v in range(m)])
    return rows, negative


def solve_optimal_matrix(
    p: Sequence[Fraction], gains: Sequence[Fraction], margin: float, *, two_sided: bool
) -> np.ndarray:
    """Find the matrix of the most retention sum_i p_i M[i][i], in floating point; `round_to_safe_matrix` mixes and rounds it.

    Retention alone gives a singular matrix.  With M = R + 1 b^T, R >= 0 and R[i][i] - sum_{v != i} R[i][v] >= margin,
    the inverse is (I - 1 b^T) R^-1 and its rows sum in absolute value to at most 2 / margin.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array
    except ImportError:
        raise JobError(
            'matrix = "optimal" needs SciPy.', attempt='pip install "reticent[stats]", or matrix = "rank-one".'
        ) from None
    m = len(p)
    prior = np.array([float(x) for x in p])
    cap = np.array([float(g) for g in gains])
    programme = _LinearProgram(m)
    i, v = (axis.ravel() for axis in np.indices((m, m)))
    cell = i * m + v
    column_sum = m * m + v
    common = m * m + m + v
    # p_i M[i][v] <= f_i S_v, and two-sided the reverse with 1 / (1 + gain)
    programme.add_inequality([(cell, prior[i]), (column_sum, -prior[i] * (1 + cap[i]))], m * m, 0)
    if two_sided:
        programme.add_inequality([(cell, -prior[i]), (column_sum, prior[i] / (1 + cap[i]))], m * m, 0)
    programme.add_inequality([(common, 1.0), (cell, -1.0)], m * m, 0)  # b_v <= M[i][v]
    values = np.arange(m)
    terms = [(np.full(m, m * m + m + u), np.where(values == u, 1.0, -1.0)) for u in range(m)]
    # 2 (M[i][i] - b_i) >= 1 - sum b + margin
    programme.add_inequality([(values * m + values, -2.0), *terms], m, -1 - margin)
    gain = np.zeros(m * m + 2 * m)
    gain[values * m + values] = -prior
    bound, right = programme.matrix(coo_array)
    equal, sums = _build_sum_equalities(prior, coo_array)
    solution = linprog(gain, A_ub=bound, b_ub=right, A_eq=equal, b_eq=sums, method="highs")
    if solution.status != 0:
        raise PromiseUnreachable(
            "No matrix keeps the promise under this conditioning constraint.",
            why=f"The linear programme over {m} values ended without a solution.",
            attempt='a smaller conditioning, or matrix = "rank-one".',
        )
    return np.maximum(solution.x[: m * m].reshape(m, m), 0)


def round_to_safe_matrix(floats: np.ndarray, p: Sequence[Fraction], mixed: float) -> IntegerMatrix:
    """Round a floating-point matrix to whole numbers, mixed with the uninformative matrix: every gain shrinks by that share."""
    prior = np.array([float(x) for x in p])
    floats = floats / floats.sum(axis=1, keepdims=True)
    blended = (1 - mixed) * floats + mixed * (prior @ floats)
    entries = np.floor(blended * MATRIX_SCALE).astype(np.int64)
    rest = MATRIX_SCALE - entries.sum(axis=1)
    entries[np.arange(len(p)), blended.argmax(axis=1)] += rest
    return [[int(entry) for entry in row] for row in entries]


@document_parameters(METHODS["beta-perturbation"])
@dataclass(frozen=True, slots=True, kw_only=True)
class BetaPerturbation(Method):
    """Redraws every sensitive value by a matrix."""

    matrix: str = "rank-one"
    conditioning: Fraction = Fraction(1, 2)
    name: ClassVar[str] = "beta-perturbation"
    kind: ClassVar[str] = "perturbed"
    labels: ClassVar[None] = None
    keeps: ClassVar[tuple[type, ...]] = (BetaLikeness,)

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, *, matrix: str = "rank-one", conditioning: Number = Fraction(1, 2)) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> PerturbedRecipe:
        column = require_single_column(cells, promises)
        if self.matrix == "optimal":
            require_few_values(f'{self.name} with matrix = "optimal"', cells, column, MAX_OPTIMAL_VALUES)
        require_few_values(self.name, cells, column, MAX_SENSITIVE_VALUES)
        totals = cells.totals(column)
        require_several_values(self.name, cells.sensitive[column].name, totals)
        occurring = np.flatnonzero(totals)
        counts = [int(count) for count in totals[occurring]]
        matrix = self.matrix_for(counts, promises)
        return perturb_cells(cells, occurring, matrix, rng.stream("perturbation"))

    def matrix_for(self, counts: Sequence[int], promises: Promises) -> IntegerMatrix:
        """Build the matrix for these counts of the occurring values, verified by its exact posterior."""
        p = [Fraction(count, sum(counts)) for count in counts]
        likeness = promises.require_models(BetaLikeness)
        posteriors = [BetaPosterior(promise) for promise in likeness]
        gains = [min(posterior.gain(p_i) for posterior in posteriors) for p_i in p]
        two_sided = any(promise.two_sided for promise in likeness)
        if self.matrix == "theorem3":
            matrix, negative = build_theorem3_matrix(p, gains)
            if excesses := [
                excess for posterior in posteriors if (excess := posterior.excess(matrix, counts)) is not None
            ]:
                raise make_theorem3_refusal(negative, len(p), max(excesses))
        else:
            matrix = build_rank_one_matrix(p, gains, two_sided=two_sided)
        if self.matrix == "optimal" and matrix[0][0] < MATRIX_SCALE:
            matrix = self._solve_optimal(
                p, gains, counts, posteriors, (matrix[0][0] - matrix[-1][0]) / MATRIX_SCALE, two_sided
            )
        for posterior in posteriors:
            posterior.verify({"matrix": matrix, "counts": counts})
        return matrix

    def _solve_optimal(self, p, gains, counts, posteriors, own: float, two_sided: bool) -> IntegerMatrix:
        floats = solve_optimal_matrix(p, gains, float(self.conditioning) * own, two_sided=two_sided)
        mixed = 1e-7
        while mixed < 0.01:
            matrix = round_to_safe_matrix(floats, p, mixed)
            if all(posterior.excess(matrix, counts) is None for posterior in posteriors):
                return matrix
            mixed *= 10
        raise InternalError("The linear programme's matrix could not be rounded to one that keeps the promise.")


def require_single_column(cells: Cells, promises: Promises) -> int:
    if len(cells.sensitive) != 1:
        raise JobError(
            f"beta-perturbation redraws one sensitive column; the job declares {len(cells.sensitive)}.",
            attempt='role = "identifying" for all but one, which are then not published.',
        )
    domain = cells.sensitive[0]
    if domain.null and cells.totals(0)[domain.null_code]:
        missing = int(cells.totals(0)[domain.null_code])
        raise ColumnError(
            f"The sensitive column {domain.name!r} is missing in {pluralize(missing, 'row')}.",
            why="A missing value cannot be redrawn without saying who had none.",
            attempt='missing = "withhold" for this column, or a value of their own for these rows in the source.',
        )
    return 0


def make_theorem3_refusal(negative: int, values: int, excess: float) -> PromiseUnreachable:
    return PromiseUnreachable(
        "The matrix of theorem 3 does not keep this promise.",
        why=f"Of its {values} alphas {negative} are negative, which the theorem does not allow and does not prevent; "
        f"the belief in a value can exceed its cap by {excess:.3g}.",
        attempt='matrix = "rank-one", which is always valid.',
    )


def perturb_cells(
    cells: Cells, occurring: np.ndarray, matrix: IntegerMatrix, rng: np.random.Generator, scale: int = MATRIX_SCALE
) -> PerturbedRecipe:
    """Spread each cell's rows over published values: draw whole numbers below `scale` uniformly and compare with cumulated rows."""
    until = np.cumsum(np.array(matrix, np.int64), axis=1)
    rank = np.full(cells.sensitive[0].size, -1)
    rank[occurring] = np.arange(len(occurring))
    last = np.cumsum(cells.counts)
    tally = np.zeros(len(occurring), np.int64)
    parts = []
    begin = 0
    while begin < len(cells):
        end = max(int(np.searchsorted(last, last[begin] + CHUNK_ROWS)), begin + 1)
        counts = cells.counts[begin:end].copy()
        of_cell = rank[cells.values[begin:end, 0]]
        draws = rng.integers(0, scale, int(counts.sum()), dtype=np.int64)
        buffer = np.empty((int(np.minimum(counts, len(occurring)).sum()), 3), np.int64)
        entries = buffer[: count_perturbed(counts, of_cell, until, draws, tally, buffer)]
        cell, outcome = entries[:, :2].astype(np.int32).T
        parts.append((cell + np.int32(begin), outcome, entries[:, 2].copy()))
        begin = end
    cell, outcome, quota = map(np.concatenate, zip(*parts, strict=True))
    return PerturbedRecipe(
        cells,
        cell,
        np.zeros(len(cell), np.int32),
        quota,
        1,
        values=occurring.astype(np.int32)[outcome][:, None],
        occurring=occurring,
        matrix=tuple(map(tuple, matrix)),
        matrix_denominator=scale,
    )


class _LinearProgram:
    """Inequalities gathered as triplets."""

    def __init__(self, m: int):
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.right: list[np.ndarray] = []
        self.rows = 0
        self.columns = m * m + 2 * m

    def add_inequality(self, terms: list, count: int, right: float) -> None:
        row = np.arange(count) + self.rows
        self.parts += [(row, column, np.broadcast_to(value, count)) for column, value in terms]
        self.right.append(np.full(count, float(right)))
        self.rows += count

    def matrix(self, coo_array):
        row, column, value = (np.concatenate(parts) for parts in zip(*self.parts, strict=True))
        return coo_array((value, (row, column)), shape=(self.rows, self.columns)).tocsr(), np.concatenate(self.right)


def _build_sum_equalities(prior: np.ndarray, coo_array):
    """Build the equalities: each row sums to 1, and S_v is the sum of p_i M[i][v]."""
    m = len(prior)
    i, v = (axis.ravel() for axis in np.indices((m, m)))
    value_range = np.arange(m)
    columns = np.concatenate([i * m + v, i * m + v, m * m + value_range])
    rows = np.concatenate([i, m + v, m + value_range])
    values = np.concatenate([np.ones(m * m), prior[i], -np.ones(m)])
    equal = coo_array((values, (rows, columns)), shape=(2 * m, m * m + 2 * m)).tocsr()
    return equal, np.append(np.ones(m), np.zeros(m))
