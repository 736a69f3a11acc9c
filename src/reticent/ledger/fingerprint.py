"""Fingerprints of tables, which the ledger keeps: the same for the same rows, whatever their order, format or source.

Counted combinations of values in, a `TableFingerprint` out; the cost grows with the distinct combinations, not with
the rows. `canonicalize` writes each distinct value of each column as one canonical text: 1, "1", " 1.0" and 1.00
agree, and so do a date, its ISO text and its midnight. The texts are hashed and compared, never shown. Where the
rules read too much into a text ("007" is taken for 7), two values become one, which makes two tables no less alike.
Each text is hashed by BLAKE2b under the ledger's key, together with the column's name. A combination's hash is the
mixed sum of its values' hashes, so that the order of columns does not matter. The *mark* is two sums over all rows of
64-bit hashes: equal tables have equal marks, in whatever order.

The *sample* detects tables that are alike. A combination with hash u (from 0 to 1) and c rows has the rank u / c; the
combinations of least rank are kept, with the hash of each of their values and with c. Two tables keep the same
combinations where they hold the same rows (priority sampling, Duffield, Lund & Thorup 2007, with hashes for random
numbers). A sampled combination stands for max(c, 1 / rate) rows, where the rate is the least rank that was not kept.
`pack_sketch` and `read_sketch` store a fingerprint in a file named by its mark: one line of JSON, then 64-bit words,
for each sampled combination the hashes of its values and its number of rows.

`measure_similarity` estimates how much of an earlier table is in a new one, and how much tables of different people
have in common anyway. The new table is available as a whole, the earlier one as its sample. The overlap is the number
of rows that both hold, with repetitions; the share is the overlap over the rows of the smaller table, so that a
subset and a table that has grown are detected as well. The columns are those that both have: if the earlier table has
others besides, its rows count as held if the new table has their shared part at all.

Coarse tables are alike without a person in common. What strangers share is estimated from the larger table alone, as
if the smaller one were drawn from the same population: a combination with r rows is met at the rate r, for small r at
Good and Turing's (r + 1) N(r + 1) / N(r), where N(r) combinations have r rows. A table is a near repeat if it misses
at most half of what strangers would miss, and strangers would miss at least twenty rows. Where all rows differ, that
is half of the rows.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import erf, exp, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.parsing import to_comparable
from reticent.data.source import Source, collect_frame
from reticent.exact_arithmetic import MAX_EXACT_INTEGER
from reticent.ledger.identifiers import NO_IDENTIFIERS, Identifiers

_NUMBER_PATTERN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_MOMENT_PATTERN = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})(:\d{2})?(\.\d+)?")
SAMPLE_SIZE = 1024  # combinations kept of each table
_COUNT_COLUMN = "\x00count"
_BLOCK_WORDS = 1 << 14
MIN_MISSED_ROWS = 20  # rows that strangers must miss for a likeness to mean anything
_MAX_TURING_ROWS = 5  # up to so many rows the rate at which a combination is met is estimated by Good and Turing
_MAX_POISSON_ROWS = 30  # up to so many rows its overlap is summed, beyond them it is taken as normal


def canonicalize(values: pl.Series) -> list[str]:
    """Return the canonical text of each value; none of them is missing."""
    if values.dtype.is_integer():
        return list(map(str, values.to_list()))
    if isinstance(values.dtype, pl.Datetime):
        if values.dtype.time_zone is not None:
            values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        values = values.dt.strftime("%Y-%m-%dT%H:%M:%S%.f")
    return list(map(canonicalize_text, values.cast(pl.String).to_list()))


def canonicalize_text(text: str) -> str:
    text = text.strip()
    if text[:1] in "+-.0123456789":
        if _NUMBER_PATTERN.fullmatch(text):
            return _canonicalize_number(text)
        if moment := _MOMENT_PATTERN.fullmatch(text):
            day, minute, second, fraction = moment.groups()
            time = minute + (second or ":00") + (fraction or "").rstrip("0").rstrip(".")
            return day if time == "00:00:00" else f"{day}T{time}"
    elif text.lower() in ("true", "false"):
        return text.lower()
    return text


@dataclass(frozen=True, eq=False)
class TableFingerprint:
    """What the ledger keeps of a table: its columns, its number of rows, its mark and a sample of its combinations."""

    columns: tuple[str, ...]
    rows: int
    mark: str
    hashes: np.ndarray  # (sampled combinations, columns) uint64
    counts: np.ndarray  # rows of each sampled combination
    rate: float  # infinite where every combination was kept
    sizes: np.ndarray  # how many rows a combination has, each number once
    multiplicity: np.ndarray  # how many combinations have so many

    @property
    def stands_for(self) -> np.ndarray:
        """Return how many rows of the table each sampled combination stands for."""
        return np.maximum(self.counts, 1 / self.rate)


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows of a table as they were counted: distinct combinations of raw values, and how many rows have each.

    `source` is where they were read from, None for a frame; `identifiers` are the people's identifying values.
    """

    combinations: pl.DataFrame
    counts: np.ndarray
    source: Source | None = None
    identifiers: Identifiers = NO_IDENTIFIERS
    _hashed: dict[bytes, HashedRows] = field(default_factory=dict, repr=False)

    @classmethod
    def from_frame(cls, lazy: pl.LazyFrame, names: Sequence[str], source: Source | None = None) -> CountedRows:
        counted = collect_frame(
            lazy.select(names).group_by(names).len(name=_COUNT_COLUMN), "Counting the rows", engine="streaming"
        )
        return cls(counted.drop(_COUNT_COLUMN), counted[_COUNT_COLUMN].to_numpy(), source)

    def hash_values(self, key: bytes) -> HashedRows:
        """Hash the values under a ledger's key.

        The result is cached, because rows are looked up before they are planned and recorded afterwards.
        """
        if key not in self._hashed:
            names = sorted(self.combinations.columns)
            hashes = {name: _hash_column(name, self.combinations[name], key) for name in names}
            self._hashed[key] = HashedRows(hashes, self.counts.astype(np.int64))
        return self._hashed[key]


@dataclass(frozen=True, eq=False)
class HashedRows:
    """Combinations as hashes of their values, by column in the order of names, with the rows of each.

    `shares` is filled by the ledger: the share of rows in common with each mark that it compared.
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

    def combine_columns(self, names: tuple[str, ...]) -> np.ndarray:
        """Return each combination's hash over some of the columns."""
        if names not in self._combined:
            self._combined[names] = combine_hashes(self.hashes[name] for name in names)
        return self._combined[names]

    def count_rows_with(self, names: tuple[str, ...], wanted: np.ndarray) -> np.ndarray:
        """Count the rows that have each of these combinations of some columns."""
        max_hash = int(wanted.max())
        if names not in self._sorted or self._sorted[names][0] < max_hash:
            self._sorted[names] = max_hash, *self._merge_combinations(names, max_hash)
        _, hashes, counts = self._sorted[names]
        if not len(hashes):
            return np.zeros(len(wanted), np.int64)
        position = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
        return np.where(hashes[position] == wanted, counts[position], 0)

    def count_sizes(self, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct row counts of combinations of some columns, and how many combinations have each."""
        if names not in self._sizes:
            counts = self.counts if len(names) == len(self.hashes) else self._merge_combinations(names)[1]
            self._sizes[names] = np.unique(counts, return_counts=True)
        return self._sizes[names]

    def _merge_combinations(self, names: tuple[str, ...], max_hash: int = 2**64 - 1) -> tuple[np.ndarray, np.ndarray]:
        """Return distinct combinations with a hash of at most `most`, in its order, and the rows of each.

        A sample's hashes are small: sorting only hashes that are as small is cheaper than sorting everything.
        """
        combined = self.combine_columns(names)
        counts = self.counts
        if max_hash < 2**63:
            low = np.flatnonzero(combined <= np.uint64(max_hash))
            combined = combined[low]
            counts = counts[low]
        if not len(combined):
            return combined, counts
        order = np.argsort(combined)
        combined = combined[order]
        first = np.flatnonzero(np.diff(combined, prepend=~combined[:1]))
        return combined[first], np.add.reduceat(counts[order], first)

    @cached_property
    def content(self) -> TableFingerprint:
        names = tuple(self.hashes)
        combined = self.combine_columns(names)
        weighted = combined * self.counts.astype(np.uint64)
        sums = int(weighted.sum()), int((weighted * (combined >> np.uint64(32))).sum())
        sampled, rate = _select_least_ranked(combined / self.counts, self.rows)
        # Two spellings of one value leave a combination twice: both have one hash, and the sample holds their sum.
        unique, first, position = np.unique(combined[sampled], return_index=True, return_inverse=True)
        counts = np.bincount(position, weights=self.counts[sampled], minlength=len(unique)).astype(np.int64)
        hashes = np.column_stack([column[sampled[first]] for column in self.hashes.values()])
        mark = "".join(f"{word:016x}" for word in sums)
        return TableFingerprint(names, self.rows, mark, hashes, counts, rate, *self.count_sizes(names))


def combine_hashes(columns: Iterable[np.ndarray]) -> np.ndarray:
    """Add hashes, column by column, modulo 2^64, and mix the sum (the finalizer of MurmurHash3).

    Every bit of the sum changes every bit of the result.
    """
    first, *others = columns
    total = first.copy()
    for words in others:
        total += words
    for start in range(0, len(total), _BLOCK_WORDS):  # in pieces that the cache holds
        words = total[start : start + _BLOCK_WORDS]
        words ^= words >> np.uint64(33)
        words *= np.uint64(0xFF51AFD7ED558CCD)
        words ^= words >> np.uint64(33)
        words *= np.uint64(0xC4CEB9FE1A85EC53)
        words ^= words >> np.uint64(33)
    return total


@dataclass(frozen=True, slots=True)
class TableSimilarity:
    """The share of the smaller table's rows that the other holds too, and the share expected of strangers."""

    share: float
    strangers: float
    is_telling: bool  # whether strangers would miss enough rows

    @property
    def is_near(self) -> bool:
        return self.is_telling and 1 - self.share <= (1 - self.strangers) / 2


def measure_similarity(table: HashedRows, earlier: TableFingerprint) -> TableSimilarity | None:
    """Compare a new table with an earlier one; None where the two have no column in common."""
    shared = tuple(name for name in earlier.columns if name in table.hashes)
    if not shared:
        return None
    has_all_columns = len(shared) == len(earlier.columns)
    smaller = min(table.rows, earlier.rows)
    share = min(_estimate_overlap(table, earlier, shared, has_all_columns) / smaller, 1.0)
    if not has_all_columns:
        expected = _estimate_coverage(*table.count_sizes(shared)) * earlier.rows
    elif earlier.rows > table.rows:
        expected = _estimate_stranger_overlap(earlier.sizes, earlier.multiplicity, table.rows)
    else:
        expected = _estimate_stranger_overlap(*table.count_sizes(shared), earlier.rows)
    strangers = min(expected / smaller, 1.0)
    looked_at = len(earlier.counts) * smaller / earlier.rows if np.isfinite(earlier.rate) else smaller
    return TableSimilarity(share, strangers, looked_at * (1 - strangers) >= MIN_MISSED_ROWS)


def pack_sketch(content: TableFingerprint) -> bytes:
    rate = content.rate if np.isfinite(content.rate) else None
    head = {
        "columns": content.columns,
        "rows": content.rows,
        "rate": rate,
        "sizes": content.sizes.tolist(),
        "times": content.multiplicity.tolist(),
    }
    words = np.column_stack([content.hashes, content.counts.astype(np.uint64)])
    return json.dumps(head).encode() + b"\n" + words.astype("<u8").tobytes()


def read_sketch(folder: Path, mark: str) -> TableFingerprint:
    """Read a stored fingerprint; raises OSError, or ValueError where the file is damaged."""
    line, _, rest = (folder / mark).read_bytes().partition(b"\n")
    try:
        head = json.loads(line)
        columns = tuple(head["columns"])
        words = np.frombuffer(rest, "<u8").reshape(-1, len(columns) + 1)
        sizes = np.array(head["sizes"], np.int64)
        multiplicity = np.array(head["times"], np.int64)
        rate = np.inf if head["rate"] is None else float(head["rate"])
        rows = int(head["rows"])
        counts = words[:, -1].astype(np.int64)
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError from error
    if not columns or not all(isinstance(name, str) for name in columns):
        raise ValueError
    if not len(counts) or counts.min() < 1 or rows < 1 or rate <= 0 or int(sizes @ multiplicity) != rows:
        raise ValueError
    return TableFingerprint(columns, rows, mark, words[:, :-1], counts, rate, sizes, multiplicity)


def _canonicalize_number(text: str) -> str:
    if text.lstrip("+-").isdecimal():
        return str(int(text)) if len(text) < 1000 else text
    number = float(text)
    return str(int(number)) if abs(number) < MAX_EXACT_INTEGER and number == int(number) else repr(number)


def _hash_column(name: str, series: pl.Series, key: bytes) -> np.ndarray:
    """Hash each entry's value under the column's name."""
    start = hashlib.blake2b(name.strip().casefold().encode() + b"\0", key=key, digest_size=8)

    def hashes(values: pl.Series) -> np.ndarray:
        return np.frombuffer(b"".join(_hash_text(start, text) for text in canonicalize(values)), np.uint64)

    missing = np.frombuffer(_hash_text(start, None), np.uint64)[0]
    if isinstance(series.dtype, pl.Categorical | pl.Enum) or series.dtype.is_integer():
        numbers = series.to_physical()
        low: Any = numbers.min()  # whole numbers, or None
        high: Any = numbers.max()
        if low is not None and high - low < 4 * len(series) + 1024:
            return _hash_by_number(
                numbers, int(low), int(high), lambda positions: hashes(series.gather(positions)), missing
            )
    series = to_comparable(name, series)
    values = series.unique().drop_nulls()
    if not len(values):
        return np.full(len(series), missing, np.uint64)
    hash_by_value = pl.Series(hashes(values), dtype=pl.UInt64)
    hashed = series.replace_strict(values, hash_by_value, default=None, return_dtype=pl.UInt64)
    return hashed.fill_null(int(missing)).to_numpy()


def _select_least_ranked(rank: np.ndarray, rows: int) -> tuple[np.ndarray, float]:
    """Select the combinations of least rank; also return the least rank that was left out (from 0 to 1)."""
    if len(rank) <= SAMPLE_SIZE:
        return np.arange(len(rank)), np.inf
    candidates = np.flatnonzero(rank < 2.0**65 * SAMPLE_SIZE / rows)  # about twice as many as are wanted
    if len(candidates) <= SAMPLE_SIZE:
        candidates = np.arange(len(rank))
    candidates = candidates[np.argpartition(rank[candidates], SAMPLE_SIZE)[: SAMPLE_SIZE + 1]]
    candidates = candidates[np.argsort(rank[candidates])]
    return candidates[:SAMPLE_SIZE], float(rank[candidates[SAMPLE_SIZE]]) / 2.0**64


def _estimate_overlap(
    table: HashedRows, earlier: TableFingerprint, shared: tuple[str, ...], has_all_columns: bool
) -> float:
    """Count the rows of the earlier table that the new one holds too; an estimate where the earlier one is a sample."""
    places = [earlier.columns.index(name) for name in shared]
    row_counts = table.count_rows_with(shared, combine_hashes(earlier.hashes[:, place] for place in places))
    part = np.minimum(row_counts / earlier.counts, 1.0) if has_all_columns else (row_counts > 0).astype(np.float64)
    weight = earlier.stands_for
    return float((weight * part).sum() / weight.sum()) * earlier.rows


def _estimate_coverage(sizes: np.ndarray, multiplicity: np.ndarray) -> float:
    """Estimate the chance that a stranger's combination is among these (Good and Turing).

    It is 1 less the share of single rows.
    """
    return 1 - float(multiplicity[sizes == 1].sum()) / float(sizes @ multiplicity)


def _estimate_stranger_overlap(sizes: np.ndarray, multiplicity: np.ndarray, others: int) -> float:
    """Estimate how many of `others` strangers' rows would be in a table with combinations of these sizes.

    Rows count with repetitions.
    """
    of_size = dict(zip(sizes.tolist(), multiplicity.tolist(), strict=True))
    share = others / int(sizes @ multiplicity)
    expected = 0.0
    for size, combinations in of_size.items():
        rate = min((size + 1) * of_size.get(size + 1, 0) / combinations, size) if size <= _MAX_TURING_ROWS else size
        expected += combinations * _compute_mean_minimum(rate * share, size, share)
    return expected


def _hash_text(start: hashlib.blake2b, text: str | None) -> bytes:
    digest = start.copy()
    digest.update(b"\0missing" if text is None else text.encode())
    return digest.digest()


def _hash_by_number(
    numbers: pl.Series, low: int, high: int, hashes: Callable[[np.ndarray], np.ndarray], missing: np.uint64
) -> np.ndarray:
    """Hash each entry of a column whose values are numbers close together, or are numbered."""
    missing_place = high - low + 1
    is_missing = numbers.is_null().to_numpy()
    values = numbers.fill_null(low).to_numpy()
    # The least is taken away first: numbers near 2^64 fit no signed word, and the one after the greatest fits none.
    if numbers.dtype == pl.UInt64:
        place = (values - np.uint64(low)).astype(np.int64)
    else:
        place = values.astype(np.int64) - low
    place[is_missing] = missing_place
    example = np.full(missing_place + 1, -1, np.int64)
    example[place] = np.arange(len(place))
    present = np.flatnonzero(example[:-1] >= 0)
    table = np.full(missing_place + 1, missing, np.uint64)
    table[present] = hashes(example[present])
    return table[place]


def _compute_mean_minimum(rate: float, size: int, share: float) -> float:
    """Compute the mean of min(X, size).

    X is how many strangers have a combination that is met `rate` times on average.
    """
    if size <= _MAX_POISSON_ROWS:
        chance = exp(-rate)
        below = 0.0
        mean = 0.0
        for times in range(size):
            below += chance
            mean += 1 - below
            chance *= rate / (times + 1)
        return max(mean, 0.0)
    spread = sqrt(rate * (1 + share))
    over = size - rate
    normal = (1 + erf(over / spread / sqrt(2))) / 2
    return size - (over * normal + spread * exp(-((over / spread) ** 2) / 2) / sqrt(2 * pi))
