"""Counts the distinct rows of a Parquet file, row group by row group, without materializing texts.

A text column's pages are numbered by a dictionary already. The codes of a row are packed into one word, so many bits
for each column, and words are counted as rows arrive (`PackedTallies`): short ones in an array, others in a hash
table. Where a column needs more bits than it has, the counts are packed again. Where a word is too small,
combinations are sorted and merged (`SortedTallies`). Only what is distinct is kept: memory holds one row group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.kernels.audit_tallies import place_words, tally_words


@dataclass(frozen=True, slots=True)
class TallyLimits:
    """How combinations are packed and counted."""

    word_bits: int = 62
    initial_places: int = 1 << 12  # places of the first table
    direct_bits: int = 20  # bits of a word up to which words are counted in an array that has a place for each
    waiting_rows: int = 1 << 20  # rows that are merged at once, where a word is too small


DEFAULT_TALLY_LIMITS = TallyLimits()


class PackedTallies:
    """Counts of combinations, in memory that grows with the number of distinct ones."""

    def __init__(self, columns: int, limits: TallyLimits = DEFAULT_TALLY_LIMITS) -> None:
        self.limits = limits
        self.bits = [0] * columns
        self.held = 0  # keys in the table
        self.direct: np.ndarray | None = np.zeros(1, np.int64)  # instead of the table, while words are short
        self._allocate(limits.initial_places)

    def __len__(self) -> int:
        """Return how many distinct combinations there are."""
        return self.held if self.direct is None else int(np.count_nonzero(self.direct))

    def fits(self, sizes: list[int]) -> bool:
        """Tell whether combinations of columns with so many codes each can be packed."""
        return sum(map(_count_bits, sizes)) <= self.limits.word_bits

    def add(self, columns: list[np.ndarray], meanings: list[np.ndarray], sizes: list[int]) -> None:
        """Count rows: the code of row i in a column is `meaning[column[i]]`, which is less than the column's size."""
        needed = [max(bits, _count_bits(size)) for bits, size in zip(self.bits, sizes, strict=True)]
        if needed != self.bits:
            codes, multiplicity = self.list_combinations()
            self.bits = needed
            self._put(self._pack_words(list(codes.T)), multiplicity)
        meaning_and_column = zip(meanings, columns, strict=True)
        begin = 0
        word = self._pack_words(
            [column if _is_identity(meaning) else meaning[column] for meaning, column in meaning_and_column]
        )
        if self.direct is not None:
            self.direct += np.bincount(word, minlength=len(self.direct))
            return
        while True:
            begin, self.held = tally_words(word, begin, self.keys, self.times, self.held, len(self.keys) // 2)
            if begin == len(word):
                return
            is_taken = self.keys >= 0
            self._place(self.keys[is_taken], self.times[is_taken], 2 * len(self.keys))

    def list_combinations(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct combinations in their order, and how often each occurs."""
        word, multiplicity = self._list_words()
        codes = np.empty((len(word), len(self.bits)), np.int32)
        for position in reversed(range(len(self.bits))):
            codes[:, position] = word & ((1 << self.bits[position]) - 1)
            word >>= self.bits[position]
        return codes, multiplicity

    def _list_words(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the words in their order, and how often each occurs."""
        if self.direct is not None:
            word = np.flatnonzero(self.direct)
            return word, self.direct[word]
        is_taken = self.keys >= 0
        word = self.keys[is_taken]
        multiplicity = self.times[is_taken]
        order = np.argsort(word)
        return word[order], multiplicity[order]

    def _put(self, word: np.ndarray, multiplicity: np.ndarray) -> None:
        """Store earlier counts, packed again with other bits."""
        if sum(self.bits) <= self.limits.direct_bits:
            self.direct = np.zeros(1 << sum(self.bits), np.int64)
            self.direct[word] = multiplicity
            return
        self.direct = None
        self._place(word, multiplicity, 1 << (2 * len(word)).bit_length())

    def _pack_words(self, columns: list[np.ndarray]) -> np.ndarray:
        word = np.zeros(len(columns[0]), np.int64)
        for column, bits in zip(columns, self.bits, strict=True):
            word <<= bits
            word |= column
        return word

    def _allocate(self, places: int) -> None:
        self.keys = np.full(places, -1, np.int64)
        self.times = np.zeros(places, np.int64)
        self.held = 0

    def _place(self, word: np.ndarray, multiplicity: np.ndarray, places: int) -> None:
        """Make a table of at least `places` places, with the counts so far."""
        self._allocate(max(places, len(self.keys)))
        place_words(word, multiplicity, self.keys, self.times)
        self.held = len(word)


class SortedTallies:
    """Counts of combinations that do not fit one word: they are sorted, and merged some row groups at a time."""

    def __init__(self, codes: np.ndarray, times: np.ndarray, limits: TallyLimits = DEFAULT_TALLY_LIMITS) -> None:
        self.limits = limits
        self.codes = codes
        self.times = times
        self.waiting: list[np.ndarray] = []

    def __len__(self) -> int:
        """Return how many distinct combinations there are, without those that wait to be merged."""
        return len(self.codes)

    def add(self, columns: list[np.ndarray], meanings: list[np.ndarray], sizes: list[int]) -> None:
        code_columns = [meaning[column] for meaning, column in zip(meanings, columns, strict=True)]
        self.waiting.append(np.column_stack(code_columns).astype(np.int32))
        if sum(map(len, self.waiting)) > max(self.limits.waiting_rows, len(self.codes)):
            self._merge()

    def list_combinations(self) -> tuple[np.ndarray, np.ndarray]:
        self._merge()
        return self.codes, self.times

    def _merge(self) -> None:
        once = np.ones(sum(map(len, self.waiting)), np.int64)
        codes = np.concatenate([self.codes, *self.waiting])
        multiplicity = np.concatenate([self.times, once])
        words = _pack_codes(codes, self.limits.word_bits)
        order = np.lexsort(words[::-1])
        differs = np.zeros(len(codes), bool)
        differs[:1] = True
        for word in words:
            word = word[order]
            differs[1:] |= word[1:] != word[:-1]
        starts = np.flatnonzero(differs)
        self.codes = codes[order[starts]]
        self.waiting = []
        multiplicity = multiplicity[order]
        self.times = np.add.reduceat(multiplicity, starts) if len(starts) else multiplicity


def _pack_codes(codes: np.ndarray, word_bits: int) -> list[np.ndarray]:
    """Pack each row's codes in as few words as hold them, in an order that sorts rows as their codes do."""
    words = [np.zeros(len(codes), np.int64)]
    free = word_bits
    for column in codes.T:
        bits = _count_bits(int(column.max(initial=0)) + 1)
        if bits > free:
            words.append(np.zeros(len(codes), np.int64))
            free = word_bits
        words[-1] <<= bits
        words[-1] |= column
        free -= bits
    return words


def _is_identity(meaning: np.ndarray) -> bool:
    """Tell whether every code maps to itself: a file's dictionaries list values in one order."""
    return bool((meaning == np.arange(len(meaning))).all())


def _count_bits(size: int) -> int:
    return max(size - 1, 0).bit_length()


MAX_DIRECT_SPAN = 1 << 10  # whole numbers that lie no further apart are numbered by their distance from the least


class TooManyDistinct(Exception):
    """Raised if there are more distinct values, or rows, than are worth counting."""


@dataclass(eq=False)
class _ValueNumbers:
    """The values met so far, numbered in the order they were met; a null is a value too."""

    number: dict[Any, int] = field(default_factory=dict)

    def add(self, values: list[Any]) -> np.ndarray:
        return np.array([self.number.setdefault(value, len(self.number)) for value in values], np.int32)


def count_distinct_parquet_rows(
    path: Path | Sequence[Path],
    names: list[str],
    limits: tuple[int, int] | None = None,
    tally_limits: TallyLimits = DEFAULT_TALLY_LIMITS,
) -> tuple[pl.DataFrame, np.ndarray]:
    """Count the rows of each distinct combination of the columns `names`, in a file or in the parts of one.

    `limits`: `TooManyDistinct` is raised as soon as a column has more distinct values, or there are more distinct
    combinations.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [path] if isinstance(path, Path) else path
    schema = pq.read_schema(paths[0])
    types = _read_schema(paths[0])
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
    columns = [_ValueNumbers() for _ in names]
    tallies: PackedTallies | SortedTallies = PackedTallies(len(names), tally_limits)
    with _RowGroupReader(paths, texts) as file:
        for group_index in range(file.num_row_groups):
            table = file.read_row_group(group_index, columns=names)
            encoded = [_encode_column(table.column(name)) for name in names]
            del table
            meanings = [column.add(values) for column, (_, values) in zip(columns, encoded, strict=True)]
            sizes = [len(column.number) for column in columns]
            if limits is not None and (max(sizes) > limits[0] or len(tallies) > limits[1]):
                raise TooManyDistinct
            if isinstance(tallies, PackedTallies) and not tallies.fits(sizes):
                tallies = SortedTallies(*tallies.list_combinations(), tally_limits)
            tallies.add([numbers for numbers, _ in encoded], meanings, sizes)
    codes, multiplicity = tallies.list_combinations()
    frame = {}
    for position, (name, column) in enumerate(zip(names, columns, strict=True)):
        series = pl.Series(name, list(column.number), dtype=types[name])  # not by pa.array: it would load pandas
        frame[name] = series.gather(codes[:, position])
    return pl.DataFrame(frame), multiplicity


def _read_schema(path: Path) -> pl.Schema:
    return pl.scan_parquet(
        path, glob=False, hive_partitioning=False
    ).collect_schema()  # marks of a pattern may be its name


class _RowGroupReader:
    """Reads the row groups of several files, one after the other; one file is open at a time."""

    def __init__(self, paths: Sequence[Path], texts: list[str]):
        import pyarrow.parquet as pq

        self._texts = texts
        self._at = Path()
        self._open: pq.ParquetFile | None = None
        counts = [(path, pq.read_metadata(path).num_row_groups) for path in paths]
        self._places = [(path, group) for path, groups in counts for group in range(groups)]
        self.num_row_groups = len(self._places)

    def __enter__(self) -> _RowGroupReader:
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            self._open.close()

    def read_row_group(self, index: int, columns: list[str]) -> Any:
        import pyarrow.parquet as pq

        path, group = self._places[index]
        if self._at != path:
            self.__exit__()
            self._open = pq.ParquetFile(path, read_dictionary=self._texts)
            self._at = path
        assert self._open is not None
        return self._open.read_row_group(group, columns=columns)


def _encode_column(column: Any) -> tuple[np.ndarray, list[Any]]:
    """Return a column of one row group as codes, and the value of each; None last where there are nulls."""
    import pyarrow as pa

    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # no rows
        return np.zeros(0, np.int64), []
    if pa.types.is_integer(column.type) and column.type.bit_width <= 32 and len(column) and not column.null_count:
        stored = _convert_to_numpy(column)
        lowest = int(stored.min())
        highest = int(stored.max())
        if highest - lowest < MAX_DIRECT_SPAN:
            return np.subtract(stored, lowest, dtype=np.int64), list(range(lowest, highest + 1))
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = coded.dictionary.to_pylist()
    numbers = coded.indices
    if numbers.null_count:
        numbers = numbers.fill_null(len(values))
        values = [*values, None]
    return _convert_to_numpy(numbers), values


def _convert_to_numpy(numbers: Any) -> np.ndarray:
    """Return the numbers of an Arrow array without nulls."""
    width = numbers.type.to_pandas_dtype()
    stored = np.frombuffer(numbers.buffers()[1], width)  # not by to_numpy: it would load pandas
    return stored[numbers.offset : numbers.offset + len(numbers)]
