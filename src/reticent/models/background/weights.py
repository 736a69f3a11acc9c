"""The kernel functions of section II-C by name, as the weight of every code for every other.

    epanechnikov   3/(4B) (1 - (d/B)^2)        as the paper prints it; 0 at d = B
    triangular     (1/B) (1 - d/B)
    uniform        1/(2B)
    gaussian       exp(-(3d/B)^2 / 2), truncated: B is three standard deviations
    all of them    for d < B, and 0 from d = B on

The constant before the bracket is the same in numerator and denominator of equation 2 and is left out.  Bandwidth 0 gives weight
to equal values alone (the maximum likelihood estimate of II-B), "whole" the same weight to all (II-D; errata 3.6).  Each
weight is the double next to the true one (the Gaussian: within 32 units in the last place).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np

from reticent.exact import ratio_of
from reticent.models.background.distances import Distances

KERNELS = ("epanechnikov", "uniform", "triangular", "gaussian")
WHOLE = "whole"
Bandwidth = Fraction | str


@dataclass(frozen=True, slots=True)
class Equality:
    """The weights of a kernel that knows equal values only, without a table: a column may have a value for every row."""

    size: int

    def __len__(self) -> int:
        return self.size


Weights = np.ndarray | Equality


def weigh(distances: Distances, bandwidth: Bandwidth, kernel: str) -> np.ndarray:
    """(codes, codes) weights in 0 .. 1; every code has weight 1 for itself."""
    size = len(distances.parts)
    if bandwidth == WHOLE:
        return np.ones((size, size))
    if bandwidth == 0:
        return np.eye(size)
    apart, which = np.unique(distances.parts, return_inverse=True)
    assert not isinstance(bandwidth, str)
    numerator, denominator = ratio_of(bandwidth)
    reach = distances.unit * numerator
    found = [_weight(int(d) * denominator, reach, kernel) for d in apart.tolist()]
    weights = np.array(found)[which.reshape(-1)].reshape(size, size)
    np.fill_diagonal(weights, 1.0)
    return weights


def _weight(distance: int, reach: int, kernel: str) -> float:
    if distance >= reach:
        return 0.0
    if kernel == "epanechnikov":
        return (reach * reach - distance * distance) / (reach * reach)
    if kernel == "triangular":
        return (reach - distance) / reach
    return exp(-4.5 * (distance / reach) ** 2) if kernel == "gaussian" else 1.0


def is_equality(weights: Weights) -> bool:
    """Whether a kernel gives weight to equal values alone, as small bandwidths do."""
    return isinstance(weights, Equality) or np.count_nonzero(weights) == len(weights)


def is_whole(weights: Weights) -> bool:
    return len(weights) == 1 if isinstance(weights, Equality) else bool((weights == 1.0).all())
