"""A question laid over published rows: the axes it looks at, and the rows that are alike on all of them, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.release.asking.axis import Axis
from reticent.release.asking.condition import Atom, Condition, atoms
from reticent.release.asking.rows import DENSE, Combined, Rows, remembered

KEPT = 8  # sets of columns whose combinations are kept for the next question


@dataclass(frozen=True, eq=False)
class Laid:
    """`cells` are the labels of each distinct combination, by axis; `of_row` is the combination of each row."""

    axes: tuple[Axis, ...]
    cells: dict[str, np.ndarray]
    combined: Combined

    @property
    def of_row(self) -> np.ndarray:
        return self.combined.of_row

    @property
    def many(self) -> int:
        return len(self.combined.first)

    def counted(self, weight: np.ndarray | None = None) -> np.ndarray:
        if weight is None:
            return self.combined.counts
        found = np.bincount(self.of_row, weights=weight, minlength=self.many)
        return found.astype(np.int64) if weight.dtype.kind == "i" else found


def by_column(condition: Condition | None) -> dict[str, list[Atom]]:
    found: dict[str, list[Atom]] = {}
    for atom in dict.fromkeys(atoms(condition)):
        found.setdefault(atom.column, []).append(atom)
    return found


def laid(rows: Rows, condition: Condition | None, names: Sequence[str]) -> Laid:
    """The columns in `names` as axes."""
    asked = by_column(condition)
    axes = tuple(rows.axis(name, asked.get(name, [])) for name in names)
    combined = remembered(rows.combined, tuple(names), KEPT, lambda: _combined(axes, len(rows)))
    return Laid(axes, {axis.name: axis.code[combined.first] for axis in axes}, combined)


def _combined(axes: Sequence[Axis], rows: int) -> Combined:
    word, room = np.zeros(rows, np.int64), 1
    for axis in axes:
        if room * len(axis.may) > DENSE:
            word, room = compact(word, room)
        word, room = word * len(axis.may) + axis.code, room * len(axis.may)
    of_row, many = compact(word, room)
    first = np.zeros(many, np.int64)
    first[of_row] = np.arange(rows)
    return Combined(of_row, first)


def compact(word: np.ndarray, room: int) -> tuple[np.ndarray, int]:
    """Numbers below `room` as the places of the distinct ones, and how many these are: counted where there is room, else sorted."""
    if room > DENSE:
        distinct, place = np.unique(word, return_inverse=True)
        return place.reshape(-1), len(distinct)
    held = np.zeros(max(room, 1), bool)
    held[word] = True
    place = np.cumsum(held) - 1
    return place[word], int(held.sum())
