"""Phase 1, perturbation: a value is kept with probability p, else drawn uniformly from the domain (steps P1 and P2).

A whole number below d m is drawn uniformly, p = n / d: below n m the value is kept, else the number modulo m is its new code.
The (d - n) m numbers that remain hold every code equally often, so the probabilities are exactly those that are published.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from reticent.exact import ratio_of


def perturb(codes: np.ndarray, p: Fraction, domain: int, rng: np.random.Generator) -> np.ndarray:
    """A perturbed code for each code, independently."""
    numerator, denominator = ratio_of(p)
    drawn = rng.integers(0, denominator * domain, len(codes), dtype=np.int64)
    return np.where(drawn < numerator * domain, codes, drawn % domain).astype(np.int32)
