"""A release as tables of a database, with its manifest beside it; a failed export leaves nothing."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import DiskError, OutputExists, ReticentError, SourceError, SourceUnreachable
from reticent.redaction import redacted
from reticent.release.piecewise import Table
from reticent.release.table_names import check_columns, check_name
from reticent.table.database import driver, is_away, path_of, quoted, scheme, with_environment

INDEXES: dict[str, tuple[str, ...]] = {"bounds": ("group", "selected")}
"""Columns by which printed questions look a table up, row by row: SQLite and PostgreSQL would read all of it each time."""


def write(tables: dict[str, Table], manifest: str, url: str, table: str, path: Path | None = None) -> list[str]:
    """One table per data file (`people`, or `people_quasi` and `people_sensitive`) and `people_manifest`; all or none.

    Rows are read and written a piece at a time.  An existing table is never replaced.  `path` is where a new database file
    is staged.  Returns the tables' names.
    """
    database = scheme(url)
    check_name(table, database, list(tables))
    check_columns([one.empty.columns for one in tables.values()], database)
    names = {table if len(tables) == 1 else f"{table}_{name}": one for name, one in tables.items()}
    names[f"{table}_manifest"] = Table.of_frame(pl.DataFrame({"manifest": [manifest]}))
    indexes = {f"{table}_{name}": columns for name, columns in INDEXES.items() if name in tables and len(tables) > 1}
    writer = {"postgresql": _postgresql, "sqlite": _sqlite, "duckdb": _duckdb}[database]
    try:
        writer(url, names, indexes, path)
    except (ReticentError, ImportError):
        raise
    except Exception as error:
        if isinstance(error, RuntimeError) and "interrupt" in str(error).lower():  # DuckDB's word for a signal
            raise KeyboardInterrupt from None
        raise _refusal(error, redacted(url)) from None
    return list(names)


def _refusal(error: Exception, where: str) -> ReticentError:
    """What a database, or the disk it is on, means by an error of its own."""
    if _disk_refuses(error):
        return DiskError(
            f"{where} cannot be written: the disk is full, read-only or broken.",
            why="Nothing was written.",
            attempt="more room, or another disk.",
        )
    if is_away(error):
        return SourceUnreachable(
            f"{where} does not answer, has no such database or refuses access.",
            why="Nothing was written.",
            attempt="the same address in the database's own client.",
        )
    if "exist" in str(error).lower():
        return OutputExists(
            f"{where} has a table of that name, or has no such schema.",
            why="An existing table is never replaced.",
            attempt="another name.",
        )
    return SourceError(
        f"Writing to {where} failed: {type(error).__name__}.",
        why="Nothing was written.",
        attempt="a database file that can be written, and a name that its client accepts.",
    )


def new_file(url: str) -> Path | None:
    """The database file that a URL names and that is not there yet; None of a database that is."""
    if scheme(url) == "postgresql":
        return None
    path = path_of(url, there=False)
    if not path.name or path.name.startswith(":") or "\x00" in str(path):
        raise SourceError("The URL names no database file.", attempt=f"{scheme(url)}:///warehouse.db.")
    if not os.path.lexists(path):
        return path
    if not path.is_file():
        raise SourceError(f"{path} is no database file.", attempt="a file, or a name that is not there yet.")
    return None


def _disk_refuses(error: Exception) -> bool:
    """SQLite numbers what the disk refuses (read-only, failed, full, cannot be opened), DuckDB has a class for it."""
    number = getattr(error, "sqlite_errorcode", None)
    if number is not None:
        return number & 0xFF in (8, 10, 13, 14)
    return isinstance(error, OSError) or type(error).__name__ in (
        "IOException",
        "FatalException",
        "TransactionException",
    )


def _postgresql(
    url: str, tables: dict[str, Table], indexes: dict[str, tuple[str, ...]], path: Path | None = None
) -> None:
    dbapi = driver("adbc_driver_postgresql.dbapi", "postgres")
    with dbapi.connect(with_environment(url)) as connection, connection.cursor() as cursor:
        for name, table in tables.items():
            schema, _, bare = name.rpartition(".")
            cursor.adbc_ingest(bare, table.empty.to_arrow(), mode="create", db_schema_name=schema or None)
            for piece in table.pieces():
                cursor.adbc_ingest(bare, piece.to_arrow(), mode="append", db_schema_name=schema or None)
        for name, columns in indexes.items():
            cursor.execute(f"CREATE INDEX ON {quoted(name)} ({', '.join(map(quoted_name, columns))})")
        connection.commit()


READ = "reticent_rows_read_now"  # what DuckDB knows rows by while it reads them
_AFFINITY = {pl.String: "TEXT", pl.Boolean: "INTEGER", pl.Float32: "REAL", pl.Float64: "REAL"}


def _sqlite(url: str, tables: dict[str, Table], indexes: dict[str, tuple[str, ...]], path: Path | None) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path or path_of(url, there=False), isolation_level=None)) as connection:
        connection.execute("BEGIN")
        try:
            for name, table in tables.items():
                texts = pl.col(_as_texts(table)).cast(pl.String)
                schema = table.empty.with_columns(texts).schema
                columns = ", ".join(f"{quoted_name(c)} {_affinity(t)}" for c, t in schema.items())
                connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
                marks = ", ".join("?" * len(schema))
                for piece in table.pieces():
                    rows = piece.with_columns(texts).iter_rows()
                    connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", rows)
            for name, indexed in indexes.items():
                listed = ", ".join(map(quoted_name, indexed))
                connection.execute(f"CREATE INDEX {quoted_name(f'{name}_by_group')} ON {quoted_name(name)} ({listed})")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled it back already
                connection.execute("ROLLBACK")
            raise


def _as_texts(table: Table) -> list[str]:
    """What SQLite has no type for: dates and times, decimals, and whole numbers of which some are beyond 2^63."""
    schema = table.empty.schema
    large = {name for name, dtype in schema.items() if dtype == pl.UInt64}
    beyond: set[str] = set()
    for piece in table.pieces() if large else ():
        beyond |= {name for name in large - beyond if (piece[name] >= 1 << 63).any()}
    return [name for name, dtype in schema.items() if dtype.is_temporal() or dtype.is_decimal() or name in beyond]


def quoted_name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _affinity(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "INTEGER"
    return _AFFINITY.get(dtype.base_type(), "TEXT")


class _Handed:
    """A table's rows as Arrow hands them on; what goes wrong while they are read is raised after, and not in Arrow's words."""

    def __init__(self, table: Table):
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

    def raise_failed(self) -> None:
        if self._failed is not None and not isinstance(self._failed, GeneratorExit):
            raise self._failed from None


def _duckdb(url: str, tables: dict[str, Table], indexes: dict[str, tuple[str, ...]], path: Path | None) -> None:
    """DuckDB joins by hashing, and needs no index."""
    duckdb = driver("duckdb", "query")
    with duckdb.connect(str(path or path_of(url, there=False))) as connection:
        connection.begin()
        for name, table in tables.items():
            rows = _Handed(table)
            connection.register(READ, rows.reader())
            try:  # in one statement: what several insert, DuckDB holds until they are committed
                connection.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM {READ}")
            finally:
                rows.raise_failed()
            connection.unregister(READ)
        connection.commit()
        if path is not None:  # a new file is moved alone: what its log holds must be in it, and closing tells no error
            connection.execute("CHECKPOINT")
    if path is not None and path.with_name(path.name + ".wal").exists():
        raise OSError(errno.EIO, os.strerror(errno.EIO))
