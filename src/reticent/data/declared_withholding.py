"""Rows that are withheld before anything is planned, because the steward declares it of a column.

- `missing = "withhold"`: rows without a value in a quasi-identifying or sensitive column (`list_complete_columns`,
  `drop_missing_rows`). NaN is no value, as everywhere.
- `beyond = "withhold"`: of a person with more rows than `rows_per_person`, as many rows as are too many
  (`find_row_limits`, `draw_surplus_rows`). Which ones is drawn uniformly and independently of what the rows hold, so
  that it tells nothing of them. Rows without a value are withheld first, and count for nobody.

What is left is the table to every later step: cells, promises, `suppress_at_most`, fingerprints. Methods and stages
withhold rows of it on top. `EarlyWithholding` counts the rows that are no part of it; they are withheld rows wherever
rows are counted, and a manifest states them by reason, since who recounts a promise about rows that a method withheld
must know which of the withheld rows are not the method's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.data.source import collect_frame
from reticent.errors import SourceError, pluralize, quote_list
from reticent.randomness import Random

ROW_COLUMN = "\x00row"


@dataclass(frozen=True, slots=True)
class EarlyWithholding:
    """Rows withheld before planning: those that lack a value, and those that are too many of their person."""

    missing: int = 0
    surplus: int = 0

    @property
    def total(self) -> int:
        return self.missing + self.surplus

    def to_dict(self) -> dict[str, int]:
        """Return the counts as a manifest has them: without reasons for which no row was withheld."""
        counts = {"missing": self.missing, "surplus": self.surplus}
        return {reason: count for reason, count in counts.items() if count}

    def describe(self, columns: Mapping[str, Column]) -> list[str]:
        """Describe, in sentences for the owner, what was withheld."""
        sentences = []
        if self.missing:
            names = quote_list(list_complete_columns(columns))
            sentences.append(
                f"{pluralize(self.missing, 'row', 'was', 'were')} withheld because a value is missing ({names}: "
                'missing = "withhold"). Who knows that somebody is in the source and finds them in no row may conclude '
                "it."
            )
        if self.surplus:
            limits = ", ".join(f"{name!r}: {limit}" for name, limit in find_row_limits(columns).items())
            sentences.append(
                f"{pluralize(self.surplus, 'row', 'was', 'were')} withheld, drawn at random, of people with more rows "
                f'than rows_per_person ({limits}; beyond = "withhold").'
            )
        return sentences


NONE_WITHHELD = EarlyWithholding()


def list_complete_columns(columns: Mapping[str, Column]) -> list[str]:
    """List the columns of which rows without a value are withheld."""
    return [name for name, column in columns.items() if column.missing == "withhold"]


def find_row_limits(columns: Mapping[str, Column]) -> dict[str, int]:
    """Return the most rows of a person that are published, by each identifying column that withholds those beyond."""
    return {
        name: columns[name].rows_per_person or 1
        for name in find_columns_with_role(columns, Role.IDENTIFYING)
        if columns[name].beyond == "withhold"
    }


def has_values(schema: Mapping[str, pl.DataType], names: list[str]) -> pl.Expr:
    """Build the expression that tells whether a row has a value in each of these columns."""
    conditions = [
        pl.col(name).fill_nan(None).is_not_null() if schema[name].is_float() else pl.col(name).is_not_null()
        for name in names
    ]
    return pl.all_horizontal(conditions)


def drop_missing_rows(lazy: pl.LazyFrame, names: list[str]) -> tuple[pl.LazyFrame, int]:
    """Return the rows that have a value in each of these columns, lazily, and the number of the others."""
    is_complete = has_values(lazy.collect_schema(), names)
    counts = lazy.select(pl.len().alias("rows"), (~is_complete).sum().alias("missing"))
    rows, missing = collect_frame(counts, "Counting missing values", "streaming").row(0)
    require_complete_rows(int(rows), int(missing), names)
    return lazy.filter(is_complete), int(missing)


def drop_surplus_rows(
    lazy: pl.LazyFrame, limits: Mapping[str, int], rng: Random, stream: str = "surplus"
) -> tuple[pl.LazyFrame, int]:
    """Return the rows without those that are too many of their person, lazily, and the number of the others.

    Rows without a person stay: they are refused where the rows of persons are counted.
    """
    withheld = 0
    for name, limit in limits.items():
        person = pl.col(name)
        crowded = (
            lazy.filter(person.is_not_null()).group_by(name).len(name=ROW_COLUMN).filter(pl.col(ROW_COLUMN) > limit)
        )
        persons = collect_frame(crowded.select(name), "Counting the rows of persons", "streaming")
        if not len(persons):
            continue
        numbered = lazy.select(name).with_row_index(ROW_COLUMN).join(persons.lazy(), on=name, how="semi")
        rows = collect_frame(numbered, "Reading the rows of persons", "streaming").sort(ROW_COLUMN)
        person_codes = rows.select(person.rank("dense")).to_series().to_numpy()
        drawn = draw_surplus_rows(person_codes, limit, rng.stream(f"{stream} {name}"))
        indexes = rows[ROW_COLUMN].gather(drawn)
        withheld += len(indexes)
        lazy = lazy.with_row_index(ROW_COLUMN).filter(~pl.col(ROW_COLUMN).is_in(indexes.implode())).drop(ROW_COLUMN)
    return lazy, withheld


def draw_surplus_rows(person: np.ndarray, limit: int, generator: np.random.Generator) -> np.ndarray:
    """Draw the rows that are withheld: all but `limit` of each person's, uniformly; return their places, ascending."""
    order = generator.permutation(len(person))
    order = order[np.argsort(person[order], kind="stable")]
    starts = np.flatnonzero(np.diff(person[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return np.sort(order[rank >= limit])


def require_complete_rows(rows: int, missing: int, names: list[str]) -> None:
    """Refuse a table of which every row lacks a value."""
    if missing and missing == rows:
        raise SourceError(
            f'All {rows:,} rows would be withheld: each lacks a value where missing = "withhold" is declared.',
            why=f"It is declared for {quote_list(names)}.",
            attempt="leaving it out for columns that are often empty.",
        )
