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
MAX_COMBINATIONS_PER_ROW = 32  # of them for each row so far, so that a small table needs no large array
BLOCK_ROWS = 1 << 16  # rows packed at once, so that memory is used again and not asked for anew


@dataclass(frozen=True, slots=True)
class TallyLimits:
    """How many combinations are tallied in an array, and how many rows are worked on at once."""

    combinations: int = MAX_ARRAY_COMBINATIONS
    combinations_per_row: int = MAX_COMBINATIONS_PER_ROW
    batch_rows: int = 1 << 19  # rows looked at together
    block_rows: int = BLOCK_ROWS
    held_rows: int = 1 << 21  # rows that cannot be tallied, held before all are grouped


DEFAULT_TALLY_LIMITS = TallyLimits()


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


def count_combinations(
    lazy: pl.LazyFrame, name: str, doing: str, limits: TallyLimits = DEFAULT_TALLY_LIMITS
) -> pl.DataFrame:
    """Return every combination of the frame's columns, with the number of its rows in a column `name`."""
    tallies = CombinationCounter(limits)
    others = list[pl.DataFrame]()
    for piece in iterate_batches(lazy, doing, limits.batch_rows):
        if tallies.add(piece):
            continue
        if sum(map(len, others)) + len(piece) > limits.held_rows:
            return _group_rows(lazy, name, doing)
        others.append(piece)
    others = [piece for piece in others if not tallies.add(piece, again=True)]  # more rows came since
    rest = _group_rows(pl.concat(others).lazy(), name, doing) if others else None
    if not tallies.examples:
        return _group_rows(lazy, name, doing) if rest is None else rest
    found = tallies.get_result(name)
    return found if rest is None else _merge_counts(pl.concat([found, rest]), name, doing)


class CombinationCounter:
    """Counts rows batch by batch: how often each packed number occurs, and a row that has it."""

    def __init__(self, limits: TallyLimits = DEFAULT_TALLY_LIMITS) -> None:
        self.limits = limits
        self.spans: list[CodeSpan] = []
        self.rows = 0  # that came, counted or not
        self.multiplicity = np.zeros(0, np.int64)
        self.examples: list[pl.DataFrame] = []
        self.places: list[np.ndarray] = []

    def add(self, piece: pl.DataFrame, *, again: bool = False) -> bool:
        """Count some rows; False if combinations may be too many, or a column cannot be numbered.

        `again`: the rows came before, and were not counted.
        """
        self.rows += 0 if again else len(piece)
        stored = [_to_numbers(series) for series in piece.get_columns()]
        if not len(piece) or not all(_has_numbers(column) for column in stored):
            return False
        spans = [_find_span(column) for column in stored]
        if self.spans:
            spans = [had.union(met) for had, met in zip(self.spans, spans, strict=True)]
        room = prod(span.size for span in spans)
        if room > min(self.limits.combinations, self.limits.combinations_per_row * self.rows) or any(
            max(abs(span.low), abs(span.high)) >= 1 << 62 for span in spans
        ):
            return False
        if spans != self.spans:
            self._grow(spans, room)
        first = np.empty(min(room, len(piece)), np.int64)
        fresh = 0
        columns = [_to_array(column, span) for column, span in zip(stored, spans, strict=True)]
        block_rows = self.limits.block_rows
        word = np.empty(min(block_rows, len(piece)), np.int64)
        known = []
        for start in range(0, len(piece), block_rows):
            here = word[: min(block_rows, len(piece) - start)]
            self._pack([column[start : start + block_rows] for column in columns], here)
            before = fresh
            fresh = tally_numbers(here, start, self.multiplicity, first, fresh)
            known.append(here[first[before:fresh] - start])
        if fresh:
            self.examples.append(piece[first[:fresh]])
            self.places.append(np.concatenate(known))
        return True

    def get_result(self, name: str) -> pl.DataFrame:
        """Return the combinations, with the number of rows of each in a column `name`."""
        times = self.multiplicity[np.concatenate(self.places)]
        return pl.concat(self.examples).with_columns(pl.Series(name, times).cast(pl.get_index_type()))

    def _grow(self, spans: list[CodeSpan], room: int) -> None:
        """Move the counts to an array for other spans."""
        times = self.multiplicity[np.concatenate(self.places)] if self.places else None
        self.spans = spans
        self.multiplicity = np.zeros(room, np.int64)
        if times is None:
            return
        held = pl.concat(self.examples)
        columns = [_to_array(_to_numbers(series), span) for series, span in zip(held.get_columns(), spans, strict=True)]
        word = np.empty(len(held), np.int64)
        self._pack(columns, word)
        self.multiplicity[word] = times
        self.examples = [held]
        self.places = [word]

    def _pack(self, columns: list[np.ndarray], word: np.ndarray) -> None:
        """Compute one number for each row from its number in each column."""
        word[:] = 0
        for column, span in zip(columns, self.spans, strict=True):
            word *= span.size
            word += column
            word -= span.low


def _to_numbers(series: pl.Series) -> pl.Series:
    """Return the numbers behind a column, also of categories, dates and booleans."""
    return series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()


def _has_numbers(stored: pl.Series) -> bool:
    return stored.dtype.is_integer() and stored.dtype not in (pl.Int128, pl.UInt128)


def _find_span(stored: pl.Series) -> CodeSpan:
    low: Any = stored.min()  # whole numbers, or None where all are missing
    high: Any = stored.max()
    return CodeSpan(0, -1, True) if low is None else CodeSpan(low, high, stored.null_count() > 0)


def _to_array(stored: pl.Series, span: CodeSpan) -> np.ndarray:
    """Return every row's number; a missing value has the one after the greatest."""
    if stored.null_count() or stored.dtype == pl.UInt64:
        stored = stored.cast(pl.Int64).fill_null(span.high + 1)
    return stored.to_numpy()


def _group_rows(lazy: pl.LazyFrame, name: str, doing: str) -> pl.DataFrame:
    return collect_frame(lazy.group_by(lazy.collect_schema().names()).len(name=name), doing, engine="streaming")


def _merge_counts(tallies: pl.DataFrame, name: str, doing: str) -> pl.DataFrame:
    keys = [key for key in tallies.columns if key != name]
    return collect_frame(tallies.lazy().group_by(keys).agg(pl.col(name).sum()), doing)


MAX_HELD_VALUES = 1 << 20  # values of one column that are held in memory
SPILL_PARTS = 64
_SPILL_RECORD = np.dtype([("hash", "<u8"), ("times", "<i8")])


class FrequencyCounter:
    """Counts the values of one column, batch by batch.  `room` makes a folder, called when there are first too many values."""

    def __init__(self, room: Callable[[], Path], max_held: int = MAX_HELD_VALUES):
        self.max_held = max_held
        self.make_temp_dir = room
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
        record["hash"], record["times"] = self.hashes, self.multiplicity
        ends = np.searchsorted(self.hashes, np.arange(1, SPILL_PARTS, dtype=np.uint64) << np.uint64(64 - 6))
        for at, part in enumerate(np.split(record, ends)):
            with open(self.folder / f"part-{at:02d}", "ab") as file:
                file.write(part.tobytes())
        self.hashes, self.multiplicity = self.hashes[:0], self.multiplicity[:0]

    def get_result(self) -> ValueFrequencies:
        self._merge()
        if self.folder is None:
            return _summarize_frequencies(self.missing, [self.multiplicity])
        self._spill()
        return _summarize_frequencies(
            self.missing, (self._read_part(self.folder / f"part-{at:02d}") for at in range(SPILL_PARTS))
        )

    def _read_part(self, path: Path) -> np.ndarray:
        record = np.fromfile(path, _SPILL_RECORD)
        path.unlink()
        return _sum_by_hash([(record["hash"], record["times"])])[1]


def _sum_by_hash(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Add up the counts of equal hashes, in the order of hashes."""
    hashes, times = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    times = times[order]
    starts = np.flatnonzero(np.diff(hashes, prepend=~hashes[:1]))
    return hashes[starts], np.add.reduceat(times, starts) if len(starts) else times[:0]


def _summarize_frequencies(missing: int, times: Iterable[np.ndarray]) -> ValueFrequencies:
    distinct = once = most = 0
    for part in times:
        distinct += len(part)
        once += int((part == 1).sum())
        most = max(most, int(part.max(initial=0)))
    return ValueFrequencies(missing, distinct, once, most)
