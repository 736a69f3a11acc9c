"""Exact comparison of arrays of whole numbers with fractions, whatever their digits.

A parameter is a fraction with as many digits as its author wrote, and `count * denominator` wraps in 64 bits.  So a numerator or a
denominator is multiplied with an array here and nowhere else: in 64 bits where the magnitudes prove that nothing wraps, which is
the ordinary case; else doubles decide what they can prove, and Python's whole numbers the rest.

This module imports nothing of ours, so that either side of the wall between planning and auditing may use it; its tests compare it
with Python's `Fraction`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm

import numpy as np

MAX_EXACT_INTEGER = 2**53  # whole numbers up to here are exact in double precision; beyond it doubles lie further apart
WORD_LIMIT = 1 << 63  # whole numbers below it fit a signed word of 64 bits
RELATIVE_ERROR_BOUND = (
    2.0**-48
)  # two conversions, a product and a leading part of 64 bits err by less than 2**-50, relatively
MAX_POWER_DIFFERENCE = 300  # powers of two by which the products of two words cannot differ


def is_whole(number: int | Fraction) -> bool:
    """Tell whether a fraction is a whole number."""
    return number.denominator == 1


def as_ratio(number: int | Fraction) -> tuple[int, int]:
    """Return the numerator and the denominator of a number, for arithmetic with Python's whole numbers."""
    return number.numerator, number.denominator


def find_common_denominator(numbers: Iterable[int | Fraction]) -> int:
    """Return the least whole number that makes each of these fractions whole."""
    return lcm(*(number.denominator for number in numbers))


def products_at_most(left: np.ndarray, p: int, right: np.ndarray, q: int) -> np.ndarray:
    """Tell which left * p <= right * q, for whole numbers of 0 or more; `left` and `right` may be of whole words or of objects."""
    left, right = np.broadcast_arrays(_convert_to_words(left), _convert_to_words(right))
    if not left.size:
        return np.zeros(left.shape, bool)
    if max(p, q, int(left.max()) * p, int(right.max()) * q) < WORD_LIMIT:
        return np.asarray(left * p <= right * q, bool)
    common = gcd(p, q) or 1
    return _long_products_at_most(left, p // common, right, q // common)


def shares_at_most(parts: np.ndarray, limit: Fraction, wholes: np.ndarray) -> np.ndarray:
    """Tell which parts are at most the share `limit` of their wholes: parts <= limit * wholes."""
    return products_at_most(parts, limit.denominator, wholes, limit.numerator)


def shares_at_least(parts: np.ndarray, limit: Fraction, wholes: np.ndarray) -> np.ndarray:
    """Tell which parts are at least the share `limit` of their wholes: parts >= limit * wholes."""
    return products_at_most(wholes, limit.numerator, parts, limit.denominator)


def floor_shares(wholes: np.ndarray, share: Fraction) -> np.ndarray:
    """Return floor(share * whole) of each whole, as 64 bits hold it; a share above 1 of a large whole may not fit, and raises."""
    wholes = _convert_to_words(wholes)
    most = int(wholes.max(initial=0))
    if max(share.numerator, share.denominator, most * share.numerator) < WORD_LIMIT:
        return wholes * share.numerator // share.denominator
    distinct, which = np.unique(wholes, return_inverse=True)
    floors = [int(whole) * share.numerator // share.denominator for whole in distinct.tolist()]
    return np.array(floors, np.int64)[which.reshape(-1)].reshape(wholes.shape)


def compute_whole_multiples(numbers: Iterable[Fraction], unit: int) -> np.ndarray:
    """Return number * unit of each, where the unit makes them whole: in 64 bits where they and their differences fit, else as objects."""
    multiples = [int(number * unit) for number in numbers]
    widest = max(map(abs, multiples), default=0)
    return np.array(multiples, np.int64 if widest < WORD_LIMIT // 4 else object)


def _convert_to_words(numbers: np.ndarray) -> np.ndarray:
    """Convert to 64-bit integers, or leave objects as they are: narrower integers would wrap earlier."""
    numbers = np.asarray(numbers)
    return numbers if numbers.dtype == object else numbers.astype(np.int64, copy=False)


def _long_products_at_most(left: np.ndarray, p: int, right: np.ndarray, q: int) -> np.ndarray:
    """Compare products that do not fit a word: by doubles if these are far enough apart, else by Python's whole numbers."""
    p_leading, p_power = _split_leading_part(p)
    q_leading, q_power = _split_leading_part(q)
    power = min(max(p_power - q_power, -MAX_POWER_DIFFERENCE), MAX_POWER_DIFFERENCE)
    one = np.ldexp(left.astype(np.float64) * p_leading, power)
    other = right.astype(np.float64) * q_leading
    verdicts = np.asarray(one <= other, bool)
    near = np.abs(one - other) <= (one + other) * RELATIVE_ERROR_BOUND
    if not near.any():
        return verdicts
    pairs = list(zip(left[near].tolist(), right[near].tolist(), strict=True))
    decided = {(a, b): a * p <= b * q for a, b in set(pairs)}
    verdicts[near] = [decided[pair] for pair in pairs]
    return verdicts


def _split_leading_part(number: int) -> tuple[float, int]:
    """(part, power): number is part * 2**power, but for a rounding; the part is less than 2**64."""
    power = max(number.bit_length() - 64, 0)
    return float(number >> power), power
