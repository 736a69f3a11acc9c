"""Data files that were rewritten, with the folder sealed again: rows, labels and numbers that no release has, and files that lie."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import reticent as rt
from reticent.format.data_writer import write_data
from tests.hostile.forgeries.folders import data_file
from tests.hostile.forgeries.parquet_forger import Struct, rewrite, set_rows

INT32 = (1 << 31) - 1
INT64 = (1 << 63) - 1


def _rows(name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], None]:
    """The rows of a file changed, written as the writer writes them."""

    def forge(folder: Path) -> None:
        tables = rt.open(folder).tables
        for stem in [name] if name in tables else list(tables)[:1]:
            path = next(folder.glob(f"{stem}.*"))
            write_data(path, change(tables[stem]), path.suffix[1:])

    return forge


def _first(column: str, value: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """The first row with another value in a column, where the table has it and it can hold it."""

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        name = column if column in frame.columns else frame.columns[0]
        given = value if frame[name].dtype == pl.String or not isinstance(value, str) else None
        if frame[name].dtype == pl.String and not isinstance(value, str):
            given = str(value)
        most = frame[name].upper_bound() if frame[name].dtype.is_integer() else None
        if most is not None and given is not None:
            given = min(int(most[0]), int(str(given)))
        rest = frame[name].to_list()[1:]
        return frame.with_columns(pl.Series(name, [given, *rest], dtype=frame[name].dtype, strict=False))

    return change


def _claim(rows: int) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        if data_file(folder).suffix == ".parquet":
            rewrite(data_file(folder), *set_rows(rows))
            _stated(folder, rows)

    return forge


def _stated(folder: Path, rows: int) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, "rows": rows}), encoding="utf-8")


def _footer(number: int, value: int) -> Callable[[Path], None]:
    def change(metadata: Struct) -> None:
        for group in metadata[4][1][1]:
            for column in group[1][1][1]:
                column[3][1][number] = (6, value)

    return lambda folder: rewrite(data_file(folder), change) if data_file(folder).suffix == ".parquet" else None


def _page(number: int, value: int) -> Callable[[Path], None]:
    def change(header: Struct) -> None:
        header[number] = (5, value)

    return lambda folder: rewrite(data_file(folder), page=change) if data_file(folder).suffix == ".parquet" else None


def _table(change: Callable[[pa.Table], pa.Table], **how: object) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        path = data_file(folder)
        if path.suffix == ".parquet":
            pq.write_table(change(pq.read_table(path)), path, **{"store_schema": False, "compression": "lz4", **how})

    return forge


def _nested(table: pa.Table) -> pa.Table:
    return table.set_column(0, table.column_names[0], pa.array([[1, 2]] * len(table)))


def _content(content: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: data_file(folder).write_bytes(content(data_file(folder).read_bytes())) and None


def _csv(content: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: _content(content)(folder) if data_file(folder).suffix == ".csv" else None


DATA: dict[str, Callable[[Path], None]] = {
    "200 million rows": _claim(200_000_000),
    "a million rows in a page": _claim(1 << 20),
    "rows below nothing": _claim(-5),
    "a page of two thousand million bytes": _page(2, INT32),
    "a page of less than nothing": _page(2, -1),
    "a page of an unknown kind": _page(1, 9),
    "a column that lies outside": _footer(9, 1 << 40),
    "a column before the file": _footer(9, -8),
    "values beyond counting": _footer(5, INT64),
    "a column of lists": _table(_nested),
    "a column of bytes": _table(lambda t: t.set_column(0, t.column_names[0], pa.array([b"\xff"] * len(t)))),
    "a column of moments": _table(
        lambda t: t.set_column(0, t.column_names[0], pa.array([0] * len(t), pa.timestamp("ns")))
    ),
    "a column of nothing": _table(lambda t: t.set_column(0, t.column_names[0], pa.nulls(len(t)))),
    "a row group for each row": _table(lambda t: t, row_group_size=1),
    "texts in the footer": _table(lambda t: t.replace_schema_metadata({"people": "Ann"}), store_schema=True),
    "no bytes": _content(lambda raw: b""),
    "half of the bytes": _content(lambda raw: raw[: len(raw) // 2]),
    "bytes that are no file": _content(lambda raw: b"\x00" * len(raw)),
    "a footer that lies about its length": _content(lambda raw: raw[:-8] + b"\xff\xff\xff\x7f" + raw[-4:]),
    "bytes before the footer": _content(lambda raw: raw[:4] + b"Ann" + raw[4:]),
    "a row that never ends": _csv(lambda raw: raw + b'"'),
    "a row of 20 MB": _csv(lambda raw: raw + b"x" * (20 << 20) + b"\n"),
    "nothing but ends of rows": _csv(lambda raw: raw.split(b"\n")[0] + b"\n" * 10**6),
    "no UTF-8": _csv(lambda raw: raw[:-5] + b"\xff\xfe" + raw[-3:]),
    "zeros in a CSV": _csv(lambda raw: raw[:-5] + b"\x00\x00" + raw[-3:]),
    "other ends of rows": _csv(lambda raw: raw.replace(b"\n", b"\r\n")),
    "a label of a thousand million digits": _rows("data", _first("age", "[1e999999999, 5]")),
    "a label of 5,000 digits": _rows("data", _first("age", "9" * 5_000)),
    "a label that is not a number": _rows("data", _first("age", "[nan, inf]")),
    "a label of brackets": _rows("data", _first("city", "{" * 5_000)),
    "a label of quotes": _rows("data", _first("city", '"' * 5_001)),
    "a label of deep lists": _rows("data", _first("age", '"' + "[" * 5_000)),
    "a value that nobody lists": _rows("data", _first("illness", "Ann has it")),
    "a group beyond counting": _rows("quasi", _first("group", INT32)),
    "a group below nothing": _rows("quasi", _first("group", -INT32)),
    "a group of values beyond counting": _rows("sensitive", _first("group", INT32)),
    "a count beyond counting": _rows("sensitive", _first("count", INT32)),
    "bounds beyond counting": _rows("bounds", _first("selected", INT32)),
    "a G beyond counting": _rows("data", _first("G", INT64)),
    "a G below nothing": _rows("data", _first("G", -5)),
    "no rows": _rows("data", lambda frame: frame.head(0)),
    "a row less": _rows("data", lambda frame: frame.head(len(frame) - 1)),
    "a row twice": _rows("data", lambda frame: pl.concat([frame, frame.head(1)])),
    "rows sorted": _rows("data", lambda frame: frame.sort(frame.columns)),
    "values swapped": _rows("data", lambda frame: frame.with_columns(pl.col(frame.columns[-1]).reverse())),
}
"""Each is refused, or what the files show is another release and the audit says that nothing proves it."""
