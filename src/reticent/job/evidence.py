"""Evidence for a draft, in counts alone: the shape of each column's distribution, and whom the proposed columns single out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from reticent.data.singling_out import SinglingOut, count_single_people, number_column
from reticent.job.column_guesses import ColumnGuess, parse_values

SHAPE_BINS = 24  # of numbers and dates
SHAPE_CATEGORIES = 20  # of texts, the most frequent first


@dataclass(frozen=True, slots=True)
class DraftEvidence:
    """The shapes of columns (rows in bins of equal width, or of the most frequent texts), and who is singled out."""

    shapes: Mapping[str, tuple[int, ...]]
    singling_out: SinglingOut

    def to_dict(self) -> dict[str, Any]:
        return {
            "shapes": {name: list(shape) for name, shape in self.shapes.items()},
            "alone": self.singling_out.to_dict(),
        }


def collect_evidence(
    frame: pl.DataFrame, guesses: Sequence[ColumnGuess], quasi: Sequence[str], person: str | None
) -> DraftEvidence:
    """Collect the shapes of all columns, and who is singled out by the columns that are proposed to describe people."""
    shapes = {guess.name: measure_shape(frame[guess.name], guess) for guess in guesses}
    spellings = {guess.name: guess.spellings for guess in guesses}
    marks = {guess.name: [*guess.marks, *guess.codes] for guess in guesses}
    columns = [number_column(_read_values(frame[name], spellings[name], marks[name])) for name in quasi]
    persons = None if person is None else number_column(frame[person])
    return DraftEvidence(shapes, count_single_people(quasi, columns, persons=persons))


def measure_shape(column: pl.Series, guess: ColumnGuess) -> tuple[int, ...]:
    """Count the rows in bins of equal width of a number or date, or those of the most frequent texts; empty without values."""
    column = column.cast(pl.String) if guess.dtype == pl.String else column
    values = _read_values(column, guess.spellings, [*guess.marks, *guess.codes])
    counted = values.drop_nulls().value_counts(sort=True, name="\x00rows")
    if not len(counted):
        return ()
    rows = counted["\x00rows"].to_numpy()
    if guess.type in ("numeric", "date"):
        read = parse_values(replace(guess, values=counted[column.name]))
        numbers = _convert_to_numbers(read)
        is_read = np.isfinite(numbers)
        if is_read.any() and numbers[is_read].min() < numbers[is_read].max():
            bins = min(SHAPE_BINS, len(np.unique(numbers[is_read])))
            counts, _ = np.histogram(numbers[is_read], bins=bins, weights=rows[is_read])
            return tuple(int(count) for count in counts)
    if rows[0] == 1:
        return ()  # every row has a value of its own
    return tuple(int(count) for count in rows[:SHAPE_CATEGORIES])


def _read_values(column: pl.Series, spellings: Mapping[str, str], missing: Sequence[str]) -> pl.Series:
    """Return the values with spellings replaced, and without texts and codes that mean missing."""
    if column.dtype == pl.String and spellings:
        column = column.replace(dict(spellings))
    if not missing:
        return column
    is_missing = column.cast(pl.String).is_in(list(missing))
    return column.to_frame().select(pl.when(~is_missing).then(pl.col(column.name)))[column.name]


def _convert_to_numbers(values: pl.Series) -> np.ndarray:
    if values.dtype == pl.String:
        numbers = values.str.strip_chars().cast(pl.Float64, strict=False)
        if numbers.null_count() == len(numbers):
            numbers = values.str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Float64)
    elif values.dtype.is_temporal():
        numbers = values.to_physical().cast(pl.Float64)
    else:
        numbers = values.cast(pl.Float64, strict=False)
    return numbers.fill_null(float("nan")).to_numpy()
