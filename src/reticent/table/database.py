"""Tables in databases, by URL: PostgreSQL (through ADBC), SQLite and DuckDB.

    postgresql://user@host/name        sqlite:///folder/file.db        duckdb:///folder/file.duckdb

with a table's name or a query of one's own, which are read and nothing else.  A password belongs in the environment
(PGPASSWORD, PGPASSFILE, PGSERVICEFILE, or `${NAME}` in the URL), not in a job file; one that stands in the URL is left out
of every message and every stored job.
"""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import polars as pl

from reticent.errors import SourceError, SourceUnreachable, shortened, some, suggest
from reticent.redaction import redacted
from reticent.table.parsing import exact_numbers
from reticent.table.statement import refuse_other

if TYPE_CHECKING:
    import sqlite3

EXACT = 2**53  # whole numbers up to here are exact in double precision
SCHEMES = ("postgresql", "sqlite", "duckdb")


def scheme(url: str) -> str:
    name = {"postgres": "postgresql"}.get(found := url.partition("://")[0].lower(), found)
    if name not in SCHEMES:
        raise SourceError(f"The database {shortened(repr(name), 80)} is not supported.", attempt=suggest(name, SCHEMES))
    return name


def select(table: str | None, query: str | None) -> str:
    if (table is None) == (query is None):
        raise SourceError("A database source needs a table or a query, and not both.", attempt='table = "people".')
    return f"SELECT * FROM {quoted(table)}" if table is not None else str(query)


def quoted(table: str) -> str:
    """A table's name as SQL takes it; `schema.table` is two names."""
    return ".".join(map(quoted_name, table.split(".")))


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read(url: str, table: str | None = None, query: str | None = None) -> pl.DataFrame:
    """The rows of a table or query.  Errors of the drivers quote values: theirs are not passed on."""
    statement = select(table, query)
    if query is not None:
        refuse_other(query)
    reader = {"postgresql": _postgresql, "sqlite": _sqlite, "duckdb": _duckdb}[scheme(url)]
    try:
        return reader(with_environment(url), statement)
    except (SourceError, ImportError):
        raise
    except Exception as error:
        kind = SourceUnreachable if is_away(error) else SourceError
        raise kind(
            f"Reading from {redacted(url)} failed: {type(error).__name__}.",
            why="The database is not there, the table or query is wrong, or access is refused.",
            attempt="the same query in the database's own client.",
        ) from None


def is_away(error: Exception) -> bool:
    """Whether the server did not answer, or refused to; a wrong table or query is another matter."""
    said = str(error).lower()
    return any(
        word in said for word in ("failed to connect", "could not connect", "unable to open", "could not set lock")
    )


def with_environment(url: str) -> str:
    """The URL with `${NAME}` replaced by that environment variable, escaped as a URL needs it."""

    def value(at: re.Match[str]) -> str:
        if at[1] not in os.environ:
            raise SourceError(
                f"The URL refers to the environment variable {at[1]}, which is not set.", attempt=f"export {at[1]}=..."
            )
        return quote(os.environ[at[1]], safe="")

    return re.sub(r"\$\{(\w+)\}", value, url)


def _postgresql(url: str, statement: str) -> pl.DataFrame:
    """In a transaction that cannot write; the driver prepares its statement, and PostgreSQL prepares no more than one."""
    dbapi = driver("adbc_driver_postgresql.dbapi", "postgres")
    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute(statement.rstrip().rstrip(";") + "\n")  # the driver puts it into parentheses
        table = cursor.fetch_arrow_table()
        frame = pl.DataFrame(_plain(table))
        return frame.with_columns(exact_numbers(frame[name]) for name in _numeric_columns(table.schema))


def _plain(table: Any) -> Any:
    """Columns of PostgreSQL's own types as plain text."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if isinstance(field.type, pa.BaseExtensionType):
            table = table.set_column(at, field.name, table.column(at).cast(field.type.storage_type))
    return table


def _numeric_columns(schema: Any) -> list[str]:
    """Those of PostgreSQL's type numeric, which arrive as opaque texts and have as many digits as somebody wrote."""
    import pyarrow as pa

    return [
        field.name
        for field in schema
        if isinstance(field.type, pa.BaseExtensionType) and getattr(field.type, "type_name", "") == "numeric"
    ]


def _sqlite(url: str, statement: str) -> pl.DataFrame:
    with closing(sqlite_to_read(path_of(url))) as connection:
        frame = pl.read_database(statement, connection, infer_schema_length=None)
        _refuse_merged(connection, statement, frame)
        return frame


def _refuse_merged(connection: sqlite3.Connection, statement: str, frame: pl.DataFrame) -> None:
    """A column of SQLite may hold whole numbers and fractions: as doubles, different whole numbers beyond 2^53 would be one."""
    for name, dtype in frame.schema.items():
        if not dtype.is_float() or not (frame[name].abs() > EXACT).any():
            continue
        inner = statement.rstrip().rstrip(";") + "\n"
        large = f"typeof({quoted_name(name)}) = 'integer' AND abs({quoted_name(name)}) > {EXACT}"
        (rows,) = connection.execute(f"SELECT count(*) FROM ({inner}) WHERE {large}").fetchone()
        if rows:
            raise SourceError(
                f"Column {name!r} holds fractions, and {some(rows, 'whole number')} with too many digits.",
                why="As numbers of one type they would be rounded, and different values could become one.",
                attempt="CAST(... AS TEXT) in a query.",
            )


def sqlite_to_read(path: Path) -> sqlite3.Connection:
    """A database that is neither changed nor made, whose statements read: none attaches, creates or sets anything."""
    import sqlite3

    reading = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}

    def allowed(action: int, first: str | None, second: str | None, *_: object) -> int:
        calling = action == sqlite3.SQLITE_FUNCTION and second != "load_extension"
        return sqlite3.SQLITE_OK if action in reading or calling else sqlite3.SQLITE_DENY

    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
    connection.set_authorizer(allowed)
    return connection


def _duckdb(url: str, statement: str) -> pl.DataFrame:
    with duckdb_to_read(path_of(url)) as connection:
        kinds = [one.type.name for one in connection.extract_statements(statement)]
        if kinds != ["SELECT"]:
            raise SourceError(
                f"The query of [source] is {some(len(kinds), 'statement', 'that does', 'that do')} not only read."
            )
        return connection.sql(statement).pl()


def duckdb_to_read(path: Path) -> Any:
    """A database that is not changed, and from which no other file and no variable of this program is reached."""
    shut = {"enable_external_access": "false", "lock_configuration": "true", "python_enable_replacements": "false"}
    return driver("duckdb", "query").connect(str(path), read_only=True, config=shut)


def path_of(url: str, *, there: bool = True) -> Path:
    """The file of a SQLite or DuckDB URL: three slashes before a relative path, four before an absolute one."""
    path = Path(url.partition("://")[2].removeprefix("/"))
    if there and not path.exists():
        raise SourceUnreachable(
            f"There is no database file at {url}.", attempt=f"{scheme(url)}:////absolute/path.db (four slashes)."
        )
    if there and not path.is_file():  # a client would wait for somebody to write to a pipe
        raise SourceError(f"{path} is no database file.", attempt="the path of a file.")
    return path


def driver(module: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise SourceError(
            f"The package {module.split('.')[0]!r} is not installed.", attempt=f"pip install 'reticent[{extra}]'."
        ) from None
