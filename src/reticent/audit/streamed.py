"""A release and its source, both read as streams: nothing is held but distinct rows of one part, and pieces of rows.

A part is chosen by a hash of the keys' texts, and every part is a pass over both tables; so many parts are made that
each has about HELD distinct rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from reticent.audit.compared import Compared, Held, Keys, Rows, Text, looked_up, texts
from reticent.audit.grouping import Numbered
from reticent.audit.kind import Recounted
from reticent.audit.reading import read_alike, refuse_absent
from reticent.release.data import scan_data
from reticent.release.kind import data_files, reader, schemas_of
from reticent.table.source import batches, collect, is_text

HELD = 1 << 22  # distinct rows of a part
TEXTS = 1 << 20  # texts that are looked for at once
PIECE = 1 << 20  # rows that are read at once
TIMES, PLACE, EARLY = "\x00times", "\x00place", "\x00early"
READING, COUNTING = "Reading the source", "Counting the source"


@dataclass(frozen=True, eq=False)
class Streamed:
    """`ours` are the published rows in the order of their file, so many (`published`); `lazy` those of the source."""

    ours: pl.LazyFrame
    lazy: pl.LazyFrame
    published: int
    _values: dict[str, tuple[pl.Series, np.ndarray]] = field(default_factory=dict)
    _reads: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def rows(self) -> int:
        return int(collect(self.lazy.select(pl.len()), READING, "streaming").item())

    @property
    def names(self) -> list[str]:
        return self.lazy.collect_schema().names()

    @property
    def columns(self) -> list[str]:
        return self.ours.collect_schema().names()

    def pieces(self, name: str) -> Iterator[pl.Series]:
        for piece in batches(self.ours.select(name), "Reading the release", PIECE):
            yield piece[name]

    def parts(self, keys: Keys, names: Sequence[str]) -> Iterator[tuple[Rows, Rows]]:
        ours, theirs = self.ours, self.lazy.select(names)
        parts = 1
        if keys and max(self.rows, self.published) > HELD:
            parts = max(_distinct(ours), _distinct(theirs)) // HELD + 1
        for part in range(parts):
            here = (part, parts) if parts > 1 else None
            yield self._tallied(ours, keys, 0, here), self._tallied(theirs, keys, 1, here)

    def _tallied(self, lazy: pl.LazyFrame, keys: Keys, side: int, here: tuple[int, int] | None) -> Rows:
        names = lazy.collect_schema().names()
        rows = lazy.with_row_index(PLACE)
        if here is not None:
            rows = rows.filter(_hash(keys, side) % here[1] == here[0])
        return _counted(rows, names, self.published)

    def counted(self, names: Sequence[str]) -> Rows:
        return _counted(self.lazy.select(names).with_row_index(PLACE), names, self.published)

    def values(self, name: str) -> tuple[pl.Series, np.ndarray]:
        if name not in self._values:
            found = self.counted([name])
            self._values[name] = found.frame[name], found.each
        return self._values[name]

    def numbered(self, name: str, rows: Rows) -> Numbered:
        distinct = self.values(name)[0]
        return Numbered(looked_up(rows.frame[name], distinct), distinct)

    def reads(self, name: str, strictly: Text) -> bool:
        if name not in self._reads:
            self._reads[name] = self._all_read(name, strictly)
        return self._reads[name]

    def _all_read(self, name: str, strictly: Text) -> bool:
        for piece in batches(self.lazy.select(name), READING, PIECE):
            try:
                strictly(_plain(piece[name]))
            except Exception:
                return False
        return True

    def agreeing(self, keys: Keys) -> int | None:
        """The keys of both tables are walked side by side, as 64-bit hashes: two of 10^9 places collide once in 10^10 audits."""
        if not keys:
            return min(self.rows, self.published)
        ours, theirs = (_hashes(lazy.select(_hash(keys, side))) for side, lazy in enumerate((self.ours, self.lazy)))
        one, other, agree = next(ours, None), next(theirs, None), 0
        while one is not None and other is not None:
            many = min(len(one), len(other))
            agree += int((one[:many] == other[:many]).sum())
            one = one[many:] if len(one) > many else next(ours, None)
            other = other[many:] if len(other) > many else next(theirs, None)
        return agree

    def texts(self, name: str, part: int, parts: int) -> set[str]:
        return _texts(self.lazy, name, part, parts)

    def shown(self, name: str, part: int, parts: int) -> set[str]:
        return _texts(self.ours, name, part, parts)

    def spelled(self, names: Sequence[str]) -> Iterator[str]:
        for name in names:
            for piece in self.pieces(name):
                yield "\n".join(texts(piece))

    def spread(self, names: Sequence[str]) -> int:
        if not names:
            return 1
        each = self.lazy.select(pl.col(name).hash().approx_n_unique() for name in names)
        return int(sum(collect(each, READING, "streaming").row(0))) // TEXTS + 1


def compared_with(found: Recounted, source: pl.DataFrame | pl.LazyFrame) -> Compared:
    """The release beside its source: both in memory, or both as streams."""
    subject = found.subject
    refuse_absent([column.name for column in subject.columns], source.collect_schema().names())
    if isinstance(source, pl.DataFrame):
        return Held(found.frame, read_alike(source, subject.columns))
    assert subject.manifest is not None and subject.path is not None  # a plain table is read whole
    file = reader(subject.kind).files[0]
    rows = scan_data(data_files(subject.path, subject.manifest)[file], schemas_of(subject.manifest)[file])
    return Streamed(rows, read_alike(source, subject.columns), found.rows)


def _hash(keys: Keys, side: int) -> pl.Expr:
    """One number for the texts of all keys, the same on both sides."""
    found = [
        pl.col(name).map_batches(_text(how[side]), return_dtype=pl.UInt64, is_elementwise=True)
        for name, how in keys.items()
    ]
    word = found[0]
    for other in found[1:]:
        word = (word * 0x9E3779B97F4A7C15 + 1).xor(other)
    return word


def _text(read: Text):  # type: ignore[no-untyped-def]  # a function of a series, as Polars wants it
    return lambda series: read(_plain(series)).hash(17)


def _plain(series: pl.Series) -> pl.Series:
    """Categories as texts; what is not a number is missing."""
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    return series.fill_nan(None) if series.dtype.is_float() else series


def _hashes(lazy: pl.LazyFrame) -> Iterator[np.ndarray]:
    for frame in batches(lazy, READING, PIECE):
        yield frame.to_series().to_numpy()


def _distinct(lazy: pl.LazyFrame) -> int:
    """About how many distinct rows there are."""
    return int(collect(lazy.select(pl.struct(pl.all()).hash().approx_n_unique()), COUNTING, "streaming").item())


def _counted(rows: pl.LazyFrame, names: Sequence[str], until: int) -> Rows:
    place = pl.col(PLACE).cast(pl.Int64)
    schema = rows.collect_schema()
    strings = [name for name in names if is_text(schema[name])]
    counted = (
        rows.with_columns(pl.col(name).cast(pl.Categorical) for name in strings)
        .group_by(list(names))
        .agg(pl.len().alias(TIMES), place.sum().alias("\x00sum"), (place < until).sum().alias(EARLY))
    )
    found = collect(counted, COUNTING, "streaming").with_columns(pl.col(name).cast(pl.String) for name in strings)
    times, places, early = (found[name].cast(pl.Int64).to_numpy() for name in (TIMES, "\x00sum", EARLY))
    return Rows(found.select(names), times, places, early)


def _texts(lazy: pl.LazyFrame, name: str, part: int, parts: int) -> set[str]:
    text = pl.col(name).cast(pl.String)
    rows = lazy.select(text).drop_nulls()
    some = rows if parts == 1 else rows.filter(pl.col(name).hash(5) % parts == part)
    return set(collect(some.unique(), READING, "streaming")[name].to_list())
