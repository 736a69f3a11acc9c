"""Perturbation matrices for beta-likeness (Cao & Karras, VLDB 2012, section 5), as whole numbers over 10^9.

M[i][v] = Pr(v_i -> v), row-stochastic: the paper prints the transpose (errata 1.9).  Seeing v, the belief in v_i becomes
p_i M[i][v] / sum_u p_u M[u][v]; its relative gain over p_i may not exceed the value's bound, min(beta, -ln p_i) or beta.

    rank-one    M = a I + 1 b^T with b_v = a / (gamma_v - 1): always valid (errata 1.6)
    theorem3    uniform perturbation as printed; valid where every alpha is >= 0, else often not (errata 1.6)
    optimal     the most retention under the exact caps, by a linear programme with a conditioning constraint

Entries are rounded in the safe direction: what points elsewhere up, what stays down.  The rounded
matrix is judged by `models/beta_posterior.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from reticent.errors import JobError, PromiseUnreachable

WHOLE = 10**9  # entries are exact decimals of nine digits, as they are published
Matrix = list[list[int]]


def rank_one(p: Sequence[Fraction], gains: Sequence[Fraction], *, two_sided: bool) -> Matrix:
    """Each value's own share a, and the same row b for all: a sees to it that belief in v, seen v, just reaches its cap."""
    share = [leak(p[v], gains[v]) for v in range(len(p))]
    if two_sided:  # a p_v / b_v may not push any other value further down than its own bound
        share = [max(share[v], p[v] / min([*gains[:v], *gains[v + 1 :]])) for v in range(len(p))]
    a = 1 / (1 + sum(share))
    b = [ceil(a * s * WHOLE) for s in share]
    stay = WHOLE - sum(b)
    return [[b[v] + stay * (i == v) for v in range(len(p))] for i in range(len(p))]


def leak(p: Fraction, gain: Fraction) -> Fraction:
    """b_v / a = 1 / (gamma_v - 1), 0 where the cap reaches 1 and gamma is infinite (errata 1.11)."""
    return max((1 - p * (1 + gain)) / gain, Fraction(0))


def gammas(p: Sequence[Fraction], gains: Sequence[Fraction]) -> list[Fraction]:
    """Theorem 2's gamma_i = f/p * (1 - p)/(1 - f)."""
    if any(p_i * (1 + gain) >= 1 for p_i, gain in zip(p, gains, strict=True)):
        raise PromiseUnreachable(
            "theorem3 has no matrix for this promise: the cap of a frequent value reaches 1.",
            why="Its gamma is infinite, and the constant of theorem 3 becomes 0.",
            attempt='matrix = "rank-one", or enhanced = true.',
        )
    return [(1 + gain) * (1 - p_i) / (1 - p_i * (1 + gain)) for p_i, gain in zip(p, gains, strict=True)]


def theorem3(p: Sequence[Fraction], gains: Sequence[Fraction]) -> tuple[Matrix, int]:
    """The printed matrix, and how many of its alphas are negative."""
    m, gamma = len(p), gammas(p, gains)
    constant = 1 / (max(gamma) + m - 1)
    negative = sum(m * g * constant < 1 for g in gamma)  # alpha_i = (m gamma_i C - 1) / (m - 1)
    rows = []
    for i, g in enumerate(gamma):
        other = ceil((1 - g * constant) / (m - 1) * WHOLE)
        rows.append([WHOLE - (m - 1) * other if i == v else other for v in range(m)])
    return rows, negative


def optimal(p: Sequence[Fraction], gains: Sequence[Fraction], margin: float, *, two_sided: bool) -> np.ndarray:
    """The most retention sum_i p_i M[i][i], in floating point; to be mixed and rounded by `safe`.

    Retention alone gives a singular matrix.  With M = R + 1 b^T, R >= 0 and R[i][i] - sum_{v != i} R[i][v] >= margin, the
    inverse is (I - 1 b^T) R^-1 and its rows sum in absolute value to at most 2 / margin.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array
    except ImportError:
        raise JobError(
            'matrix = "optimal" needs SciPy.', attempt='pip install "reticent[stats]", or matrix = "rank-one".'
        ) from None
    m = len(p)
    prior, cap = np.array([float(x) for x in p]), np.array([float(g) for g in gains])
    programme = _Programme(m)
    i, v = (axis.ravel() for axis in np.indices((m, m)))
    cell, seen, common = i * m + v, m * m + v, m * m + m + v
    # p_i M[i][v] <= f_i S_v, and two-sided the reverse with 1 / (1 + gain)
    programme.at_most([(cell, prior[i]), (seen, -prior[i] * (1 + cap[i]))], m * m, 0)
    if two_sided:
        programme.at_most([(cell, -prior[i]), (seen, prior[i] / (1 + cap[i]))], m * m, 0)
    programme.at_most([(common, 1.0), (cell, -1.0)], m * m, 0)  # b_v <= M[i][v]
    one = np.arange(m)
    whole = [(np.full(m, m * m + m + u), np.where(one == u, 1.0, -1.0)) for u in range(m)]
    # 2 (M[i][i] - b_i) >= 1 - sum b + margin
    programme.at_most([(one * m + one, -2.0), *whole], m, -1 - margin)
    gain = np.zeros(m * m + 2 * m)
    gain[one * m + one] = -prior
    bound, right = programme.matrix(coo_array)
    equal, sums = _sums(prior, coo_array)
    found = linprog(gain, A_ub=bound, b_ub=right, A_eq=equal, b_eq=sums, method="highs")
    if found.status != 0:
        raise PromiseUnreachable(
            "No matrix keeps the promise under this conditioning constraint.",
            why=f"The linear programme over {m} values ended without a solution.",
            attempt='a smaller conditioning, or matrix = "rank-one".',
        )
    return np.maximum(found.x[: m * m].reshape(m, m), 0)


def _sums(prior: np.ndarray, coo_array):
    """Each row sums to 1, and S_v is the sum of p_i M[i][v]."""
    m = len(prior)
    i, v = (axis.ravel() for axis in np.indices((m, m)))
    one = np.arange(m)
    columns = np.concatenate([i * m + v, i * m + v, m * m + one])
    rows = np.concatenate([i, m + v, m + one])
    values = np.concatenate([np.ones(m * m), prior[i], -np.ones(m)])
    equal = coo_array((values, (rows, columns)), shape=(2 * m, m * m + 2 * m)).tocsr()
    return equal, np.append(np.ones(m), np.zeros(m))


class _Programme:
    """Inequalities gathered as triplets."""

    def __init__(self, m: int):
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.right: list[np.ndarray] = []
        self.rows, self.columns = 0, m * m + 2 * m

    def at_most(self, terms: list, count: int, right: float) -> None:
        row = np.arange(count) + self.rows
        self.parts += [(row, column, np.broadcast_to(value, count)) for column, value in terms]
        self.right.append(np.full(count, float(right)))
        self.rows += count

    def matrix(self, coo_array):
        row, column, value = (np.concatenate(parts) for parts in zip(*self.parts, strict=True))
        return coo_array((value, (row, column)), shape=(self.rows, self.columns)).tocsr(), np.concatenate(self.right)


def safe(floats: np.ndarray, p: Sequence[Fraction], mixed: float) -> Matrix:
    """Whole numbers near a floating-point matrix, mixed with the matrix that says nothing: every gain shrinks by that share."""
    prior = np.array([float(x) for x in p])
    floats = floats / floats.sum(axis=1, keepdims=True)
    blended = (1 - mixed) * floats + mixed * (prior @ floats)
    whole = np.floor(blended * WHOLE).astype(np.int64)
    rest = WHOLE - whole.sum(axis=1)
    whole[np.arange(len(p)), blended.argmax(axis=1)] += rest
    return [[int(entry) for entry in row] for row in whole]
