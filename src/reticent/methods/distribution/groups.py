"""Groups: those that analysts want (columns, bands of numbers, a k-anonymous Mondrian), and what is made within them (section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from reticent.errors import JobError, suggest
from reticent.kernels.hilbert import hilbert_keys
from reticent.methods.classes.retrieve import curve_bits, grid
from reticent.methods.mondrian import Mondrian
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promises import Promises
from reticent.randomness import Random
from reticent.table.cells import Cells
from reticent.table.domain import Domain


@dataclass(frozen=True, eq=False)
class Grouped:
    """The group of each cell, and how each group is called."""

    of_cell: np.ndarray
    names: tuple[str, ...]


def grouped(cells: Cells, group_by: Any, k: int | None, rng: Random) -> Grouped:
    if group_by is None:
        return Grouped(np.zeros(len(cells), np.int64), ("all",))
    if group_by == "mondrian":
        return _mondrian(cells, k or 10, rng)
    asked: Mapping[str, Sequence[Any]] = (
        group_by
        if isinstance(group_by, Mapping)
        else dict.fromkeys([group_by] if isinstance(group_by, str) else group_by, ())
    )
    place = {domain.name: at for at, domain in enumerate(cells.quasi)}
    for name in asked:
        if name not in place:
            raise JobError(
                f"distribution: {name!r} is no quasi-identifying column to group by.",
                attempt=suggest(name, list(place)),
            )
    parts = [_parts(cells.quasi[place[name]], cells.codes[:, place[name]], edges) for name, edges in asked.items()]
    keys = np.column_stack([part for part, _ in parts])
    rows, group = np.unique(keys, axis=0, return_inverse=True)
    names = tuple(
        " / ".join(called[code] for code, (_, called) in zip(row, parts, strict=True)) for row in rows.tolist()
    )
    return Grouped(group.reshape(-1), names)


def _parts(domain: Domain, codes: np.ndarray, edges: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """The part of each cell, and how parts are called: a value, or a band of numbers from an edge up to the next."""
    if not edges:
        return codes.astype(np.int64), [*domain.texts, "missing"]
    positions = getattr(domain, "positions", None)
    if positions is None or getattr(domain, "kind", "") != "numeric":
        raise JobError(
            f"distribution: bands are of numbers, and {domain.name!r} has none.",
            attempt=f"group_by = [{domain.name!r}].",
        )
    ends = [float(edge) for edge in edges]
    if ends != sorted(set(ends)):
        raise JobError(
            f"distribution: the bands of {domain.name!r} must ascend.", attempt="edges such as [18, 40, 65]."
        )
    said = [f"{end:g}" for end in ends]
    names = [
        f"below {said[0]}",
        *(f"{a} to {b}" for a, b in pairwise(said)),
        f"{said[-1]} and above",
        "missing",
    ]
    band = np.append(np.searchsorted(ends, positions, side="right"), len(ends) + 1)
    return band[codes], names


def _mondrian(cells: Cells, k: int, rng: Random) -> Grouped:
    recipe = Mondrian().plan(cells, Promises.of([KAnonymity(k)]), rng)
    of_cell = np.zeros(len(cells), np.int64)
    of_cell[recipe.cell] = recipe.group
    _, of_cell = np.unique(of_cell, return_inverse=True)
    of_cell = of_cell.reshape(-1)
    return Grouped(of_cell, tuple(f"group {at}" for at in range(int(of_cell.max()) + 1)))


def combinations(cells: Cells) -> np.ndarray:
    """The number of each cell's combination of quasi-identifiers; cells stand in their order."""
    codes = cells.codes
    return np.cumsum(np.append(True, (codes[1:] != codes[:-1]).any(axis=1))[: len(codes)]) - 1


def subgroups(cells: Cells, group: np.ndarray, within: str, size: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The subgroup of each cell, numbered group by group, and the group of each subgroup."""
    if within == "sa-only":
        return group, np.arange(int(group.max()) + 1)
    combination = combinations(cells)
    if within == "qi-sa":
        pairs, number = np.unique(group * (int(combination[-1]) + 1) + combination, return_inverse=True)
        return number.reshape(-1), pairs // (int(combination[-1]) + 1)
    first = np.unique(combination, return_index=True)[1]
    rows = np.bincount(combination, weights=cells.counts).astype(np.int64)
    keys = np.empty(len(cells), np.int64)
    bits = curve_bits(cells)
    hilbert_keys(grid(cells, bits, stretch=True), bits, keys)
    order = np.lexsort((keys[first], group[first]))
    of = group[first][order]
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    lengths = np.diff(np.append(starts, len(of)))
    until = np.cumsum(rows[order])
    before = until - rows[order] - np.repeat((until - rows[order])[starts], lengths)
    whole = np.add.reduceat(rows[order], starts)
    pieces = np.maximum(whole // max(size or 1, 1), 1)
    piece = np.minimum(before * np.repeat(pieces, lengths) // np.repeat(whole, lengths), np.repeat(pieces, lengths) - 1)
    pairs, number = np.unique(of * (int(pieces.max()) + 1) + piece, return_inverse=True)
    found = np.empty(len(first), np.int64)
    found[order] = number.reshape(-1)
    return found[combination], pairs // (int(pieces.max()) + 1)
