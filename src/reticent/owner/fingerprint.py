"""What the rows of a table are, whatever their order, format or source: the fingerprint that the ledger keeps.

Counted combinations of values in, a `Content` out; the cost grows with the distinct combinations, not with the
rows.  Each distinct value of each column is written as one canonical text (`canonical`) and hashed by BLAKE2b under
the ledger's key, together with the column's name.  A combination's hash is the mixed sum of its values' hashes, so
that the order of columns does not matter.  The *mark* is two sums over all rows of 64-bit hashes: equal tables have
equal marks, in whatever order.

The *sample* tells tables that are alike.  A combination with hash u (from 0 to 1) and c rows has the rank u / c;
the combinations of least rank are kept, with the hash of each of their values and with c.  Two tables keep the same
combinations where they hold the same rows (priority sampling, Duffield, Lund & Thorup 2007, with hashes for random
numbers).  A sampled combination stands for max(c, 1 / rate) rows, where the rate is the least rank that was not
kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent.owner.canonical import canonical
from reticent.table.codec import comparable
from reticent.table.source import Source, collect

SAMPLE = 1024  # combinations kept of each table
_COUNT = "\x00count"
_BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class Content:
    """What the ledger keeps of a table: its columns, its number of rows, its mark and a sample of its combinations."""

    columns: tuple[str, ...]
    rows: int
    mark: str
    hashes: np.ndarray  # (sampled combinations, columns) uint64
    counts: np.ndarray  # rows of each sampled combination
    rate: float  # infinite where every combination was kept
    sizes: np.ndarray  # how many rows a combination has, each number once
    times: np.ndarray  # how many combinations have so many

    @property
    def stands_for(self) -> np.ndarray:
        """How many rows of the table each sampled combination stands for."""
        return np.maximum(self.counts, 1 / self.rate)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table as they were counted: distinct combinations of raw values, and how many rows have each.

    `source` is where they were read from, None of a frame.
    """

    combinations: pl.DataFrame
    counts: np.ndarray
    source: Source | None = None
    _hashed: dict[bytes, Hashed] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, lazy: pl.LazyFrame, names: Sequence[str], source: Source | None = None) -> Rows:
        counted = collect(lazy.select(names).group_by(names).len(name=_COUNT), "Counting the rows", engine="streaming")
        return cls(counted.drop(_COUNT), counted[_COUNT].to_numpy(), source)

    def hashed(self, key: bytes) -> Hashed:
        """Under a ledger's key; kept, because rows are looked up before they are planned and noted afterwards."""
        if key not in self._hashed:
            names = sorted(self.combinations.columns)
            hashes = {name: _column_hashes(name, self.combinations[name], key) for name in names}
            self._hashed[key] = Hashed(hashes, self.counts.astype(np.int64))
        return self._hashed[key]


@dataclass(frozen=True, eq=False)
class Hashed:
    """Combinations as hashes of their values, by column in the order of names, with the rows of each.

    `shares` is kept by the ledger: what it found of each mark it compared.
    """

    hashes: Mapping[str, np.ndarray]
    counts: np.ndarray
    shares: dict[str, float] = field(default_factory=dict, repr=False)
    _combined: dict[tuple[str, ...], np.ndarray] = field(default_factory=dict, repr=False)
    _sizes: dict[tuple[str, ...], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False)
    _sorted: dict[tuple[str, ...], tuple[int, np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False)

    @cached_property
    def rows(self) -> int:
        return int(self.counts.sum())

    def combined(self, names: tuple[str, ...]) -> np.ndarray:
        """Each combination's hash over some of the columns."""
        if names not in self._combined:
            self._combined[names] = combine(self.hashes[name] for name in names)
        return self._combined[names]

    def held(self, names: tuple[str, ...], wanted: np.ndarray) -> np.ndarray:
        """How many rows have each of these combinations of some columns."""
        most = int(wanted.max())
        if names not in self._sorted or self._sorted[names][0] < most:
            self._sorted[names] = most, *self._merged(names, most)
        _, found, counts = self._sorted[names]
        if not len(found):
            return np.zeros(len(wanted), np.int64)
        at = np.minimum(np.searchsorted(found, wanted), len(found) - 1)
        return np.where(found[at] == wanted, counts[at], 0)

    def sizes(self, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of rows that combinations of some columns have, and how many combinations have each number."""
        if names not in self._sizes:
            counts = self.counts if len(names) == len(self.hashes) else self._merged(names)[1]
            self._sizes[names] = np.unique(counts, return_counts=True)
        return self._sizes[names]

    def _merged(self, names: tuple[str, ...], most: int = 2**64 - 1) -> tuple[np.ndarray, np.ndarray]:
        """Distinct combinations with a hash of at most so much, in its order, and the rows of each.

        A sample's hashes are small: sorting what is as small is cheaper than sorting everything.
        """
        combined, counts = self.combined(names), self.counts
        if most < 2**63:
            low = np.flatnonzero(combined <= np.uint64(most))
            combined, counts = combined[low], counts[low]
        if not len(combined):
            return combined, counts
        order = np.argsort(combined)
        combined = combined[order]
        first = np.flatnonzero(np.diff(combined, prepend=~combined[:1]))
        return combined[first], np.add.reduceat(counts[order], first)

    @cached_property
    def content(self) -> Content:
        names = tuple(self.hashes)
        combined = self.combined(names)
        weighted = combined * self.counts.astype(np.uint64)
        sums = int(weighted.sum()), int((weighted * (combined >> np.uint64(32))).sum())
        kept, rate = _least_ranked(combined / self.counts, self.rows)
        # Two spellings of one value leave a combination twice: both have one hash, and the sample holds their sum.
        unique, first, where = np.unique(combined[kept], return_index=True, return_inverse=True)
        counts = np.bincount(where, weights=self.counts[kept], minlength=len(unique)).astype(np.int64)
        hashes = np.column_stack([column[kept[first]] for column in self.hashes.values()])
        mark = "".join(f"{word:016x}" for word in sums)
        return Content(names, self.rows, mark, hashes, counts, rate, *self.sizes(names))


def _least_ranked(rank: np.ndarray, rows: int) -> tuple[np.ndarray, float]:
    """The combinations of least rank, and the least rank that was left out (from 0 to 1)."""
    if len(rank) <= SAMPLE:
        return np.arange(len(rank)), np.inf
    few = np.flatnonzero(rank < 2.0**65 * SAMPLE / rows)  # about twice as many as are wanted
    if len(few) <= SAMPLE:
        few = np.arange(len(rank))
    few = few[np.argpartition(rank[few], SAMPLE)[: SAMPLE + 1]]
    few = few[np.argsort(rank[few])]
    return few[:SAMPLE], float(rank[few[SAMPLE]]) / 2.0**64


def combine(columns: Iterable[np.ndarray]) -> np.ndarray:
    """The sum of hashes, column by column, modulo 2^64, mixed: every bit of it moves every bit of the result (the
    finalizer of MurmurHash3)."""
    first, *others = columns
    total = first.copy()
    for words in others:
        total += words
    for start in range(0, len(total), _BLOCK):  # in pieces that the cache holds
        words = total[start : start + _BLOCK]
        words ^= words >> np.uint64(33)
        words *= np.uint64(0xFF51AFD7ED558CCD)
        words ^= words >> np.uint64(33)
        words *= np.uint64(0xC4CEB9FE1A85EC53)
        words ^= words >> np.uint64(33)
    return total


def _column_hashes(name: str, series: pl.Series, key: bytes) -> np.ndarray:
    """The hash of each entry's value under the column's name."""
    start = hashlib.blake2b(name.strip().casefold().encode() + b"\0", key=key, digest_size=8)

    def hashes(values: pl.Series) -> np.ndarray:
        return np.frombuffer(b"".join(_digest(start, text) for text in canonical(values)), np.uint64)

    missing = np.frombuffer(_digest(start, None), np.uint64)[0]
    if isinstance(series.dtype, pl.Categorical | pl.Enum) or series.dtype.is_integer():
        numbers = series.to_physical()
        low: Any = numbers.min()  # whole numbers, or None
        high: Any = numbers.max()
        if low is not None and high - low < 4 * len(series) + 1024:
            return _by_number(numbers, int(low), int(high), lambda at: hashes(series.gather(at)), missing)
    series = comparable(name, series)
    values = series.unique().drop_nulls()
    if not len(values):
        return np.full(len(series), missing, np.uint64)
    known = pl.Series(hashes(values), dtype=pl.UInt64)
    found = series.replace_strict(values, known, default=None, return_dtype=pl.UInt64)
    return found.fill_null(int(missing)).to_numpy()


def _by_number(
    numbers: pl.Series, low: int, high: int, hashes: Callable[[np.ndarray], np.ndarray], missing: np.uint64
) -> np.ndarray:
    """The hash of each entry of a column whose values are numbers close together, or numbered."""
    nowhere = high - low + 1
    is_missing = numbers.is_null().to_numpy()
    values = numbers.fill_null(low).to_numpy()
    # The least is taken away first: numbers near 2^64 fit no signed word, and the one after the greatest fits none.
    if numbers.dtype == pl.UInt64:
        where = (values - np.uint64(low)).astype(np.int64)
    else:
        where = values.astype(np.int64) - low
    where[is_missing] = nowhere
    example = np.full(nowhere + 1, -1, np.int64)
    example[where] = np.arange(len(where))
    present = np.flatnonzero(example[:-1] >= 0)
    table = np.full(nowhere + 1, missing, np.uint64)
    table[present] = hashes(example[present])
    return table[where]


def _digest(start: hashlib.blake2b, text: str | None) -> bytes:
    found = start.copy()
    found.update(b"\0missing" if text is None else text.encode())
    return found.digest()
