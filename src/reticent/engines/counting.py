"""Counts the rows of each distinct combination of columns, and how often the values of a column occur.

`count_combinations` packs a row into one number.  Texts are numbered by their categories, whole numbers and dates by
their distance from the least.  If all possible combinations are few relative to the rows, a row's numbers are packed
into one, and rows are tallied in an array that has a place for every number: a third of the cost of a group-by.  Rows
come a batch at a time; if a batch has numbers beyond those so far, the array is made anew.

`FrequencyCounter` counts the values of a column by their hashes in bounded memory, and spills them to disk if there are
too many. Two values with one 64-bit hash would count as one.  Among 10^8 values that happens once in 4,000 tables, and
makes the rows of a person look more than they are, never fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from reticent.data.passthrough import ValueFrequencies
from reticent.data.source import collect_frame, is_text, iterate_batches
from reticent.kernels.cell_tallies import tally_numbers

MAX_ARRAY_COMBINATIONS = 1 << 24  # possible combinations that are tallied in an array, 8 bytes each
MAX_COMBINATIONS_PER_ROW = 32  # possible combinations for each row so far: a small table needs no large array
MAX_HELD_VALUES = 1 << 20  # values of one column that are held in memory
SPILL_PARTS = 64
_SPILL_RECORD = np.dtype([("hash", "<u8"), ("times", "<i8")])


@dataclass(frozen=True, slots=True)
class TallyLimits:
    """How many combinations are tallied in an array, and how many rows are worked on at once."""

    combinations: int = MAX_ARRAY_COMBINATIONS
    combinations_per_row: int = MAX_COMBINATIONS_PER_ROW
    batch_rows: int = 1 << 19  # rows that are read together
    block_rows: int = 1 << 16  # rows of a batch that are packed together: their arrays are used again
    held_rows: int = 1 << 21  # rows that cannot be tallied and are held in memory; beyond it, all rows are grouped


DEFAULT_TALLY_LIMITS = TallyLimits()


def count_combinations(
    lazy: pl.LazyFrame, name: str, doing: str, limits: TallyLimits = DEFAULT_TALLY_LIMITS
) -> pl.DataFrame:
    """Return every combination of the frame's columns, with the number of its rows in a column `name`."""
    counter = CombinationCounter(limits)
    uncounted = list[pl.DataFrame]()
    for batch in iterate_batches(lazy, doing, limits.batch_rows):
        if counter.add(batch):
            continue
        if sum(map(len, uncounted)) + len(batch) > limits.held_rows:
            return _group_rows(lazy, name, doing)
        uncounted.append(batch)
    uncounted = [batch for batch in uncounted if not counter.add(batch, came_before=True)]  # more rows came since
    rest = _group_rows(pl.concat(uncounted).lazy(), name, doing) if uncounted else None
    if not counter.examples:
        return _group_rows(lazy, name, doing) if rest is None else rest
    combinations = counter.get_result(name)
    if rest is None:
        return combinations
    keys = [key for key in combinations.columns if key != name]
    summed = pl.concat([combinations, rest]).lazy().group_by(keys).agg(pl.col(name).sum())
    return collect_frame(summed, doing)


class CodeSpan(NamedTuple):
    """The numbers of a column: from `low` to `high`, and one more if values are missing."""

    low: int
    high: int
    missing: bool

    @property
    def size(self) -> int:
        return self.high - self.low + 1 + self.missing

    def union(self, other: CodeSpan) -> CodeSpan:
        """Return the span of both and of what lies between."""
        if self.high < self.low or other.high < other.low:  # every value of one is missing
            return (other if self.high < self.low else self)._replace(missing=True)
        return CodeSpan(min(self.low, other.low), max(self.high, other.high), self.missing or other.missing)


class CombinationCounter:
    """Counts rows batch by batch: how often each packed number occurs, and a row that has it."""

    def __init__(self, limits: TallyLimits = DEFAULT_TALLY_LIMITS) -> None:
        self.limits = limits
        self.spans: list[CodeSpan] = []
        self.rows = 0  # that came, counted or not
        self.multiplicity = np.zeros(0, np.int64)
        self.examples: list[pl.DataFrame] = []
        self.places: list[np.ndarray] = []

    def add(self, batch: pl.DataFrame, *, came_before: bool = False) -> bool:
        """Count some rows; False if combinations may be too many, or a column cannot be numbered.

        `came_before`: the rows came before, and were not counted.
        """
        self.rows += 0 if came_before else len(batch)
        numbers = [_to_numbers(series) for series in batch.get_columns()]
        if not len(batch) or not all(_has_numbers(column) for column in numbers):
            return False
        spans = [_find_span(column) for column in numbers]
        if self.spans:
            spans = [before.union(span) for before, span in zip(self.spans, spans, strict=True)]
        word_count = prod(span.size for span in spans)
        if word_count > min(self.limits.combinations, self.limits.combinations_per_row * self.rows):
            return False
        if any(max(abs(span.low), abs(span.high)) >= 1 << 62 for span in spans):
            return False
        if spans != self.spans:
            self._grow(spans, word_count)
        first_rows = np.empty(min(word_count, len(batch)), np.int64)
        fresh = 0
        columns = [_to_array(column, span) for column, span in zip(numbers, spans, strict=True)]
        block_rows = self.limits.block_rows
        words = np.empty(min(block_rows, len(batch)), np.int64)
        block_words = []
        for start in range(0, len(batch), block_rows):
            block = words[: min(block_rows, len(batch) - start)]
            self._pack([column[start : start + block_rows] for column in columns], block)
            before = fresh
            fresh = tally_numbers(block, start, self.multiplicity, first_rows, fresh)
            block_words.append(block[first_rows[before:fresh] - start])
        if fresh:
            self.examples.append(batch[first_rows[:fresh]])
            self.places.append(np.concatenate(block_words))
        return True

    def get_result(self, name: str) -> pl.DataFrame:
        """Return the combinations, with the number of rows of each in a column `name`."""
        row_counts = self.multiplicity[np.concatenate(self.places)]
        return pl.concat(self.examples).with_columns(pl.Series(name, row_counts).cast(pl.get_index_type()))

    def _grow(self, spans: list[CodeSpan], word_count: int) -> None:
        """Move the counts to an array for other spans."""
        row_counts = self.multiplicity[np.concatenate(self.places)] if self.places else None
        self.spans = spans
        self.multiplicity = np.zeros(word_count, np.int64)
        if row_counts is None:
            return
        combinations = pl.concat(self.examples)
        columns = [
            _to_array(_to_numbers(series), span) for series, span in zip(combinations.get_columns(), spans, strict=True)
        ]
        words = np.empty(len(combinations), np.int64)
        self._pack(columns, words)
        self.multiplicity[words] = row_counts
        self.examples = [combinations]
        self.places = [words]

    def _pack(self, columns: list[np.ndarray], words: np.ndarray) -> None:
        """Compute one number for each row from its number in each column."""
        words[:] = 0
        for column, span in zip(columns, self.spans, strict=True):
            words *= span.size
            words += column
            words -= span.low


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


def _to_numbers(series: pl.Series) -> pl.Series:
    """Return the numbers behind a column, also of categories, dates and booleans."""
    return series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()


def _has_numbers(numbers: pl.Series) -> bool:
    return numbers.dtype.is_integer() and numbers.dtype not in (pl.Int128, pl.UInt128)


def _find_span(numbers: pl.Series) -> CodeSpan:
    low: Any = numbers.min()  # whole numbers, or None where all are missing
    high: Any = numbers.max()
    return CodeSpan(0, -1, True) if low is None else CodeSpan(low, high, numbers.null_count() > 0)


def _to_array(numbers: pl.Series, span: CodeSpan) -> np.ndarray:
    """Return every row's number; a missing value has the one after the greatest."""
    if numbers.null_count() or numbers.dtype == pl.UInt64:
        numbers = numbers.cast(pl.Int64).fill_null(span.high + 1)
    return numbers.to_numpy()


def _group_rows(lazy: pl.LazyFrame, name: str, doing: str) -> pl.DataFrame:
    return collect_frame(lazy.group_by(lazy.collect_schema().names()).len(name=name), doing, engine="streaming")


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
