"""A question as estimators take it: one condition, over columns and over published rows alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.release.answer import Answer
from reticent.release.asking.condition import Atom, Condition, Joined, atoms, both
from reticent.release.asking.independent import Uncertain, answer
from reticent.release.asking.laid import by_column, laid
from reticent.release.asking.pieces import Pieces
from reticent.release.asking.rows import Rows
from reticent.release.kind import Question
from reticent.release.manifest import Manifest
from reticent.table.roles import Role

CHOSEN = "\x00chosen"  # the column that says which published rows a condition on them selects


@dataclass(frozen=True, eq=False)
class Put:
    """`rows` have one column more where a condition on published rows was given."""

    rows: Rows
    condition: Condition | None
    aggregate: str
    column: str | None
    sensitive: bool  # whether the sensitive column is asked about
    known: dict[str, Any] = field(default_factory=dict)  # of these rows, from earlier questions

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        manifest: Manifest,
        question: Question,
        shown: pl.DataFrame | None = None,
        *,
        labels: bool = False,
    ) -> Put:
        """`shown` is what a condition on published rows is put to."""
        if question.by not in ("inversion", "em"):
            raise RequestError(f"Reconstruction by {question.by!r} is not known.", attempt='by = "inversion" or "em".')
        named = {column.name for column in manifest.named(Role.SENSITIVE)}
        chosen: Condition | None = None
        if question.where is not None:
            frame = frame.with_columns(_selected(frame if shown is None else shown, question.where).alias(CHOSEN))
            chosen = Atom(CHOSEN, "=", True)
        held = None if question.values is None else _held(manifest.sensitive.name, question.values)
        condition = both(chosen, held, question.condition)
        column = question.column
        if column is None and question.aggregate != "count":
            column = manifest.sensitive.name
        entries = {entry.name: entry for entry in manifest.named(Role.QUASI)} if labels else {}
        asked = {atom.column for atom in atoms(condition)} | {column}
        known = question.known if chosen is None else {}
        rows = known.setdefault("rows", Rows(frame, entries))
        return cls(rows, condition, question.aggregate, column, bool(asked & named), known)

    def one_by_one(self, weight: np.ndarray | None = None) -> Answer:
        """Where every row stands for itself: what is uncertain is where in its labels it lies."""
        names = list(dict.fromkeys([*by_column(self.condition), *([self.column] if self.column else [])]))
        cells = laid(self.rows, self.condition, names)
        pieces = Pieces.of(cells.axes, self.condition)
        number = cells.counted(weight)
        return answer(Uncertain.of(pieces, cells.cells, number, self.column), self.aggregate)

    def chosen(self) -> np.ndarray:
        """Which rows of exact columns meet the condition."""
        cells = laid(self.rows, self.condition, list(by_column(self.condition)))
        pieces = Pieces.of(cells.axes, self.condition)
        met = pieces.added(cells.cells, {axis.name: axis.may.astype(float) for axis in cells.axes}, None) > 0
        return np.broadcast_to(met, (cells.many,))[cells.of_row]


def _held(column: str, values: tuple[object, ...]) -> Condition:
    return Joined(False, tuple(Atom(column, "=", value) for value in values) or (Atom(column, "=", None),))


def _selected(frame: pl.DataFrame, where: pl.Expr) -> pl.Series:
    if not isinstance(where, pl.Expr):
        raise RequestError("A condition on published rows is a Polars expression.", attempt='pl.col("age") < 40.')
    try:
        return frame.select(where.alias(CHOSEN)).to_series().fill_null(False)
    except pl.exceptions.PolarsError:  # its message quotes values
        raise RequestError(
            "This release has labels, and a condition on values cannot be put to them.",
            attempt="release.query, or a condition on the ends that frame(bounds=True) gives, such as age_upper < 40.",
        ) from None
