"""Distances between values of a column, and kernel weights made of them (Li, Li & Zhang, ICDE 2009, section II-C).

Distances are whole numbers over a unit:

    numbers, dates, ordered values   |a - b| over the range: of the declared domain, else of the values that occur
    hierarchies                      the level of the lowest common ancestor over the height
    the steward's own matrix         as it is written

A null is at distance 1 from everything else.  Distances are exact: a kernel ends where the distance reaches the
bandwidth, and a rounded quotient would not know on which side a value lies (errata 3.3).

The kernel functions, by name, give the weight of every code for every other:

    epanechnikov   3/(4B) (1 - (d/B)^2)        as the paper prints it; 0 at d = B
    triangular     (1/B) (1 - d/B)
    uniform        1/(2B)
    gaussian       exp(-(3d/B)^2 / 2), truncated: B is three standard deviations
    all of them    for d < B, and 0 from d = B on

The constant before the bracket is the same in numerator and denominator of equation 2 and is left out.  Bandwidth 0
gives weight to equal values alone (the maximum likelihood estimate of II-B), "whole" gives the same weight to all
(II-D; errata 3.6).  Each weight is the double next to the true one (the Gaussian: within 32 units in the last place).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np

from reticent.data.domain import BandDomain, Domain, RangeDomain, TreeDomain
from reticent.errors import JobError
from reticent.exact_arithmetic import as_ratio, compute_whole_multiples, find_common_denominator

KERNELS = ("epanechnikov", "uniform", "triangular", "gaussian")
WHOLE_BANDWIDTH = "whole"
Bandwidth = Fraction | str


@dataclass(frozen=True, eq=False)
class ValueDistances:
    """Distances of codes: d(i, j) = parts[i, j] / unit."""

    parts: np.ndarray
    unit: int


def compute_distances(domain: Domain, codes: np.ndarray, matrix: Mapping[str, Any] | None = None) -> ValueDistances:
    """Compute the distances between these codes of a domain, in their order."""
    null = codes == domain.null_code
    known_codes = codes[~null]
    if matrix is not None:
        parts, unit = _parse_listed_distances(domain, known_codes, matrix)
    elif getattr(domain, "positions", None) is not None:
        parts, unit = _compute_line_distances(domain, known_codes)
    else:
        parts, unit = _compute_tree_distances(domain, known_codes)
    all_parts = np.full((len(codes), len(codes)), unit, parts.dtype)
    all_parts[np.ix_(~null, ~null)] = parts
    np.fill_diagonal(all_parts, 0)
    return ValueDistances(all_parts, unit)


def find_positions(domain: Domain, codes: np.ndarray) -> tuple[list[Fraction], Fraction]:
    """Find the exact positions of codes, and the range by which distances are measured."""
    assert isinstance(domain, RangeDomain | BandDomain), "a column of places"
    places = domain.positions
    if domain.kind == "numeric":
        positions = [Fraction(domain.texts[code]) for code in codes.tolist()]
        ends = [Fraction(domain.texts[end]) for end in (0, -1)] if domain.texts else [Fraction(0)] * 2
    else:
        positions = [Fraction(float(places[code])) for code in codes.tolist()]
        ends = [Fraction(float(end)) for end in places[[0, -1]]] if len(places) else [Fraction(0)] * 2
    span = domain.span
    if len(places) and span != (float(places[0]), float(places[-1])):
        ends = [Fraction(repr(float(end))) for end in span]
    return positions, ends[1] - ends[0]


def is_ordered(domain: Domain) -> bool:
    return isinstance(domain, RangeDomain)


@dataclass(frozen=True, slots=True)
class EqualityWeights:
    """Weights of a kernel that gives weight to equal values only, without a table: a column may have a value for every row."""

    size: int

    def __len__(self) -> int:
        return self.size


KernelWeights = np.ndarray | EqualityWeights


def compute_kernel_weights(distances: ValueDistances, bandwidth: Bandwidth, kernel: str) -> np.ndarray:
    """Compute (codes, codes) weights in 0 .. 1; every code has weight 1 for itself."""
    size = len(distances.parts)
    if bandwidth == WHOLE_BANDWIDTH:
        return np.ones((size, size))
    if bandwidth == 0:
        return np.eye(size)
    distinct, code = np.unique(distances.parts, return_inverse=True)
    assert not isinstance(bandwidth, str)
    numerator, denominator = as_ratio(bandwidth)
    reach = distances.unit * numerator
    distinct_weights = [_compute_kernel_weight(int(d) * denominator, reach, kernel) for d in distinct.tolist()]
    weights = np.array(distinct_weights)[code.reshape(-1)].reshape(size, size)
    np.fill_diagonal(weights, 1.0)
    return weights


def are_equality_weights(weights: KernelWeights) -> bool:
    """Tell whether a kernel gives weight to equal values alone, as small bandwidths do."""
    return isinstance(weights, EqualityWeights) or np.count_nonzero(weights) == len(weights)


def are_whole_weights(weights: KernelWeights) -> bool:
    return len(weights) == 1 if isinstance(weights, EqualityWeights) else bool((weights == 1.0).all())


def _parse_listed_distances(domain: Domain, codes: np.ndarray, matrix: Mapping[str, Any]) -> tuple[np.ndarray, int]:
    index_of_text = {text: indices for indices, text in enumerate(matrix["values"])}
    texts = [domain.texts[code] for code in codes.tolist()]
    lacking = sum(text not in index_of_text for text in texts)
    if lacking:
        raise JobError(
            f"The distances of {domain.name!r} lack {lacking} of its {len(texts)} values.",
            attempt="a row and a column for every value of the table.",
        )
    rows = [[Fraction(str(d)) for d in row] for row in matrix["rows"]]
    unit = find_common_denominator(d for row in rows for d in row)
    multiples = compute_whole_multiples([d for row in rows for d in row], unit).reshape(len(rows), -1)
    indices = [index_of_text[text] for text in texts]
    return multiples[np.ix_(indices, indices)], unit


def _compute_line_distances(domain: Domain, codes: np.ndarray) -> tuple[np.ndarray, int]:
    positions, reach = find_positions(domain, codes)
    scale = find_common_denominator([reach, *positions])
    unit = max(int(reach * scale), 1)
    line = compute_whole_multiples([*positions, reach], scale)[:-1]
    return np.abs(line[:, None] - line[None, :]), unit


def _compute_tree_distances(domain: Domain, codes: np.ndarray) -> tuple[np.ndarray, int]:
    if not isinstance(domain, TreeDomain):
        raise JobError(f"{domain.name!r} has neither an order nor a hierarchy.", attempt="a hierarchy for it.")
    paths = domain.hierarchy.paths[codes]
    parts = np.zeros((len(codes), len(codes)), np.int64)
    for level in range(domain.hierarchy.height):
        parts += paths[:, None, level] != paths[None, :, level]
    return parts, max(domain.hierarchy.height, 1)


def _compute_kernel_weight(distance: int, reach: int, kernel: str) -> float:
    if distance >= reach:
        return 0.0
    if kernel == "epanechnikov":
        return (reach * reach - distance * distance) / (reach * reach)
    if kernel == "triangular":
        return (reach - distance) / reach
    return exp(-4.5 * (distance / reach) ** 2) if kernel == "gaussian" else 1.0
