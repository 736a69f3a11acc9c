"""Exports a release as tables of a database, with its manifest beside them; a failed export leaves nothing.

`open_export_tables` opens the data files for reading a batch of rows at a time; batches are checked as whole tables
are. `require_table_name` and `require_column_names` refuse names that a database cannot have, before any file is made.
`export_tables` writes to PostgreSQL, SQLite or DuckDB.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent.data.database import (
    expand_environment,
    import_driver,
    parse_database_path,
    parse_scheme,
    quote_table,
)
from reticent.data.database_errors import is_interruption, translate_writing_error
from reticent.errors import (
    RequestError,
    ReticentError,
    SourceError,
    pluralize,
    quote_list,
)
from reticent.format.data_files import read_batches_on_demand, scan_data
from reticent.format.manifest import Manifest
from reticent.redaction import redact
from reticent.release.kind import find_data_files, list_schemas, reader_for

EXPORT_BATCH_ROWS = 122_880  # rows that are read at once: as many as DuckDB packs together, to which other numbers cost half as much again
MAX_NAME_LENGTHS = {
    "postgresql": 63,
    "sqlite": 200,
    "duckdb": 200,
}  # bytes; PostgreSQL cuts longer names without a word
RESERVED_NAMES = ("sqlite_", "duckdb_", "pg_", "information_schema", "temp", "system")
_UNPRINTABLE_PATTERN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
INDEX_COLUMNS: dict[str, tuple[str, ...]] = {"bounds": ("group", "selected")}
"""Columns by which printed questions look a table up, row by row: SQLite and PostgreSQL would read all of it each time."""
READ_RELATION = "reticent_rows_read_now"  # what DuckDB knows rows by while it reads them
_AFFINITIES = {pl.String: "TEXT", pl.Boolean: "INTEGER", pl.Float32: "REAL", pl.Float64: "REAL"}


@dataclass(frozen=True, eq=False)
class ExportTable:
    """A table to export: `empty` has the columns and their types; `pieces` reads the rows in their order on each call."""

    empty: pl.DataFrame
    pieces: Callable[[], Iterator[pl.DataFrame]]

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> ExportTable:
        return cls(frame.head(0), lambda: iter([frame]))


def open_export_tables(folder: Path, manifest: Manifest, *, bounds: bool = False) -> dict[str, ExportTable]:
    """Open every data file by its name; with `bounds`, the file of people gets typed ends beside its columns."""
    people = reader_for(manifest.kind).files[0]
    return {
        name: _open_export_table(folder, manifest, name, bounds=bounds and name == people)
        for name in reader_for(manifest.kind).files
    }


def require_table_name(table: str, database: str, files: Sequence[str]) -> None:
    """Refuse a name that is empty, dotted in a database without schemas, reserved, too long or not printable."""
    parts = table.split(".")
    faults = {
        "is empty": not table.strip(),
        "holds a control character": _UNPRINTABLE_PATTERN.search(table),
        "begins or ends with a blank": table != table.strip(),
        "has a part that is empty": not all(part.strip() for part in parts),
        "has more parts than schema and table": len(parts) > 2,
        "has a dot, and SQLite has no schemas": len(parts) > 1 and database == "sqlite",
        "is reserved by the database": any(_is_reserved(part) for part in parts),
    }
    fault = next((words for words, applies in faults.items() if applies), None)
    if fault is None:
        fault = _describe_excess_length(parts, database, files)
    if fault:
        raise RequestError(
            f"The table's name {fault}.",
            why="Nothing was written.",
            attempt="--table people, or --table schema.people where the database has that schema.",
        )


def require_column_names(tables: Iterable[Sequence[str]], database: str) -> None:
    """Refuse columns, of any table, that the database would cut, merge (names that differ in case alone) or reject."""
    for columns in tables:
        folded = [name.lower() if database != "postgresql" else name for name in columns]
        duplicates = [name for name, folded_name in zip(columns, folded, strict=True) if folded.count(folded_name) > 1]
        invalid = [
            name
            for name in columns
            if not name
            or "\x00" in name
            or (database == "postgresql" and len(name.encode()) > MAX_NAME_LENGTHS[database])
        ]
        if duplicates or invalid:
            raise RequestError(
                f"{database} cannot have the names of {pluralize(len(duplicates or invalid), 'column')}: {quote_list(duplicates or invalid)}.",
                why="Names differ in case alone." if duplicates else "A name is empty, holds a NUL or is too long.",
                attempt="other names in the source, and publishing again.",
            )


def export_tables(
    tables: dict[str, ExportTable],
    manifest: str,
    url: str,
    table: str,
    path: Path | None = None,
    *,
    about: Mapping[str, Any] | None = None,
) -> list[str]:
    """Write one table per data file (`people`, or `people_quasi` and `people_sensitive`) and `people_manifest`; all or none.

    What the publisher says of the release is `people_about`, a row for each text; nothing said, no such table.

    Rows are read and written a batch at a time.  An existing table is never replaced.  `path` is where a new database
    file is staged.  Returns the tables' names.
    """
    database = parse_scheme(url)
    require_table_name(table, database, list(tables))
    require_column_names([export_table.empty.columns for export_table in tables.values()], database)
    names = {table if len(tables) == 1 else f"{table}_{name}": export_table for name, export_table in tables.items()}
    names[f"{table}_manifest"] = ExportTable.from_frame(pl.DataFrame({"manifest": [manifest]}))
    if about:
        names[f"{table}_about"] = ExportTable.from_frame(_list_said(about))
    indexes = {
        f"{table}_{name}": columns for name, columns in INDEX_COLUMNS.items() if name in tables and len(tables) > 1
    }
    writer = {"postgresql": _write_postgresql, "sqlite": _write_sqlite, "duckdb": _write_duckdb}[database]
    with translate_writing_errors(url, table):
        writer(url, names, indexes, path)
    return list(names)


@contextmanager
def translate_writing_errors(url: str, table: str) -> Iterator[None]:
    """Turn a driver's error into one of ours, which names the database without its password."""
    try:
        yield
    except (ReticentError, ImportError):
        raise
    except Exception as error:
        if is_interruption(error):
            raise KeyboardInterrupt from None
        raise translate_writing_error(error, redact(url), table) from None


def _list_said(about: Mapping[str, Any]) -> pl.DataFrame:
    """List what the publisher says of a release, a row for each text."""
    rows = [(name, line) for name, said in about.items() for line in ([said] if isinstance(said, str) else said)]
    return pl.DataFrame(rows, schema={"name": pl.String, "said": pl.String}, orient="row")


def find_new_file(url: str) -> Path | None:
    """Return the database file that a URL names if it does not exist yet; None for an existing database."""
    if parse_scheme(url) == "postgresql":
        return None
    path = parse_database_path(url, must_exist=False)
    if not path.name or path.name.startswith(":") or "\x00" in str(path):
        raise SourceError("The URL names no database file.", attempt=f"{parse_scheme(url)}:///warehouse.db.")
    if not os.path.lexists(path):
        return path
    if not path.is_file():
        raise SourceError(f"{path} is no database file.", attempt="a file, or a name that is not there yet.")
    return None


def quote_column_name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def list_text_columns(table: ExportTable) -> list[str]:
    """List columns without a type in SQLite: dates and times, decimals, and whole numbers if some are beyond 2^63."""
    schema = table.empty.schema
    unsigned = {name for name, dtype in schema.items() if dtype == pl.UInt64}
    too_large: set[str] = set()
    for piece in table.pieces() if unsigned else ():
        too_large |= {name for name in unsigned - too_large if (piece[name] >= 1 << 63).any()}
    return [name for name, dtype in schema.items() if dtype.is_temporal() or dtype.is_decimal() or name in too_large]


def choose_affinity(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "INTEGER"
    return _AFFINITIES.get(dtype.base_type(), "TEXT")


def require_checkpointed(path: Path | None) -> None:
    """Refuse a new DuckDB file whose log was not written into it: closing tells no error."""
    if path is not None and path.with_name(path.name + ".wal").exists():
        raise OSError(errno.EIO, os.strerror(errno.EIO))


class ArrowStream:
    """A table's rows as an Arrow stream; an error while they are read is raised afterwards, not in Arrow's words."""

    def __init__(self, table: ExportTable):
        self._table = table
        self._failed: BaseException | None = None

    def reader(self) -> Any:
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self._table.empty.to_arrow().schema, self._batches())

    def _batches(self) -> Iterator[Any]:
        try:
            for piece in self._table.pieces():
                yield from piece.rechunk().to_arrow().to_batches()
        except BaseException as error:
            self._failed = error
            raise

    def raise_error(self) -> None:
        if self._failed is not None and not isinstance(self._failed, GeneratorExit):
            raise self._failed from None


def _open_export_table(folder: Path, manifest: Manifest, name: str, *, bounds: bool) -> ExportTable:
    kind = reader_for(manifest.kind)
    file = find_data_files(folder, manifest)[name]
    schema = list_schemas(manifest)[name]

    def frame_piece(piece: pl.DataFrame) -> pl.DataFrame:
        return kind.frame({name: piece}, manifest, bounds=True) if bounds else piece

    def pieces() -> Iterator[pl.DataFrame]:
        for piece in read_batches_on_demand(file, schema, EXPORT_BATCH_ROWS):
            kind.check_tables({name: piece}, manifest)
            yield frame_piece(piece)

    return ExportTable(frame_piece(pl.DataFrame(schema=scan_data(file, schema).collect_schema())), pieces)


def _is_reserved(part: str) -> bool:
    """Tell whether a name has the prefix of a database's own tables, or is one of its own schemas."""
    return any(part.lower().startswith(name) if name.endswith("_") else part.lower() == name for name in RESERVED_NAMES)


def _describe_excess_length(parts: Sequence[str], database: str, files: Sequence[str]) -> str:
    longest = max(len("_manifest"), *(len(f"_{name}") for name in files))
    max_bytes = MAX_NAME_LENGTHS[database] - longest
    return f"has more than {max_bytes} bytes" if any(len(part.encode()) > max_bytes for part in parts) else ""


def _write_postgresql(
    url: str, tables: dict[str, ExportTable], indexes: dict[str, tuple[str, ...]], path: Path | None = None
) -> None:
    dbapi = import_driver("adbc_driver_postgresql.dbapi", "postgres")
    with dbapi.connect(expand_environment(url)) as connection, connection.cursor() as cursor:
        for name, table in tables.items():
            schema, _, table_name = name.rpartition(".")
            cursor.adbc_ingest(table_name, table.empty.to_arrow(), mode="create", db_schema_name=schema or None)
            for piece in table.pieces():
                cursor.adbc_ingest(table_name, piece.to_arrow(), mode="append", db_schema_name=schema or None)
        for name, columns in indexes.items():
            cursor.execute(f"CREATE INDEX ON {quote_table(name)} ({', '.join(map(quote_column_name, columns))})")
        connection.commit()


def _write_sqlite(
    url: str, tables: dict[str, ExportTable], indexes: dict[str, tuple[str, ...]], path: Path | None
) -> None:
    import sqlite3
    from contextlib import closing

    with closing(
        sqlite3.connect(path or parse_database_path(url, must_exist=False), isolation_level=None)
    ) as connection:
        connection.execute("BEGIN")
        try:
            for name, table in tables.items():
                texts = pl.col(list_text_columns(table)).cast(pl.String)
                schema = table.empty.with_columns(texts).schema
                columns = ", ".join(f"{quote_column_name(c)} {choose_affinity(t)}" for c, t in schema.items())
                connection.execute(f"CREATE TABLE {quote_table(name)} ({columns})")
                marks = ", ".join("?" * len(schema))
                for piece in table.pieces():
                    rows = piece.with_columns(texts).iter_rows()
                    connection.executemany(f"INSERT INTO {quote_table(name)} VALUES ({marks})", rows)
            for name, indexed in indexes.items():
                index_columns = ", ".join(map(quote_column_name, indexed))
                connection.execute(
                    f"CREATE INDEX {quote_column_name(f'{name}_by_group')} ON {quote_column_name(name)} ({index_columns})"
                )
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled it back already
                connection.execute("ROLLBACK")
            raise


def _write_duckdb(
    url: str, tables: dict[str, ExportTable], indexes: dict[str, tuple[str, ...]], path: Path | None
) -> None:
    """Write to DuckDB, which joins by hashing and needs no index."""
    duckdb = import_driver("duckdb", "query")
    with duckdb.connect(str(path or parse_database_path(url, must_exist=False))) as connection:
        connection.begin()
        for name, table in tables.items():
            rows = ArrowStream(table)
            connection.register(READ_RELATION, rows.reader())
            try:  # in one statement: what several insert, DuckDB holds until they are committed
                connection.execute(f"CREATE TABLE {quote_table(name)} AS SELECT * FROM {READ_RELATION}")
            finally:
                rows.raise_error()
            connection.unregister(READ_RELATION)
        connection.commit()
        if path is not None:  # a new file is moved alone: what its log holds must be in it, and closing tells no error
            connection.execute("CHECKPOINT")
    require_checkpointed(path)
