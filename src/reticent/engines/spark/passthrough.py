"""Moves passthrough rows from the source to the release, on executors; the driver sees one bucket at a time.

  1. Rows find their cell and are written to the release's disk once, each with its number among its partition's rows of that
     cell.  Spark keeps one attempt of each task, and whatever runs again later reads these files.
  2. Rows are counted by (partition, cell); the driver splits each cell's quotas over partitions (`split_quotas`).
  3. Each row gets the outcome of its number in its partition's share, in an order drawn from the key.
  4. Rows are moved to buckets by a random word, or by their place, and each bucket is sorted and written.

Quotas are split so: among a cell's rows, N in all, the rows of entry e are a uniform subset of its quota's size; so the
partitions' shares of the quotas are multivariate hypergeometric, drawn partition by partition and within one entry by
entry (ADR 9).  NumPy refuses populations of 10^9; for these each item is taken by itself with the probability n / N,
and the excess or shortage is corrected by as many uniform draws: every subset of the size n stays equally likely.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.source import is_text
from reticent.engines.cell_lookup import make_source_changed_error
from reticent.engines.engine import CountedTable, EngineContext
from reticent.engines.external_sort import BUCKET_BYTES
from reticent.engines.spark import tasks
from reticent.engines.spark.conversion import build_spark_schema, decode_frame
from reticent.engines.spark.error_translation import translate_spark_errors
from reticent.engines.spark.rows import WRITE_OPTIONS, SparkRows
from reticent.engines.spark.session import LITERAL_PATH_OPTIONS, to_file_url
from reticent.engines.spark.tasks import BUCKET, CELL, ENTRY, ORDINAL, PART, ROW_COUNT, WORD
from reticent.format.data_writer import BATCH_ROWS, RowBatch
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe

MAX_BUCKETS = 1 << 12
MAX_HYPERGEOMETRIC_POPULATION = 10**9  # NumPy's bound on either kind of a hypergeometric population


@dataclass(frozen=True, eq=False)
class PartitionShare:
    """One partition's share: rows of `cell` get `entry` `quota` times; sorted by cell, and within one by entry."""

    cell: np.ndarray
    entry: np.ndarray
    quota: np.ndarray


def split_quotas(
    cell: np.ndarray,
    entry: np.ndarray,
    quota: np.ndarray,
    partitions: list[tuple[np.ndarray, np.ndarray]],
    draw: np.random.Generator,
) -> list[PartitionShare]:
    """Return the share of each partition, given the entries (sorted by cell) and the cells of each partition with their rows."""
    quota_left = quota.astype(np.int64).copy()
    cells, first = np.unique(cell, return_index=True)
    entry_ends = np.append(first, len(cell))[1:]
    shares = []
    for partition_cells, rows in partitions:
        position = np.searchsorted(cells, partition_cells)
        starts = first[position]
        entry_counts = entry_ends[position] - starts
        entries_before = np.cumsum(entry_counts) - entry_counts
        index = np.repeat(starts - entries_before, entry_counts) + np.arange(int(entry_counts.sum()))
        drawn = _draw_by_cell(quota_left[index], entry_counts, rows.astype(np.int64), draw)
        quota_left[index] -= drawn
        is_drawn = drawn > 0
        shares.append(PartitionShare(cell[index][is_drawn], entry[index][is_drawn], drawn[is_drawn]))
    return shares


def choose_bucket_count(size: int, bucket_bytes: int = BUCKET_BYTES) -> int:
    """Choose the number of buckets for files of this size in bytes."""
    bytes_in_memory = 4 * size  # about: the files are compressed
    return min(max(-(-bytes_in_memory // bucket_bytes), 1), MAX_BUCKETS)


def draw_hypergeometric(
    good: np.ndarray,
    bad: np.ndarray,
    sample: np.ndarray,
    draw: np.random.Generator,
    max_population: int = MAX_HYPERGEOMETRIC_POPULATION,
) -> np.ndarray:
    """Draw how many good ones are among `sample` items drawn without replacement, for any size of the population."""
    is_small = (good < max_population) & (bad < max_population) & (good + bad < max_population)
    counts = np.zeros(len(good), np.int64)
    counts[is_small] = draw.hypergeometric(good[is_small], bad[is_small], sample[is_small])
    for index in np.flatnonzero(~is_small):
        counts[index] = _draw_large(int(good[index]), int(bad[index]), int(sample[index]), draw)
    return counts


@dataclass(frozen=True, eq=False)
class SparkPassthroughWriter:
    """Writes one publication: the counted table, the recipe, and temporary folders."""

    counted: CountedTable
    recipe: Recipe
    rng: Random
    place: np.ndarray | None
    context: EngineContext

    def iterate_batches(self, rows: SparkRows, names: list[str]) -> Iterator[RowBatch]:
        folder = self.context.make_temp_dir()
        types = {name: pl.String() if is_text(rows.types[name]) else rows.types[name] for name in names}
        with ExitStack() as broadcasts:  # what is broadcast holds values, and is gone when it was used
            self._write_rows(rows, types, folder, broadcasts)
        yield from _read_batches(folder / "done", types)

    def _write_rows(self, rows: SparkRows, types: dict[str, pl.DataType], folder: Path, broadcasts: ExitStack) -> None:
        """Write the published rows, in their order, to files by bucket."""
        session = rows.session
        entries = np.bincount(self.recipe.cell, minlength=len(self.recipe.cells))
        self.context.progress("writing: numbering rows")
        numbered = self._number_rows(rows, types, entries > 1, folder / "rows", broadcasts)
        self.context.progress("writing: drawing outcomes")
        self._write_shares(rows, numbered, entries > 1, folder)
        size = sum(file.stat().st_size for file in (folder / "rows").glob("*.parquet"))
        buckets = choose_bucket_count(size)
        outcomes = _broadcast_value(session, self._build_outcomes(entries, folder, buckets), broadcasts)
        self.context.progress("writing: moving rows")
        schema = [*types.values(), pl.Int64(), pl.Int64(), pl.Int32()]
        names = [*(f"c{position}" for position in range(len(types))), WORD, ENTRY]
        moved = numbered.mapInArrow(
            rows.task(tasks.assign_entries, shared=[outcomes]), build_spark_schema(schema, [*names, BUCKET])
        )
        place = [] if self.place is None else [_broadcast_value(session, self.place, broadcasts)]
        ordered = moved.repartitionById(buckets, BUCKET).mapInArrow(
            rows.task(tasks.order_bucket, types, shared=place),
            build_spark_schema([*types.values(), pl.Int64()], [*names[:-2], ENTRY]),
        )
        with translate_spark_errors("Writing the carried columns", session):
            ordered.write.options(**WRITE_OPTIONS).parquet(to_file_url(folder / "done"))

    def _number_rows(
        self, rows: SparkRows, types: dict[str, pl.DataType], shared: np.ndarray, folder: Path, broadcasts: ExitStack
    ) -> Any:
        """Write the rows with their numbers; return them as they were written."""
        keys = self.counted.combinations.columns
        texts = [pl.col(name).cast(pl.String) for name in keys if is_text(self.counted.combinations.schema[name])]
        facts = tasks.CountedCombinations(self.counted.combinations.with_columns(texts), self.counted.cell, shared)
        combinations = _broadcast_value(rows.session, facts, broadcasts)
        names = list(types)
        schema = [*types.values(), pl.Int32(), pl.Int64(), pl.Int64(), pl.Int64()]
        field_names = [*(f"c{position}" for position in range(len(types))), PART, CELL, ORDINAL, WORD]
        kinds = build_spark_schema(schema, field_names)
        numbered = rows.map_task(tasks.number_rows, [*keys, *names], kinds, names, self.rng, shared=[combinations])
        with translate_spark_errors("Reading the carried columns", rows.session):
            numbered.write.options(**WRITE_OPTIONS).parquet(to_file_url(folder))
            return rows.session.read.options(**LITERAL_PATH_OPTIONS).schema(kinds).parquet(to_file_url(folder))

    def _write_shares(self, rows: SparkRows, numbered: Any, shared: np.ndarray, folder: Path) -> None:
        """Write each partition's share of the quotas to a file of its own; refuse if rows are not those that were counted."""
        from pyspark.sql import functions as f

        kinds = build_spark_schema([pl.Int32(), pl.Int64(), pl.Int64()], [PART, CELL, ROW_COUNT])
        counts = numbered.select(PART, CELL).mapInArrow(rows.task(tasks.count_by_partition), kinds)
        with translate_spark_errors("Counting rows by partition", rows.session):
            table = counts.groupBy(PART, CELL).agg(f.sum(ROW_COUNT).alias(ROW_COUNT)).toArrow()
        part = table.column(PART).to_numpy()
        cell = table.column(CELL).to_numpy()
        rows_counted = table.column(ROW_COUNT).to_numpy()
        cell_rows = np.bincount(cell, weights=rows_counted, minlength=len(shared)).astype(np.int64)
        if not np.array_equal(cell_rows, self.counted.cells.counts):
            raise make_source_changed_error()
        order = np.lexsort((cell, part))
        part = part[order]
        cell = cell[order]
        rows_counted = rows_counted[order]
        numbers, first = np.unique(part, return_index=True)
        partitions = [
            (cell[start:stop], rows_counted[start:stop])
            for number, start, stop in zip(numbers, first, np.append(first, len(part))[1:], strict=True)
            if number != tasks.NO_PART
        ]
        recipe = self.recipe
        open_entries = np.flatnonzero(shared[recipe.cell])
        open_entries = open_entries[np.argsort(recipe.cell[open_entries], kind="stable")]
        shares = split_quotas(
            recipe.cell[open_entries], open_entries, recipe.quota[open_entries], partitions, self.rng.stream("split")
        )
        for number, share in zip(numbers[numbers != tasks.NO_PART], shares, strict=True):
            np.savez(folder / f"share-{number}.npz", cell=share.cell, entry=share.entry, quota=share.quota)

    def _build_outcomes(self, entries: np.ndarray, folder: Path, buckets: int) -> tasks.RecipeOutcomes:
        recipe = self.recipe
        first = None
        by_cell = np.argsort(recipe.cell, kind="stable")
        only = by_cell[(np.cumsum(entries) - 1).clip(0)].astype(np.int64)
        is_published = np.zeros(len(recipe.group), bool)
        is_published[recipe.published_entries] = True
        if self.place is not None:
            rank = np.unique(self.place, return_inverse=True)[1].reshape(-1)
            place_rows = np.bincount(
                rank[recipe.published_entries], recipe.quota[recipe.published_entries], int(rank.max(initial=0)) + 1
            )
            first = (np.cumsum(place_rows) - place_rows).astype(np.int64)[rank]
        published = int(recipe.quota[recipe.published_entries].sum())
        return tasks.RecipeOutcomes(only, is_published, folder, self.rng, first, published, buckets)


def _draw_by_cell(
    quota_left: np.ndarray, entry_counts: np.ndarray, rows: np.ndarray, draw: np.random.Generator
) -> np.ndarray:
    """Draw `rows` rows of each cell without replacement; return the number of each entry.

    A cell has `entry_counts` consecutive entries, of which `quota_left` rows are left to draw.
    """
    drawn = np.zeros(len(quota_left), np.int64)
    first = np.cumsum(entry_counts) - entry_counts
    total = np.add.reduceat(quota_left, first) if len(quota_left) else quota_left
    rows_left = rows.copy()
    nth = 0
    open_cells = np.arange(len(entry_counts))
    while len(open_cells):
        index = first[open_cells] + nth
        good = quota_left[index]
        last = entry_counts[open_cells] == nth + 1
        bad = total[open_cells] - good
        sample = np.where(last, rows_left[open_cells], draw_hypergeometric(good, bad, rows_left[open_cells], draw))
        drawn[index] = sample
        rows_left[open_cells] -= sample
        total[open_cells] = bad
        nth += 1
        open_cells = open_cells[~last & (rows_left[open_cells] > 0)]
    return drawn


def _draw_large(good: int, bad: int, sample: int, draw: np.random.Generator) -> int:
    """Take each item with the probability sample / (good + bad), and then as many more or fewer as are missing."""
    share = sample / (good + bad)
    good_drawn = int(draw.binomial(good, share))
    bad_drawn = int(draw.binomial(bad, share))
    short = sample - good_drawn - bad_drawn
    if short >= 0:
        return good_drawn + _draw_few(good - good_drawn, bad - bad_drawn, short, draw)
    return good_drawn - _draw_few(good_drawn, bad_drawn, -short, draw)


def _read_batches(folder: Path, types: dict[str, pl.DataType]) -> Iterator[RowBatch]:
    """Read what executors wrote, bucket by bucket, removing each file once it is read; an empty table is one empty batch."""
    is_empty = True
    for path in sorted(folder.glob("part-*")):
        frame = pl.read_parquet(path, memory_map=False, glob=False)
        path.unlink()
        for start in range(0, len(frame), BATCH_ROWS):
            part = frame[start : start + BATCH_ROWS]
            is_empty = False
            yield RowBatch(part[ENTRY].to_numpy(), decode_frame(part.drop(ENTRY), types))
    if is_empty:
        yield RowBatch(np.zeros(0, np.int64), pl.DataFrame(schema=types))


def _broadcast_value(session: Any, value: Any, broadcasts: ExitStack) -> Any:
    """Broadcast a value to every executor; it is destroyed with its files when `broadcasts` is closed."""
    broadcast = session.sparkContext.broadcast(value)

    def destroy() -> None:
        with suppress(Exception):  # a session that is gone has nothing left
            broadcast.destroy()

    broadcasts.callback(destroy)
    return broadcast


def _draw_few(good: int, bad: int, sample: int, draw: np.random.Generator) -> int:
    """Draw a sample that is small relative to its population: distinct numbers below its size; count those below `good`."""
    numbers = np.zeros(0, np.int64)
    while len(numbers) < sample:
        numbers = np.unique(np.append(numbers, draw.integers(0, good + bad, sample - len(numbers))))
    return int((numbers < good).sum())
