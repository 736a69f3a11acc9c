"""Partitions of linked rows into parts: bands of about equal rows by each column, and by pairs of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from reticent.audit.linking import Blocks

BANDS, FINE = 8, 64
PAIRED = 8  # columns with the most values, of which all pairs are looked at
SCOPES = ("all rows", "one column", "two columns")


@dataclass(frozen=True, eq=False)
class Partition:
    """The part of each block; `claimed` ones must be able to show that they were not redrawn."""

    scope: str
    name: str
    part: np.ndarray
    size: int
    claimed: bool = False


def bands(place: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Consecutive values in up to `count` bands of about equal rows: the band of each block."""
    weight = np.bincount(place, weights=rows)
    middle = np.cumsum(weight) - weight / 2
    return compact((middle * count / max(weight.sum(), 1)).astype(np.int64))[place]


def compact(codes: np.ndarray) -> np.ndarray:
    """The same distinctions by the numbers from 0 on, in the same order."""
    return (np.cumsum(np.bincount(codes) > 0) - 1)[codes]


def partitions(blocks: Blocks, quasi: Sequence[str]) -> Iterator[Partition]:
    yield Partition("all rows", "", np.zeros(len(blocks.sizes), np.int64), 1)
    coarse, distinct = {}, {}
    for name, place in blocks.places.items():
        used = compact(place)
        if not len(used) or (size := int(used.max()) + 1) < 2:
            continue
        distinct[name], part = size, bands(used, blocks.sizes, BANDS)
        coarse[name] = part
        yield Partition("one column", repr(name), part, int(part.max()) + 1, claimed=True)
        if size > int(part.max()) + 1:
            part = bands(used, blocks.sizes, FINE)
            yield Partition("one column", repr(name), part, int(part.max()) + 1)
    several = sorted((name for name in quasi if name in coarse), key=lambda name: -distinct[name])
    for one, other in combinations(several[:PAIRED], 2):
        part = compact(coarse[one] * BANDS + coarse[other])
        yield Partition("two columns", f"{one!r} and {other!r}", part, int(part.max()) + 1)
