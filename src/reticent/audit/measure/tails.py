"""Upper bounds on the logarithm of a tail probability, for sums of independent variables between 0 and 1.

With n summands, mean mu, variance V and an observed sum x at distance t = |x - mu| from the mean, the probability of a
sum as far out on the same side is at most

    exp(-n KL(x/n || mu/n))                         Hoeffding 1963, theorem 1: Chernoff's bound for a binomial
    exp(-V h(t/V)), h(u) = (1 + u) ln(1 + u) - u    Bennett 1962, the sharper one where the variance is small

and the smaller of the two is taken.  Rounding is outward: adding n numbers between 0 and 1 errs by less than n * 2^-52
relatively, so mean, n - mean (`rest`, given apart so that it is as accurate) and variance are made larger by that much,
x is moved towards the mean, and the exponent made smaller.  What cannot happen at all (x > 0 = mean, or x < n = mean)
keeps the probability 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

_UNIT = 2.0**-52
_TERM = 2.0**-48  # the product with a logarithm errs by less, relatively


def log_two_sided(x: ArrayLike, mean: ArrayLike, rest: ArrayLike, variance: ArrayLike, n: ArrayLike) -> np.ndarray:
    """ln of twice the tail on the observed side, at most 0."""
    return np.minimum(log_tail(x, mean, rest, variance, n) + np.log(2), 0.0)


def log_tail(x: ArrayLike, mean: ArrayLike, rest: ArrayLike, variance: ArrayLike, n: ArrayLike) -> np.ndarray:
    """ln of the tail on the observed side, at most 0; -inf for what cannot happen."""
    x, mean, rest, variance, n = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (x, mean, rest, variance, n)))
    error = (n + 8) * _UNIT
    t = np.maximum(np.abs(x - mean) - error * n, 0.0)
    moved = np.clip(np.where(x > mean, mean + t, mean - t), 0.0, n)
    mean, rest, variance = (a * (1 + error) for a in (mean, rest, variance))
    exponent = np.maximum(_chernoff(moved, n - moved, mean, rest), _bennett(t, variance))
    return -np.where(t > 0, exponent, 0.0)


def _chernoff(x: np.ndarray, others: np.ndarray, mean: np.ndarray, rest: np.ndarray) -> np.ndarray:
    one, other = _times_log_ratio(x, mean), _times_log_ratio(others, rest)
    impossible = np.isinf(one) | np.isinf(other)
    one, other = np.where(impossible, 0.0, one), np.where(impossible, 0.0, other)
    return np.where(impossible, np.inf, np.maximum(one + other - _TERM * (np.abs(one) + np.abs(other)), 0.0))


def _times_log_ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a ln(a / b), 0 at a = 0, infinite where b = 0 < a."""
    ratio = np.divide(a, b, out=np.full(a.shape, np.inf), where=b > 0)
    ratio[a <= 0] = 1.0
    return a * np.log(ratio)


def _bennett(t: np.ndarray, variance: np.ndarray) -> np.ndarray:
    ratio = np.divide(t, variance, out=np.full(t.shape, np.inf), where=variance > 0)
    finite = np.isfinite(ratio)
    grown = (variance + t) * np.log1p(np.where(finite, ratio, 0.0))
    return np.where(finite, np.maximum(grown * (1 - _TERM) - t * (1 + _TERM), 0.0), np.inf)
