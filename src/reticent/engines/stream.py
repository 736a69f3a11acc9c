"""The stream engine: tables larger than memory, from Parquet and CSV, read batch by batch.

Counting is a group-by that holds the cells.  Without passthrough columns, the release is expanded from them; otherwise
rows are read once more: each finds its cell, its entry by its rank (`external_sort.py`) and a random bucket on disk,
and buckets are shuffled one by one.  Rows that choose their bucket independently, and buckets in uniform order within,
are in uniform order altogether (ADR 8).  For kinds that are sorted, buckets are read back into buckets by place, and
each is sorted.

`FrequencyCounter` counts the values of a column by their hashes in bounded memory, and spills them to disk if there are
too many. Two values with one 64-bit hash would count as one.  Among 10^8 values that happens once in 4,000 tables, and
makes the rows of a person look more than they are, never fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.data import passthrough
from reticent.data import source as sources
from reticent.data.columnar import group_frames
from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.data.declared_withholding import drop_missing_rows, drop_surplus_rows
from reticent.data.passthrough import PassthroughCounts, ValueFrequencies, cast_columns, count_passthrough
from reticent.data.source import Source, SourceScan, is_text, iterate_batches
from reticent.engines import local
from reticent.engines.cell_lookup import CellLocator, CellRecount, translate_reread_errors
from reticent.engines.engine import DEFAULT_CONTEXT, CountedTable, EngineContext, PassProgress
from reticent.engines.expansion import expand_rows
from reticent.engines.external_sort import BUCKET_BYTES, DiskBuckets, RowRanker, choose_bucket_count
from reticent.format.data_writer import BATCH_ROWS, BatchColumn, RowBatch
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe

ENTRY_COLUMN = "\x00entry"
READ_BYTES = 4 * BUCKET_BYTES  # bytes that are read at a time
BATCHES_PER_READ = 8  # batches that they come in
MAX_SAMPLED_ENTRIES = 1 << 20  # entries from whose places the ends of buckets are chosen
_NUMBER_BYTES = 8
_TEXT_BYTES = 24  # bytes that a value is taken for before one was seen
_SMALL_TYPE_BYTES = {
    pl.Boolean: 1,
    pl.Int8: 1,
    pl.UInt8: 1,
    pl.Int16: 2,
    pl.UInt16: 2,
    pl.Int32: 4,
    pl.UInt32: 4,
    pl.Float32: 4,
}
_RankedFrame = tuple[pl.DataFrame, np.ndarray]
MAX_HELD_VALUES = 1 << 20  # values of one column that are held in memory
SPILL_PARTS = 64
_SPILL_RECORD = np.dtype([("hash", "<u8"), ("times", "<i8")])


class StreamEngine:
    """Reads rows batch by batch; what does not fit memory is on the release's disk."""

    name: ClassVar[str] = "stream"
    distributed: ClassVar[bool] = False
    regions: ClassVar[None] = None

    def map(self, function: Callable[..., Any], argument_lists: Iterable[tuple[Any, ...]]) -> list[Any]:
        return [function(*arguments) for arguments in argument_lists]

    def scan(self, source: Source, frame: Any = None) -> SourceScan:
        return sources.open_source(source, frame, by_pieces=True)

    def cache(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows

    def cast(self, rows: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
        return cast_columns(rows, columns)

    def drop_missing(self, rows: pl.LazyFrame, names: list[str]) -> tuple[pl.LazyFrame, int]:
        return drop_missing_rows(rows, names)

    def drop_surplus(self, rows: pl.LazyFrame, limits: Mapping[str, int], rng: Random) -> tuple[pl.LazyFrame, int]:
        return drop_surplus_rows(rows, limits, rng)

    def count_passthrough(self, rows: pl.LazyFrame, columns: Mapping[str, Column]) -> PassthroughCounts:
        return count_passthrough(rows, columns)

    def profile_columns(
        self, rows: pl.LazyFrame, columns: Mapping[str, Column], context: EngineContext = DEFAULT_CONTEXT
    ) -> passthrough.PassthroughProfile:
        names = passthrough.list_profiled_columns(columns)
        if not names:
            return passthrough.PassthroughProfile()
        doing = "Counting identifying and carried values"
        profiled = rows.select(names)
        counters = {name: FrequencyCounter(context.make_temp_dir) for name in names}
        progress = PassProgress(doing.lower(), None, context.progress)
        for frame in iterate_row_batches(profiled, doing):
            for name in names:
                counters[name].add(frame[name])
            progress.add(len(frame))
            del frame  # before the next is read
        return passthrough.build_profile(
            columns, progress.done, {name: counter.get_result() for name, counter in counters.items()}
        )

    def count(
        self,
        rows: pl.LazyFrame,
        columns: Mapping[str, Column],
        rows_per_person: int = 1,
        context: EngineContext = DEFAULT_CONTEXT,
    ) -> CountedTable:
        """Count as the local engine does, which reads batches already: it holds combinations, and few rows."""
        return local.count_rows(rows, columns, rows_per_person, context)

    def count_distinct_rows(self, rows: pl.LazyFrame, names: list[str]) -> pl.DataFrame:
        return local.count_distinct_rows(rows, names)

    def filter_equal(self, rows: pl.LazyFrame, by: str, value: pl.Series, names: list[str]) -> pl.LazyFrame:
        return local.filter_equal(rows, by, value, names)

    def apply(
        self,
        counted: CountedTable,
        recipe: Recipe,
        rng: Random,
        rows: pl.LazyFrame,
        place: np.ndarray | None = None,
        context: EngineContext = DEFAULT_CONTEXT,
    ) -> StreamedRows:
        published = int(recipe.quota[recipe.published_entries].sum())
        names = find_columns_with_role(counted.columns, Role.INSENSITIVE)
        if not names:
            return StreamedRows(published, {}, lambda: expand_rows(recipe, rng))
        schema = rows.collect_schema()
        types = {name: BatchColumn(pl.String() if is_text(schema[name]) else schema[name]) for name in names}
        carrying = StreamPassthroughWriter(counted, recipe, rng, place, context)
        return StreamedRows(published, types, lambda: carrying.iterate_batches(rows, names))


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """Published rows that are made as they are written."""

    rows: int
    beside: Mapping[str, BatchColumn]
    make_batches: Callable[[], Iterator[RowBatch]]

    def __iter__(self) -> Iterator[RowBatch]:
        return self.make_batches()


@dataclass(frozen=True, eq=False)
class StreamPassthroughWriter:
    """Moves passthrough rows from the source to the release."""

    counted: CountedTable
    recipe: Recipe
    rng: Random
    place: np.ndarray | None
    context: EngineContext
    batch_rows: int = BATCH_ROWS

    def iterate_batches(self, rows: pl.LazyFrame, names: list[str]) -> Iterator[RowBatch]:
        folder = self.context.make_temp_dir()
        with closing(RowRanker(self.recipe, self.rng, folder)) as ranks:
            buckets = self._scatter_rows(rows, names, ranks, folder / "scattered")
            ranks.settle()
        is_published = np.zeros(len(self.recipe.group), bool)
        is_published[self.recipe.published_entries] = True
        ranked = (_rank_frame(frame, ranks, is_published) for frame in buckets.frames())
        if self.place is None:
            ordered = self._shuffle_buckets(ranked)
        else:
            ordered = self._sort_buckets(ranked, folder / "sorted")
        for entry, carried in ordered:
            for start in range(0, len(entry), self.batch_rows):
                end = start + self.batch_rows
                yield RowBatch(entry[start:end], carried[start:end])

    def _scatter_rows(self, rows: pl.LazyFrame, names: list[str], ranks: RowRanker, folder: Path) -> DiskBuckets:
        """Write passthrough columns to random buckets, each row with its entry or with the number by which `RowRanker` finds it later."""
        doing = "Reading the carried columns"
        keys = self.counted.combinations.columns
        cells = self.counted.cells
        selected = local.cast_texts_to_categories(rows, keys).select(*keys, *names)
        locator = CellLocator.from_combinations(self.counted.combinations, self.counted.cell)
        recount = CellRecount(cells)
        progress = PassProgress("writing", cells.rows, self.context.progress)
        buckets = DiskBuckets(folder)
        with closing(buckets), translate_reread_errors():
            for frame in iterate_row_batches(selected, doing):
                passthrough_columns = _cast_categories(frame.select(names))
                if not progress.done:
                    buckets.begin(
                        choose_bucket_count(cells.rows, passthrough_columns.estimated_size() / max(len(frame), 1) + 8)
                    )
                cell = locator.find_cells(frame.select(keys))
                recount.add(cell)
                number = self.rng.words("bucket", progress.done, len(frame)) % np.uint64(buckets.count)
                buckets.put_rows(number, passthrough_columns.with_columns(pl.Series(ENTRY_COLUMN, ranks.take(cell))))
                progress.add(len(frame))
                del frame, passthrough_columns  # before the next are read
            recount.finish()
            buckets.finish()
        return buckets

    def _shuffle_buckets(self, ranked: Iterator[_RankedFrame]) -> Iterator[tuple[np.ndarray, pl.DataFrame]]:
        for number, (frame, published) in enumerate(ranked):
            order = published[self.rng.stream(f"shuffle {number}").permutation(len(published))]
            yield _split_entries(frame[order])

    def _sort_buckets(self, ranked: Iterator[_RankedFrame], folder: Path) -> Iterator[tuple[np.ndarray, pl.DataFrame]]:
        """Sort by place and by passthrough values: a bucket holds whole places."""
        assert self.place is not None
        rows = int(self.recipe.quota[self.recipe.published_entries].sum())
        buckets = DiskBuckets(folder)
        with closing(buckets):
            for frame, published in ranked:
                if not len(published):
                    continue  # none of these rows is published
                if len(published) < len(frame):
                    frame = frame[published]
                if not buckets.count:
                    buckets.begin(choose_bucket_count(rows, frame.estimated_size() / max(len(frame), 1)))
                    ends = self._find_bucket_ends(buckets.count)
                buckets.put_rows(np.searchsorted(ends, self.place[frame[ENTRY_COLUMN].to_numpy()]), frame)
            buckets.finish()
        for frame in buckets.frames():
            entry, carried = _split_entries(frame)
            order = local.order_by_place(self.place[entry], carried)
            yield entry[order], carried[order]

    def _find_bucket_ends(self, parts: int) -> np.ndarray:
        """Find, from some of the entries, the last place of all parts but one, so that parts have about as many rows each."""
        assert self.place is not None
        sample = self.recipe.published_entries[:: -(-len(self.recipe.published_entries) // MAX_SAMPLED_ENTRIES)]
        sample = sample[np.argsort(self.place[sample])]
        quota_ends = np.cumsum(self.recipe.quota[sample])
        return self.place[sample][np.searchsorted(quota_ends, quota_ends[-1] * np.arange(1, parts) // parts)]


def iterate_row_batches(
    rows: pl.LazyFrame, doing: str, read_rows: int | None = None, read_bytes: int = READ_BYTES
) -> Iterator[pl.DataFrame]:
    """Yield the rows in their order: a number at a time, or fewer if they take as many bytes as intended."""
    max_rows = choose_batch_rows(rows) if read_rows is None else read_rows
    return group_frames(iterate_batches(rows, doing, -(-max_rows // BATCHES_PER_READ)), max_rows, read_bytes)


def choose_batch_rows(rows: pl.LazyFrame) -> int:
    """Choose how many rows are read at a time, if none of them is longer than estimated."""
    types = rows.collect_schema().values()
    size = sum(
        _TEXT_BYTES if is_text(dtype) else _SMALL_TYPE_BYTES.get(dtype.base_type(), _NUMBER_BYTES) for dtype in types
    )
    return min(max(READ_BYTES // max(size, 1), BATCHES_PER_READ), 1 << 20) // BATCHES_PER_READ * BATCHES_PER_READ


class FrequencyCounter:
    """Counts the values of one column, batch by batch; `make_temp_dir` is called once there are too many for memory."""

    def __init__(self, make_temp_dir: Callable[[], Path], max_held: int = MAX_HELD_VALUES):
        self.max_held = max_held
        self.make_temp_dir = make_temp_dir
        self.missing = 0
        self.hashes = np.zeros(0, np.uint64)
        self.multiplicity = np.zeros(0, np.int64)
        self.waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self.pending = 0
        self.folder: Path | None = None

    def add(self, series: pl.Series) -> None:
        self.missing += series.null_count()
        values = series.drop_nulls()
        counted = (values.cast(pl.String) if is_text(values.dtype) else values).alias("value").hash(1).value_counts()
        self.waiting.append((counted.to_series(0).to_numpy(), counted.to_series(1).to_numpy().astype(np.int64)))
        self.pending += len(counted)
        if self.pending > self.max_held // 4:
            self._merge()
        if len(self.hashes) > self.max_held:
            self._spill()

    def _merge(self) -> None:
        """Add what came in since to the counts in memory."""
        self.hashes, self.multiplicity = _sum_by_hash([(self.hashes, self.multiplicity), *self.waiting])
        self.waiting = []
        self.pending = 0

    def _spill(self) -> None:
        """Write the counts in memory, sorted by hash, to disk, in parts by the first bits of the hash."""
        if self.folder is None:
            self.folder = self.make_temp_dir()
        record = np.empty(len(self.hashes), _SPILL_RECORD)
        record["hash"] = self.hashes
        record["times"] = self.multiplicity
        ends = np.searchsorted(self.hashes, np.arange(1, SPILL_PARTS, dtype=np.uint64) << np.uint64(64 - 6))
        for number, part in enumerate(np.split(record, ends)):
            with open(self.folder / f"part-{number:02d}", "ab") as file:
                file.write(part.tobytes())
        self.hashes = self.hashes[:0]
        self.multiplicity = self.multiplicity[:0]

    def get_result(self) -> ValueFrequencies:
        self._merge()
        if self.folder is None:
            return _summarize_frequencies(self.missing, [self.multiplicity])
        self._spill()
        return _summarize_frequencies(
            self.missing, (self._read_part(self.folder / f"part-{number:02d}") for number in range(SPILL_PARTS))
        )

    def _read_part(self, path: Path) -> np.ndarray:
        record = np.fromfile(path, _SPILL_RECORD)
        path.unlink()
        return _sum_by_hash([(record["hash"], record["times"])])[1]


def _rank_frame(frame: pl.DataFrame, ranks: RowRanker, is_published: np.ndarray) -> _RankedFrame:
    """Return the rows of a bucket, each with its entry, and which of them are published."""
    entry = ranks.entries(frame[ENTRY_COLUMN].to_numpy())
    return frame.with_columns(pl.Series(ENTRY_COLUMN, entry)), np.flatnonzero(is_published[entry])


def _cast_categories(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(name).cast(pl.String) for name, kind in frame.schema.items() if is_text(kind))


def _split_entries(frame: pl.DataFrame) -> tuple[np.ndarray, pl.DataFrame]:
    return frame[ENTRY_COLUMN].to_numpy(), frame.drop(ENTRY_COLUMN)


def _sum_by_hash(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Add up the counts of equal hashes, in the order of hashes."""
    hashes = np.concatenate([part[0] for part in parts])
    row_counts = np.concatenate([part[1] for part in parts])
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    row_counts = row_counts[order]
    starts = np.flatnonzero(np.diff(hashes, prepend=~hashes[:1]))
    return hashes[starts], np.add.reduceat(row_counts, starts) if len(starts) else row_counts[:0]


def _summarize_frequencies(missing: int, row_counts: Iterable[np.ndarray]) -> ValueFrequencies:
    distinct = 0
    once = 0
    max_rows = 0
    for part in row_counts:
        distinct += len(part)
        once += int((part == 1).sum())
        max_rows = max(max_rows, int(part.max(initial=0)))
    return ValueFrequencies(missing, distinct, once, max_rows)


ENGINE = StreamEngine()
