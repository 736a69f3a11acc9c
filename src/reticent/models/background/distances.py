"""How far two values of a column are from each other (Li, Li & Zhang, ICDE 2009, section II-C), as whole numbers over a unit.

    numbers, dates, ordered values   |a - b| over the range: of the declared domain, else of the values that occur
    hierarchies                      the level of the lowest common ancestor over the height
    a matrix of one's own            as it is written

A null is at distance 1 from everything else.  Exact: a kernel ends where the distance reaches the bandwidth, and a rounded
quotient would not know on which side a value lies (errata 3.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.errors import JobError
from reticent.exact import common_denominator, whole_multiples
from reticent.table.banded import BandDomain
from reticent.table.domain import Domain, RangeDomain, TreeDomain


@dataclass(frozen=True, eq=False)
class Distances:
    """d(i, j) = parts[i, j] / unit, for codes i and j."""

    parts: np.ndarray
    unit: int


def distances(domain: Domain, codes: np.ndarray, matrix: Mapping[str, Any] | None = None) -> Distances:
    """Between these codes of a domain, in their order."""
    null = codes == domain.null_code
    known = codes[~null]
    if matrix is not None:
        parts, unit = _listed(domain, known, matrix)
    elif getattr(domain, "positions", None) is not None:
        parts, unit = _on_a_line(domain, known)
    else:
        parts, unit = _in_a_tree(domain, known)
    whole = np.full((len(codes), len(codes)), unit, parts.dtype)
    whole[np.ix_(~null, ~null)] = parts
    np.fill_diagonal(whole, 0)
    return Distances(whole, unit)


def _on_a_line(domain: Domain, codes: np.ndarray) -> tuple[np.ndarray, int]:
    at, reach = positions(domain, codes)
    scale = common_denominator([reach, *at])
    unit = max(int(reach * scale), 1)
    line = whole_multiples([*at, reach], scale)[:-1]
    return np.abs(line[:, None] - line[None, :]), unit


def positions(domain: Domain, codes: np.ndarray) -> tuple[list[Fraction], Fraction]:
    """Where codes stand, exactly, and the range that distances are measured by."""
    assert isinstance(domain, RangeDomain | BandDomain), "a column of places"
    places = domain.positions
    if domain.kind == "numeric":
        found = [Fraction(domain.texts[code]) for code in codes.tolist()]
        ends = [Fraction(domain.texts[end]) for end in (0, -1)] if domain.texts else [Fraction(0)] * 2
    else:
        found = [Fraction(float(places[code])) for code in codes.tolist()]
        ends = [Fraction(float(end)) for end in places[[0, -1]]] if len(places) else [Fraction(0)] * 2
    span = domain.span
    if len(places) and span != (float(places[0]), float(places[-1])):
        ends = [Fraction(repr(float(end))) for end in span]
    return found, ends[1] - ends[0]


def _in_a_tree(domain: Domain, codes: np.ndarray) -> tuple[np.ndarray, int]:
    if not isinstance(domain, TreeDomain):
        raise JobError(f"{domain.name!r} has neither an order nor a hierarchy.", attempt="a hierarchy for it.")
    paths = domain.hierarchy.paths[codes]
    parts = np.zeros((len(codes), len(codes)), np.int64)
    for level in range(domain.hierarchy.height):
        parts += paths[:, None, level] != paths[None, :, level]
    return parts, max(domain.hierarchy.height, 1)


def _listed(domain: Domain, codes: np.ndarray, matrix: Mapping[str, Any]) -> tuple[np.ndarray, int]:
    place = {text: at for at, text in enumerate(matrix["values"])}
    texts = [domain.texts[code] for code in codes.tolist()]
    lacking = sum(text not in place for text in texts)
    if lacking:
        raise JobError(
            f"The distances of {domain.name!r} lack {lacking} of its {len(texts)} values.",
            attempt="a row and a column for every value of the table.",
        )
    rows = [[Fraction(str(d)) for d in row] for row in matrix["rows"]]
    unit = common_denominator(d for row in rows for d in row)
    whole = whole_multiples([d for row in rows for d in row], unit).reshape(len(rows), -1)
    at = [place[text] for text in texts]
    return whole[np.ix_(at, at)], unit


def is_ordered(domain: Domain) -> bool:
    return isinstance(domain, RangeDomain)
