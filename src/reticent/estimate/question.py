"""A question as estimators take it: one condition, over columns and over published rows alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.data.columns import Role
from reticent.errors import BundleDamaged, RequestError, pluralize
from reticent.estimate.answer import NO_ANSWER, Answer
from reticent.estimate.condition import Atom, CompoundCondition, Condition, ConditionPieces, join_conditions, list_atoms
from reticent.estimate.density import DENSITIES, require_known_density
from reticent.estimate.independent_rows import UncertainRows, answer_aggregate, clamp_to_bounds
from reticent.estimate.published_rows import LABEL_ERRORS, PublishedRows, group_atoms_by_column, make_row_types
from reticent.estimate.source_values import (
    AS_PUBLISHED_PREFIX,
    find_limits,
    is_coded,
    make_unknown_axis,
    require_answerable_values,
)
from reticent.format.manifest import ColumnEntry, Manifest

WITHHELD_ROWS_NOTE = (
    "{rows} rows of the source were withheld. The estimate takes them to be like those that are published, and the interval does not "
    "know how they differ."
)
CODED_COLUMN_NOTE = (
    "A column of the question has a top, a bottom or a step that it was rounded to. The estimate takes values at the top or bottom to be "
    "the top or bottom, and rounded ones to be spread evenly; the interval does not know how they differ."
)
RECONSTRUCTIONS = ("inversion", "em", "shrunk")
"""How redrawn values may be reconstructed."""
CHOSEN_COLUMN = "\x00chosen"  # the column that says which published rows a condition on them selects


def require_known_reconstruction(by: str) -> None:
    """Refuse a way to reconstruct redrawn values that is not known."""
    if by not in RECONSTRUCTIONS:
        raise RequestError(f"Reconstruction by {by!r} is not known.", attempt='by = "inversion", "em" or "shrunk".')


@dataclass(frozen=True, slots=True)
class Question:
    """An aggregate over the people who meet a condition.

    `condition` is over the values of columns, as SQL puts it; `where` over the rows of `frame()`, as they are published; `values` are
    sensitive ones of which a person holds one.  All that are given are to be met.  `aggregate` is "count" (of rows, or of values of
    `column`), "sum", "avg", "min" or "max"; of the sensitive column where `column` is None.  `by`: how a perturbed release is reconstructed.
    `unlisted`: of a question by groups, the line of all that no other line shows: a withheld row may be in it that meets `outside`, the
    condition without the groups; `empty`: no published row is.  `density`: how people are taken to lie within their labels.
    `known` is what questions to the same tables share: what was found of them by one need not be found again by the next.
    """

    where: pl.Expr | None = None
    values: tuple[Any, ...] | None = None
    by: str = "inversion"
    aggregate: str = "count"
    column: str | None = None
    condition: Condition | None = None
    unlisted: bool = False
    empty: bool = False
    outside: Condition | None = None
    density: str = DENSITIES[0]
    known: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_arguments(cls, where: pl.Expr | None, values: Iterable[Any] | None, by: str) -> Question:
        return cls(where, None if values is None else tuple(values), by)


@dataclass(frozen=True, eq=False)
class BoundQuestion:
    """`rows` have one column more where a condition on published rows was given.

    `beside` are the rows that were withheld, where some of them may be selected, and `share` what all rows of the source are of the
    published ones.  `coarser` says whether a column is asked about whose published values stand for others.
    """

    rows: PublishedRows
    condition: Condition | None
    aggregate: str
    column: str | None
    sensitive: bool  # whether the sensitive column is asked about
    known: dict[str, Any] = field(default_factory=dict)  # of these rows, from earlier questions
    beside: UncertainRows | None = None
    share: Fraction = Fraction(1)
    coarser: bool = False
    entries: Mapping[str, ColumnEntry] = field(default_factory=dict)
    withheld: int = 0
    empty: bool = False  # no published row can be selected

    @classmethod
    def bind(
        cls,
        frame: pl.DataFrame,
        manifest: Manifest,
        question: Question,
        shown: pl.DataFrame | None = None,
        *,
        labels: bool = False,
        shows_values: bool = False,
        counts_values: bool = False,
        people: np.ndarray | None = None,
    ) -> BoundQuestion:
        """`shown` is what a condition on published rows is put to; `people` how many rows of the source each row stands for.

        `shows_values`: every row shows its own sensitive value; `counts_values`: how many rows have each value is known.
        """
        require_known_reconstruction(question.by)
        require_known_density(question.density)
        sensitive_names = {column.name for column in manifest.find_columns_with_role(Role.SENSITIVE)}
        row_condition: Condition | None = None
        if question.where is not None:
            frame = frame.with_columns(
                _select_rows(frame if shown is None else shown, question.where).alias(CHOSEN_COLUMN)
            )
            row_condition = Atom(CHOSEN_COLUMN, "=", True)
        value_condition = (
            None if question.values is None else _make_value_condition(manifest.sensitive.name, question.values)
        )
        condition = join_conditions(row_condition, value_condition, question.condition)
        column = question.column
        if column is None and question.aggregate != "count":
            column = manifest.sensitive.name
        entries = {entry.name: entry for entry in manifest.columns}
        labelled = {entry.name: entry for entry in manifest.find_columns_with_role(Role.QUASI)} if labels else {}
        coded = {entry.name: entry for entry in manifest.columns if is_coded(entry)}
        condition_columns = {atom.column for atom in list_atoms(condition)}
        asked_columns = condition_columns | {column}
        aggregated_columns = [column] if question.aggregate != "count" and column is not None else []
        require_answerable_values(
            manifest.kind,
            manifest.columns,
            condition_columns,
            aggregated_columns,
            shown=shows_values,
            counted=counts_values,
        )
        known = question.known if row_condition is None else {}
        rows = known.setdefault(
            f"rows {question.density}",
            PublishedRows(frame, labelled, coded=coded, people=people, density=question.density),
        )
        published = len(frame) if people is None else int(people.sum())
        withheld_rows = None
        if manifest.withheld:
            withheld_condition = (
                join_conditions(row_condition, value_condition, question.outside) if question.unlisted else condition
            )
            withheld_rows = describe_withheld_rows(
                manifest.withheld, entries, withheld_condition, column, unlisted=question.unlisted
            )
        return cls(
            rows,
            condition,
            question.aggregate,
            column,
            bool(asked_columns & sensitive_names),
            known,
            withheld_rows,
            Fraction(published + manifest.withheld, max(published, 1)),
            bool(asked_columns & set(coded)),
            entries,
            manifest.withheld,
            question.empty,
        )

    def answer_about_source(self, ask: Callable[[BoundQuestion], Answer]) -> Answer:
        """What `ask` answers, about the people of the source, with the answer about published rows beside it where they differ.

        Estimates take withheld rows to be like those that are published: counts and sums are multiplied.
        """
        if self.empty:
            nobody = Answer(0, 0, 0) if self.aggregate == "count" else NO_ANSWER
            answer = nobody if self.beside is None else answer_aggregate(self.beside, self.aggregate)
            return replace(self._explain_absent_bounds(answer), published=nobody)
        as_published = replace(self, rows=self.rows.as_published, beside=None, coarser=False)
        published = ask(as_published)
        if not self.withheld and not self.coarser:
            return self._explain_absent_bounds(published)
        answer = ask(self)
        if self.aggregate in ("count", "sum") and self.withheld:
            answer = multiply_answer(answer, self.share)
        if not answer.std_error:
            answer = replace(answer, estimate=clamp_to_bounds(answer.estimate, answer.lower, answer.upper))
        else:
            notes = [answer.note]
            if self.withheld:
                notes.append(WITHHELD_ROWS_NOTE.format(rows=f"{self.withheld:,}"))
            if self.coarser:
                notes.append(CODED_COLUMN_NOTE)
            answer = replace(answer, note=" ".join(part for part in notes if part) or None)
        return replace(self._explain_absent_bounds(answer), published=replace(published, density=None))

    def _explain_absent_bounds(self, answer: Answer) -> Answer:
        """The answer with a note that says why a bound is absent."""
        lost_sides = [side for side, end in (("lower", answer.lower), ("upper", answer.upper)) if end is None]
        if self.aggregate == "count" or self.column is None or not lost_sides or answer.std_error is not None:
            return answer
        if answer == NO_ANSWER and (self.beside is None or not self.beside.may.any()):
            return answer
        if answer.estimate is None and answer.note:
            return answer
        entry = self.entries.get(self.column)
        if entry is None:
            return answer
        withheld = self.withheld if self.beside is not None else 0
        reasons = {side: _explain_lost_bound(entry, side, withheld, coded=self.coarser) for side in lost_sides}
        if len(set(reasons.values())) == 1 and len(lost_sides) == 2:
            reasons = {"": reasons["lower"]}
        sentences = [f"There is no {side + ' ' if side else ''}bound: {why}" for side, why in reasons.items()]
        return replace(answer, note=" ".join(part for part in (answer.note, *sentences) if part))

    def answer_row_by_row(self, weight: np.ndarray | None = None) -> Answer:
        """Where every row stands for itself: what is uncertain is where in its labels it lies."""
        return self.answer_about_source(lambda question: question.answer_from_rows(weight))

    def answer_from_rows(self, weight: np.ndarray | None = None) -> Answer:
        """The answer from the rows as they are read here, and those beside them."""
        names = list(dict.fromkeys([*group_atoms_by_column(self.condition), *([self.column] if self.column else [])]))
        cells = make_row_types(self.rows, self.condition, names)
        pieces = ConditionPieces.from_condition(cells.axes, self.condition)
        rows = UncertainRows.from_pieces(pieces, cells.cells, cells.count_rows(weight), self.column)
        answer = answer_aggregate(rows.append(self.beside), self.aggregate)
        return self.state_density(answer, rows, names)

    def state_density(self, answer: Answer, rows: UncertainRows, names: Collection[str]) -> Answer:
        """Return an answer that says which density its estimate rests on, if labels leave open which rows are selected, or a number."""
        is_labelled = any(name in self.rows.labels for name in names)
        if not is_labelled or answer.estimate is None or answer.is_exact or not rows.leave_open():
            return answer
        return replace(answer, density=self.rows.density)

    def find_matching_rows(self) -> np.ndarray | None:
        """Which rows of exact columns meet the condition; None where that is not known of some, for their values were rounded."""
        cells = make_row_types(self.rows, self.condition, list(group_atoms_by_column(self.condition)))
        pieces = ConditionPieces.from_condition(cells.axes, self.condition)
        covered = {axis.name: axis.may.astype(float) for axis in cells.axes}
        is_match = pieces.sum_weights(cells.cells, covered, None) > 0
        if (is_match & (pieces.sum_weights(cells.cells, covered, None, unmet=True) > 0)).any():
            return None
        return np.broadcast_to(is_match, (cells.many,))[cells.of_row]


def describe_withheld_rows(
    rows: int, entries: Mapping[str, ColumnEntry], condition: Condition | None, column: str | None, *, unlisted: bool
) -> UncertainRows | None:
    """So many rows of which nothing is published, as a question sees them; None where none of them can be selected.

    `unlisted`: of those that meet the condition, only some may be meant.
    """
    atoms_by_column = group_atoms_by_column(condition)
    names = list(dict.fromkeys([*atoms_by_column, *([column] if column else [])]))
    try:
        axes = [
            make_unknown_axis(entries.get(name.removeprefix(AS_PUBLISHED_PREFIX)), name, atoms_by_column.get(name, []))
            for name in names
        ]
    except LABEL_ERRORS:  # their words may quote a value
        raise BundleDamaged("The values that the manifest declares of a column cannot be read.") from None
    pieces = ConditionPieces.from_condition(axes, condition)
    cells = {name: np.zeros(1, np.int64) for name in names}
    withheld_rows = UncertainRows.from_pieces(pieces, cells, np.array([rows], np.int64), column)
    if not withheld_rows.may.any():
        return None
    empty_parts = (
        None if withheld_rows.parts is None else (np.zeros_like(withheld_rows.parts[0]), withheld_rows.parts[1])
    )
    withheld_rows = replace(withheld_rows, share=np.zeros(1), parts=empty_parts, unpublished=1)
    return replace(withheld_rows, must=np.zeros(1, bool)) if unlisted else withheld_rows


def multiply_answer(answer: Answer, share: Fraction) -> Answer:
    """An answer about published rows as one about all rows of the source, of which they are a part."""
    return replace(
        answer,
        estimate=None if answer.estimate is None else multiply_tidily(answer.estimate, share),
        std_error=None if answer.std_error is None else float(answer.std_error * share),
        spread=None if answer.spread is None else answer.spread.multiply(float(share)),
    )


def multiply_tidily(value: float, share: Fraction) -> float:
    product = float(Fraction(value) * share)
    return int(product) if product.is_integer() and isinstance(value, int) else product


def _select_rows(frame: pl.DataFrame, where: pl.Expr) -> pl.Series:
    if not isinstance(where, pl.Expr):
        raise RequestError("A condition on published rows is a Polars expression.", attempt='pl.col("age") < 40.')
    try:
        return frame.select(where.alias(CHOSEN_COLUMN)).to_series().fill_null(False)
    except pl.exceptions.PolarsError:  # its message quotes values
        raise RequestError(
            "This release has labels, and a condition on values cannot be put to them.",
            attempt="release.query, or a condition on the ends that frame(bounds=True) gives, such as age_upper < 40.",
        ) from None


def _make_value_condition(column: str, values: tuple[object, ...]) -> Condition:
    return CompoundCondition(False, tuple(Atom(column, "=", value) for value in values) or (Atom(column, "=", None),))


def _explain_lost_bound(entry: ColumnEntry, side: str, withheld: int, *, coded: bool) -> str:
    """Why a number of a column has no end on a side."""
    reasons = []
    end = entry.top if side == "upper" else entry.bottom
    if coded and end is not None:
        end_name = "top" if side == "upper" else "bottom"
        reasons.append(f"column {entry.name!r} has a {end_name} of {end}, and what lies beyond is not told")
    if withheld and find_limits(entry)[side == "upper"] is None and (end is None or not coded):
        rows = pluralize(withheld, "row", "was", "were")
        reasons.append(f"{rows} withheld, and no declared domain limits {entry.name!r} in them")
    if entry.role == Role.QUASI and not reasons:
        reasons.append(
            f"labels of {entry.name!r} cover any value, and the manifest declares no domain that limits them"
        )
    return "; ".join(reasons or [f"{entry.name!r} has numbers that 64 bits do not hold"]) + "."
