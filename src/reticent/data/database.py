"""Tables in databases, by URL: PostgreSQL (through ADBC), SQLite and DuckDB.

    postgresql://user@host/name        sqlite:///folder/file.db        duckdb:///folder/file.duckdb

A source names a table or holds a query of its own; both are read and nothing else. `require_single_query` refuses a
query that is more than one statement or does not begin as a reading one, before a database is opened, so that the
message can name the fault. What a query may do is enforced by the databases themselves, which are opened for reading
only.

A password belongs in the environment (PGPASSWORD, PGPASSFILE, PGSERVICEFILE, or `${NAME}` in the URL), not in a job
file; a password in the URL is left out of every message and every stored job.
"""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import polars as pl

from reticent.data.database_errors import is_interruption, translate_reading_error
from reticent.data.parsing import parse_exact_numbers
from reticent.errors import SourceError, SourceUnreachable, pluralize, shorten_text, suggest
from reticent.exact_arithmetic import MAX_EXACT_INTEGER
from reticent.redaction import redact

if TYPE_CHECKING:
    import sqlite3

SCHEMES = ("postgresql", "sqlite", "duckdb")
QUERY_KEYWORDS = ("SELECT", "WITH", "VALUES", "TABLE", "FROM")
_LEADING_PATTERN = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_QUOTED_PATTERN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/", re.DOTALL)


def read_database(url: str, table: str | None = None, query: str | None = None) -> pl.DataFrame:
    """Read the rows of a table or query. Drivers' errors quote values, so they are not passed on."""
    statement = build_select(table, query)
    if query is not None:
        require_single_query(query)
    reader = {"postgresql": _read_postgresql, "sqlite": _read_sqlite, "duckdb": _read_duckdb}[parse_scheme(url)]
    try:
        return reader(expand_environment(url), statement)
    except (SourceError, ImportError):
        raise
    except Exception as error:
        if is_interruption(error):
            raise KeyboardInterrupt from None
        raise translate_reading_error(error, redact(url), table) from None


def require_single_query(query: str) -> None:
    """Refuse a query that does not read, or is several statements."""
    leading = _LEADING_PATTERN.match(query)  # always a match: that of nothing at least
    first_word = re.match(r"\w*", query[leading.end() if leading else 0 :])
    word = first_word[0].upper() if first_word else ""
    if word not in QUERY_KEYWORDS:
        raise SourceError(
            "The query of [source] does not ask for rows.",
            why=f"A source is only read, and a query begins with one of {', '.join(QUERY_KEYWORDS)}.",
            attempt='query = "SELECT age, illness FROM people".',
        )
    bare = _QUOTED_PATTERN.sub(lambda part: " " if part[0].startswith(("--", "/*")) else "''", query)
    statements = [part for part in bare.split(";") if part.strip()]
    if len(statements) > 1:
        raise SourceError(
            f"The query of [source] has {len(statements)} statements.",
            why="A source is read by one.",
            attempt="a view or a WITH clause in place of the first ones.",
        )


def parse_scheme(url: str) -> str:
    """Return the kind of database that a URL names."""
    name = url.partition("://")[0].lower()
    if name == "postgres":
        name = "postgresql"
    if name not in SCHEMES:
        raise SourceError(
            f"The database {shorten_text(repr(name), 80)} is not supported.", attempt=suggest(name, SCHEMES)
        )
    return name


def build_select(table: str | None, query: str | None) -> str:
    """Return the statement that reads a table, or the query as it is."""
    if (table is None) == (query is None):
        raise SourceError("A database source needs a table or a query, and not both.", attempt='table = "people".')
    return f"SELECT * FROM {quote_table(table)}" if table is not None else str(query)


def quote_table(table: str) -> str:
    """Quote a table's name for SQL; `schema.table` is two names."""
    return ".".join(map(quote_name, table.split(".")))


def quote_name(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def expand_environment(url: str) -> str:
    """Replace `${NAME}` in a URL by that environment variable, escaped for a URL."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise SourceError(
                f"The URL refers to the environment variable {match[1]}, which is not set.",
                attempt=f"export {match[1]}=...",
            )
        return quote(os.environ[match[1]], safe="")

    return re.sub(r"\$\{(\w+)\}", value, url)


def open_sqlite_readonly(path: Path) -> sqlite3.Connection:
    """Open a database without changing or creating it.

    Statements can only read: none attaches, creates or sets anything.
    """
    import sqlite3

    allowed_actions = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}

    def authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
        is_function = action == sqlite3.SQLITE_FUNCTION and second != "load_extension"
        return sqlite3.SQLITE_OK if action in allowed_actions or is_function else sqlite3.SQLITE_DENY

    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
    connection.set_authorizer(authorize)
    return connection


def open_duckdb_readonly(path: Path) -> Any:
    """Open a database for reading, without access to any other file or to variables of this program."""
    settings = {"enable_external_access": "false", "lock_configuration": "true", "python_enable_replacements": "false"}
    return import_driver("duckdb", "query").connect(str(path), read_only=True, config=settings)


def parse_database_path(url: str, *, must_exist: bool = True) -> Path:
    """Return the file of a SQLite or DuckDB URL: three slashes before a relative path, four before an absolute one."""
    path = Path(url.partition("://")[2].removeprefix("/"))
    if must_exist and not path.exists():
        raise SourceUnreachable(
            f"There is no database file at {url}.", attempt=f"{parse_scheme(url)}:////absolute/path.db (four slashes)."
        )
    if must_exist and not path.is_file():  # a client would wait for somebody to write to a pipe
        raise SourceError(f"{path} is no database file.", attempt="the path of a file.")
    return path


def import_driver(module: str, extra: str) -> Any:
    """Import an optional package; refuse with the extra that installs it if it is not there."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise SourceError(
            f"The package {module.split('.')[0]!r} is not installed.", attempt=f"pip install 'reticent[{extra}]'."
        ) from None


def _read_postgresql(url: str, statement: str) -> pl.DataFrame:
    """Read in a read-only transaction; the driver prepares its statement, and PostgreSQL prepares no more than one."""
    dbapi = import_driver("adbc_driver_postgresql.dbapi", "postgres")
    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute(statement.rstrip().rstrip(";") + "\n")  # the driver puts it into parentheses
        table = cursor.fetch_arrow_table()
        frame = pl.DataFrame(_unwrap_extension_types(table))
        return frame.with_columns(parse_exact_numbers(frame[name]) for name in _list_numeric_columns(table.schema))


def _read_sqlite(url: str, statement: str) -> pl.DataFrame:
    with closing(open_sqlite_readonly(parse_database_path(url))) as connection:
        frame = pl.read_database(statement, connection, infer_schema_length=None)
        _require_exact_integers(connection, statement, frame)
        return frame


def _read_duckdb(url: str, statement: str) -> pl.DataFrame:
    with open_duckdb_readonly(parse_database_path(url)) as connection:
        kinds = [parsed.type.name for parsed in connection.extract_statements(statement)]
        if kinds != ["SELECT"]:
            raise SourceError(
                f"The query of [source] is {pluralize(len(kinds), 'statement', 'that does', 'that do')} not only read."
            )
        return connection.sql(statement).pl()


def _unwrap_extension_types(table: Any) -> Any:
    """Convert columns of PostgreSQL's own types to plain text."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if isinstance(field.type, pa.BaseExtensionType):
            table = table.set_column(position, field.name, table.column(position).cast(field.type.storage_type))
    return table


def _list_numeric_columns(schema: Any) -> list[str]:
    """List columns of PostgreSQL's type numeric, which arrive as opaque texts with as many digits as were written."""
    import pyarrow as pa

    return [
        field.name
        for field in schema
        if isinstance(field.type, pa.BaseExtensionType) and getattr(field.type, "type_name", "") == "numeric"
    ]


def _require_exact_integers(connection: sqlite3.Connection, statement: str, frame: pl.DataFrame) -> None:
    """Refuse a SQLite column that holds integers and fractions if doubles would make different integers equal.

    Integers beyond 2^53 are not exact as doubles.
    """
    for name, dtype in frame.schema.items():
        if not dtype.is_float() or not (frame[name].abs() > MAX_EXACT_INTEGER).any():
            continue
        inner = statement.rstrip().rstrip(";") + "\n"
        large = f"typeof({quote_name(name)}) = 'integer' AND abs({quote_name(name)}) > {MAX_EXACT_INTEGER}"
        (rows,) = connection.execute(f"SELECT count(*) FROM ({inner}) WHERE {large}").fetchone()
        if rows:
            raise SourceError(
                f"Column {name!r} holds fractions, and {pluralize(rows, 'whole number')} with too many digits.",
                why="As numbers of one type they would be rounded, and different values could become one.",
                attempt="CAST(... AS TEXT) in a query.",
            )
