"""The fingerprint of rows that are in parts: what `owner.fingerprint` says of a table, added up over its parts.

A combination stands in one part, so marks are sums, samples are the least of the parts' least, and sizes are counted together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from reticent.engines.parts import TIMES, Frames, Parts
from reticent.owner.fingerprint import SAMPLE, Content, Hashed, Rows, combine
from reticent.table.source import Source

_PARTS = 64  # in which hashes are added up
_HASH, _PART = "\x00hash", "\x00part"


class SpreadRows(Rows):
    """The rows of a table in parts; asked of the parts as long as these are there."""

    def __init__(self, parts: Parts, names: Sequence[str], source: Source | None):
        super().__init__(pl.DataFrame(schema=dict.fromkeys(names, pl.Null())), np.zeros(0, np.int64), source)
        object.__setattr__(self, "parts", parts)

    parts: Parts

    def hashed(self, key: bytes) -> Hashed:
        if key not in self._hashed:
            self._hashed[key] = SpreadHashed(self.parts, sorted(self.combinations.columns), key)
        return self._hashed[key]


class SpreadHashed(Hashed):
    """What the ledger asks of a table's hashes."""

    def __init__(self, parts: Parts, names: Sequence[str], key: bytes):
        super().__init__(dict.fromkeys(names, np.zeros(0, np.uint64)), np.zeros(0, np.int64))
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "key", key)

    parts: Parts
    key: bytes

    @cached_property
    def rows(self) -> int:
        return self.content.rows

    def held(self, names: tuple[str, ...], wanted: np.ndarray) -> np.ndarray:
        found = self.parts.told(_held, self.key, list(names), wanted, doing="Comparing with earlier releases")
        return np.sum(found, axis=0).astype(np.int64)

    def sizes(self, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        if names not in self._sizes:
            schema = {_HASH: pl.Int64(), TIMES: pl.Int64(), _PART: pl.Int32()}
            hashed = self.parts.made(_combined, schema, self.key, list(names)).moved(_PART, _PARTS)
            self._sizes[names] = _added(hashed.told(_merged_sizes, doing="Comparing with earlier releases"))
        return self._sizes[names]

    @cached_property
    def content(self) -> Content:
        told = self.parts.told(_content, self.key, doing="Comparing with earlier releases")
        least = _least([one.sample for one in told])
        rate, kept = np.inf, least
        if sum(one.combinations for one in told) > SAMPLE:
            rank = least.rank
            rate, kept = float(rank[SAMPLE]) / 2.0**64, least.first(SAMPLE)
        unique, first, where = np.unique(kept.combined, return_index=True, return_inverse=True)
        counts = np.bincount(where.reshape(-1), weights=kept.counts, minlength=len(unique)).astype(np.int64)
        sums = [sum(one.sums[at] for one in told) % (1 << 64) for at in range(2)]
        mark = "".join(f"{word:016x}" for word in sums)
        sizes = _added([one.sizes for one in told])
        return Content(
            tuple(self.hashes), sum(one.rows for one in told), mark, kept.hashes[first], counts, rate, *sizes
        )


@dataclass(frozen=True, eq=False)
class Sample:
    """Some combinations: the hashes of their values, their own hash, and the rows of each; least rank first."""

    hashes: np.ndarray
    combined: np.ndarray
    counts: np.ndarray

    @property
    def rank(self) -> np.ndarray:
        return self.combined / self.counts

    def first(self, many: int) -> Sample:
        return Sample(self.hashes[:many], self.combined[:many], self.counts[:many])


@dataclass(frozen=True, eq=False)
class Said:
    """What a part says of its rows."""

    rows: int
    combinations: int
    sums: tuple[int, int]
    sample: Sample
    sizes: tuple[np.ndarray, np.ndarray]


def _least(samples: list[Sample]) -> Sample:
    """Of some samples the combinations of least rank, one more than are kept."""
    both = Sample(
        np.concatenate([one.hashes for one in samples]),
        np.concatenate([one.combined for one in samples]),
        np.concatenate([one.counts for one in samples]),
    )
    order = np.argsort(both.rank, kind="stable")[: SAMPLE + 1]
    return Sample(both.hashes[order], both.combined[order], both.counts[order])


def _added(sizes: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    size, times = (np.concatenate([one[at] for one in sizes]) for at in range(2))
    unique, where = np.unique(size, return_inverse=True)
    return unique, np.bincount(where.reshape(-1), weights=times).astype(np.int64)


def _hashed(frame: pl.DataFrame, key: bytes, names: list[str] | None = None) -> Hashed:
    columns = [name for name in frame.columns if name != TIMES] if names is None else names
    return Rows(frame.select(columns), frame[TIMES].to_numpy()).hashed(key)


def _content(frames: Frames, key: bytes) -> Said:
    rows = many = one = other = 0
    samples: list[Sample] = []
    sizes: list[tuple[np.ndarray, np.ndarray]] = []
    for frame in frames:
        held = _hashed(frame, key)
        combined, counts = held.combined(tuple(held.hashes)), held.counts
        weighted = combined * counts.astype(np.uint64)
        rows, many = rows + held.rows, many + len(counts)
        one = (one + int(weighted.sum())) % (1 << 64)
        other = (other + int((weighted * (combined >> np.uint64(32))).sum())) % (1 << 64)
        few = np.argsort(combined / counts, kind="stable")[: SAMPLE + 1]
        hashes = np.column_stack([column[few] for column in held.hashes.values()])
        samples = [_least([*samples, Sample(hashes, combined[few], counts[few])])]
        sizes = [_added([*sizes, np.unique(counts, return_counts=True)])]
    return Said(rows, many, (one, other), samples[0], sizes[0])


def _held(frames: Frames, key: bytes, names: list[str], wanted: np.ndarray) -> np.ndarray:
    found = np.zeros(len(wanted), np.int64)
    for frame in frames:
        found += _hashed(frame, key, names).held(tuple(names), wanted)
    return found


def _combined(frames: Frames, number: int, key: bytes, names: list[str]) -> Iterator[pl.DataFrame]:
    for frame in frames:
        held = _hashed(frame, key, names)
        word = combine(held.hashes[name] for name in names)
        part = (word % np.uint64(_PARTS)).astype(np.int32)
        yield pl.DataFrame({_HASH: word.view(np.int64), TIMES: held.counts, _PART: part})


def _merged_sizes(frames: Frames) -> tuple[np.ndarray, np.ndarray]:
    found = pl.concat(list(frames)).group_by(_HASH).agg(pl.col(TIMES).sum())
    return np.unique(found[TIMES].to_numpy(), return_counts=True)
