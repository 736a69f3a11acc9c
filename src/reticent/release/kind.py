"""What the reader of a release kind supplies, and how the trunk finds it: `release/<kind>.py` holds one object, READER."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.data.cells import Cells
from reticent.errors import BundleDamaged, pluralize
from reticent.estimate.answer import Answer
from reticent.estimate.question import Question
from reticent.format.data_files import (
    FORMULAS_QUOTED,
    ROW_COUNT_COLUMN,
    DataFile,
    QuotedSchema,
    Schema,
    Tables,
    count_distinct_rows,
    match_table_files,
    read_data,
    require_stated_parts,
)
from reticent.format.manifest import Manifest
from reticent.format.parquet import TooManyDistinct
from reticent.format.schema_checks import Checker

MAX_VALUES_COUNTED = 1 << 21
"""Distinct values of a column, and distinct rows, that are counted; of more rows, one in MIN_ROWS_ALIKE may be distinct."""
MIN_ROWS_ALIKE = 4


@dataclass(frozen=True, slots=True)
class AskedColumns:
    """The columns that a question names, and those of which it asks a sum, a mean, a minimum or a maximum."""

    names: frozenset[str]
    aggregated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NeededColumns:
    """What a question needs of one data file: some columns, and whether distinct rows and how often each occurs suffice."""

    names: frozenset[str]
    counted: bool


class AdversaryView(Protocol):
    """What an adversary sees who knows the quasi-identifiers of everybody: groups with their values, and who may be in them."""

    @property
    def counts(self) -> np.ndarray:
        """(groups, values): the rows that each group publishes of each value."""

    def spread(self, axis: int, size: int) -> np.ndarray:
        """(codes, values): rows of each value counted at every code of a quasi-identifier where they may lie."""

    def belief(self, points: np.ndarray) -> np.ndarray:
        """(points, values), up to a factor for each point: what the groups that may hold a point say of it."""

    def memberships(
        self, points: np.ndarray, people: np.ndarray, nearest: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(point, group, people): in which groups the people of each point are, or may be."""


class Reader(Protocol):
    """A release kind as its recipient reads it."""

    kind: str
    files: tuple[str, ...]  # the data files' names, without what follows the dot
    own: Mapping[str, Checker]  # the manifest's fields that only this kind has
    optional: frozenset[str]  # those of them that may be absent
    labelled: bool  # whether quasi-identifiers are published as labels, not as they were
    elsewhere: bool  # whether a row does not show its own sensitive value: it is in another file, or was redrawn
    # A kind whose estimates assume something has `assumption`: half a sentence that says what. Where that makes them err
    # to one side, `leaning` is a sentence that says to which.
    # A kind that shows the value of every published person, in some row or table, has `shows_each_value`: True.
    # A kind that publishes some of the rows only, drawn at random, has `draws_rows`: True.

    def check(self, manifest: Manifest) -> None:
        """Raise `Misshapen` where the manifest's parts do not belong together."""

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        """The columns of each data file with the types their values have there."""

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        """Raise `BundleDamaged` where a table holds numbers that no release of this kind has: nothing below is sized by them."""

    def readme(self, manifest: Manifest) -> str:
        """README.md for the recipient: a function of the manifest alone."""

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        """One row for each published row; with `bounds`, typed lower and upper ends beside each column that has an order."""

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> AdversaryView:
        """What an adversary sees, in the codes of the source's cells; refused, with the reason, where there is nothing to see."""

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        """The published values of a sensitive column, and beside them how many rows hold each; refused where they are not people's."""

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        """The values that the sensitive column can hold, typed: what a condition on it is looked up in."""

    def list_needed_columns(
        self, manifest: Manifest, question_columns: AskedColumns
    ) -> dict[str, NeededColumns] | None:
        """What a question about some columns needs of each data file, files that it does not need left out; None for everything."""

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """The answer to a question, with bounds or a standard error where the kind has them.

        `tables` are all data files, or what the question needs of them, as `list_needed_columns` says and `read_needed` reads it.
        """


Kind = Reader
"""What a caller knows a release kind by: how its recipient reads it."""


def name_count_column(column: str) -> str:
    """What the counts beside a column's values are called: not as the column."""
    return "count" if column != "count" else "rows"


def reader_for(kind: str) -> Reader:
    reader: Reader = catalogue.load_object(catalogue.KINDS[kind].reader)
    return reader


def find_data_files(folder: Path, manifest: Manifest) -> dict[str, DataFile]:
    """Each data file by its name; a manifest that names other files than its kind has, or cuts them otherwise, is refused."""
    tables = reader_for(manifest.kind).files
    files = match_table_files(manifest.data, tables)
    if files is None:
        raise BundleDamaged(
            f"A release of kind {manifest.kind!r} has the files {', '.join(map(repr, tables))}.",
            why=f"The manifest names {pluralize(len(manifest.data), 'file')}, or parts of them with a gap or in another order.",
        )
    require_stated_parts(files, manifest.rows, manifest.part_rows)
    return {
        name: DataFile(name, tuple(folder / file_name for file_name in file_names))
        for name, file_names in files.items()
    }


def list_schemas(manifest: Manifest) -> dict[str, Schema]:
    """The columns of each data file; as they are quoted, where the manifest says so."""
    schemas = reader_for(manifest.kind).schemas(manifest)
    return (
        {name: QuotedSchema(schema) for name, schema in schemas.items()}
        if manifest.formulas == FORMULAS_QUOTED
        else schemas
    )


def read_needed(
    folder: Path,
    manifest: Manifest,
    needed_columns: Mapping[str, NeededColumns],
    max_values: int = MAX_VALUES_COUNTED,
    min_rows_alike: int = MIN_ROWS_ALIKE,
) -> dict[str, pl.DataFrame]:
    """The data files that a question needs, and of each the columns that it needs.

    Where counts suffice, a table has its distinct rows and how often each occurs, as the column COUNT, and rows are read as a stream.
    Where nearly all rows are distinct, counting would hold more than they do: they are read as they are, without that column.
    """
    schemas = list_schemas(manifest)
    files = find_data_files(folder, manifest)
    max_distinct = max(max_values, manifest.rows // min_rows_alike)
    tables = {
        name: _read_columns(files[name], schemas[name], columns, manifest.rows, (max_values, max_distinct))
        for name, columns in needed_columns.items()
    }
    reader_for(manifest.kind).check_tables(tables, manifest)
    return tables


def times_counted(table: pl.DataFrame) -> np.ndarray | None:
    """How often each row of a table occurs; None where each stands for itself."""
    return table[ROW_COUNT_COLUMN].to_numpy() if ROW_COUNT_COLUMN in table.columns else None


def read_tables(folder: Path, manifest: Manifest) -> dict[str, pl.DataFrame]:
    """Every data file, typed by the manifest."""
    schemas = list_schemas(manifest)
    tables = {name: read_data(file, schemas[name]) for name, file in find_data_files(folder, manifest).items()}
    reader_for(manifest.kind).check_tables(tables, manifest)
    return tables


def _read_columns(
    file: DataFile, schema: Schema, needed_columns: NeededColumns, rows: int, limits: tuple[int, int]
) -> pl.DataFrame:
    if not needed_columns.counted:
        return read_data(file, schema, needed_columns.names)
    if not needed_columns.names:
        return pl.DataFrame({ROW_COUNT_COLUMN: [rows]}, schema={ROW_COUNT_COLUMN: pl.Int64})
    try:
        distinct, times = count_distinct_rows(file, schema, needed_columns.names, limits=limits)
    except TooManyDistinct:
        return read_data(file, schema, needed_columns.names)
    return distinct.with_columns(pl.Series(ROW_COUNT_COLUMN, times))
