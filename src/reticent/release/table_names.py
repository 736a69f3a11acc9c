"""The names that an exported table and its columns can have in each database; others are refused before a file is made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reticent.errors import RequestError, listed, some

LONGEST = {"postgresql": 63, "sqlite": 200, "duckdb": 200}  # bytes; PostgreSQL cuts longer names without a word
RESERVED = ("sqlite_", "duckdb_", "pg_", "information_schema", "temp", "system")
_UNPRINTED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check_name(table: str, database: str, files: Sequence[str]) -> None:
    """Refuse a name that is empty, dotted where there are no schemas, reserved, too long or not to be printed."""
    parts = table.split(".")
    fault = (
        "is empty" if not table.strip()
        else "holds a control character" if _UNPRINTED.search(table)
        else "begins or ends with a blank" if table != table.strip()
        else "has a part that is empty" if not all(part.strip() for part in parts)
        else "has more parts than schema and table" if len(parts) > 2
        else "has a dot, and SQLite has no schemas" if len(parts) > 1 and database == "sqlite"
        else "is reserved by the database" if any(_reserved(part) for part in parts)
        else _too_long(parts, database, files)
    )  # fmt: skip
    if fault:
        raise RequestError(
            f"The table's name {fault}.",
            why="Nothing was written.",
            attempt="--table people, or --table schema.people where the database has that schema.",
        )


def _reserved(part: str) -> bool:
    """A prefix of a database's own tables, or the name of a schema of its own."""
    return any(part.lower().startswith(name) if name.endswith("_") else part.lower() == name for name in RESERVED)


def _too_long(parts: Sequence[str], database: str, files: Sequence[str]) -> str:
    longest = max(len("_manifest"), *(len(f"_{name}") for name in files))
    most = LONGEST[database] - longest
    return f"has more than {most} bytes" if any(len(part.encode()) > most for part in parts) else ""


def check_columns(tables: Iterable[Sequence[str]], database: str) -> None:
    """Refuse columns, of any table, that the database would cut, merge (names that differ in case alone) or not take."""
    for columns in tables:
        folded = [name.lower() if database != "postgresql" else name for name in columns]
        alike = [name for name, small in zip(columns, folded, strict=True) if folded.count(small) > 1]
        bad = [
            name
            for name in columns
            if not name or "\x00" in name or (database == "postgresql" and len(name.encode()) > LONGEST[database])
        ]
        if alike or bad:
            raise RequestError(
                f"{database} cannot have the names of {some(len(alike or bad), 'column')}: {listed(alike or bad)}.",
                why="Names differ in case alone." if alike else "A name is empty, holds a NUL or is too long.",
                attempt="other names in the source, and publishing again.",
            )
