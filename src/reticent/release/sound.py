"""Whether a data file can be what a manifest says, looked at before a row of it is read.

The number of rows, the size of what is packed and the length of a line decide how much memory and time a reader takes.  A forged
file may claim any of them: so they are counted first, within a few megabytes, and what cannot be is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged, OutOfMemory, some
from reticent.memory import room
from reticent.release.parquet_headers import Claims, Unsound, claims
from reticent.release.parts import DataFile
from reticent.table.types import dtype_named

CHUNK = 4 << 20  # bytes of a CSV that are looked at together
RECORD = 16 << 20  # bytes of the longest row of a CSV, and of the longest text
FLOOR = 1 << 25  # values that any file may claim
PACKED = 1000  # values beyond them for each byte; a page of 20,000 equal values has 40 bytes
WIDTH = 16  # bytes of a text in memory, beside its characters
COPIES = 3  # how often a table stands in memory while it is counted
SMALL = 64 << 20  # bytes that are read without looking for room
LITTLE = 3 << 30  # bytes that a table may take while it is counted, where it need not be read whole
TEXTS = ("string", "large_string", "string_view", "dictionary")


def refuse_unsound(file: DataFile, schema: Mapping[str, str], rows: int | None, part_rows: int | None = None) -> None:
    """Refuse a file that is not what its manifest says; `rows` is None where the manifest does not say them."""
    shown, found = file.shown, 0
    try:
        like = None
        for at, path in enumerate(file.paths):
            shown = path.name
            here, shape = _looked_at(path, schema, only=len(file.paths) == 1)
            if like is not None and shape != like:
                raise Unsound("it has other columns than the part before it, or other types of them")
            if part_rows is not None:
                _refuse_other_size(here, part_rows, whole=len(file.paths) == 1, last=at == len(file.paths) - 1)
            like, found = shape, found + here
        shown = file.shown
        if rows is not None and found != rows:
            raise Unsound(f"it has {found:,} rows, the manifest says {rows:,}")
        if found * len(schema) > FLOOR + PACKED * file.bytes:
            raise Unsound(f"{file.bytes:,} bytes claim to be {found:,} rows")
    except Unsound as error:
        raise BundleDamaged(
            f"{shown} is not a file that reticent wrote.",
            why=f"The reason: {error}.",
            attempt="getting the folder again from its publisher.",
        ) from None


def _looked_at(path: Path, schema: Mapping[str, str], *, only: bool) -> tuple[int, Any]:
    """How many rows a file has, and, where it is not the `only` one of its table, what the others must be like."""
    if path.suffix == ".parquet":
        found = _parquet_claims(path, schema)
        return found.rows, found.columns
    rows = _csv_rows(path)
    return rows, None if only else _csv_header(path)


def _refuse_other_size(rows: int, part_rows: int, *, whole: bool, last: bool) -> None:
    """A file that is not cut has no more rows than a part; a part has as many, and the last one at least one."""
    if rows > part_rows or (not whole and (not rows or (not last and rows != part_rows))):
        raise Unsound(f"it has {rows:,} rows, and rows are cut into parts of {part_rows:,}")


def refuse_no_room(file: DataFile, schema: Mapping[str, str]) -> None:
    """Refuse to read a file whole that would not fit in what memory is left, instead of dying of it."""
    need = COPIES * _bytes_of(file, schema)
    left = room() if need > SMALL else None
    if left is not None and need > left:
        raise OutOfMemory(
            f"{file.shown} is too large for the memory that is left.",
            why=f"Reading it takes about {need / 1e9:.1f} GB, and {max(left, 0) / 1e9:.1f} GB are free.",
            attempt="a machine with more memory.",
        )


def is_little(file: DataFile, schema: Mapping[str, str]) -> bool:
    """Whether a file can be read whole without a thought of memory; a larger one is counted as a stream."""
    return COPIES * _bytes_of(file, schema) <= LITTLE


def _bytes_of(file: DataFile, schema: Mapping[str, str]) -> int:
    try:
        return sum(_in_memory(path, schema) for path in file.paths)
    except Unsound:
        raise BundleDamaged(f"{file.shown} cannot be read.") from None


def _in_memory(path: Path, schema: Mapping[str, str]) -> int:
    """About how many bytes a file's rows take when they are read."""
    if path.suffix != ".parquet":
        if (most := (2 + WIDTH) * path.stat().st_size) * COPIES <= SMALL:  # a row has a byte at least
            return most
        return 2 * path.stat().st_size + WIDTH * len(schema) * _csv_rows(path)
    found = claims(path, pages=False)
    return found.opened + WIDTH * len(schema) * found.rows


def _parquet_claims(path: Path, schema: Mapping[str, str]) -> Claims:
    found = claims(path)
    if list(found.columns) != list(schema):
        raise Unsound(
            f"it has other columns than its manifest, {len(found.columns)} instead of {len(schema)}, or other names"
        )
    wrong = sum(_family(found.columns[name]) != _family(_arrow(dtype)) for name, dtype in schema.items())
    if wrong:
        raise Unsound(f"{some(wrong, 'column', 'has', 'have')} values of another type than the manifest says")
    return found


def _arrow(dtype: str) -> Any:
    return pl.Series([], dtype=dtype_named(dtype)).to_arrow().type


def _family(type: Any) -> str:
    """Types that are read back as one another: texts, whole numbers of any width, moments of any zone."""
    import pyarrow as pa

    name = str(type).partition("[")[0].partition("(")[0].partition("<")[0]
    if name in TEXTS:
        return "text"
    return "whole" if pa.types.is_integer(type) else "float" if pa.types.is_floating(type) else name


def _csv_header(path: Path) -> list[str]:
    try:
        return pl.scan_csv(path, infer_schema=False, glob=False).collect_schema().names()
    except pl.exceptions.PolarsError:
        raise Unsound("its header cannot be read") from None


def _csv_rows(path: Path) -> int:
    """How many rows a CSV has below its header: line ends outside quotes."""
    records, since, inside = 0, 0, False
    with open(path, "rb") as handle:
        while chunk := handle.read(CHUNK):
            raw = np.frombuffer(chunk, np.uint8)
            ends = raw == ord("\n")
            if b'"' in chunk:
                quotes = np.cumsum(raw == ord('"'), dtype=np.int32) + inside
                ends &= quotes % 2 == 0
                inside = bool(quotes[-1] % 2)
            elif inside:
                ends[:] = False
            places = np.flatnonzero(ends)
            lengths = np.diff(places, prepend=-1 - since) if len(places) else np.array([since + len(raw)])
            since = len(raw) - 1 - int(places[-1]) if len(places) else since + len(raw)
            if max(int(lengths.max()), since) > RECORD:
                raise Unsound(f"a row has more than {RECORD:,} bytes")
            records += len(places)
    if since or inside:
        raise Unsound("its last row does not end")
    if not records:
        raise Unsound("it has no header")
    return records - 1
