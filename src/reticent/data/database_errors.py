"""Names what a database's error means, without a word of its message: drivers' messages quote values and passwords.

`classify_database_error` sorts an error by the database's own code: the class of PostgreSQL's SQLSTATE, the status of
ADBC where a driver gives no SQLSTATE, SQLite's number, DuckDB's type of exception. `translate_reading_error` and
`translate_writing_error` say the fault in our words; access that is refused is a wrong request (exit 1), a server or
a file that does not answer or is busy is unreachable (exit 6), a full disk is a disk error (exit 74).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from reticent.errors import (
    DiskError,
    OutOfMemory,
    OutputExists,
    ReticentError,
    SourceError,
    SourceUnreachable,
    shorten_text,
)


class DatabaseFault(Enum):
    """What went wrong, in the words of a message that begins with the database's address."""

    ACCESS_DENIED = "refuses access"
    LOGIN_REFUSED = "refuses the login"
    NO_DATABASE = "has no such database"
    NO_SCHEMA = "has no such schema"
    NO_TABLE = "has no such table"
    NO_COLUMN = "does not know a column of the query"
    NO_CONNECTION = "does not answer"
    CONNECTION_LOST = "ended the connection"
    CANCELLED = "cancelled the query"
    FILE_LOCKED = "is in use by another process"
    CONFLICT = "is being changed by another transaction"
    DISK_FULL = "has no room left on its disk"
    DISK_FAILED = "cannot be written: the disk is full, read-only or broken"
    OUT_OF_MEMORY = "ran out of memory"
    LIMIT_EXCEEDED = "stopped at a limit of the server"
    ALREADY_EXISTS = "has a table of that name"
    SYNTAX = "does not understand the query"
    READ_ONLY = "allows reading only"
    BAD_VALUE = "cannot compute the query: a value does not fit"
    NOT_A_DATABASE = "is no database file of that kind"
    UNKNOWN = "refuses"


_SQLSTATES = {
    "42501": DatabaseFault.ACCESS_DENIED,
    "42P01": DatabaseFault.NO_TABLE,
    "42703": DatabaseFault.NO_COLUMN,
    "42P07": DatabaseFault.ALREADY_EXISTS,
    "3D000": DatabaseFault.NO_DATABASE,
    "3F000": DatabaseFault.NO_SCHEMA,
    "25006": DatabaseFault.READ_ONLY,
    "53100": DatabaseFault.DISK_FULL,
    "53200": DatabaseFault.OUT_OF_MEMORY,
    "53300": DatabaseFault.NO_CONNECTION,
    "57014": DatabaseFault.CANCELLED,
    "57P03": DatabaseFault.NO_CONNECTION,
    "55P03": DatabaseFault.CONFLICT,
    "58030": DatabaseFault.DISK_FAILED,
}
"""Codes of PostgreSQL that mean more than their class."""

_SQLSTATE_CLASSES = {
    "08": DatabaseFault.NO_CONNECTION,
    "22": DatabaseFault.BAD_VALUE,
    "28": DatabaseFault.LOGIN_REFUSED,
    "40": DatabaseFault.CONFLICT,
    "42": DatabaseFault.SYNTAX,
    "53": DatabaseFault.LIMIT_EXCEEDED,
    "54": DatabaseFault.LIMIT_EXCEEDED,
    "57": DatabaseFault.CONNECTION_LOST,
}
"""The first two characters of a SQLSTATE, which the SQL standard calls its class."""

_ADBC_STATUSES = {
    4: DatabaseFault.ALREADY_EXISTS,
    11: DatabaseFault.CANCELLED,
    12: DatabaseFault.CANCELLED,
    13: DatabaseFault.LOGIN_REFUSED,
    14: DatabaseFault.ACCESS_DENIED,
}
"""Statuses of ADBC, for errors that come without a SQLSTATE: its driver has none for tables that it makes itself."""

_CONNECTION_PHRASES = {
    r"database .* does not exist": DatabaseFault.NO_DATABASE,
    r"role .* does not exist": DatabaseFault.LOGIN_REFUSED,
    r"not permitted to log in": DatabaseFault.LOGIN_REFUSED,
    r"authentication failed": DatabaseFault.LOGIN_REFUSED,
    r"no password supplied": DatabaseFault.LOGIN_REFUSED,
    r"no pg_hba\.conf entry": DatabaseFault.LOGIN_REFUSED,
    r"permission denied for database": DatabaseFault.ACCESS_DENIED,
}
"""What PostgreSQL says while a connection is opened, where neither code nor status tells more than that it failed."""

_SQLITE_CODES = {
    5: DatabaseFault.FILE_LOCKED,
    6: DatabaseFault.FILE_LOCKED,
    7: DatabaseFault.OUT_OF_MEMORY,
    8: DatabaseFault.DISK_FAILED,
    10: DatabaseFault.DISK_FAILED,
    11: DatabaseFault.NOT_A_DATABASE,
    13: DatabaseFault.DISK_FULL,
    14: DatabaseFault.DISK_FAILED,
    23: DatabaseFault.READ_ONLY,
    26: DatabaseFault.NOT_A_DATABASE,
}

_SQLITE_NAMED_CODES = (1, 17)  # a wrong query; the second if it is the first that its connection is given

_DUCKDB_TYPES = {
    "BinderException": DatabaseFault.NO_COLUMN,
    "ParserException": DatabaseFault.SYNTAX,
    "SyntaxException": DatabaseFault.SYNTAX,
    "PermissionException": DatabaseFault.READ_ONLY,
    "ConversionException": DatabaseFault.BAD_VALUE,
    "OutOfRangeException": DatabaseFault.BAD_VALUE,
    "InvalidInputException": DatabaseFault.BAD_VALUE,
    "TypeMismatchException": DatabaseFault.BAD_VALUE,
    "OutOfMemoryException": DatabaseFault.OUT_OF_MEMORY,
    "ConnectionException": DatabaseFault.FILE_LOCKED,  # this process has the file open, with other settings
    "SerializationException": DatabaseFault.NOT_A_DATABASE,
    "InterruptException": DatabaseFault.CANCELLED,
    "FatalException": DatabaseFault.DISK_FAILED,
    "TransactionException": DatabaseFault.DISK_FAILED,
    "IOException": DatabaseFault.DISK_FAILED,
}

_NAME_PHRASES = {
    r"schema .*does not exist": DatabaseFault.NO_SCHEMA,
    r"(table|relation|view) .*does not exist|no such table": DatabaseFault.NO_TABLE,
    r"column .*does not exist|no such column|referenced column": DatabaseFault.NO_COLUMN,
    r"already exists": DatabaseFault.ALREADY_EXISTS,
    r"syntax error": DatabaseFault.SYNTAX,
    r"read-?only": DatabaseFault.READ_ONLY,
}
"""Words that tell errors of one code, status or type apart; only what they mean is passed on."""

_DUCKDB_FILE_PHRASES = {
    r"could not set lock|conflicting lock": DatabaseFault.FILE_LOCKED,
    r"not a valid duckdb database|older version|newer version": DatabaseFault.NOT_A_DATABASE,
    r"no space left": DatabaseFault.DISK_FULL,
}

_UNREACHABLE_FAULTS = {
    DatabaseFault.NO_DATABASE,
    DatabaseFault.NO_CONNECTION,
    DatabaseFault.CONNECTION_LOST,
    DatabaseFault.CANCELLED,
    DatabaseFault.FILE_LOCKED,
    DatabaseFault.CONFLICT,
}

_ADVICE = {
    DatabaseFault.ACCESS_DENIED: "GRANT SELECT ON the table TO this user, or another user in the address.",
    DatabaseFault.LOGIN_REFUSED: "another user, or its password in PGPASSWORD.",
    DatabaseFault.NO_DATABASE: "the name after the last slash of the address, as the database's own client lists it.",
    DatabaseFault.NO_SCHEMA: "the schema's name as the database's own client lists it; case counts.",
    DatabaseFault.NO_TABLE: "the name as the database's own client lists it, schema.table if need be; case counts.",
    DatabaseFault.NO_COLUMN: "the same query in the database's own client, which names the column.",
    DatabaseFault.NO_CONNECTION: "the same address in the database's own client; then again.",
    DatabaseFault.CONNECTION_LOST: "again; the server was restarted, or somebody ended the connection.",
    DatabaseFault.CANCELLED: "a longer statement_timeout, or a query that reads less.",
    DatabaseFault.FILE_LOCKED: "closing it there, then again; or a copy of the file.",
    DatabaseFault.CONFLICT: "again, when the other transaction has ended.",
    DatabaseFault.DISK_FULL: "more room on the disk of the database.",
    DatabaseFault.DISK_FAILED: "more room, or another disk.",
    DatabaseFault.LIMIT_EXCEEDED: "a query that reads less, or a higher limit on the server.",
    DatabaseFault.ALREADY_EXISTS: "another name.",
    DatabaseFault.SYNTAX: "the same query in the database's own client, which shows the place.",
    DatabaseFault.READ_ONLY: "a query that only reads.",
    DatabaseFault.BAD_VALUE: "the same query in the database's own client, which shows the value.",
    DatabaseFault.NOT_A_DATABASE: "the path of a database file, and the scheme that fits it: sqlite:// or duckdb://.",
    DatabaseFault.UNKNOWN: "the same query in the database's own client.",
}

_WRITING_ADVICE = {
    DatabaseFault.ACCESS_DENIED: "GRANT USAGE, CREATE ON SCHEMA ... TO this user, or another user in the address.",
    DatabaseFault.NO_SCHEMA: "CREATE SCHEMA first, or --table with a schema that is there.",
    DatabaseFault.READ_ONLY: "a server and a transaction that may be written to, or another disk.",
    DatabaseFault.UNKNOWN: "a database that can be written, and a name that its client accepts.",
}


@dataclass(frozen=True)
class DatabaseErrorKind:
    """The fault of an error, and the database's code for it, which holds no value."""

    fault: DatabaseFault
    code: str


def classify_database_error(error: BaseException) -> DatabaseErrorKind:
    """Return what an error of PostgreSQL's driver, of SQLite or of DuckDB means, and the code by which it is known."""
    sqlstate = getattr(error, "sqlstate", None)
    if sqlstate:
        fault = _SQLSTATES.get(sqlstate) or _SQLSTATE_CLASSES.get(sqlstate[:2]) or DatabaseFault.UNKNOWN
        return DatabaseErrorKind(fault, f"SQLSTATE {sqlstate}")
    status = getattr(error, "status_code", None)
    if status is not None:
        return DatabaseErrorKind(_classify_adbc_error(int(status), str(error)), f"{type(error).__name__}")
    number = getattr(error, "sqlite_errorcode", None)
    if number is not None:
        named = _find_phrase(_NAME_PHRASES, str(error)) if number & 0xFF in _SQLITE_NAMED_CODES else None
        fault = named or _SQLITE_CODES.get(number & 0xFF, DatabaseFault.UNKNOWN)
        return DatabaseErrorKind(fault, getattr(error, "sqlite_errorname", f"SQLite error {number}"))
    return DatabaseErrorKind(_classify_duckdb_error(error), type(error).__name__)


def translate_reading_error(error: BaseException, address: str, table: str | None = None) -> ReticentError:
    """Translate an error of a database that was read; `address` is without its password."""
    kind = classify_database_error(error)
    if kind.fault is DatabaseFault.DISK_FAILED:  # it was opened for reading: its file cannot be read
        return SourceUnreachable(
            f"{address} cannot be read: {kind.code}.",
            why="The file is gone, broken, or may not be read by you.",
            attempt="the same address in the database's own client.",
        )
    return _make_error(kind, address, table, "Nothing was read.", _ADVICE.get(kind.fault, ""))


def translate_writing_error(error: BaseException, address: str, table: str | None = None) -> ReticentError:
    """Translate an error of a database that was written to; `address` is without its password."""
    kind = classify_database_error(error)
    if kind.fault is DatabaseFault.ALREADY_EXISTS:
        return OutputExists(
            f"{address} {_name_table(kind.fault, table)}.",
            why="An existing table is never replaced. Nothing was written.",
            attempt="another name.",
        )
    advice = _WRITING_ADVICE.get(kind.fault) or _ADVICE.get(kind.fault, "")
    return _make_error(kind, address, table, "Nothing was written.", advice)


def is_interruption(error: BaseException) -> bool:
    """Tell whether a database's error is its word for a signal that came while it worked: DuckDB has one."""
    return type(error).__name__ == "InterruptException" or (
        isinstance(error, RuntimeError) and "interrupt" in str(error).lower()
    )


def _make_error(
    kind: DatabaseErrorKind, address: str, table: str | None, consequence: str, advice: str
) -> ReticentError:
    what = f"{address} {_name_table(kind.fault, table)}: {kind.code}."
    if kind.fault is DatabaseFault.OUT_OF_MEMORY:
        return OutOfMemory(what, why=consequence)
    if kind.fault in (DatabaseFault.DISK_FULL, DatabaseFault.DISK_FAILED):
        return DiskError(what, why=consequence, attempt=advice)
    error_class = SourceUnreachable if kind.fault in _UNREACHABLE_FAULTS else SourceError
    return error_class(what, why=consequence, attempt=advice)


def _name_table(fault: DatabaseFault, table: str | None) -> str:
    """Say a fault with the table's name, which the request holds and no record does."""
    if table is None:
        return fault.value
    named = shorten_text(repr(table), 80)
    if fault is DatabaseFault.NO_TABLE:
        return f"has no table {named}"
    if fault is DatabaseFault.ALREADY_EXISTS:
        return f"has a table of the name {named}, or of one beside it"
    if fault is DatabaseFault.ACCESS_DENIED:
        return f"refuses access to {named}"
    return fault.value


def _classify_adbc_error(status: int, message: str) -> DatabaseFault:
    """Classify an error of ADBC without a SQLSTATE: one while connecting, or while the driver makes a table."""
    if re.search("failed to connect|could not connect", message, re.IGNORECASE):
        return _find_phrase(_CONNECTION_PHRASES, message) or DatabaseFault.NO_CONNECTION
    if status in _ADBC_STATUSES:
        return _ADBC_STATUSES[status]
    return _find_phrase(_NAME_PHRASES, message) or DatabaseFault.UNKNOWN


def _classify_duckdb_error(error: BaseException) -> DatabaseFault:
    """Classify an error by the type's name; of a file, tell a lock and a full disk from one that cannot be opened."""
    if isinstance(error, OSError):
        return DatabaseFault.DISK_FAILED
    name = type(error).__name__
    if name == "IOException":
        return _find_phrase(_DUCKDB_FILE_PHRASES, str(error)) or DatabaseFault.DISK_FAILED
    if name in ("CatalogException", "BinderException"):
        return _find_phrase(_NAME_PHRASES, str(error)) or _DUCKDB_TYPES.get(name, DatabaseFault.UNKNOWN)
    if name == "TransactionException" and "conflict" in str(error).lower():
        return DatabaseFault.CONFLICT
    return _DUCKDB_TYPES.get(name, DatabaseFault.UNKNOWN)


def _find_phrase(phrases: dict[str, DatabaseFault], message: str) -> DatabaseFault | None:
    return next((fault for words, fault in phrases.items() if re.search(words, message, re.IGNORECASE)), None)
