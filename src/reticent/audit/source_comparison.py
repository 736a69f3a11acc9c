"""The source of a release, read, converted to published values, and set beside the release for comparison.

`read_source` reads the rows to compare with from a path, a frame, or a `Source` that states how to read it.

`convert_source` converts a source's columns as a kind with exact values publishes them: in the manifest's types,
clipped or rounded. Values are compared, not their spellings: `1.20` in a CSV is the number 1.2 where the manifest
states that the column holds numbers, and `007` remains a text where it states text. A value beyond a declared `top` or
`bottom` is the bound; a number of a column with `round_to` is the nearest multiple, ties to the even one. A source
value that does not fit the published type becomes null and is counted: no honest release publishes it.

`SourceComparison` gives a kind both tables: whole, or counted a part at a time where memory would not hold them. The
kind chooses by which texts of a row's columns it can stand for a source row (`RowKeys`). Rows that agree in them are in
one part, so that each part is judged by itself: a small table is one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from reticent.audit.groups import NumberedColumn, number_values
from reticent.data.columns import Role
from reticent.data.files import CSV_SUFFIXES, PARQUET_SUFFIXES, measure_unpacked_size, open_text, resolve_files
from reticent.data.parsing import parse_dtype
from reticent.data.source import Source, collect_frame, scan_source
from reticent.data.text_formats import Table, parse_stated
from reticent.errors import BundleDamaged, ComparisonFailed, pluralize, quote_list
from reticent.format.data_files import COPIES_IN_MEMORY, MAX_COUNTED_BYTES, TEXT_OVERHEAD_BYTES
from reticent.format.manifest import ColumnEntry

_BOOLEAN_TEXTS = {"true": True, "false": False}
TextFunction = Callable[[pl.Series], pl.Series]
RowKeys = Mapping[str, tuple[TextFunction, TextFunction]]
"""For each column, the functions that turn published values and source values into the texts that must agree."""


def read_source(source: Any, missing: Sequence[str] = ()) -> pl.DataFrame:
    """Read the rows to compare with: from a path, a frame, or a `Source`."""
    if isinstance(source, Source):
        lazy = scan_source(source)
    elif isinstance(source, str | Path):
        lazy = scan_source(Source(path=str(source), missing=tuple(missing)))
    else:
        lazy = scan_source(Source(missing=tuple(missing)), source)
    return collect_frame(lazy, "Reading the source")


def read_as_stated(rows: Table, columns: Sequence[ColumnEntry]) -> Table:
    """Read dates and numbers as the release's maker did: in the formats that the manifest states for the source."""
    return parse_stated(rows, {entry.name: entry for entry in columns}, {entry.name: entry.dtype for entry in columns})


def recode_as_stated(rows: Table, columns: Sequence[ColumnEntry]) -> Table:
    """Recode sensitive and carried values as the manifest states: rounded, and moved to a top or bottom.

    Quasi-identifying values are recoded where labels are laid over them.
    """
    present = rows.collect_schema().names()
    recoded = [
        entry
        for entry in columns
        if entry.role != Role.QUASI
        and entry.name in present
        and any(option is not None for option in (entry.round_to, entry.top, entry.bottom))
    ]
    if not recoded:
        return rows
    return read_as_stated(rows, columns).with_columns(
        pl.col(entry.name).map_batches(
            partial(_convert_normalized, entry=entry), return_dtype=parse_dtype(entry.dtype), is_elementwise=True
        )
        for entry in recoded
    )


def _convert_normalized(series: pl.Series, entry: ColumnEntry) -> pl.Series:
    return _convert_column(_normalize_missing(series, entry), entry)


def require_columns(names: Sequence[str], present: Sequence[str]) -> None:
    """Require that every published column is one of the source's."""
    absent = [name for name in names if name not in present]
    if absent:
        raise ComparisonFailed(
            f"{pluralize(len(absent), 'published column', 'is', 'are')} not in the source: {quote_list(absent)}.",
            why="A release publishes columns of its source under their own names.",
            attempt="the source it was made from, read as it was (--job).",
        )


def is_small_source(source: Source, frame: Any = None, max_bytes: int = MAX_COUNTED_BYTES) -> bool:
    """Whether a source is small enough to be read whole; a larger one is read as a stream."""
    if frame is not None or source.url is not None or source.path is None:
        return True
    files = resolve_files(source.path)
    needed_bytes = COPIES_IN_MEMORY * sum(_estimate_bytes(path, files.suffix, max_bytes) for path in files.paths)
    return needed_bytes <= max_bytes


@dataclass(frozen=True, eq=False)
class ConvertedSource:
    """A source as it would be published: `frame` has the manifest's columns.

    `unread` counts the values of each column that do not fit its type, and `readable` marks the rows without any.
    """

    frame: pl.DataFrame
    unread: Mapping[str, int]
    readable: pl.Series


def convert_source(source: pl.DataFrame, columns: Sequence[ColumnEntry]) -> ConvertedSource:
    """Convert the source's columns, one for each entry of a manifest, as an exact kind would publish them."""
    require_columns([entry.name for entry in columns], source.columns)
    converted = {}
    unread = {}
    readable = pl.repeat(True, len(source), eager=True)
    for entry in columns:
        values = _normalize_missing(source[entry.name], entry)
        converted[entry.name] = _convert_column(values, entry)
        is_lost = values.is_not_null() & converted[entry.name].is_null()
        if is_lost.any():
            unread[entry.name] = int(is_lost.sum())
            readable &= ~is_lost
    return ConvertedSource(pl.DataFrame(converted), unread, readable)


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Rows in the order of their file; or distinct rows, each with how many `times` it occurs and where.

    `places` is the sum of the positions of each distinct row; `early` counts the positions below the number of rows
    that the release has.
    """

    frame: pl.DataFrame
    times: np.ndarray | None = None
    places: np.ndarray | None = None
    early: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.frame)

    def tally(self, codes: np.ndarray, size: int, mask: np.ndarray | None = None) -> np.ndarray:
        """Count the rows that have each code; `codes` are those of the rows in `mask`."""
        if self.times is None:
            return np.bincount(codes, minlength=size)
        times = self.times if mask is None else self.times[mask]
        return np.bincount(codes, weights=times, minlength=size).astype(np.int64)

    @property
    def rows(self) -> int:
        return len(self.frame) if self.times is None else int(self.times.sum())

    @property
    def positions(self) -> np.ndarray:
        """The position of each row, or the sum of positions over equal rows."""
        if self.places is None:
            return np.arange(len(self.frame), dtype=np.float64)
        return self.places.astype(np.float64)

    @property
    def pair(self) -> tuple[pl.DataFrame, np.ndarray | None]:
        return self.frame, self.times

    @property
    def multiplicities(self) -> np.ndarray:
        """How many rows each row stands for."""
        return np.ones(len(self.frame), np.int64) if self.times is None else self.times


class SourceComparison(Protocol):
    """The source, and the rows of the release beside it."""

    @property
    def rows(self) -> int:
        """Number of rows of the source."""

    @property
    def names(self) -> list[str]:
        """Names of the source's columns."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the release's rows."""

    def pieces(self, name: str) -> Iterator[pl.Series]:
        """Yield a column of the release, a piece at a time."""

    def parts(self, keys: RowKeys, names: Sequence[str]) -> Iterator[tuple[ComparedRows, ComparedRows]]:
        """Yield published rows, and source rows in the columns `names`; rows with equal keys are in one part."""

    def count_rows(self, names: Sequence[str]) -> ComparedRows:
        """Return the source in some columns; distinct rows are enough."""

    def values(self, name: str) -> tuple[pl.Series, np.ndarray]:
        """Return the distinct values of a column, and how many rows have each."""

    def number_column(self, name: str, rows: ComparedRows) -> NumberedColumn:
        """Number a column of source rows by the places among all values of the source."""

    def reads(self, name: str, strictly: TextFunction) -> bool:
        """Whether `strictly` reads all values of a source column; a part may be readable where the whole is not."""

    def count_agreeing(self, keys: RowKeys) -> int | None:
        """Count the places at which both tables have the same keys.

        Return None where all rows are in one part, in their order.
        """

    def texts(self, name: str, part: int, parts: int) -> set[str]:
        """Return the texts of a source column; one of `parts` parts of them, by their hashes."""

    def list_published_texts(self, name: str, part: int, parts: int) -> set[str]:
        """Return the texts of a published column."""

    def spell_out(self, names: Sequence[str]) -> Iterator[str]:
        """Yield all texts of some published columns, a piece at a time."""

    def spread(self, names: Sequence[str]) -> int:
        """Return in how many parts the texts of these source columns are processed."""


@dataclass(frozen=True, eq=False)
class InMemoryComparison:
    """Both tables in memory."""

    ours: pl.DataFrame
    frame: pl.DataFrame

    @property
    def rows(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> list[str]:
        return self.frame.columns

    @property
    def columns(self) -> list[str]:
        return self.ours.columns

    def pieces(self, name: str) -> Iterator[pl.Series]:
        yield self.ours[name]

    @cached_property
    def _numbers(self) -> dict[str, NumberedColumn]:
        return {}

    def parts(self, keys: RowKeys, names: Sequence[str]) -> Iterator[tuple[ComparedRows, ComparedRows]]:
        yield ComparedRows(self.ours), ComparedRows(self.frame)

    def count_rows(self, names: Sequence[str]) -> ComparedRows:
        return ComparedRows(self.frame)

    def _number_values_once(self, name: str) -> NumberedColumn:
        if name not in self._numbers:
            self._numbers[name] = number_values(self.frame[name])
        return self._numbers[name]

    def values(self, name: str) -> tuple[pl.Series, np.ndarray]:
        column = self._number_values_once(name)
        return column.distinct, column.times()

    def number_column(self, name: str, rows: ComparedRows) -> NumberedColumn:
        return self._number_values_once(name)

    def reads(self, name: str, strictly: TextFunction) -> bool:
        return True

    def count_agreeing(self, keys: RowKeys) -> int | None:
        return None

    def texts(self, name: str, part: int, parts: int) -> set[str]:
        return list_texts(self.frame[name])

    def list_published_texts(self, name: str, part: int, parts: int) -> set[str]:
        return list_texts(self.ours[name])

    def spell_out(self, names: Sequence[str]) -> Iterator[str]:
        for name in names:
            yield "\n".join(list_texts(self.ours[name]))

    def spread(self, names: Sequence[str]) -> int:
        return 1


def list_texts(series: pl.Series) -> set[str]:
    return set(series.cast(pl.String).drop_nulls().unique().to_list())


def find_places(series: pl.Series, distinct: pl.Series) -> np.ndarray:
    """Find the place of each value among distinct ones, -1 for a value that is none of them."""
    combined = number_values(pl.concat([distinct, series.rename(distinct.name)], how="vertical"))
    place = np.full(len(combined), -1)
    place[combined.codes[: len(distinct)]] = np.arange(len(distinct))
    return place[combined.codes[len(distinct) :]]


def _estimate_bytes(path: Path, suffix: str, max_bytes: int) -> float:
    """Estimate how many bytes the rows of a file take when they are read.

    Formats other than Parquet and CSV count as small.
    """
    size = measure_unpacked_size(path)
    if suffix in PARQUET_SUFFIXES:
        return _estimate_parquet_bytes(path)
    if suffix not in CSV_SUFFIXES:
        return 0
    if size * (2 + TEXT_OVERHEAD_BYTES) * COPIES_IN_MEMORY <= max_bytes:
        return 2 * size
    with open_text(path) as handle:
        beginning = handle.read(1 << 20)
    header = beginning[: beginning.find(b"\n")]
    fields = 1 + max(header.count(separator) for separator in (b",", b";", b"\t", b"|"))
    bytes_per_row = len(beginning) / max(beginning.count(b"\n"), 1)
    return 2 * size + TEXT_OVERHEAD_BYTES * fields * size / bytes_per_row


def _normalize_missing(series: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Convert categories to their texts; NaN is missing, except in a column that is carried as it was."""
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    carried = entry.role == Role.INSENSITIVE and entry.round_to is None
    return series.fill_nan(None) if series.dtype.is_float() and not carried else series


def _convert_column(series: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Convert a column to the published type, then round or clip it; a value that does not fit becomes null."""
    wanted = parse_dtype(entry.dtype)
    try:
        if entry.round_to is not None:
            multiples = _round_to_multiples(_cast_numbers(series, pl.Float64()), entry.round_to)
            values = multiples.cast(wanted, strict=False)
        else:
            values = _cast_values(series, wanted)
    except pl.exceptions.PolarsError:  # no value of this type is one of that type
        return pl.Series(series.name, [None] * len(series), dtype=wanted)
    return _clip_values(values, entry)


def _estimate_parquet_bytes(path: Path) -> float:
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (OSError, ValueError):
        return 0  # the reader will report why it cannot be read
    stored_bytes = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return stored_bytes + TEXT_OVERHEAD_BYTES * metadata.num_columns * metadata.num_rows


def _round_to_multiples(numbers: pl.Series, step: Any) -> pl.Series:
    """Round to the nearest multiple of the step, ties to the even one, in double precision."""
    if isinstance(step, bool) or not isinstance(step, int | float) or not step > 0:
        raise BundleDamaged("The manifest rounds a column to something that is no step.")
    count = (numbers / step).round(mode="half_to_even")
    return count.cast(pl.Int64, strict=False) * step if isinstance(step, int) else count * step


def _cast_numbers(series: pl.Series, wanted: pl.DataType) -> pl.Series:
    """Cast numbers, written as text or held in another type; one that the published type cannot hold becomes null."""
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    elif not series.dtype.is_numeric() and series.dtype != pl.Boolean:
        return pl.Series(series.name, [None] * len(series), dtype=wanted)
    numbers = series.cast(wanted, strict=False)
    near = series.cast(pl.Float64, strict=False)
    if wanted.is_float():
        return numbers.set(~near.is_finite().fill_null(True), None) if series.dtype == pl.String else numbers
    if wanted.is_integer() and series.dtype == pl.String:  # a whole number may be written 25.0
        numbers = numbers.fill_null(near.cast(wanted, strict=False))
    return numbers.set((numbers.cast(pl.Float64) != near).fill_null(False), None)


def _cast_values(series: pl.Series, wanted: pl.DataType) -> pl.Series:
    """Cast each value to the type that is published, to null where it does not fit."""
    if series.dtype == wanted:
        return series
    if series.dtype == pl.Null:
        return series.cast(wanted)
    if wanted == pl.Null:
        return pl.Series(series.name, [None] * len(series), dtype=pl.Null)
    if wanted.is_numeric():
        return _cast_numbers(series, wanted)
    if wanted == pl.Date or isinstance(wanted, pl.Datetime):
        return _cast_moments(series, wanted)
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        if wanted == pl.Boolean:
            return text.str.to_lowercase().replace_strict(_BOOLEAN_TEXTS, default=None, return_dtype=pl.Boolean)
        return text.str.to_time("%H:%M:%S%.f", strict=False) if wanted == pl.Time else text.cast(wanted, strict=False)
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.to_string("iso").cast(wanted)
    return series.cast(wanted, strict=False)


def _clip_values(values: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Replace values beyond a declared top or bottom by the bound."""
    if entry.top is None and entry.bottom is None:
        return values
    try:
        ends = [_make_end_literal(end, values.dtype) for end in (entry.bottom, entry.top)]
        return values.clip(*ends)
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
        raise BundleDamaged(
            f"The manifest gives column {entry.name!r} a top or a bottom that its type cannot hold."
        ) from None


def _cast_moments(series: pl.Series, wanted: pl.DataType) -> pl.Series:
    """Cast days and moments; a moment is a day where it is a midnight, and a day is its midnight."""
    if series.dtype == pl.String:
        text = series.str.strip_chars().str.replace(" ", "T", literal=True)
        day = text.str.to_date("%Y-%m-%d", strict=False)
        zone = getattr(wanted, "time_zone", None)
        unit: Any = getattr(wanted, "time_unit", "us")
        pattern = "%+" if zone else "%Y-%m-%dT%H:%M:%S%.f"
        parsed = text.str.to_datetime(pattern, time_unit=unit, strict=False)
        series = parsed if zone else parsed.fill_null(day.cast(parsed.dtype))
    is_moment = series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime)
    has_zone = getattr(series.dtype, "time_zone", None) is not None
    wants_zone = getattr(wanted, "time_zone", None) is not None
    if not is_moment or has_zone != wants_zone:
        return pl.Series(series.name, [None] * len(series), dtype=wanted)
    moments = series.cast(wanted, strict=False)
    return moments.set((moments.cast(series.dtype) != series).fill_null(False), None)


def _make_end_literal(end: Any, dtype: pl.DataType) -> pl.Expr | None:
    """Make a top or bottom a literal of the column's type; raise `TypeError` where it is of another sort."""
    if end is None:
        return None
    if isinstance(end, str) != dtype.is_temporal():
        raise TypeError
    if isinstance(end, str):
        end = date.fromisoformat(end[:10]) if dtype == pl.Date else datetime.fromisoformat(end)
    return pl.lit(end, dtype)
