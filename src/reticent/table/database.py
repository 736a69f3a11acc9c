"""Tables in databases, by URL: PostgreSQL (through ADBC), SQLite and DuckDB.

    postgresql://user@host/name        sqlite:///folder/file.db        duckdb:///folder/file.duckdb

with a table's name or a query of one's own.  A password belongs in the environment (PGPASSWORD, ~/.pgpass), not in a job file;
one that stands in the URL is left out of every message and every stored job.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import SourceError, shortened, suggest

SCHEMES = ("postgresql", "sqlite", "duckdb")


def is_url(text: str) -> bool:
    return "://" in text


def redacted(url: str) -> str:
    """The URL without its password."""
    return re.sub(r"(://[^:/@]*):[^@/]*@", r"\1@", url)


def scheme(url: str) -> str:
    found = url.partition("://")[0].lower()
    name = {"postgres": "postgresql"}.get(found, found)
    if name not in SCHEMES:
        raise SourceError(f"The database {shortened(repr(name), 80)} is not supported.", attempt=suggest(name, SCHEMES))
    return name


def select(table: str | None, query: str | None) -> str:
    if (table is None) == (query is None):
        raise SourceError("A database source needs a table or a query, and not both.", attempt='table = "people".')
    return f"SELECT * FROM {quoted(table)}" if table is not None else str(query)


def quoted(table: str) -> str:
    """A table's name as SQL takes it; `schema.table` is two names."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in table.split("."))


def read(url: str, table: str | None = None, query: str | None = None) -> pl.DataFrame:
    """The rows of a table or query.  Errors of the drivers quote values: theirs are not passed on."""
    statement = select(table, query)
    reader = {"postgresql": _postgresql, "sqlite": _sqlite, "duckdb": _duckdb}[scheme(url)]
    try:
        return reader(url, statement)
    except (SourceError, ImportError):
        raise
    except Exception as error:
        raise SourceError(
            f"Reading from {redacted(url)} failed: {type(error).__name__}.",
            why="The database is not there, the table or query is wrong, or access is refused.",
            attempt="the same query in the database's own client.",
        ) from None


def _postgresql(url: str, statement: str) -> pl.DataFrame:
    dbapi = driver("adbc_driver_postgresql.dbapi", "postgres")
    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return pl.DataFrame(_plain(cursor.fetch_arrow_table()))


def _plain(table: Any) -> Any:
    """PostgreSQL's numeric arrives as an opaque text: read it as the number it is."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if isinstance(field.type, pa.BaseExtensionType):
            text = table.column(at).cast(field.type.storage_type)
            numeric = getattr(field.type, "type_name", "") == "numeric"
            table = table.set_column(at, field.name, text.cast(pa.float64()) if numeric else text)
    return table


def _sqlite(url: str, statement: str) -> pl.DataFrame:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(f"file:{path_of(url)}?mode=ro", uri=True)) as connection:
        return pl.read_database(statement, connection, infer_schema_length=None)


def _duckdb(url: str, statement: str) -> pl.DataFrame:
    duckdb = driver("duckdb", "query")
    with duckdb.connect(str(path_of(url)), read_only=True) as connection:
        return connection.sql(statement).pl()


def path_of(url: str, *, there: bool = True) -> Path:
    """The file of a SQLite or DuckDB URL: three slashes before a relative path, four before an absolute one."""
    path = Path(url.partition("://")[2].removeprefix("/"))
    if there and not path.exists():
        raise SourceError(
            f"There is no database file {path}.", attempt=f"{scheme(url)}:////absolute/path.db (four slashes)."
        )
    return path


def driver(module: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise SourceError(
            f"The package {module.split('.')[0]!r} is not installed.", attempt=f"pip install 'reticent[{extra}]'."
        ) from None
