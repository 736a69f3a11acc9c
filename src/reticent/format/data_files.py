"""Reads the data files of a release as tables with the types that a schema states, whole, in batches or counted.

A schema names a file's columns in order, each with the data type that its values have in the file.

Parts: the rows of a table are in one file, or in parts, flat in the folder: `data-00000.parquet`,
`data-00001.parquet`, ... (`DataFile`). Where rows are cut depends on their number and on the steward's `part_rows`
alone: a table of no more rows is one file, `data.parquet`; of more rows every part has `part_rows`, and the last one
the rest. So the way a release is cut discloses nothing but these two numbers, which its manifest states, and any
other cutting is refused.

Checks before reading: the number of rows, the decompressed size and the length of a line decide how much memory and
time a reader takes. A forged file may claim any of them, so `require_sound_file` counts them first, within a few
megabytes, and refuses what cannot be. `require_integers_between` and its neighbours check group numbers and counts
before anything as long as the greatest of them is allocated.

Formulas: a spreadsheet takes texts for formulas that begin with = + - @, a tab or a carriage return, and are no
number. In a CSV they can be quoted: written with an apostrophe before them, which a spreadsheet takes for "this is
text". A text that begins with apostrophes and then such a character gets one more, so that reading restores the
original.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from reticent.data.parsing import parse_dtype, parse_texts
from reticent.errors import BundleDamaged, JobError, OutOfMemory, pluralize
from reticent.format.parquet import (
    ParquetClaims,
    TooManyDistinct,
    UnsoundParquet,
    count_distinct_parquet_rows,
    read_claims,
)
from reticent.format.schema_checks import MAX_COUNT
from reticent.memory import get_available_memory, is_memory_error

Tables = Mapping[str, pl.DataFrame]
"""The data files of a release, by their names."""
FORMULAS_QUOTED = "quote"
FORMULAS_PRESENT = "present"
_FORMULA_PATTERN = r"^'*[=+\-@\t\r]"
_NUMBER_PATTERN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_QUOTED_FORMULA_PATTERN = r"^'+[=+\-@\t\r]"
MAX_PARTS = 10_000  # parts of one file: a manifest has a line for each, and a check opens each
DATA_SUFFIXES = (".parquet", ".csv")
_PART_PATTERN = re.compile(r"(.+)-(\d{5})")
CHUNK_BYTES = 4 << 20  # bytes of a CSV that are read at once
MAX_RECORD_BYTES = 16 << 20  # bytes of the longest row of a CSV, and of the longest text
ALWAYS_ALLOWED_VALUES = 1 << 25  # values that any file may claim
MAX_VALUES_PER_BYTE = 1000  # values beyond them for each byte; a page of 20,000 equal values has 40 bytes
TEXT_OVERHEAD_BYTES = 16  # bytes of a text in memory, beside its characters
COPIES_IN_MEMORY = 3  # copies of a table in memory while it is counted
SMALL_FILE_BYTES = 64 << 20  # bytes that are read without looking for room
MAX_COUNTED_BYTES = 3 << 30  # bytes that a table may take while it is counted, where it need not be read whole
TEXT_TYPES = ("string", "large_string", "string_view", "dictionary")
ROW_COUNT_COLUMN = "\x00count"
MAX_VALUES_COUNTED_AT_ONCE = 1 << 22  # values of a column that are counted at once
Schema = Mapping[str, str]


def match_formulas(column: pl.Expr) -> pl.Expr:
    """Match texts that begin as formulas do; a plain number, -5, is none."""
    return column.str.contains(_FORMULA_PATTERN) & column.str.contains(_NUMBER_PATTERN).not_()


def contains_formula(series: Iterable[pl.Series]) -> bool:
    """Tell whether a text, or a column's name, looks like a formula."""
    columns = list(series)
    names = pl.Series([texts_of_column.name for texts_of_column in columns], dtype=pl.String)
    texts = [names, *(texts_of_column for texts_of_column in columns if texts_of_column.dtype == pl.String)]
    return any(
        bool(texts_of_column.to_frame("text").select(match_formulas(pl.col("text")).any()).item())
        for texts_of_column in texts
    )


def quote_formula_name(name: str) -> str:
    return str(pl.select(_quote_formula_text(pl.lit(name))).item())


def quote_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before names and texts that look like formulas."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(_quote_formula_text(pl.col(name)).alias(name) for name in texts).rename(
        {name: quote_formula_name(name) for name in frame.columns}
    )


def unquote_formula_text(text: pl.Expr) -> pl.Expr:
    """Restore the text that was quoted."""
    return pl.when(text.str.contains(_QUOTED_FORMULA_PATTERN)).then(text.str.slice(1)).otherwise(text)


@dataclass(frozen=True, slots=True)
class DataFile:
    """The rows of one table of a release, in the order of `paths` and, in each, of its rows."""

    name: str
    paths: tuple[Path, ...]

    @classmethod
    def from_path(cls, path: Path) -> DataFile:
        """Make one from a file that is not cut."""
        return cls(path.stem, (path,))

    @property
    def suffix(self) -> str:
        return self.paths[0].suffix

    @property
    def shown(self) -> str:
        """Its name in a message."""
        first = self.paths[0].name
        return first if len(self.paths) == 1 else f"{self.name}{self.suffix} (in {len(self.paths):,} parts)"

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.paths)

    def each(self) -> Iterator[DataFile]:
        """Yield every file that holds rows of it, by itself."""
        return (DataFile(self.name, (path,)) for path in self.paths)


def list_part_names(name: str, format: str, rows: int, part_rows: int | None, max_parts: int = MAX_PARTS) -> list[str]:
    """List the names of the files that `rows` rows are written to."""
    if part_rows is None or rows <= part_rows:
        return [f"{name}.{format}"]
    parts = count_parts(rows, part_rows)
    if parts > max_parts:
        raise JobError(
            f"{rows:,} rows would be {parts:,} files with release.part_rows = {part_rows:,}.",
            why=f"A data file has at most {max_parts:,} parts.",
            attempt=f"part_rows = {-(-rows // max_parts)} or more.",
        )
    return [f"{name}-{part:05d}.{format}" for part in range(parts)]


def count_parts(rows: int, part_rows: int) -> int:
    return max(-(-rows // part_rows), 1)


def group_files_by_table(data: Sequence[str]) -> dict[str, list[str]]:
    """Group the files that a manifest lists by the table whose rows they hold."""
    files_by_table: dict[str, list[str]] = {}
    for file in data:
        stem = Path(file).stem
        part = _PART_PATTERN.fullmatch(stem)
        files_by_table.setdefault(stem if part is None else part[1], []).append(file)
    return files_by_table


def format_file_pattern(files: Sequence[str]) -> str:
    """Format the files of one table for a reader: a single file by its name, parts by a pattern."""
    return files[0] if len(files) == 1 else _PART_PATTERN.sub(r"\1-*", Path(files[0]).stem) + Path(files[0]).suffix


def match_table_files(
    data: Sequence[str], wanted: Sequence[str], max_parts: int = MAX_PARTS
) -> dict[str, tuple[str, ...]] | None:
    """Return the files of each table that a manifest lists, in this order.

    It is None if the manifest lists others, or in another way.
    """
    files_by_table = group_files_by_table(data)
    suffixes = {Path(file).suffix for file in data}
    if list(files_by_table) != list(wanted) or len(suffixes) != 1 or not suffixes <= set(DATA_SUFFIXES):
        return None
    suffix = suffixes.pop()
    for name, files in files_by_table.items():
        part_names = [f"{name}-{part:05d}{suffix}" for part in range(len(files))]
        if files != [f"{name}{suffix}"] and (not 2 <= len(files) <= max_parts or files != part_names):
            return None
    in_order = [file for files in files_by_table.values() for file in files]
    return {name: tuple(files) for name, files in files_by_table.items()} if in_order == list(data) else None


def require_stated_parts(files: dict[str, tuple[str, ...]], rows: int, part_rows: int | None) -> None:
    """Refuse a manifest whose files are not those that follow from its first table's rows and its `part_rows`."""
    first, *others = files.values()
    has_stated_count = len(first) == (1 if part_rows is None else count_parts(rows, part_rows))
    is_cut = any(len(names) > 1 for names in (first, *others))
    if not has_stated_count or is_cut != (part_rows is not None):
        stated = "says nothing of parts" if part_rows is None else f"says that parts have {part_rows:,} rows"
        raise BundleDamaged(
            "The release is not cut as its manifest says.",
            why=f"It {stated}, and lists {pluralize(len(first), 'file')} for {pluralize(rows, 'row')}.",
            attempt="getting the folder again from its publisher.",
        )


def require_sound_file(
    file: DataFile, schema: Mapping[str, str], rows: int | None, part_rows: int | None = None
) -> None:
    """Refuse a file that is not what its manifest states; `rows` is None where the manifest does not state them."""
    shown = file.shown
    row_count = 0
    try:
        first_shape = None
        for part_index, path in enumerate(file.paths):
            shown = path.name
            part_row_count, shape = _inspect_file(path, schema, is_only=len(file.paths) == 1)
            if first_shape is not None and shape != first_shape:
                raise UnsoundParquet("it has other columns than the part before it, or other types of them")
            if part_rows is not None:
                _require_part_size(
                    part_row_count, part_rows, is_whole=len(file.paths) == 1, is_last=part_index == len(file.paths) - 1
                )
            first_shape = shape
            row_count = row_count + part_row_count
        shown = file.shown
        if rows is not None and row_count != rows:
            raise UnsoundParquet(f"it has {row_count:,} rows, the manifest says {rows:,}")
        if row_count * len(schema) > ALWAYS_ALLOWED_VALUES + MAX_VALUES_PER_BYTE * file.bytes:
            raise UnsoundParquet(f"{file.bytes:,} bytes claim to be {row_count:,} rows")
    except UnsoundParquet as error:
        raise BundleDamaged(
            f"{shown} is not a file that reticent wrote.",
            why=f"The reason: {error}.",
            attempt="getting the folder again from its publisher.",
        ) from None


def require_memory(file: DataFile, schema: Mapping[str, str]) -> None:
    """Refuse to read a file whole that would not fit in the memory that is left."""
    needed_bytes = COPIES_IN_MEMORY * _estimate_bytes(file, schema)
    free_bytes = get_available_memory() if needed_bytes > SMALL_FILE_BYTES else None
    if free_bytes is not None and needed_bytes > free_bytes:
        raise OutOfMemory(
            f"{file.shown} is too large for the memory that is left.",
            why=f"Reading it takes about {needed_bytes / 1e9:.1f} GB, and {max(free_bytes, 0) / 1e9:.1f} GB are free.",
            attempt="a machine with more memory.",
        )


def is_small_file(file: DataFile, schema: Mapping[str, str]) -> bool:
    """Tell whether a file can be read whole regardless of memory; a larger one is counted as a stream."""
    return COPIES_IN_MEMORY * _estimate_bytes(file, schema) <= MAX_COUNTED_BYTES


class QuotedSchema(dict[str, str]):
    """The schema of a CSV in which texts and names that look like formulas are quoted."""


def read_data(file: DataFile, schema: Schema, only: Collection[str] | None = None) -> pl.DataFrame:
    """Read the data file with the types of its schema, from CSV too; `only` selects some of its columns."""
    wanted = _select_columns(schema, only)
    require_memory(file, wanted)
    lazy = _scan_file(file, schema).select(list(wanted))
    return _cast_frame(_collect_frame(lazy, file), wanted, file)


def scan_data(file: DataFile, schema: Schema, only: Collection[str] | None = None) -> pl.LazyFrame:
    """Scan the same rows lazily, in their order."""
    wanted = _select_columns(schema, only)
    lazy = _scan_file(file, schema)
    types = lazy.collect_schema()

    def column(name: str, dtype: str) -> pl.Expr:
        kind = parse_dtype(dtype)
        if types[name] == kind:
            return pl.col(name)
        if types[name] != pl.String:
            return pl.col(name).cast(kind)
        return pl.col(name).map_batches(partial(_restore_dtype, dtype=dtype), return_dtype=kind, is_elementwise=True)

    return lazy.select(column(name, dtype) for name, dtype in wanted.items())


def read_batches(file: DataFile, schema: Schema, rows: int) -> Iterator[pl.DataFrame]:
    """Yield the same rows, `rows` at a time; none are kept."""
    lazy = scan_data(file, schema)
    batches = lazy.collect_batches(chunk_size=rows, maintain_order=True, lazy=True, engine="streaming")
    while True:
        try:
            batch = next(batches, None)
        except BaseException as error:
            raise _translate_read_error(error, file) from None
        if batch is None:
            return
        _require_short_texts(batch, file)
        yield batch


def read_batches_on_demand(file: DataFile, schema: Schema, rows: int) -> Iterator[pl.DataFrame]:
    """Yield the same rows, at most `rows` at a time and none read ahead: for consumers that are slower than the disk."""
    _scan_file(file, schema)  # refuses other columns
    read = _read_file_batches if file.suffix == ".parquet" else read_batches
    for part in file.each():
        yield from read(part, schema, rows)


def count_distinct_rows(
    file: DataFile, schema: Schema, only: Collection[str] | None = None, limits: tuple[int, int] | None = None
) -> tuple[pl.DataFrame, np.ndarray]:
    """Count the distinct rows of the data file (in `only` some columns); rows are read as a stream and not kept.

    `limits` are the most distinct values of a column and the most distinct rows that are counted; beyond them
    `TooManyDistinct` is raised.
    """
    wanted = _select_columns(schema, only)
    names = list(wanted)
    lazy = _scan_file(file, schema)
    if file.suffix == ".parquet" and all(
        _is_plain_dtype(dtype) for dtype in lazy.select(names).collect_schema().dtypes()
    ):
        try:
            frame, multiplicity = count_distinct_parquet_rows(file.paths, names, limits)
        except (OSError, ValueError, TypeError, LookupError) as error:
            raise _make_read_error(error, file) from None
        return _cast_frame(frame, wanted, file), multiplicity
    if limits is not None and _estimate_distinct(lazy.select(names), file) > limits[1]:
        raise TooManyDistinct
    counted = _collect_frame(lazy.group_by(names).len(name=ROW_COUNT_COLUMN), file)
    return _cast_frame(counted.drop(ROW_COUNT_COLUMN), wanted, file), counted[ROW_COUNT_COLUMN].to_numpy().astype(
        np.int64
    )


def count_distinct_rows_in_parts(
    file: DataFile,
    schema: Schema,
    column: str,
    other_columns: Collection[str],
    max_values: int = MAX_VALUES_COUNTED_AT_ONCE,
) -> Iterator[tuple[pl.DataFrame, np.ndarray]]:
    """Count the distinct rows in a column and in some beside it, in parts that fit memory.

    All rows with one value of the column are in one part.
    """
    wanted = _select_columns(schema, {column, *other_columns})
    floats = [name for name, dtype in wanted.items() if dtype.startswith("Float")]
    lazy = _scan_file(file, schema).select(list(wanted))
    if file.suffix == ".parquet" and floats:
        lazy = lazy.with_columns(pl.col(floats).fill_nan(None))
    key = pl.col(column).hash(7)
    values = _collect_frame(lazy.select(key.approx_n_unique()), file).item()
    parts = values // max_values + 1
    for part in range(parts):
        part_rows = lazy if parts == 1 else lazy.filter(key % parts == part)
        counted = _collect_frame(part_rows.group_by(list(wanted)).len(name=ROW_COUNT_COLUMN), file)
        yield (
            _cast_frame(counted.drop(ROW_COUNT_COLUMN), wanted, file),
            counted[ROW_COUNT_COLUMN].to_numpy().astype(np.int64),
        )


def read_partition(
    file: DataFile, schema: Schema, only: Collection[str], part: int, parts: int
) -> Iterator[pl.DataFrame]:
    """Read some columns of every `parts`-th row group, beginning with the `part`-th.

    Of CSV files, every `parts`-th file is read.
    """
    wanted = _select_columns(schema, only)
    if file.suffix != ".parquet":
        for part_file in list(file.each())[part::parts]:
            yield read_data(part_file, schema, only)
        return
    import pyarrow.parquet as pq

    for path, places in groupby(_list_row_groups(file)[part::parts], key=lambda place: place[0]):
        with pq.ParquetFile(path) as opened:
            for _, group_index in places:
                frame = pl.from_arrow(opened.read_row_group(group_index, columns=list(wanted)))
                assert isinstance(frame, pl.DataFrame)
                yield _cast_frame(frame.select(list(wanted)), wanted, file)


def count_partitions(file: DataFile) -> int:
    """Return how many parts `read_partition` can read a file in."""
    return max(len(_list_row_groups(file)), 1) if file.suffix == ".parquet" else len(file.paths)


def require_integers_between(table: pl.DataFrame, name: str, least: int, most: int) -> None:
    """Refuse a column of integers where one is missing, below `least` or above `most`."""
    series = table[name]
    present = series.drop_nulls()
    outside = len(present) and (cast("int", present.min()) < least or cast("int", present.max()) > most)
    if outside or len(present) < len(series):
        raise BundleDamaged(
            "The files of the release do not belong together.",
            why=f"Values of {name!r} are missing, or not from {least:,} to {most:,}.",
        )


def require_exact_total(series: pl.Series) -> None:
    """Refuse counts whose sum is too large to be exact."""
    if sum(series.to_list()) > MAX_COUNT if _may_exceed_limit(series) else False:
        raise BundleDamaged(
            "The files of the release do not belong together.", why=f"The counts in {series.name!r} are too large."
        )


def require_listed_values(table: pl.DataFrame, name: str, listed: Sequence[str]) -> None:
    """Refuse a column with missing values or values that the manifest does not list."""
    unknown = len(set(table[name].cast(pl.String).unique()) - set(listed))
    if unknown:
        raise BundleDamaged(
            f"Column {name!r} shows {pluralize(unknown, 'value', 'that is', 'that are')} not in the domain of the manifest."
        )


def _quote_formula_text(text: pl.Expr) -> pl.Expr:
    return pl.when(match_formulas(text)).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)


def _inspect_file(path: Path, schema: Mapping[str, str], *, is_only: bool) -> tuple[int, Any]:
    """Count a file's rows.

    If it is not the `only` file of its table, also returns what the others must have in common with it.
    """
    if path.suffix == ".parquet":
        claims = _read_parquet_claims(path, schema)
        return claims.rows, claims.columns
    rows = _count_csv_rows(path)
    return rows, None if is_only else _read_csv_header(path)


def _require_part_size(rows: int, part_rows: int, *, is_whole: bool, is_last: bool) -> None:
    """Require that a single file has no more rows than a part, a part exactly as many, and the last one at least one."""
    if rows > part_rows or (not is_whole and (not rows or (not is_last and rows != part_rows))):
        raise UnsoundParquet(f"it has {rows:,} rows, and rows are cut into parts of {part_rows:,}")


def _estimate_bytes(file: DataFile, schema: Mapping[str, str]) -> int:
    try:
        return sum(_estimate_file_bytes(path, schema) for path in file.paths)
    except UnsoundParquet:
        raise BundleDamaged(f"{file.shown} cannot be read.") from None


def _select_columns(schema: Schema, only: Collection[str] | None) -> Schema:
    return schema if only is None else type(schema)((name, dtype) for name, dtype in schema.items() if name in only)  # type: ignore[call-arg]  # a kind of mapping


def _scan_file(file: DataFile, schema: Schema) -> pl.LazyFrame:
    try:
        if file.suffix == ".parquet":
            lazy = pl.scan_parquet(list(file.paths), glob=False)
        else:
            lazy = pl.scan_csv(list(file.paths), infer_schema=False, empty_string_is_null=True, glob=False)
            if isinstance(schema, QuotedSchema):
                lazy = _unquote_frame(lazy, schema)
        names = lazy.collect_schema().names()
    except BaseException as error:
        raise _translate_read_error(error, file) from None
    if names != list(schema):
        raise BundleDamaged(
            f"{file.shown} has other columns than its manifest.",
            why=f"{len(names)} instead of {len(schema)}, or other names.",
        )
    return lazy


def _cast_frame(frame: pl.DataFrame, schema: Schema, file: DataFile) -> pl.DataFrame:
    _require_short_texts(frame, file)
    try:
        return pl.DataFrame({name: _restore_dtype(frame[name], dtype) for name, dtype in schema.items()})
    except MemoryError:
        raise
    except Exception:  # the libraries' messages quote values
        raise BundleDamaged(
            f"{file.shown} does not hold what its manifest says.", why="A column has values of another type."
        ) from None


def _collect_frame(lazy: pl.LazyFrame, file: DataFile) -> pl.DataFrame:
    try:
        return lazy.collect(engine="streaming")
    except BaseException as error:
        raise _translate_read_error(error, file) from None


def _restore_dtype(series: pl.Series, dtype: str) -> pl.Series:
    wanted = parse_dtype(dtype)
    if series.dtype == wanted:
        return series
    return parse_texts(series, dtype).alias(series.name) if series.dtype == pl.String else series.cast(wanted)


def _translate_read_error(error: BaseException, file: DataFile) -> BaseException:
    """Turn an error of Polars into `BundleDamaged`; for some files it panics, which is no Exception."""
    is_read_error = isinstance(error, pl.exceptions.PolarsError | OSError) or type(error).__name__ == "PanicException"
    return _make_read_error(error, file) if is_read_error or is_memory_error(error) else error


def _require_short_texts(frame: pl.DataFrame, file: DataFile) -> None:
    """Refuse long texts: many megabytes compress to few bytes, and parsing needs many times the size."""
    for name, dtype in frame.schema.items():
        if dtype == pl.String and (frame[name].str.len_bytes() > MAX_RECORD_BYTES).any():
            raise BundleDamaged(f"{file.shown} holds a text of more than {MAX_RECORD_BYTES:,} bytes.")


def _read_file_batches(file: DataFile, schema: Schema, rows: int) -> Iterator[pl.DataFrame]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.paths[0]) as opened:
        batches = opened.iter_batches(batch_size=rows, columns=list(schema), use_threads=False)
        while True:
            try:
                batch = next(batches, None)
            except (OSError, ValueError, pa.ArrowException) as error:
                raise _make_read_error(error, file) from None
            if batch is None:
                return
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield _cast_frame(frame.select(list(schema)), schema, file)


def _is_plain_dtype(dtype: pl.DataType) -> bool:
    """Tell whether Python has these values without loss: it has no nanoseconds."""
    return dtype in (pl.String, pl.Boolean, pl.Date) or dtype.is_integer() or dtype.is_float()


def _make_read_error(error: BaseException, file: DataFile) -> BundleDamaged | OutOfMemory:
    """Make the error that a library's error while reading the file stands for."""
    return OutOfMemory() if is_memory_error(error) else BundleDamaged(f"{file.shown} cannot be read.")


def _estimate_distinct(lazy: pl.LazyFrame, file: DataFile) -> int:
    """Estimate the number of distinct rows."""
    estimate: int = _collect_frame(lazy.select(pl.struct(pl.all()).hash(7).approx_n_unique()), file).item()
    return estimate


def _list_row_groups(file: DataFile) -> list[tuple[Path, int]]:
    import pyarrow.parquet as pq

    counts = [(path, pq.read_metadata(path).num_row_groups) for path in file.paths]
    return [(path, group_index) for path, groups in counts for group_index in range(groups)]


def _may_exceed_limit(series: pl.Series) -> bool:
    return len(series) > 0 and cast("int", series.max()) * len(series) > MAX_COUNT


def _read_parquet_claims(path: Path, schema: Mapping[str, str]) -> ParquetClaims:
    claims = read_claims(path)
    if list(claims.columns) != list(schema):
        raise UnsoundParquet(
            f"it has other columns than its manifest, {len(claims.columns)} instead of {len(schema)}, or other names"
        )
    wrong_types = sum(
        _find_type_family(claims.columns[name]) != _find_type_family(_find_arrow_type(dtype))
        for name, dtype in schema.items()
    )
    if wrong_types:
        raise UnsoundParquet(
            f"{pluralize(wrong_types, 'column', 'has', 'have')} values of another type than the manifest says"
        )
    return claims


def _count_csv_rows(path: Path) -> int:
    """Count the rows of a CSV below its header: line ends outside quotes."""
    records = 0
    record_bytes = 0
    in_quotes = False
    with open(path, "rb") as handle:
        while chunk := handle.read(CHUNK_BYTES):
            raw = np.frombuffer(chunk, np.uint8)
            ends = raw == ord("\n")
            if b'"' in chunk:
                quotes = np.cumsum(raw == ord('"'), dtype=np.int32) + in_quotes
                ends &= quotes % 2 == 0
                in_quotes = bool(quotes[-1] % 2)
            elif in_quotes:
                ends[:] = False
            places = np.flatnonzero(ends)
            lengths = np.diff(places, prepend=-1 - record_bytes) if len(places) else np.array([record_bytes + len(raw)])
            record_bytes = len(raw) - 1 - int(places[-1]) if len(places) else record_bytes + len(raw)
            if max(int(lengths.max()), record_bytes) > MAX_RECORD_BYTES:
                raise UnsoundParquet(f"a row has more than {MAX_RECORD_BYTES:,} bytes")
            records += len(places)
    if record_bytes or in_quotes:
        raise UnsoundParquet("its last row does not end")
    if not records:
        raise UnsoundParquet("it has no header")
    return records - 1


def _read_csv_header(path: Path) -> list[str]:
    try:
        return pl.scan_csv(path, infer_schema=False, glob=False).collect_schema().names()
    except pl.exceptions.PolarsError:
        raise UnsoundParquet("its header cannot be read") from None


def _estimate_file_bytes(path: Path, schema: Mapping[str, str]) -> int:
    """Estimate how many bytes a file's rows take in memory."""
    if path.suffix != ".parquet":
        upper_estimate = (2 + TEXT_OVERHEAD_BYTES) * path.stat().st_size  # a row has a byte at least
        if upper_estimate * COPIES_IN_MEMORY <= SMALL_FILE_BYTES:
            return upper_estimate
        return 2 * path.stat().st_size + TEXT_OVERHEAD_BYTES * len(schema) * _count_csv_rows(path)
    claims = read_claims(path, pages=False)
    return claims.unpacked_bytes + TEXT_OVERHEAD_BYTES * len(schema) * claims.rows


def _unquote_frame(lazy: pl.LazyFrame, schema: QuotedSchema) -> pl.LazyFrame:
    """Remove the apostrophes from names and texts; a file with other names is left for its reader to refuse."""
    names = {quote_formula_name(name): name for name in schema}
    if lazy.collect_schema().names() != list(names):
        return lazy
    return lazy.rename(names).with_columns(
        unquote_formula_text(pl.col(name)) for name, dtype in schema.items() if dtype == "String"
    )


def _find_type_family(type: Any) -> str:
    """Return the family of types that are read back as one another.

    Families are texts, integers of any width, moments of any zone.
    """
    import pyarrow as pa

    name = str(type).partition("[")[0].partition("(")[0].partition("<")[0]
    if name in TEXT_TYPES:
        return "text"
    if pa.types.is_integer(type):
        return "whole"
    return "float" if pa.types.is_floating(type) else name


def _find_arrow_type(dtype: str) -> Any:
    return pl.Series([], dtype=parse_dtype(dtype)).to_arrow().type
