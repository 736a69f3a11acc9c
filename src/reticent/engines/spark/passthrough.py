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
from reticent.format.row_batches import BATCH_ROWS, RowBatch
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe

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
    held: list[tuple[np.ndarray, np.ndarray]],
    draw: np.random.Generator,
) -> list[PartitionShare]:
    """Return the share of each partition, given the entries (sorted by cell) and the cells of each partition with their rows."""
    left = quota.astype(np.int64).copy()
    cells, first = np.unique(cell, return_index=True)
    until = np.append(first, len(cell))[1:]
    found = []
    for here, rows in held:
        at = np.searchsorted(cells, here)
        begins = first[at]
        ends = until[at]
        many = ends - begins
        place = np.repeat(begins - (np.cumsum(many) - many), many) + np.arange(int(many.sum()))
        drawn = _draw_by_cell(left[place], many, rows.astype(np.int64), draw)
        left[place] -= drawn
        some = drawn > 0
        found.append(PartitionShare(cell[place][some], entry[place][some], drawn[some]))
    return found


def _draw_by_cell(left: np.ndarray, many: np.ndarray, rows: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """For each cell, with `many` consecutive entries, draw a number of rows without replacement."""
    found = np.zeros(len(left), np.int64)
    first = np.cumsum(many) - many
    total = np.add.reduceat(left, first) if len(left) else left
    wanted = rows.copy()
    nth = 0
    open_ = np.arange(len(many))
    while len(open_):
        place = first[open_] + nth
        good = left[place]
        last = many[open_] == nth + 1
        bad = total[open_] - good
        taken = np.where(last, wanted[open_], draw_hypergeometric(good, bad, wanted[open_], draw))
        found[place] = taken
        wanted[open_] -= taken
        total[open_] = bad
        nth += 1
        open_ = open_[~last & (wanted[open_] > 0)]
    return found


def draw_hypergeometric(good: np.ndarray, bad: np.ndarray, sample: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Draw how many good ones are among `sample` items drawn without replacement, for any size of the population."""
    small = (
        (good < MAX_HYPERGEOMETRIC_POPULATION)
        & (bad < MAX_HYPERGEOMETRIC_POPULATION)
        & (good + bad < MAX_HYPERGEOMETRIC_POPULATION)
    )
    found = np.zeros(len(good), np.int64)
    found[small] = draw.hypergeometric(good[small], bad[small], sample[small])
    for at in np.flatnonzero(~small):
        found[at] = _draw_large(int(good[at]), int(bad[at]), int(sample[at]), draw)
    return found


def _draw_large(good: int, bad: int, sample: int, draw: np.random.Generator) -> int:
    """Take each item with the probability sample / (good + bad), and then as many more or fewer as are missing."""
    share = sample / (good + bad)
    taken = int(draw.binomial(good, share))
    others = int(draw.binomial(bad, share))
    short = sample - taken - others
    if short >= 0:
        return taken + _draw_few(good - taken, bad - others, short, draw)
    return taken - _draw_few(taken, others, -short, draw)


def _draw_few(good: int, bad: int, sample: int, draw: np.random.Generator) -> int:
    """Draw a sample that is small relative to its population: distinct numbers below its size; count those below `good`."""
    seen = np.zeros(0, np.int64)
    while len(seen) < sample:
        seen = np.unique(np.append(seen, draw.integers(0, good + bad, sample - len(seen))))
    return int((seen < good).sum())


MAX_BUCKETS = 1 << 12  # buckets


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
        types = {name: pl.String() if is_text(kind) else kind for name, kind in rows.types.items() if name in names}
        types = {name: types[name] for name in names}
        with ExitStack() as sent:  # what is broadcast holds values, and is gone when it was used
            self._write_rows(rows, types, folder, sent)
        yield from _read_batches(folder / "done", types)

    def _write_rows(self, rows: SparkRows, types: dict[str, pl.DataType], folder: Path, sent: ExitStack) -> None:
        """Write the published rows, in their order, to files by bucket."""
        session = rows.session
        entries = np.bincount(self.recipe.cell, minlength=len(self.recipe.cells))
        self.context.progress("writing: numbering rows")
        held = self._number_rows(rows, types, entries > 1, folder / "rows", sent)
        self.context.progress("writing: drawing outcomes")
        self._write_shares(rows, held, entries > 1, folder)
        size = sum(file.stat().st_size for file in (folder / "rows").glob("*.parquet"))
        buckets = min(
            max(-(-4 * size // BUCKET_BYTES), 1), MAX_BUCKETS
        )  # compressed bytes are about a quarter of those in memory
        known = _broadcast_value(session, self._build_outcomes(entries, folder, buckets), sent)
        self.context.progress("writing: moving rows")
        schema = [*types.values(), pl.Int64(), pl.Int64(), pl.Int32()]
        kept = [*(f"c{at}" for at in range(len(types))), WORD, ENTRY]
        moved = held.mapInArrow(
            rows.task(tasks.assign_entries, shared=[known]), build_spark_schema(schema, [*kept, BUCKET])
        )
        place = [] if self.place is None else [_broadcast_value(session, self.place, sent)]
        done = moved.repartitionById(buckets, BUCKET).mapInArrow(
            rows.task(tasks.order_bucket, types, shared=place),
            build_spark_schema([*types.values(), pl.Int64()], [*kept[:-2], ENTRY]),
        )
        with translate_spark_errors("Writing the carried columns", session):
            done.write.options(**WRITE_OPTIONS).parquet(to_file_url(folder / "done"))

    def _number_rows(
        self, rows: SparkRows, types: dict[str, pl.DataType], shared: np.ndarray, folder: Path, sent: ExitStack
    ) -> Any:
        """Write the rows with their numbers; return them as they were written."""
        keys = self.counted.combinations.columns
        texts = [pl.col(name).cast(pl.String) for name in keys if is_text(self.counted.combinations.schema[name])]
        facts = tasks.CountedCombinations(self.counted.combinations.with_columns(texts), self.counted.cell, shared)
        known = _broadcast_value(rows.session, facts, sent)
        names = list(types)
        schema = [*types.values(), pl.Int32(), pl.Int64(), pl.Int64(), pl.Int64()]
        kept = [*(f"c{at}" for at in range(len(types))), PART, CELL, ORDINAL, WORD]
        kinds = build_spark_schema(schema, kept)
        found = rows.map_task(tasks.number_rows, [*keys, *names], kinds, names, self.rng, shared=[known])
        with translate_spark_errors("Reading the carried columns", rows.session):
            found.write.options(**WRITE_OPTIONS).parquet(to_file_url(folder))
            return rows.session.read.options(**LITERAL_PATH_OPTIONS).schema(kinds).parquet(to_file_url(folder))

    def _write_shares(self, rows: SparkRows, held: Any, shared: np.ndarray, folder: Path) -> None:
        """Write each partition's share of the quotas to a file of its own; refuse if rows are not those that were counted."""
        from pyspark.sql import functions as f

        kinds = build_spark_schema([pl.Int32(), pl.Int64(), pl.Int64()], [PART, CELL, ROW_COUNT])
        each = held.select(PART, CELL).mapInArrow(rows.task(tasks.count_by_partition), kinds)
        with translate_spark_errors("Counting rows by partition", rows.session):
            table = each.groupBy(PART, CELL).agg(f.sum(ROW_COUNT).alias(ROW_COUNT)).toArrow()
        part, cell, times = (table.column(name).to_numpy() for name in (PART, CELL, ROW_COUNT))
        seen = np.bincount(cell, weights=times, minlength=len(shared)).astype(np.int64)
        if not np.array_equal(seen, self.counted.cells.counts):
            raise make_source_changed_error()
        order = np.lexsort((cell, part))
        part = part[order]
        cell = cell[order]
        times = times[order]
        numbers, first = np.unique(part, return_index=True)
        drawn = [
            (cell[start:stop], times[start:stop])
            for number, start, stop in zip(numbers, first, np.append(first, len(part))[1:], strict=True)
            if number != tasks.NO_PART
        ]
        recipe = self.recipe
        open_ = np.flatnonzero(shared[recipe.cell])
        open_ = open_[np.argsort(recipe.cell[open_], kind="stable")]
        found = split_quotas(recipe.cell[open_], open_, recipe.quota[open_], drawn, self.rng.stream("split"))
        for number, share in zip(numbers[numbers != tasks.NO_PART], found, strict=True):
            np.savez(folder / f"share-{number}.npz", cell=share.cell, entry=share.entry, quota=share.quota)

    def _build_outcomes(self, entries: np.ndarray, folder: Path, buckets: int) -> tasks.RecipeOutcomes:
        recipe = self.recipe
        first = None
        by_cell = np.argsort(recipe.cell, kind="stable")
        only = by_cell[(np.cumsum(entries) - 1).clip(0)].astype(np.int64)
        shown = np.zeros(len(recipe.group), bool)
        shown[recipe.published_entries] = True
        if self.place is not None:
            rank = np.unique(self.place, return_inverse=True)[1].reshape(-1)
            held = np.bincount(
                rank[recipe.published_entries], recipe.quota[recipe.published_entries], int(rank.max(initial=0)) + 1
            )
            first = (np.cumsum(held) - held).astype(np.int64)[rank]
        published = int(recipe.quota[recipe.published_entries].sum())
        return tasks.RecipeOutcomes(only, shown, folder, self.rng, first, published, buckets)


def _broadcast_value(session: Any, value: Any, sent: ExitStack) -> Any:
    """Broadcast a value to every executor; it is destroyed with its files when `sent` is closed."""
    known = session.sparkContext.broadcast(value)

    def destroy() -> None:
        with suppress(Exception):  # a session that is gone has nothing left
            known.destroy()

    sent.callback(destroy)
    return known


def _read_batches(folder: Path, types: dict[str, pl.DataType]) -> Iterator[RowBatch]:
    """Read what executors wrote, bucket by bucket, removing each file once it is read; an empty table is one empty batch."""
    some = False
    for path in sorted(folder.glob("part-*")):
        frame = pl.read_parquet(path, memory_map=False, glob=False)
        path.unlink()
        for start in range(0, len(frame), BATCH_ROWS):
            part = frame[start : start + BATCH_ROWS]
            some = True
            yield RowBatch(part[ENTRY].to_numpy(), decode_frame(part.drop(ENTRY), types))
    if not some:
        yield RowBatch(np.zeros(0, np.int64), pl.DataFrame(schema=types))
