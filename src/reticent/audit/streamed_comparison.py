"""Comparison of a release and its source, in memory or both read as streams.

`compare_with_source` sets both beside each other. As streams (`StreamedComparison`), only the distinct rows of one part
and batches of rows are in memory. A part is chosen by a hash of the keys' texts, and every part is a pass over both
tables; there are so many parts that each has about `ComparisonSizes.part_rows` distinct rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from reticent.audit.groups import NumberedColumn
from reticent.audit.kind import RecomputedRelease
from reticent.audit.source_comparison import (
    ComparedRows,
    InMemoryComparison,
    RowKeys,
    SourceComparison,
    TextFunction,
    find_places,
    list_texts,
    read_as_stated,
    require_columns,
)
from reticent.data.source import collect_frame, is_text, iterate_batches
from reticent.format.data_files import scan_data
from reticent.release.kind import find_data_files, list_schemas, reader_for

MULTIPLICITY_COLUMN = "\x00times"
PLACE_COLUMN = "\x00place"
PLACE_SUM_COLUMN = "\x00sum"
EARLY_COLUMN = "\x00early"
READING_STEP = "Reading the source"
COUNTING_STEP = "Counting the source"


@dataclass(frozen=True, slots=True)
class ComparisonSizes:
    """How much of two tables is compared at a time."""

    part_rows: int = 1 << 22  # distinct rows of a part
    texts: int = 1 << 20  # texts that are searched at once
    batch_rows: int = 1 << 20  # rows that are read at once


def compare_with_source(recount: RecomputedRelease, source: pl.DataFrame | pl.LazyFrame) -> SourceComparison:
    """Compare a release with its source: both in memory, or both as streams."""
    subject = recount.subject
    require_columns([column.name for column in subject.columns], source.collect_schema().names())
    if isinstance(source, pl.DataFrame):
        return InMemoryComparison(recount.frame, read_as_stated(source, subject.columns))
    assert subject.manifest is not None and subject.path is not None  # a plain table is read whole
    file = reader_for(subject.kind).files[0]
    rows = scan_data(find_data_files(subject.path, subject.manifest)[file], list_schemas(subject.manifest)[file])
    return StreamedComparison(rows, read_as_stated(source, subject.columns), recount.rows)


@dataclass(frozen=True, eq=False)
class StreamedComparison:
    """A `SourceComparison` over streams.

    `ours` are the published rows in the order of their file, `published` is their number; `lazy` are the source's rows.
    """

    ours: pl.LazyFrame
    lazy: pl.LazyFrame
    published: int
    _values: dict[str, tuple[pl.Series, np.ndarray]] = field(default_factory=dict)
    _reads: dict[str, bool] = field(default_factory=dict)
    sizes: ComparisonSizes = ComparisonSizes()

    @cached_property
    def rows(self) -> int:
        return int(collect_frame(self.lazy.select(pl.len()), READING_STEP, "streaming").item())

    @property
    def names(self) -> list[str]:
        return self.lazy.collect_schema().names()

    @property
    def columns(self) -> list[str]:
        return self.ours.collect_schema().names()

    def pieces(self, name: str) -> Iterator[pl.Series]:
        for piece in iterate_batches(self.ours.select(name), "Reading the release", self.sizes.batch_rows):
            yield piece[name]

    def parts(self, keys: RowKeys, names: Sequence[str]) -> Iterator[tuple[ComparedRows, ComparedRows]]:
        ours = self.ours
        theirs = self.lazy.select(names)
        parts = 1
        if keys and max(self.rows, self.published) > self.sizes.part_rows:
            distinct_rows = max(_estimate_distinct_rows(ours), _estimate_distinct_rows(theirs))
            parts = distinct_rows // self.sizes.part_rows + 1
        for part in range(parts):
            yield self._count_part(ours, keys, 0, part, parts), self._count_part(theirs, keys, 1, part, parts)

    def _count_part(self, lazy: pl.LazyFrame, keys: RowKeys, side: int, part: int, parts: int) -> ComparedRows:
        """Count the distinct rows of one of `parts` parts, chosen by the hash of their keys."""
        names = lazy.collect_schema().names()
        rows = lazy.with_row_index(PLACE_COLUMN)
        if parts > 1:
            rows = rows.filter(_hash_keys(keys, side) % parts == part)
        return _count_rows(rows, names, self.published)

    def count_rows(self, names: Sequence[str]) -> ComparedRows:
        return _count_rows(self.lazy.select(names).with_row_index(PLACE_COLUMN), names, self.published)

    def values(self, name: str) -> tuple[pl.Series, np.ndarray]:
        if name not in self._values:
            counted = self.count_rows([name])
            self._values[name] = counted.frame[name], counted.multiplicities
        return self._values[name]

    def number_column(self, name: str, rows: ComparedRows) -> NumberedColumn:
        distinct = self.values(name)[0]
        return NumberedColumn(find_places(rows.frame[name], distinct), distinct)

    def reads(self, name: str, strictly: TextFunction) -> bool:
        if name not in self._reads:
            self._reads[name] = self._can_read_all(name, strictly)
        return self._reads[name]

    def _can_read_all(self, name: str, strictly: TextFunction) -> bool:
        for piece in iterate_batches(self.lazy.select(name), READING_STEP, self.sizes.batch_rows):
            try:
                strictly(_normalize_values(piece[name]))
            except Exception:
                return False
        return True

    def count_agreeing(self, keys: RowKeys) -> int | None:
        """Count places with equal keys by walking both tables side by side, as 64-bit hashes.

        Two of 10^9 places collide once in 10^10 audits.
        """
        if not keys:
            return min(self.rows, self.published)
        ours, theirs = (
            _read_hashes(lazy.select(_hash_keys(keys, side)), self.sizes.batch_rows)
            for side, lazy in enumerate((self.ours, self.lazy))
        )
        our_hashes = next(ours, None)
        their_hashes = next(theirs, None)
        agree = 0
        while our_hashes is not None and their_hashes is not None:
            length = min(len(our_hashes), len(their_hashes))
            agree += int((our_hashes[:length] == their_hashes[:length]).sum())
            our_hashes = our_hashes[length:] if len(our_hashes) > length else next(ours, None)
            their_hashes = their_hashes[length:] if len(their_hashes) > length else next(theirs, None)
        return agree

    def texts(self, name: str, part: int, parts: int) -> set[str]:
        return _list_part_texts(self.lazy, name, part, parts)

    def list_published_texts(self, name: str, part: int, parts: int) -> set[str]:
        return _list_part_texts(self.ours, name, part, parts)

    def spell_out(self, names: Sequence[str]) -> Iterator[str]:
        for name in names:
            for piece in self.pieces(name):
                yield "\n".join(list_texts(piece))

    def spread(self, names: Sequence[str]) -> int:
        if not names:
            return 1
        distinct_counts = self.lazy.select(pl.col(name).hash().approx_n_unique() for name in names)
        return int(sum(collect_frame(distinct_counts, READING_STEP, "streaming").row(0))) // self.sizes.texts + 1


def _estimate_distinct_rows(lazy: pl.LazyFrame) -> int:
    """Estimate how many distinct rows there are."""
    return int(
        collect_frame(lazy.select(pl.struct(pl.all()).hash().approx_n_unique()), COUNTING_STEP, "streaming").item()
    )


def _hash_keys(keys: RowKeys, side: int) -> pl.Expr:
    """Hash the texts of all keys to one number, the same on both sides."""
    hashes = [
        pl.col(name).map_batches(_make_text_hash(text_functions[side]), return_dtype=pl.UInt64, is_elementwise=True)
        for name, text_functions in keys.items()
    ]
    word = hashes[0]
    for other in hashes[1:]:
        word = (word * 0x9E3779B97F4A7C15 + 1).xor(other)
    return word


def _count_rows(rows: pl.LazyFrame, names: Sequence[str], until: int) -> ComparedRows:
    """Count the distinct rows, with the sum of their places and how many of these are below `until`."""
    place = pl.col(PLACE_COLUMN).cast(pl.Int64)
    schema = rows.collect_schema()
    strings = [name for name in names if is_text(schema[name])]
    counted = (
        rows.with_columns(pl.col(name).cast(pl.Categorical) for name in strings)
        .group_by(list(names))
        .agg(
            pl.len().alias(MULTIPLICITY_COLUMN),
            place.sum().alias(PLACE_SUM_COLUMN),
            (place < until).sum().alias(EARLY_COLUMN),
        )
    )
    frame = collect_frame(counted, COUNTING_STEP, "streaming").with_columns(
        pl.col(name).cast(pl.String) for name in strings
    )
    times, places, early = (
        frame[name].cast(pl.Int64).to_numpy() for name in (MULTIPLICITY_COLUMN, PLACE_SUM_COLUMN, EARLY_COLUMN)
    )
    return ComparedRows(frame.select(names), times, places, early)


def _normalize_values(series: pl.Series) -> pl.Series:
    """Convert categories to texts and NaN to null."""
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    return series.fill_nan(None) if series.dtype.is_float() else series


def _read_hashes(lazy: pl.LazyFrame, batch_rows: int) -> Iterator[np.ndarray]:
    for frame in iterate_batches(lazy, READING_STEP, batch_rows):
        yield frame.to_series().to_numpy()


def _list_part_texts(lazy: pl.LazyFrame, name: str, part: int, parts: int) -> set[str]:
    """List the texts of a column; with several parts, those whose hash is in this part."""
    rows = lazy.select(pl.col(name).cast(pl.String)).drop_nulls()
    if parts > 1:
        rows = rows.filter(pl.col(name).hash(5) % parts == part)
    return set(collect_frame(rows.unique(), READING_STEP, "streaming")[name].to_list())


def _make_text_hash(to_text: TextFunction):  # type: ignore[no-untyped-def]  # a function of a series, as Polars wants it
    return lambda series: to_text(_normalize_values(series)).hash(17)
