"""The fingerprint of rows in parts: that of `ledger.fingerprint`, added up over the parts of a table.

A combination is in one part, so marks are sums, samples are the least of the parts' least, and sizes are counted
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from reticent.data.source import Source
from reticent.engines.engine import MULTIPLICITY, Frames, Partitions
from reticent.ledger.fingerprint import SAMPLE_SIZE, CountedRows, HashedRows, TableFingerprint, combine_hashes
from reticent.ledger.identifiers import NO_IDENTIFIERS, Identifiers

_HASH_PARTS = 64  # in which hashes are added up
_HASH_COLUMN = "\x00hash"
_PART_COLUMN = "\x00part"


class PartitionedCountedRows(CountedRows):
    """The rows of a table in parts; it queries the parts as long as these exist."""

    def __init__(
        self,
        parts: Partitions,
        names: Sequence[str],
        source: Source | None,
        sample_size: int = SAMPLE_SIZE,
        identifiers: Identifiers = NO_IDENTIFIERS,
    ):
        super().__init__(
            pl.DataFrame(schema=dict.fromkeys(names, pl.Null())), np.zeros(0, np.int64), source, identifiers
        )
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "sample_size", sample_size)

    parts: Partitions
    sample_size: int

    def hash_values(self, key: bytes) -> HashedRows:
        if key not in self._hashed:
            self._hashed[key] = PartitionedHashedRows(
                self.parts, sorted(self.combinations.columns), key, self.sample_size
            )
        return self._hashed[key]


class PartitionedHashedRows(HashedRows):
    """The hashes of a table in parts, as the ledger needs them."""

    def __init__(self, parts: Partitions, names: Sequence[str], key: bytes, sample_size: int):
        super().__init__(dict.fromkeys(names, np.zeros(0, np.uint64)), np.zeros(0, np.int64))
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "sample_size", sample_size)

    parts: Partitions
    key: bytes
    sample_size: int

    @cached_property
    def rows(self) -> int:
        return self.content.rows

    def count_rows_with(self, names: tuple[str, ...], wanted: np.ndarray) -> np.ndarray:
        part_counts = self.parts.map_collect(
            _count_rows_with, self.key, list(names), wanted, doing="Comparing with earlier releases"
        )
        return np.sum(part_counts, axis=0).astype(np.int64)

    def count_sizes(self, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        if names not in self._sizes:
            schema = {_HASH_COLUMN: pl.Int64(), MULTIPLICITY: pl.Int64(), _PART_COLUMN: pl.Int32()}
            hashed = self.parts.map_partitions(_hash_combinations, schema, self.key, list(names)).repartition(
                _PART_COLUMN, _HASH_PARTS
            )
            self._sizes[names] = _add_sizes(hashed.map_collect(_count_sizes, doing="Comparing with earlier releases"))
        return self._sizes[names]

    @cached_property
    def content(self) -> TableFingerprint:
        part_fingerprints = self.parts.map_collect(
            _fingerprint_part, self.key, self.sample_size, doing="Comparing with earlier releases"
        )
        least_ranked = _select_least_ranked([part.sample for part in part_fingerprints], self.sample_size)
        rate = np.inf
        sample = least_ranked
        if sum(part.combinations for part in part_fingerprints) > self.sample_size:
            rank = least_ranked.rank
            rate = float(rank[self.sample_size]) / 2.0**64
            sample = least_ranked.take_first(self.sample_size)
        unique, first, position = np.unique(sample.combined, return_index=True, return_inverse=True)
        counts = np.bincount(position.reshape(-1), weights=sample.counts, minlength=len(unique)).astype(np.int64)
        sums = [sum(part.sums[side] for part in part_fingerprints) % (1 << 64) for side in range(2)]
        mark = "".join(f"{word:016x}" for word in sums)
        sizes = _add_sizes([part.sizes for part in part_fingerprints])
        return TableFingerprint(
            tuple(self.hashes),
            sum(part.rows for part in part_fingerprints),
            mark,
            sample.hashes[first],
            counts,
            rate,
            *sizes,
        )


@dataclass(frozen=True, eq=False)
class CombinationSample:
    """A sample of combinations: the hashes of their values, their own hash, and the rows of each; least rank first."""

    hashes: np.ndarray
    combined: np.ndarray
    counts: np.ndarray

    @property
    def rank(self) -> np.ndarray:
        return self.combined / self.counts

    def take_first(self, count: int) -> CombinationSample:
        return CombinationSample(self.hashes[:count], self.combined[:count], self.counts[:count])


@dataclass(frozen=True, eq=False)
class PartFingerprint:
    """The fingerprint of one part."""

    rows: int
    combinations: int
    sums: tuple[int, int]
    sample: CombinationSample
    sizes: tuple[np.ndarray, np.ndarray]


def _count_rows_with(frames: Frames, key: bytes, names: list[str], wanted: np.ndarray) -> np.ndarray:
    row_counts = np.zeros(len(wanted), np.int64)
    for frame in frames:
        row_counts += _hash_frame(frame, key, names).count_rows_with(tuple(names), wanted)
    return row_counts


def _hash_combinations(frames: Frames, number: int, key: bytes, names: list[str]) -> Iterator[pl.DataFrame]:
    for frame in frames:
        hashed = _hash_frame(frame, key, names)
        word = combine_hashes(hashed.hashes[name] for name in names)
        part = (word % np.uint64(_HASH_PARTS)).astype(np.int32)
        yield pl.DataFrame({_HASH_COLUMN: word.view(np.int64), MULTIPLICITY: hashed.counts, _PART_COLUMN: part})


def _add_sizes(sizes: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    size, multiplicity = (np.concatenate([part_sizes[side] for part_sizes in sizes]) for side in range(2))
    unique, position = np.unique(size, return_inverse=True)
    return unique, np.bincount(position.reshape(-1), weights=multiplicity).astype(np.int64)


def _count_sizes(frames: Frames) -> tuple[np.ndarray, np.ndarray]:
    combinations = pl.concat(list(frames)).group_by(_HASH_COLUMN).agg(pl.col(MULTIPLICITY).sum())
    return np.unique(combinations[MULTIPLICITY].to_numpy(), return_counts=True)


def _fingerprint_part(frames: Frames, key: bytes, sample_size: int) -> PartFingerprint:
    rows = combination_count = first_sum = second_sum = 0
    samples: list[CombinationSample] = []
    sizes: list[tuple[np.ndarray, np.ndarray]] = []
    for frame in frames:
        hashed = _hash_frame(frame, key)
        combined = hashed.combine_columns(tuple(hashed.hashes))
        counts = hashed.counts
        weighted = combined * counts.astype(np.uint64)
        rows = rows + hashed.rows
        combination_count = combination_count + len(counts)
        first_sum = (first_sum + int(weighted.sum())) % (1 << 64)
        second_sum = (second_sum + int((weighted * (combined >> np.uint64(32))).sum())) % (1 << 64)
        least_ranked = np.argsort(combined / counts, kind="stable")[: sample_size + 1]
        hashes = np.column_stack([column[least_ranked] for column in hashed.hashes.values()])
        fresh = CombinationSample(hashes, combined[least_ranked], counts[least_ranked])
        samples = [_select_least_ranked([*samples, fresh], sample_size)]
        sizes = [_add_sizes([*sizes, np.unique(counts, return_counts=True)])]
    return PartFingerprint(rows, combination_count, (first_sum, second_sum), samples[0], sizes[0])


def _select_least_ranked(samples: list[CombinationSample], size: int) -> CombinationSample:
    """Select the combinations of least rank from some samples, one more than are kept."""
    all_samples = CombinationSample(
        np.concatenate([sample.hashes for sample in samples]),
        np.concatenate([sample.combined for sample in samples]),
        np.concatenate([sample.counts for sample in samples]),
    )
    order = np.argsort(all_samples.rank, kind="stable")[: size + 1]
    return CombinationSample(all_samples.hashes[order], all_samples.combined[order], all_samples.counts[order])


def _hash_frame(frame: pl.DataFrame, key: bytes, names: list[str] | None = None) -> HashedRows:
    columns = [name for name in frame.columns if name != MULTIPLICITY] if names is None else names
    return CountedRows(frame.select(columns), frame[MULTIPLICITY].to_numpy()).hash_values(key)
