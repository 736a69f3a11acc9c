"""Scans Parquet and Arrow files as a lazy frame that is read a span of rows at a time.

Polars reads ahead of its consumer, by row groups: a dozen or more of them where an expression is applied to the rows,
which can be all of a wide table. Here a span of `span_bytes` is read only when the one before was handed over, in
batches of `batch_bytes`, of which Polars holds about thirty, and a few more for each core. The bytes of a row are known
from the span before; the first span has few rows. Where the columns are few, as those that are counted, Polars may
read ahead: that is faster and takes little memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from reticent.data.files import ARROW_SUFFIXES, find_data_suffix, is_file_error, make_damaged_file_error

VALUE_BYTES = 24
TEXT_VIEW_BYTES = 16  # bytes of a text beside its letters
MAX_SPAN_GROWTH = 8  # how many times the rows of the span before the next one may have


@dataclass(frozen=True, slots=True)
class SpanSizes:
    """How much is read, and handed over, at a time."""

    span_bytes: int = 1 << 26  # bytes in memory that are read at once
    batch_bytes: int = 1 << 22  # bytes of them that are handed over together
    first_span_bytes: int = 1 << 22  # bytes of the first span, every value taken for VALUE_BYTES
    narrow_row_bytes: int = (
        1 << 8
    )  # bytes of a row up to which Polars may read ahead, every value taken for VALUE_BYTES
    narrow_batch_rows: int = 1 << 17  # of such rows that are handed over together
    scan_group_bytes: int = 1 << 23  # bytes on disk of files that are scanned together


DEFAULT_SPAN_SIZES = SpanSizes()


def scan_columnar(
    paths: Sequence[Path], schema: pl.Schema, *, hive: bool = False, sizes: SpanSizes = DEFAULT_SPAN_SIZES
) -> pl.LazyFrame:
    """Scan the rows of files that have one schema, in the order of the files."""
    from polars.io.plugins import register_io_source

    def read_batches(
        columns: list[str] | None, condition: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        try:
            yield from read(columns, condition, rows)
        except BaseException as error:
            if not is_file_error(error):
                raise
            raise make_damaged_file_error(error) from None

    def read(columns: list[str] | None, condition: pl.Expr | None, rows: int | None) -> Iterator[pl.DataFrame]:
        names = list(schema) if columns is None else columns
        condition_columns = (
            [] if condition is None else [name for name in condition.meta.root_names() if name not in names]
        )
        if VALUE_BYTES * (len(names) + len(condition_columns)) <= sizes.narrow_row_bytes:
            lazy = _scan_paths(list(paths), schema, hive).select([*names, *condition_columns])
            if rows is not None:
                lazy = lazy.head(rows)
            if condition is not None:
                lazy = lazy.filter(condition).select(names)
            yield from lazy.collect_batches(
                chunk_size=sizes.narrow_batch_rows, maintain_order=True, lazy=True, engine="streaming"
            )
            return
        spans = SpanReader([*names, *condition_columns], rows, sizes)
        for group in _group_paths(paths, sizes.scan_group_bytes):
            for frame in spans.read_spans(_scan_paths(group, schema, hive)):
                if condition is not None:
                    frame = frame.filter(condition).select(names)
                yield from frame.iter_slices(spans.batch_rows)

    return register_io_source(read_batches, schema=schema)


def estimate_frame_bytes(frame: pl.DataFrame) -> int:
    """Estimate the bytes that a frame takes in memory."""
    text_columns = sum(dtype in (pl.String, pl.Binary) for dtype in frame.dtypes)
    return int(frame.estimated_size()) + TEXT_VIEW_BYTES * len(frame) * text_columns


def group_frames(frames: Iterable[pl.DataFrame], rows: int, size: int) -> Iterator[pl.DataFrame]:
    """Concatenate frames until they have `rows` rows or `size` bytes.

    Each result is one chunk, so that rows can be moved.
    """
    pending = list[pl.DataFrame]()
    pending_rows = 0
    pending_bytes = 0
    for frame in frames:
        pending.append(frame)
        pending_rows += len(frame)
        pending_bytes += estimate_frame_bytes(frame)
        del frame
        if pending_rows >= rows or pending_bytes >= size:
            combined = pl.concat(pending, rechunk=True)
            pending = []
            pending_rows = 0
            pending_bytes = 0
            yield combined
            del combined  # not held while the next is read
    if pending:
        yield pl.concat(pending, rechunk=True)


class SpanReader:
    """Reads some columns of scans one after the other, up to a number of rows if there is a limit."""

    def __init__(self, names: list[str], max_rows: int | None = None, sizes: SpanSizes = DEFAULT_SPAN_SIZES):
        self.sizes = sizes
        self.names = names
        self.rows_left = max_rows
        self.rows = max(sizes.first_span_bytes // (VALUE_BYTES * max(len(names), 1)), 1)
        self.batch_rows = self.rows

    def read_spans(self, lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        """Yield the rows of a scan; a span of fewer rows than were asked for is the last."""
        start = 0
        while self.rows_left != 0:
            span_rows = self.rows if self.rows_left is None else min(self.rows, self.rows_left)
            frame = lazy.select(self.names).slice(start, span_rows).collect()
            start += len(frame)
            is_last = len(frame) < span_rows
            if self.rows_left is not None:
                self.rows_left -= len(frame)
            if len(frame):
                self._adapt_span(frame)
                yield frame
            if is_last:
                return

    def _adapt_span(self, frame: pl.DataFrame) -> None:
        """Choose how many rows are read next by the bytes that a row took."""
        size = max(estimate_frame_bytes(frame) / len(frame), 1)
        self.rows = max(min(int(self.sizes.span_bytes / size), MAX_SPAN_GROWTH * self.rows), 1)
        self.batch_rows = max(int(self.sizes.batch_bytes / size), 1)


def _scan_paths(paths: list[Path], schema: pl.Schema, hive: bool) -> pl.LazyFrame:
    """Scan some of the files.

    Hive columns have the types that they have in all files, and folders above the source are ignored.
    """
    if find_data_suffix(paths[0]) in ARROW_SUFFIXES:
        return pl.concat([pl.scan_ipc(path, glob=False) for path in paths])
    named = [part.partition("=")[0] for part in paths[0].parts[:-1] if "=" in part] if hive else []
    types = {name: schema.get(name, pl.String()) for name in named}
    return pl.scan_parquet(paths, hive_partitioning=hive, hive_schema=types or None, glob=False)


def _group_paths(paths: Sequence[Path], max_bytes: int) -> Iterator[list[Path]]:
    """Group files that are scanned together: at each span's start, all rows before it in the scan are counted again."""
    group = list[Path]()
    group_bytes = 0
    for path in paths:
        file_bytes = path.stat().st_size
        if group and group_bytes + file_bytes > max_bytes:
            yield group
            group = []
            group_bytes = 0
        group.append(path)
        group_bytes += file_bytes
    yield group
