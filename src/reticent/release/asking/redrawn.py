"""Aggregates behind redrawn sensitive values: unbiased sums of scores, with their standard error.

A row that holds x shows y with probability M[x, y].  A score s(x) of its true value is estimated by w(y), w = M^-1 s, whose mean is s(x);
its variance is the mean of w(y)^2 less s(x)^2, and w(y)^2 - (M^-1 s^2)(y) is an unbiased estimate of it (Cao & Karras, VLDB 2012,
section 5, where s is an indicator).  AVG is a ratio; its error is that of the scores off the mean, to the first order.
A handful of rows cannot tell its own spread (eight rows may all show one value): as much weight as 30 rows have is given to the spread
that the same score has over all published rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.release.answer import Answer
from reticent.release.asking.axis import numbers_of, of_values
from reticent.release.asking.condition import Condition
from reticent.release.asking.laid import by_column, laid
from reticent.release.asking.pieces import Pieces
from reticent.release.asking.rows import Combined, Rows
from reticent.release.reconstruction import Reconstruction

BORROWED = 30  # rows
SEEN = "seen"
NOBODY = "Nobody is estimated to be in the selection: there is no average."


@dataclass(frozen=True, eq=False)
class Scores:
    """(row types, values): how much of a row of this type is selected if it holds the value, and times its number."""

    selected: np.ndarray
    number: np.ndarray
    combined: Combined
    cut: bool  # a label is selected in part

    @property
    def of_row(self) -> np.ndarray:
        return self.combined.of_row

    @classmethod
    def of(cls, rows: Rows, values: pl.Series, condition: Condition | None, column: str | None) -> Scores:
        sensitive = str(values.name)
        asked = by_column(condition)
        names = [name for name in dict.fromkeys([*asked, *([column] if column else [])]) if name != sensitive]
        cells = laid(rows, condition, names)
        about = asked.get(sensitive, [])
        axis = rows.kept(sensitive, about, lambda: of_values(sensitive, np.arange(len(values)), values, about))
        pieces = Pieces.of((*cells.axes, axis), condition)
        piece = axis.may.argmax(axis=1)
        share = {one.name: one.share * (~one.null if one.name == column else 1) for one in cells.axes}
        selected = np.broadcast_to(pieces.added(cells.cells, share, sensitive), (cells.many, axis.pieces))[:, piece]
        number = selected
        if column == sensitive:
            selected = selected * ~axis.null[piece]
            number = selected * (numbers_of(values) if values.dtype.is_numeric() else 1)
        elif column is not None:
            mean = next(one for one in cells.axes if one.name == column).mean
            if mean is not None:
                worth = share | {column: share[column] * np.where(np.isfinite(mean), mean, 0)}
                number = np.broadcast_to(pieces.added(cells.cells, worth, sensitive), (cells.many, axis.pieces))[
                    :, piece
                ]
        return cls(selected, number, cells.combined, bool(((selected > 1e-12) & (selected < 1 - 1e-12)).any()))


def refuse_extremes(aggregate: str) -> None:
    if aggregate in ("min", "max"):
        raise RequestError(
            f"{aggregate.upper()} cannot be answered from this release where the sensitive column is asked about.",
            why="Its values were redrawn, and no single row says what a person has.",
            attempt="COUNT, SUM or AVG; or a question that leaves the sensitive column out.",
        )


@dataclass(frozen=True, eq=False)
class Redrawn:
    """A perturbed release: which value each row shows, and the inverse of the matrix they were redrawn by."""

    rows: Rows
    values: pl.Series
    shown: np.ndarray
    model: Reconstruction

    @property
    def inverse(self) -> np.ndarray:
        return self.model.inverse

    def answer(self, condition: Condition | None, aggregate: str, column: str | None, *, by: str) -> Answer:
        refuse_extremes(aggregate)
        scores = Scores.of(self.rows, self.values, condition, column)
        types, wide = scores.selected.shape
        if SEEN not in scores.combined.tallies:
            word = scores.of_row * wide + self.shown
            scores.combined.tallies[SEEN] = np.bincount(word, minlength=types * wide).reshape(types, wide).astype(float)
        seen = scores.combined.tallies[SEEN]
        score = scores.selected if aggregate == "count" else scores.number
        total, error = self.total(seen, score)
        if by == "em":
            counts = self.model.maximise(seen)
            total = float((counts * score).sum())
        if aggregate != "avg":
            return Answer(total, std_error=error)
        people = float((counts * scores.selected).sum()) if by == "em" else self.total(seen, scores.selected)[0]
        if people < 0.5:
            return Answer(None, note=NOBODY)
        _, error = self.total(seen, scores.number - scores.selected * (total / people))
        return Answer(total / people, std_error=error / people)

    def total(self, seen: np.ndarray, score: np.ndarray) -> tuple[float, float]:
        weight = score @ self.inverse.T
        each = weight**2 - (score**2) @ self.inverse.T
        rows = seen.sum(axis=1) * score.any(axis=1)
        own = float((seen * each).sum())
        overall = float(rows @ (each @ (seen.sum(axis=0) / max(seen.sum(), 1))))
        selected = float(rows.sum())
        variance = (selected * own + BORROWED * overall) / (selected + BORROWED)
        return float((seen * weight).sum()), float(np.sqrt(max(variance, 0.0)))
