"""Rows and values that are alike to a question: of which types they are, and how many of each type every group has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.release.asking.axis import Axis, convert_to_doubles
from reticent.release.asking.condition import Condition
from reticent.release.asking.laid import Laid
from reticent.release.asking.pieces import Pieces
from reticent.release.asking.rows import DENSE

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Meeting:
    """(cells, pieces of the sensitive column): whether rows of a cell may meet the condition with such a value, whether they must,
    and what share of them is taken to; the first two are one where columns are exact."""

    may: np.ndarray
    must: np.ndarray
    share: np.ndarray

    @property
    def certain(self) -> bool:
        return self.may is self.must

    def only(self, kept: np.ndarray) -> Meeting:
        """No value that is not kept, by cell and piece, is selected."""
        if self.certain:
            may = self.may & kept
            return Meeting(may, may, may.astype(float))
        return Meeting(self.may & kept, self.must & kept, self.share * kept)

    def of(self, cells: np.ndarray) -> Meeting:
        may = self.may[cells]
        return Meeting(may, may if self.certain else self.must[cells], self.share[cells])


def met(cells: Laid, values: Axis, condition: Condition | None) -> Meeting:
    """Which rows meet the condition with which value; a published value that stands for others may or may not."""
    pieces = Pieces.of((*cells.axes, values), condition)
    covered = {axis.name: axis.may.astype(float) for axis in cells.axes}
    shape = (cells.many, values.pieces)
    may = np.broadcast_to(pieces.added(cells.cells, covered, values.name) > 0, shape).copy()
    if all((axis.may.sum(axis=1) == 1).all() for axis in cells.axes):
        return Meeting(may, may, may.astype(float))
    unmet = np.broadcast_to(pieces.added(cells.cells, covered, values.name, unmet=True) > 0, shape)
    shares = {axis.name: axis.share for axis in cells.axes}
    share = np.broadcast_to(pieces.added(cells.cells, shares, values.name), shape)
    return Meeting(may, ~unmet & may, np.clip(share, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Numbers:
    """The number of each cell in a column: its ends, what it is taken to be, and which are missing.  One array, where it is exact."""

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    missing: np.ndarray
    whole: bool = False

    def of(self, cells: np.ndarray) -> Numbers:
        low = self.low[cells]
        if self.exact:
            return Numbers(low, low, low, self.missing[cells], self.whole)
        return Numbers(low, self.high[cells], self.mean[cells], self.missing[cells], self.whole)

    @property
    def exact(self) -> bool:
        return self.low is self.high

    def times(self, kept: np.ndarray) -> list[np.ndarray]:
        """What tells cells apart: 0 for those that are not kept."""
        ends = [self.low] if self.exact else [self.low, self.high, self.mean]
        return [np.where(kept, end, 0) for end in ends]


def numbers_in(cells: Laid, column: str) -> Numbers:
    """The numbers of cells in a column that is exact, or whose published values stand for others."""
    axis = next(axis for axis in cells.axes if axis.name == column)
    label = cells.cells[column]
    piece = axis.may.argmax(axis=1)[label]
    if axis.low is None or axis.high is None or axis.mean is None:
        none = np.zeros(len(label), np.int64)
        return Numbers(none, none, none, axis.null[piece])
    if (axis.may.sum(axis=1) == 1).all() and (axis.low == axis.high)[axis.may].all():
        numbers = axis.low if axis.low.dtype.kind == "i" else axis.mean
        exact = numbers[label, piece]
        return Numbers(exact, exact, exact, axis.null[piece], exact.dtype.kind == "i")
    held = axis.may & ~axis.null
    low = np.where(held, convert_to_doubles(axis.low), np.inf).min(axis=1)[label]
    high = np.where(held, convert_to_doubles(axis.high), -np.inf).max(axis=1)[label]
    weight = axis.share * held
    total = np.maximum(weight.sum(axis=1), 1e-300)
    mean = ((weight * np.where(held & np.isfinite(axis.mean), axis.mean, 0)).sum(axis=1) / total)[label]
    missing = ~held.any(axis=1)[label]
    low, high = (np.where(missing, 0.0, end) for end in (low, high))
    return Numbers(low, high, mean, missing, axis.low.dtype.kind == "i")


def kinds_of(meets: Meeting, number: Numbers | None) -> tuple[np.ndarray, np.ndarray]:
    """The first cell of each row type, and the row type of each cell."""
    parts = [meets.may] if meets.certain else [meets.may, meets.must, meets.share]
    signs = np.column_stack(parts).astype(float)
    if number is not None:
        signs = np.column_stack([signs, *number.times(np.asarray(meets.may.any(axis=1)))])
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
