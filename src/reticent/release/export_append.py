"""Appends a release to tables of a database that several releases share: a column says of which batch a row is.

`append_tables` makes the tables for the first batch and adds rows to them for each later one, in one transaction: all
tables or none. Later batches need the columns and types of the first; a batch that is there already is refused, or
replaced where the caller says so. `NAME_manifest` has the manifest of each batch. Groups are numbered within a batch:
whoever joins two of the tables joins by batch and group.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from reticent.data.database import (
    expand_environment,
    import_driver,
    parse_database_path,
    parse_scheme,
    quote_name,
    quote_table,
)
from reticent.errors import OutputExists, RequestError, quote_list, shorten_text
from reticent.release.export import (
    INDEX_COLUMNS,
    READ_RELATION,
    ArrowStream,
    ExportTable,
    choose_affinity,
    list_text_columns,
    require_checkpointed,
    require_column_names,
    require_table_name,
    translate_writing_errors,
)

BATCH_COLUMN = "batch"
MAX_BATCH_CHARACTERS = 200
_TEMPORARY_TABLE = "reticent_columns_of_the_next_batch"


class AppendTarget(Protocol):
    """A database in one transaction, as appending needs it; `ColumnTypes` are names with the database's types."""

    def has_table(self, name: str) -> bool:
        """Tell whether the database has this table."""

    def list_columns(self, name: str) -> list[tuple[str, str]]:
        """List the columns of a table with their types."""

    def list_expected_columns(self, table: ExportTable) -> list[tuple[str, str]]:
        """List the columns that a table would be made with."""

    def create_table(self, name: str, table: ExportTable, indexed: Sequence[str]) -> None:
        """Make a table without rows, and an index on some columns if the database needs one."""

    def insert_rows(self, name: str, table: ExportTable) -> None:
        """Add the rows to a table."""

    def lock_table(self, name: str) -> None:
        """Keep others from appending until the transaction ends."""

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""

    def commit(self) -> None:
        """End the transaction and keep what it did."""


def append_tables(
    tables: dict[str, ExportTable],
    manifest: str,
    url: str,
    table: str,
    *,
    batch: str,
    batch_column: str = BATCH_COLUMN,
    replace_batch: bool = False,
    path: Path | None = None,
) -> list[str]:
    """Add a release to the tables of `export_tables`, each with a column that holds `batch`; all or none.

    `path` is where a new database file is staged. Returns the tables' names. Raises `OutputExists` where the batch is
    there and is not to be replaced, `RequestError` where tables there have other columns or no batches.
    """
    database = parse_scheme(url)
    require_table_name(table, database, list(tables))
    _require_batch_name(batch, batch_column)
    _require_free_column(tables, batch_column)
    names = {table if len(tables) == 1 else f"{table}_{name}": export_table for name, export_table in tables.items()}
    names[f"{table}_manifest"] = ExportTable.from_frame(pl.DataFrame({"manifest": [manifest]}))
    named_tables = {name: _add_batch_column(entry, batch_column, batch) for name, entry in names.items()}
    require_column_names([entry.empty.columns for entry in named_tables.values()], database)
    indexed = {f"{table}_{name}": (batch_column, *columns) for name, columns in INDEX_COLUMNS.items() if name in tables}
    openers = {"postgresql": _open_postgresql, "sqlite": _open_sqlite, "duckdb": _open_duckdb}
    with translate_writing_errors(url, table), openers[database](url, path) as target:
        _append_batch(target, named_tables, indexed, batch_column, batch, replace_batch)
    return list(named_tables)


def _append_batch(
    target: AppendTarget,
    tables: dict[str, ExportTable],
    indexed: dict[str, tuple[str, ...]],
    batch_column: str,
    batch: str,
    replace_batch: bool,
) -> None:
    present = [name for name in tables if target.has_table(name)]
    if present and len(present) < len(tables):
        raise RequestError(
            f"The database has {quote_list(present)} and not {quote_list(set(tables) - set(present))}.",
            why="Batches are appended to tables that were all made with --append. Nothing was written.",
            attempt="another name.",
        )
    if present:
        manifest_table = list(tables)[-1]
        target.lock_table(manifest_table)
        for name, table in tables.items():
            _require_same_columns(name, target.list_columns(name), target.list_expected_columns(table), batch_column)
        condition = f"{quote_name(batch_column)} = {_quote_literal(batch)}"
        ((count,),) = target.run(f"SELECT count(*) FROM {quote_table(manifest_table)} WHERE {condition}")
        if count and not replace_batch:
            raise OutputExists(
                f"The batch {shorten_text(repr(batch), 80)} is in the tables already.",
                why="Its rows would be there twice. Nothing was written.",
                attempt="--replace-batch (replace_batch=True), or another --batch.",
            )
        for name in tables if count else ():
            target.run(f"DELETE FROM {quote_table(name)} WHERE {condition}")
    for name, table in tables.items():
        if not present:
            target.create_table(name, table, indexed.get(name, ()))
        target.insert_rows(name, table)
    target.commit()


def _require_same_columns(
    name: str, present: Sequence[tuple[str, str]], expected: Sequence[tuple[str, str]], batch_column: str
) -> None:
    """Refuse a table that has other columns than the release, other types, or no column of batches."""
    if list(present) == list(expected):
        return
    types_there = dict(present)
    types_here = dict(expected)
    if batch_column not in types_there:
        why = f"It has no column {batch_column!r}: it was made without --append, or with another --batch-column."
    elif missing := [column for column in types_here if column not in types_there]:
        why = f"It lacks {quote_list(missing)}."
    elif surplus := [column for column in types_there if column not in types_here]:
        why = f"It has {quote_list(surplus)} besides."
    else:
        differing = [column for column, kind in types_here.items() if types_there[column] != kind]
        shown = ", ".join(
            f"{column!r} is {types_there[column]} there and {types_here[column]} here" for column in differing[:4]
        )
        why = f"{shown or 'Its columns have another order'}."
    raise RequestError(
        f"The table {shorten_text(repr(name), 80)} has other columns than this release.",
        why=f"{why} Nothing was written.",
        attempt="another --table, or batches that were published by one job and exported with the same options.",
    )


def _require_batch_name(batch: str, batch_column: str) -> None:
    for what, text in (("batch", batch), ("column of batches", batch_column)):
        if not text.strip() or len(text) > MAX_BATCH_CHARACTERS or not text.isprintable():
            raise RequestError(
                f"The name of the {what} is empty, longer than {MAX_BATCH_CHARACTERS} characters, or not printable.",
                attempt="a day or a week, such as 2024-05-01.",
            )


def _require_free_column(tables: dict[str, ExportTable], batch_column: str) -> None:
    taken = [name for table in tables.values() for name in table.empty.columns if name.lower() == batch_column.lower()]
    if taken:
        raise RequestError(
            f"The release has a column {taken[0]!r}, and so has every batch.",
            why="Nothing was written.",
            attempt="--batch-column (batch_column=) with another name.",
        )


def _add_batch_column(table: ExportTable, name: str, batch: str) -> ExportTable:
    def add(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.select(pl.lit(batch, dtype=pl.String).alias(name), pl.all())

    def pieces() -> Iterator[pl.DataFrame]:
        for piece in table.pieces():
            yield add(piece)

    empty = table.empty.select(pl.lit(batch, dtype=pl.String).alias(name), pl.all()).head(0)
    return ExportTable(empty, pieces)


def _quote_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _split_schema(name: str) -> tuple[str, str]:
    schema, _, table_name = name.rpartition(".")
    return schema, table_name


class _PostgresqlTarget:
    def __init__(self, connection: Any, cursor: Any):
        self._connection = connection
        self._cursor = cursor

    def has_table(self, name: str) -> bool:
        return self.run(f"SELECT to_regclass({_quote_literal(quote_table(name))}) IS NOT NULL") == [(True,)]

    def list_columns(self, name: str) -> list[tuple[str, str]]:
        return self.run(
            "SELECT attname::text, format_type(atttypid, atttypmod)::text FROM pg_attribute "
            f"WHERE attrelid = {_quote_literal(quote_table(name))}::regclass AND attnum > 0 AND NOT attisdropped "
            "ORDER BY attnum"
        )

    def list_expected_columns(self, table: ExportTable) -> list[tuple[str, str]]:
        self._cursor.adbc_ingest(_TEMPORARY_TABLE, table.empty.to_arrow(), mode="create", temporary=True)
        columns = self.list_columns(_TEMPORARY_TABLE)
        self.run(f"DROP TABLE {quote_table(_TEMPORARY_TABLE)}")
        return columns

    def create_table(self, name: str, table: ExportTable, indexed: Sequence[str]) -> None:
        schema, table_name = _split_schema(name)
        self._cursor.adbc_ingest(table_name, table.empty.to_arrow(), mode="create", db_schema_name=schema or None)
        if indexed:
            self.run(f"CREATE INDEX ON {quote_table(name)} ({', '.join(map(quote_name, indexed))})")

    def insert_rows(self, name: str, table: ExportTable) -> None:
        schema, table_name = _split_schema(name)
        for piece in table.pieces():
            self._cursor.adbc_ingest(table_name, piece.to_arrow(), mode="append", db_schema_name=schema or None)

    def lock_table(self, name: str) -> None:
        self.run(f"LOCK TABLE {quote_table(name)} IN SHARE ROW EXCLUSIVE MODE")

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        self._cursor.execute(statement)
        return self._cursor.fetchall() if statement.startswith("SELECT") else []

    def commit(self) -> None:
        self._connection.commit()


class _SqliteTarget:
    def __init__(self, connection: Any):
        self._connection = connection

    def has_table(self, name: str) -> bool:
        return bool(self.list_columns(name))

    def list_columns(self, name: str) -> list[tuple[str, str]]:
        return [(row[1], row[2]) for row in self.run(f"PRAGMA table_info({quote_name(name)})")]

    def list_expected_columns(self, table: ExportTable) -> list[tuple[str, str]]:
        schema = table.empty.with_columns(pl.col(list_text_columns(table)).cast(pl.String)).schema
        return [(column, choose_affinity(dtype)) for column, dtype in schema.items()]

    def create_table(self, name: str, table: ExportTable, indexed: Sequence[str]) -> None:
        columns = ", ".join(f"{quote_name(column)} {kind}" for column, kind in self.list_expected_columns(table))
        self.run(f"CREATE TABLE {quote_name(name)} ({columns})")
        if indexed:
            index = quote_name(f"{name}_by_batch_and_group")
            self.run(f"CREATE INDEX {index} ON {quote_name(name)} ({', '.join(map(quote_name, indexed))})")

    def insert_rows(self, name: str, table: ExportTable) -> None:
        texts = pl.col(list_text_columns(table)).cast(pl.String)
        marks = ", ".join("?" * table.empty.width)
        for piece in table.pieces():
            rows = piece.with_columns(texts).iter_rows()
            self._connection.executemany(f"INSERT INTO {quote_name(name)} VALUES ({marks})", rows)

    def lock_table(self, name: str) -> None:
        """SQLite has one writer, from the beginning of the transaction."""

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement).fetchall()

    def commit(self) -> None:
        self._connection.execute("COMMIT")


class _DuckdbTarget:
    def __init__(self, connection: Any):
        self._connection = connection

    def has_table(self, name: str) -> bool:
        schema, table_name = _split_schema(name)
        in_schema = f"lower({_quote_literal(schema)})" if schema else "lower(current_schema())"
        ((count,),) = self.run(
            "SELECT count(*) FROM information_schema.tables WHERE table_catalog = current_database() "
            f"AND lower(table_schema) = {in_schema} AND lower(table_name) = lower({_quote_literal(table_name)})"
        )
        return bool(count)

    def list_columns(self, name: str) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self.run(f"DESCRIBE SELECT * FROM {quote_table(name)}")]

    def list_expected_columns(self, table: ExportTable) -> list[tuple[str, str]]:
        self._connection.register(READ_RELATION, table.empty.to_arrow())
        columns = self.list_columns(READ_RELATION)
        self._connection.unregister(READ_RELATION)
        return columns

    def create_table(self, name: str, table: ExportTable, indexed: Sequence[str]) -> None:
        """Make the table; DuckDB joins by hashing and needs no index."""
        self._connection.register(READ_RELATION, table.empty.to_arrow())
        self.run(f"CREATE TABLE {quote_table(name)} AS SELECT * FROM {READ_RELATION}")
        self._connection.unregister(READ_RELATION)

    def insert_rows(self, name: str, table: ExportTable) -> None:
        rows = ArrowStream(table)
        self._connection.register(READ_RELATION, rows.reader())
        try:
            self.run(f"INSERT INTO {quote_table(name)} SELECT * FROM {READ_RELATION}")
        finally:
            rows.raise_error()
        self._connection.unregister(READ_RELATION)

    def lock_table(self, name: str) -> None:
        """A DuckDB file has one writing process, and this one writes by one connection."""

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement).fetchall()

    def commit(self) -> None:
        self._connection.commit()


@contextmanager
def _open_postgresql(url: str, path: Path | None) -> Iterator[AppendTarget]:
    dbapi = import_driver("adbc_driver_postgresql.dbapi", "postgres")
    with dbapi.connect(expand_environment(url)) as connection, connection.cursor() as cursor:
        yield _PostgresqlTarget(connection, cursor)


@contextmanager
def _open_sqlite(url: str, path: Path | None) -> Iterator[AppendTarget]:
    import sqlite3

    file = path or parse_database_path(url, must_exist=False)
    with closing(sqlite3.connect(os.fspath(file), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield _SqliteTarget(connection)
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled it back already
                connection.execute("ROLLBACK")
            raise


@contextmanager
def _open_duckdb(url: str, path: Path | None) -> Iterator[AppendTarget]:
    duckdb = import_driver("duckdb", "query")
    with duckdb.connect(str(path or parse_database_path(url, must_exist=False))) as connection:
        connection.begin()
        yield _DuckdbTarget(connection)
        if path is not None:  # a new file is moved alone: what its log holds must be in it
            connection.execute("CHECKPOINT")
    require_checkpointed(path)
