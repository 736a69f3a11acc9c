"""Rows and values that are alike to a question: of which types they are, and how many of each type every group has."""

from __future__ import annotations

import numpy as np

from reticent.release.asking.axis import Axis
from reticent.release.asking.condition import Condition
from reticent.release.asking.laid import Laid
from reticent.release.asking.pieces import Pieces
from reticent.release.asking.rows import DENSE

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


def met(cells: Laid, values: Axis, condition: Condition | None) -> np.ndarray:
    """(cells, pieces of the sensitive column): whether rows of a cell, whose columns are exact, meet the condition with such a value."""
    pieces = Pieces.of((*cells.axes, values), condition)
    found = pieces.added(cells.cells, {axis.name: axis.may.astype(float) for axis in cells.axes}, values.name) > 0
    return np.broadcast_to(found, (cells.many, values.pieces)).copy()


def numbers_in(cells: Laid, column: str) -> tuple[np.ndarray, np.ndarray]:
    """The number of each cell in an exact column, and which are missing."""
    axis = next(axis for axis in cells.axes if axis.name == column)
    label = cells.cells[column]
    piece = axis.may.argmax(axis=1)[label]
    if axis.low is None or axis.mean is None:
        return np.zeros(len(label), np.int64), axis.null[piece]
    numbers = axis.low if axis.low.dtype.kind == "i" else axis.mean
    return numbers[label, piece], axis.null[piece]


def kinds_of(meets: np.ndarray, number: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The first cell of each row type, and the row type of each cell."""
    signs = meets.astype(float) if number is None else np.column_stack([meets, np.where(meets.any(axis=1), number, 0)])
    _, first, kind = np.unique(signs, axis=0, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


def counted(group: np.ndarray, kind: np.ndarray, number: np.ndarray | None = None) -> Triple:
    """How many rows each group has of each kind, each of them counted once or `number` times."""
    wide = int(kind.max(initial=0)) + 1
    word = group.astype(np.int64) * wide + kind
    if (int(group.max(initial=0)) + 1) * wide <= DENSE:
        total = np.bincount(word, number)  # in doubles where weighted, and exact: a release has fewer than 2^53 rows
        word = np.flatnonzero(total)
        total = total[word]
    else:
        word, place = np.unique(word, return_inverse=True)
        total = np.bincount(place.reshape(-1), number)
    return *np.divmod(word, wide), total.astype(np.int64)


def marked(group: np.ndarray, many: int) -> np.ndarray:
    """Of `many` groups, which are among these."""
    found = np.zeros(many, bool)
    found[group] = True
    return found
