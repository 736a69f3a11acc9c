"""Writes a copy of a release for other programs: a folder of CSV files, or an Excel file.

A release has one audited format, its folder. A copy has other bytes, and no audit reads it: so it says which release it
is a copy of, by the digest, and holds the manifest under another name (`MANIFEST_COPY`); `rt.open` takes it for no
release. Its README is that of the release but for how to ask it.

Values keep their types as far as the format has any. In the CSV files every text stands in quotes and nothing else does,
so that a null is an empty field, a text without letters is `""`, and `"00501"` is told from a number; texts that a
spreadsheet would take for formulas begin with an apostrophe. In an Excel file a text is a text cell, whatever it begins
with, and a null is a cell that is not there; what Excel's numbers and dates cannot hold exactly is written as text, for
all rows of the column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

import polars as pl

from reticent.catalogue.manifest_fields import README_EDITION
from reticent.data.database import import_driver
from reticent.errors import InternalError, RequestError, pluralize, quote_list
from reticent.format.data_files import contains_formula, quote_formulas
from reticent.format.manifest import Manifest
from reticent.release.export import ExportTable
from reticent.release.kind import reader_for
from reticent.release.readme import render_page

MANIFEST_COPY = "release-manifest.json"
README_FILE = "README.md"
MAX_CELL_LETTERS = 32_767
MAX_LINE_PART = MAX_CELL_LETTERS // 2  # of a line of the manifest: fits, however Excel counts its characters
MAX_EXACT_INTEGER = 10**15 - 1  # Excel shows and keeps 15 digits
FIRST_EXCEL_DAY = date(1900, 3, 1)  # Excel has a 29 February 1900, and counts wrongly before it
LAST_EXCEL_DAY = date(9999, 12, 31)
ASKING_HEADING = "## How to ask it"
_CREATED = datetime(2000, 1, 1)  # of every file, so that equal releases give equal bytes


@dataclass(frozen=True, slots=True)
class SheetLimits:
    """What a sheet of Excel holds: rows, the names among them, and columns."""

    rows: int = 1_048_576
    columns: int = 16_384


def write_csv_folder(
    folder: Path, tables: Mapping[str, ExportTable], manifest: Manifest, stated: str, digest: str
) -> list[str]:
    """Write a CSV file for each table, the README and the manifest into an empty folder.

    `stated` is the text of the manifest. Returns the names of the files.
    """
    names = [f"{name}.csv" for name in tables]
    has_formulas = [
        _write_csv_file(folder / file_name, table) for file_name, table in zip(names, tables.values(), strict=True)
    ]
    quoted = (
        " Texts and names that a spreadsheet would take for formulas begin with an apostrophe (`'`) that is not part of them."
        if any(has_formulas)
        else ""
    )
    note = (
        f"This folder is a copy, as CSV files, of the release with the digest `{digest}`. `{MANIFEST_COPY}` is the manifest of that "
        "release, and the digest is its SHA-256. In the CSV files every text stands in quotes and no number does, so that codes such "
        f'as `"00501"` are told from numbers: read them as text.{quoted}'
    )
    text = _render_copy_readme(_describe_copy(manifest, names), note).replace("`manifest.json`", f"`{MANIFEST_COPY}`")
    (folder / README_FILE).write_text(text, encoding="utf-8", newline="\n")
    (folder / MANIFEST_COPY).write_text(stated, encoding="utf-8", newline="\n")
    return [*names, README_FILE, MANIFEST_COPY]


def write_excel_file(
    path: Path,
    tables: Mapping[str, ExportTable],
    manifest: Manifest,
    stated: str,
    digest: str,
    limits: SheetLimits = SheetLimits(),  # noqa: B008  # it cannot be changed
) -> list[str]:
    """Write an Excel file with a sheet for each table, one with the README and one with the manifest.

    Needs the extra `excel`. Returns the names of the sheets. Raises `RequestError` if a sheet cannot hold the rows,
    columns or texts of a table.
    """
    xlsxwriter = import_driver("xlsxwriter", "excel")
    layouts = {name: _SheetLayout.read(name, table, manifest, limits) for name, table in tables.items()}
    options = {
        "constant_memory": True,
        "tmpdir": str(path.parent),
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    readme = _list_sheet_readme(manifest, layouts, digest)
    workbook = xlsxwriter.Workbook(str(path), options)
    try:
        _fill_workbook(workbook, tables, layouts, manifest, (readme, stated.splitlines()), digest)
        workbook.close()
    except xlsxwriter.exceptions.FileCreateError as error:
        raise (error.args[0] if error.args and isinstance(error.args[0], OSError) else error) from None
    finally:
        for sheet in workbook.worksheets():
            sheet.row_data_fh.close()  # the rows of a sheet, which only a workbook that was written closes
    return ["README", *tables, "manifest"]


def _fill_workbook(
    workbook: Any,
    tables: Mapping[str, ExportTable],
    layouts: Mapping[str, _SheetLayout],
    manifest: Manifest,
    texts: tuple[list[str], list[str]],
    digest: str,
) -> None:
    """Fill the sheets of a workbook; `texts` are the lines of the README and of the manifest."""
    about = manifest.about or {}
    said = {"title": about.get("title", ""), "author": about.get("publisher", "")}
    workbook.set_properties({**said, "comments": f"A copy of the release {digest}", "created": _CREATED})
    formats = {name: workbook.add_format({"num_format": code}) for name, code in _CELL_FORMATS.items()}
    _write_lines(workbook.add_worksheet("README"), texts[0], formats["text"])
    for name, table in tables.items():
        _write_rows(workbook.add_worksheet(name), table, layouts[name], formats)
    _write_lines(workbook.add_worksheet("manifest"), texts[1], formats["text"])


def _write_csv_file(path: Path, table: ExportTable) -> bool:
    """Write a table; return whether a text or a name of it was quoted as a formula."""
    has_formulas = contains_formula(table.empty.get_columns())
    with open(path, "wb") as handle:
        quote_formulas(table.empty).write_csv(handle, quote_style="non_numeric")
        for piece in table.pieces():
            has_formulas = has_formulas or contains_formula(piece.get_columns())
            quote_formulas(piece).write_csv(handle, include_header=False, quote_style="non_numeric")
    return has_formulas


def _describe_copy(manifest: Manifest, names: list[str]) -> Manifest:
    """Return the manifest of which the README of a copy is made: the copy's files, and the present edition's text."""
    return replace(manifest, data=tuple(names), part_rows=None, formulas=None, readme=README_EDITION)


def _render_copy_readme(copied: Manifest, note: str) -> str:
    """Render the README of a copy: that of the release, with a note before how to read it and none of how to ask it."""
    asking = (
        "Questions are answered by the release folder that this is a copy of, with reticent "
        f"{copied.reticent} or newer (`pip install reticent`): `reticent audit FOLDER` and `reticent query FOLDER 'SELECT COUNT(*) FROM release'`."
    )
    head, _, rest = reader_for(copied.kind).readme(copied).partition(f"{ASKING_HEADING}\n")
    below = rest[rest.index("\n## ") + 1 :]
    title, _, lead = head.partition("\n\n")
    return (
        f"{title}\n\n"
        + render_page([f"**{_UNAUDITED}**", "", note])
        + f"\n{lead}"
        + render_page([ASKING_HEADING, "", asking, ""])
        + f"\n{below}"
    ).replace("\n\n\n", "\n\n")


_UNAUDITED = "A copy, which no audit has read: what is audited is the release folder."


@dataclass(frozen=True, eq=False)
class _SheetLayout:
    """How the columns of a table are written to a sheet: the writer of each, and those that are written as text."""

    writers: tuple[Callable[..., None], ...]
    formats: tuple[str, ...]
    as_text: tuple[str, ...]

    @classmethod
    def read(cls, name: str, table: ExportTable, manifest: Manifest, limits: SheetLimits) -> _SheetLayout:
        """Read the rows once: how many there are, how long texts are, and which columns Excel cannot hold exactly."""
        schema = table.empty.schema
        _require_columns_fit(name, len(schema), limits)
        if name == reader_for(manifest.kind).files[0]:  # its number of rows is known without reading
            _require_rows_fit(name, manifest.rows, limits)
        rows = 0
        inexact: set[str] = set()
        for piece in table.pieces():
            rows += len(piece)
            _require_rows_fit(name, rows, limits)
            _require_texts_fit(name, piece)
            inexact |= {column for column in piece.columns if column not in inexact and not _is_exact(piece[column])}
        kinds = {column: "text" if column in inexact else _choose_cell_kind(dtype) for column, dtype in schema.items()}
        as_text = tuple(column for column, kind in kinds.items() if kind == "text" and schema[column] != pl.String)
        return cls(tuple(_CELL_WRITERS[kind] for kind in kinds.values()), tuple(kinds.values()), as_text)


def _require_rows_fit(name: str, rows: int, limits: SheetLimits) -> None:
    if rows > limits.rows - 1:
        raise RequestError(
            f"A sheet of Excel has {limits.rows:,} rows, one of them for the names; the table {name!r} has {rows:,} or more.",
            why="Nothing was written.",
            attempt="a folder of CSV files (reticent export RELEASE FOLDER), or a database.",
        )


def _require_columns_fit(name: str, columns: int, limits: SheetLimits) -> None:
    if columns > limits.columns:
        raise RequestError(
            f"A sheet of Excel has {limits.columns:,} columns, and the table {name!r} has {columns:,}.",
            why="Nothing was written.",
            attempt="a folder of CSV files (reticent export RELEASE FOLDER), or leaving --bounds out.",
        )


def _require_texts_fit(name: str, piece: pl.DataFrame) -> None:
    texts = [column for column, dtype in piece.schema.items() if dtype == pl.String]
    long = [column for column in texts if _has_long_text(piece[column])]
    long += [column for column in piece.columns if _count_units(column) > MAX_CELL_LETTERS]
    if long:
        raise RequestError(
            f"A cell of Excel has {MAX_CELL_LETTERS:,} characters, and texts of {pluralize(len(long), 'column')} of {name!r} have more: {quote_list(long)}.",
            why="Nothing was written.",
            attempt="a folder of CSV files (reticent export RELEASE FOLDER).",
        )


def _has_long_text(column: pl.Series) -> bool:
    candidates = column.filter(column.str.len_chars() > MAX_CELL_LETTERS // 2).unique()
    return any(_count_units(text) > MAX_CELL_LETTERS for text in candidates.drop_nulls())


def _count_units(text: str) -> int:
    """Count a text as Excel does: a character beyond the first 65,536 counts twice."""
    return len(text.encode("utf-16-le")) // 2


def _choose_cell_kind(dtype: pl.DataType) -> str:
    """Choose how values of a type are written; what Excel has no type for is a text."""
    if dtype.is_integer() or dtype.is_float():
        return "number"
    if dtype == pl.Boolean:
        return "flag"
    if dtype == pl.Date:
        return "day"
    return "moment" if isinstance(dtype, pl.Datetime) and dtype.time_zone is None else "text"


def _is_exact(column: pl.Series) -> bool:
    """Tell whether Excel holds all values of a column as they are, as its own numbers and dates."""
    kind = _choose_cell_kind(column.dtype)
    values = column.drop_nulls()
    if not len(values) or kind in ("text", "flag"):
        return True
    if kind == "number":
        if column.dtype.is_float():
            return bool(values.is_finite().all())
        least, greatest = cast("int", values.min()), cast("int", values.max())
        return least >= -MAX_EXACT_INTEGER and greatest <= MAX_EXACT_INTEGER
    days = values.cast(pl.Date)
    if not bool(days.is_between(FIRST_EXCEL_DAY, LAST_EXCEL_DAY).all()):
        return False
    return kind == "day" or bool((values.dt.nanosecond() % 1_000_000 == 0).all())


def _write_rows(sheet: Any, table: ExportTable, layout: _SheetLayout, formats: Mapping[str, Any]) -> None:
    """Write the names and the rows of a table; a null is a cell that is not written."""
    for place, name in enumerate(table.empty.columns):
        _write_text(sheet, 0, place, name, formats["text"])
    sheet.freeze_panes(1, 0)
    cells = list(zip(layout.writers, (formats[name] for name in layout.formats), strict=True))
    number = 0
    for piece in table.pieces():
        for row in _iterate_cells(piece, layout):
            number += 1
            for place, value in enumerate(row):
                if value is not None:
                    write, cell_format = cells[place]
                    write(sheet, number, place, value, cell_format)


def _iterate_cells(piece: pl.DataFrame, layout: _SheetLayout) -> Iterator[tuple[Any, ...]]:
    """Iterate over rows, with texts for columns that are written as such."""
    texts = [
        pl.col(name).cast(pl.String)
        for name, kind in zip(piece.columns, layout.formats, strict=True)
        if kind == "text" and piece.schema[name] != pl.String
    ]
    return piece.with_columns(texts).iter_rows()


def _write_lines(sheet: Any, lines: list[str], cell_format: Any) -> None:
    """Write a line of text to each row; a longer line than a cell holds goes on in the cells beside it."""
    sheet.set_column(0, 0, 120)
    for number, line in enumerate(lines):
        for place, start in enumerate(range(0, len(line), MAX_LINE_PART)):
            _write_text(sheet, number, place, line[start : start + MAX_LINE_PART], cell_format)


def _list_sheet_readme(manifest: Manifest, layouts: Mapping[str, _SheetLayout], digest: str) -> list[str]:
    """List the lines of the README of an Excel file."""
    as_text = [column for layout in layouts.values() for column in layout.as_text]
    inexact = f" Written as text, because Excel has no such numbers or dates: {quote_list(as_text)}." if as_text else ""
    note = (
        f"This file is a copy, for Excel, of the release with the digest {digest}, the SHA-256 of its manifest, which is in the sheet "
        "`manifest`. Each other sheet is a table of the release. Texts are text cells, whatever they begin with; a blank cell is a "
        f"missing value (`ISBLANK` tells it from a text without letters).{inexact}"
    )
    copied = _describe_copy(manifest, [f"{name}.parquet" for name in layouts])
    text = _render_copy_readme(copied, note).replace("`manifest.json`", "the sheet `manifest`")
    for name in layouts:
        text = text.replace(f"`{name}.parquet`", f"The sheet `{name}`")
    return text.splitlines()


def _write_text(sheet: Any, row: int, place: int, value: str, cell_format: Any) -> None:
    _require_written(sheet.write_string(row, place, value, cell_format))


def _write_number(sheet: Any, row: int, place: int, value: float, cell_format: Any) -> None:
    _require_written(sheet.write_number(row, place, value, cell_format))


def _write_flag(sheet: Any, row: int, place: int, value: bool, cell_format: Any) -> None:
    _require_written(sheet.write_boolean(row, place, value, cell_format))


def _write_moment(sheet: Any, row: int, place: int, value: date, cell_format: Any) -> None:
    _require_written(sheet.write_datetime(row, place, value, cell_format))


def _require_written(outcome: int) -> None:
    """Refuse to go on where a cell was not written as it is: the writer cuts texts, and leaves cells out, without a word."""
    if outcome:
        raise InternalError("A cell could not be written to the Excel file.", attempt="a folder of CSV files.")


_CELL_WRITERS: dict[str, Callable[..., None]] = {
    "text": _write_text,
    "number": _write_number,
    "flag": _write_flag,
    "day": _write_moment,
    "moment": _write_moment,
}
_CELL_FORMATS = {
    "text": "@",
    "number": "General",
    "flag": "General",
    "day": "yyyy-mm-dd",
    "moment": "yyyy-mm-dd hh:mm:ss.000",
}
