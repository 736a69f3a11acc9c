"""Writes published rows from the regions' plans: expanded without passthrough columns, otherwise read once more.

Each row gets a random word, by the key and by where it was first written; the word's first bits are its bucket and the
word its place in it.  Rows that choose their bucket independently, and buckets in uniform order within, are in uniform
order altogether (ADR 8).  The release is written bucket after bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from reticent.data.parsing import to_comparable
from reticent.engines.cell_lookup import make_source_changed_error
from reticent.engines.engine import PART_NUMBER, Frames, Partitions
from reticent.engines.local import assign_outcomes
from reticent.format.data_writer import BATCH_ROWS, RowBatch
from reticent.methods.regions import RegionTree
from reticent.partitioned import region_planning
from reticent.partitioned.cell_encoding import WORD_COLUMN, ColumnCodings, to_matrix
from reticent.partitioned.region_planning import REGION_COLUMN, RegionPlan, number_regions
from reticent.randomness import Random
from reticent.recipe.group_labels import name_label_column, name_value_column

BUCKET_COLUMN = "\x00bucket"
BUCKET_BYTES = 1 << 24  # of a bucket, about: the publishing process reads them one by one
MAX_BUCKETS = 1 << 12  # buckets
_CELL_COLUMN = "\x00cell"


@dataclass(frozen=True, eq=False)
class RowEncoding:
    """How rows are encoded: by the numbers of their labels, and by the numbers `values` of their sensitive values."""

    codes: ColumnCodings
    values: tuple[np.ndarray, ...]
    rng: Random
    folder: Path
    buckets: int

    @property
    def number_columns(self) -> list[str]:
        """The names of the columns of numbers."""
        labelled = range(len(self.codes.quasi))
        valued = range(len(self.values))
        return [*map(name_label_column, labelled), *map(name_value_column, valued)]

    def schema(self, carried: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
        return {
            **dict.fromkeys(self.number_columns, pl.Int32()),
            **carried,
            WORD_COLUMN: pl.Int64(),
            BUCKET_COLUMN: pl.Int32(),
        }

    @cached_property
    def labels(self) -> list[pl.Series]:
        """The labels of each quasi-identifier."""
        return [region_planning.read_column_labels(self.folder, position) for position in range(len(self.codes.quasi))]

    def encode_rows(self, number: int, region: RegionPlan, entry: np.ndarray, word: np.ndarray) -> pl.DataFrame:
        """Return what rows of some entries of a region's plan show, and their bucket."""
        recipe = region.recipe
        numbers = {}
        texts = region_planning.read_region_labels(self.folder, number)
        group = recipe.group[entry]
        for position in range(len(self.codes.quasi)):
            numbers[name_label_column(position)] = region_planning.find_label_numbers(
                self.labels[position], texts[position]
            )[region.of_group[group, position]]
        cell = recipe.cell[entry]
        for position, of_value in enumerate(self.values):
            numbers[name_value_column(position)] = of_value[recipe.cells.values[cell, position]]
        bucket = ((word >> np.uint64(64 - 16)).astype(np.int64) * self.buckets >> 16).astype(np.int32)
        return pl.DataFrame({**numbers, WORD_COLUMN: word.view(np.int64), BUCKET_COLUMN: bucket})


def choose_bucket_count(rows: int, columns: int, texts: int = 0, bucket_bytes: int = BUCKET_BYTES) -> int:
    """Choose the number of buckets so that one fits memory easily; `texts` are passthrough columns, estimated at 24 bytes a value."""
    return min(max(-(-rows * (4 * columns + 24 * texts + 12) // bucket_bytes), 1), MAX_BUCKETS)


def expand_regions(parts: Partitions, writing: RowEncoding) -> Partitions:
    """Return the rows of each region, from its plan alone; there are as many `parts` as regions."""
    return parts.map_partitions(_expand_part, writing.schema({}), writing)


def locate_rows(
    parts: Partitions, codes: ColumnCodings, tree: RegionTree, carried: Mapping[str, pl.DataType], rng: Random
) -> Partitions:
    """Rows with their codes, their region, a random word and what they carry: to be kept, because a word is drawn by place."""
    schema = {**codes.schema, **carried, WORD_COLUMN: pl.Int64(), REGION_COLUMN: pl.Int32()}
    return parts.map_partitions(_locate_part, schema, codes, tree, list(carried), rng)


def assign_entries(parts: Partitions, writing: RowEncoding, carried: Mapping[str, pl.DataType]) -> Partitions:
    """Return what each row shows, with its passthrough values; `parts` are regions."""
    return parts.map_partitions(_assign_part, writing.schema(carried), writing, list(carried))


def sort_buckets(parts: Partitions, writing: RowEncoding, carried: Mapping[str, pl.DataType]) -> Partitions:
    """Return the rows by bucket, each in the order of its rows' words."""
    schema = {
        name: dtype for name, dtype in writing.schema(carried).items() if name not in (WORD_COLUMN, BUCKET_COLUMN)
    }
    return parts.repartition(BUCKET_COLUMN, writing.buckets).map_partitions(_sort_bucket, schema)


def iterate_batches(persisted: Partitions, rows: int) -> Iterator[RowBatch]:
    """Yield the persisted rows, bucket by bucket."""
    row_count = 0
    for frame in persisted.iterate_partitions():
        row_count += len(frame)
        for start in range(0, len(frame), BATCH_ROWS):
            yield RowBatch(slice(0, 0), frame[start : start + BATCH_ROWS])
    if row_count != rows:
        raise make_source_changed_error()


def _expand_part(frames: Frames, number: int, writing: RowEncoding) -> Iterator[pl.DataFrame]:
    for frame in frames:
        for region_number in frame[PART_NUMBER].to_list():
            region = RegionPlan.read(writing.folder, region_number)
            entry = np.repeat(np.arange(len(region.recipe.cell)), region.recipe.quota)
            yield writing.encode_rows(
                region_number, region, entry, writing.rng.words(f"shuffle region {region_number}", 0, len(entry))
            )


def _locate_part(
    frames: Frames, number: int, codes: ColumnCodings, tree: RegionTree, carried: list[str], rng: Random
) -> Iterator[pl.DataFrame]:
    first_row = 0
    region = number_regions(tree)
    for frame in frames:
        coded = codes.encode(frame)
        for name, column in zip(codes.names, codes.columns, strict=True):
            nulls = int((coded[column] == codes.codings[name].domain.null_code).sum())
            if (
                nulls != to_comparable(name, frame[name]).null_count()
            ):  # a value that was not there when values were counted
                raise make_source_changed_error()
        leaf = tree.route(to_matrix(coded, codes.columns[: len(codes.quasi)]))
        word = rng.words(f"shuffle {number}", first_row, len(frame)).view(np.int64)
        first_row += len(frame)
        numbered = pl.Series(WORD_COLUMN, word), pl.Series(REGION_COLUMN, region[leaf])
        yield coded.with_columns(frame[name] for name in carried).with_columns(*numbered)


def _assign_part(frames: Frames, number: int, writing: RowEncoding, carried: list[str]) -> Iterator[pl.DataFrame]:
    region_frames = list(frames)
    for rows in pl.concat(region_frames).partition_by(REGION_COLUMN) if region_frames else []:
        region_number = int(rows[REGION_COLUMN][0])
        region = RegionPlan.read(writing.folder, region_number)
        rows = rows.sort(WORD_COLUMN)  # whatever order they came in
        cell = _find_cells(rows, region, writing.codes)
        entry = assign_outcomes(region.recipe, cell, writing.rng.derive(f"rank region {region_number}"))
        encoded = writing.encode_rows(region_number, region, entry, rows[WORD_COLUMN].to_numpy().view(np.uint64))
        yield encoded.select(*writing.number_columns, *(rows[name] for name in carried), WORD_COLUMN, BUCKET_COLUMN)


def _sort_bucket(frames: Frames, number: int) -> Iterator[pl.DataFrame]:
    bucket_frames = list(frames)
    if bucket_frames:
        rows = pl.concat(bucket_frames)
        order = np.argsort(rows[WORD_COLUMN].to_numpy().view(np.uint64), kind="stable")
        yield rows.drop(WORD_COLUMN, BUCKET_COLUMN)[order]


def _find_cells(rows: pl.DataFrame, region: RegionPlan, codes: ColumnCodings) -> np.ndarray:
    """Find the cell of each row; refuse if rows are not those that were counted."""
    cells = region.recipe.cells
    cell_table = pl.DataFrame(np.hstack([cells.codes, cells.values]), schema=codes.schema, orient="row")
    cell_table = cell_table.with_columns(pl.Series(_CELL_COLUMN, np.arange(len(cells))))
    cell_column = rows.select(codes.columns).join(cell_table, on=codes.columns, how="left", maintain_order="left")[
        _CELL_COLUMN
    ]
    if cell_column.null_count():
        raise make_source_changed_error()
    cell_numbers = cell_column.to_numpy()
    if not np.array_equal(np.bincount(cell_numbers, minlength=len(cells)), cells.counts):
        raise make_source_changed_error()
    return cell_numbers
