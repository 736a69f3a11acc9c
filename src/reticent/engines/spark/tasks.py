"""Tasks of executors: functions over the Arrow batches of a partition.  None draws anything that a retry would draw anew.

A task may run twice, and its rows may come in another order the second time.  So rows are numbered once, as they are
written to the release's disk by `number_rows`, and everything that is drawn for a row afterwards is a function of the
key and of these numbers.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.declared_withholding import has_values
from reticent.engines.cell_lookup import UNKNOWN_CELL, CellLocator, make_source_changed_error
from reticent.engines.engine import MULTIPLICITY
from reticent.engines.local import cast_texts_to_categories, order_by_place
from reticent.engines.spark.conversion import (
    BatchReader,
    concat_batches,
    encode_frame,
    gather_frames,
    to_record_batches,
)
from reticent.randomness import Random

PART = "part"
CELL = "cell"
ORDINAL = "nth"
WORD = "word"
ENTRY = "entry"
BUCKET = "bucket"
ROW_COUNT = "times"
NUMBERS = (PART, CELL, ORDINAL, WORD)
NO_PART = -1
"""The partition of rows whose cell has one entry: nothing is drawn for them."""


def call_each(items: Iterable[bytes], function: Callable[..., Any]) -> Iterator[bytes]:
    """Call a function with each item."""
    for item in items:
        yield pickle.dumps(function(*pickle.loads(item)), protocol=5)


def count_combinations(batches: Iterable[Any], reading: BatchReader) -> Iterator[Any]:
    """Count the combinations of each batch of a partition."""
    names = list(reading.schema)
    for rows in reading.read_frames(batches):
        counted = cast_texts_to_categories(rows.lazy(), names).group_by(names).len(name=MULTIPLICITY).collect()
        yield from to_record_batches(encode_frame(counted.with_columns(pl.col(MULTIPLICITY).cast(pl.Int64))))


def select_complete_rows(
    batches: Iterable[Any], reading: BatchReader, selected: list[str], names: list[str]
) -> Iterator[Any]:
    """Select columns of the rows that have a value in each column of `names`."""
    for rows in reading.read_frames(batches):
        complete_rows = rows.filter(has_values(rows.schema, names)).select(selected)
        yield from to_record_batches(encode_frame(complete_rows))


def list_distinct(batches: Iterable[Any], reading: BatchReader) -> Iterator[Any]:
    """List the distinct values of one column."""
    for rows in reading.read_frames(batches):
        yield from to_record_batches(encode_frame(rows.drop_nulls().unique()))


def count_values(batches: Iterable[Any], reading: BatchReader) -> Iterator[Any]:
    """Count how often each value of each column occurs, values by their hashes; a missing one has none."""
    for rows in reading.read_frames(batches):
        for position, name in enumerate(rows.columns):
            values = rows[name].alias("hash")
            counted = values.drop_nulls().hash(1).reinterpret(signed=True).value_counts(name=ROW_COUNT)
            missing = pl.DataFrame(
                {"hash": [None], ROW_COUNT: [values.null_count()]}, schema={"hash": pl.Int64, ROW_COUNT: pl.Int64}
            )
            rows_counted = pl.concat([counted.cast(pl.Int64), missing])
            yield from to_record_batches(
                rows_counted.select(pl.lit(position, pl.Int32).alias("column"), "hash", ROW_COUNT)
            )


@dataclass(frozen=True, eq=False)
class CountedCombinations:
    """The counted combinations, sent to every executor; a text has another category number in each process."""

    combinations: pl.DataFrame  # texts as texts
    cell: np.ndarray
    shared: np.ndarray  # whether a cell has more than one entry

    def build_locator(self) -> tuple[CellLocator, pl.DataFrame]:
        """Build the locator of rows; return it with the texts and their numbers here, which are valid while the texts are referenced."""
        combinations = cast_texts_to_categories(self.combinations.lazy(), self.combinations.columns).collect()
        return CellLocator.from_combinations(combinations, self.cell), combinations


def number_rows(
    batches: Iterable[Any], reading: BatchReader, carried: list[str], rng: Random, facts: CountedCombinations
) -> Iterator[Any]:
    """Yield each row's partition, cell, number among the partition's rows of that cell, random word, and passthrough values."""
    from pyspark import TaskContext

    part = TaskContext.get().partitionId()
    rows_before = np.zeros(len(facts.shared), np.int64)
    row_number = 0
    locator, combinations = facts.build_locator()
    keys = combinations.columns
    for rows in reading.read_frames(batches):
        cell = locator.find_cells(cast_texts_to_categories(rows.lazy().select(keys), keys).collect()).astype(np.int64)
        if len(cell) and cell.min() <= UNKNOWN_CELL:
            raise make_source_changed_error()
        nth = _number_in_cell(cell, facts.shared, rows_before)
        word = rng.words(f"shuffle {part}", row_number, len(cell)).view(np.int64)
        row_number += len(cell)
        part_of_row = np.where(facts.shared[cell], part, NO_PART).astype(np.int32)
        numbers = [pl.Series(PART, part_of_row), pl.Series(CELL, cell), pl.Series(ORDINAL, nth), pl.Series(WORD, word)]
        yield from to_record_batches(encode_frame(rows.select(carried)).with_columns(numbers))


def count_by_partition(batches: Iterable[Any]) -> Iterator[Any]:
    """Count the rows of each cell in each partition."""
    for rows in gather_frames(batches):
        counted = rows.group_by(PART, CELL).len(name=ROW_COUNT)
        yield from to_record_batches(counted.select(PART, CELL, pl.col(ROW_COUNT).cast(pl.Int64)))


@dataclass(frozen=True, eq=False)
class RecipeOutcomes:
    """The recipe as executors need it; a partition's share of it is a file in `folder`."""

    only: np.ndarray  # the entry of a cell that has one
    shown: np.ndarray
    folder: Path
    rng: Random
    first: np.ndarray | None  # of an entry, how many rows stand before its place; None: rows are shuffled
    rows: int
    buckets: int

    @cache  # noqa: B019  # as long as the task
    def read_share(self, part: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Read a partition's cells that share, where the outcomes of each begin, and the outcomes, in random order in each cell."""
        share = np.load(self.folder / f"share-{part}.npz")
        cell = np.repeat(share["cell"], share["quota"])
        entry = np.repeat(share["entry"], share["quota"])
        words = self.rng.words(f"rank {part}", 0, len(cell))
        cells, first = np.unique(cell, return_index=True)
        return cells, first, entry[np.lexsort((words, cell))]

    def find_entries(self, rows: pl.DataFrame) -> np.ndarray:
        part = rows[PART].to_numpy()
        cell = rows[CELL].to_numpy()
        nth = rows[ORDINAL].to_numpy()
        entries = self.only[cell]
        for number in np.unique(part[part != NO_PART]).tolist():
            rows_of_part = np.flatnonzero(part == number)
            cells, first, outcome = self.read_share(number)
            entries[rows_of_part] = outcome[first[np.searchsorted(cells, cell[rows_of_part])] + nth[rows_of_part]]
        return entries

    def choose_bucket(self, entry: np.ndarray, word: np.ndarray) -> np.ndarray:
        """Choose buckets: of shuffled rows by the first bits of the row's word; of sorted rows by place, each place in one bucket."""
        if self.first is None:
            return (word.view(np.uint64) >> np.uint64(64 - 16)).astype(np.int64) * self.buckets >> 16
        return self.first[entry] * self.buckets // max(self.rows, 1)


def assign_entries(batches: Iterable[Any], outcomes: RecipeOutcomes) -> Iterator[Any]:
    """Yield the bucket and entry of each published row, with its passthrough values."""
    for rows in gather_frames(batches):
        entry = outcomes.find_entries(rows)
        is_published = pl.Series(outcomes.shown[entry])
        bucket = outcomes.choose_bucket(entry, rows[WORD].to_numpy()).astype(np.int32)
        assigned = rows.drop(PART, CELL, ORDINAL).with_columns(pl.Series(ENTRY, entry), pl.Series(BUCKET, bucket))
        yield from to_record_batches(assigned.filter(is_published))


def order_bucket(
    batches: Iterable[Any], schema: dict[str, pl.DataType], place: np.ndarray | None = None
) -> Iterator[Any]:
    """Order a bucket as it is written: by the rows' words, or by place and by passthrough values."""
    from reticent.engines.spark.conversion import decode_frame

    pending = list(batches)
    if not pending:
        return
    rows = concat_batches(pending)
    numbers = rows.select(WORD, ENTRY)
    carried = rows.drop(WORD, ENTRY, BUCKET)
    if place is None:
        order = np.argsort(numbers[WORD].to_numpy().view(np.uint64), kind="stable")
    else:
        entry = numbers[ENTRY].to_numpy()
        order = order_by_place(place[entry], decode_frame(carried, schema))
    yield from to_record_batches(carried.with_columns(numbers[ENTRY])[order])


def _number_in_cell(cell: np.ndarray, shared: np.ndarray, rows_before: np.ndarray) -> np.ndarray:
    """Number each row among the rows of its cell, for cells that share; the numbers continue from `rows_before`."""
    numbers = np.zeros(len(cell), np.int64)
    rows = np.flatnonzero(shared[cell])
    if len(rows):
        order = rows[np.argsort(cell[rows], kind="stable")]
        cell_of_row = cell[order]
        starts = np.flatnonzero(np.diff(cell_of_row, prepend=-1))
        sizes = np.diff(np.append(starts, len(cell_of_row)))
        numbers[order] = np.arange(len(cell_of_row)) - np.repeat(starts, sizes) + rows_before[cell_of_row]
        rows_before[cell_of_row[starts]] += sizes
    return numbers
