"""A question answered where the recipient's data lives: the printed SQL, run in a database that `export` wrote to."""

from __future__ import annotations

from contextlib import closing
from math import sqrt
from typing import Any

from reticent.errors import ReticentError, SourceError, SourceUnreachable
from reticent.query.asked import understood
from reticent.query.printed import printed
from reticent.redaction import redacted
from reticent.release.answer import NOTHING, Answer
from reticent.release.manifest import Manifest
from reticent.table.database import driver, duckdb_to_read, is_away, path_of, scheme, sqlite_to_read, with_environment


def ask_at(manifest: Manifest, text: str, url: str, table: str) -> Answer | list[Answer]:
    """The answer from the tables NAME_quasi, NAME_sensitive and NAME_bounds of a database."""
    sql = printed(manifest, text, scheme(url), table)
    try:
        names, rows = _run(url, sql)
    except (ReticentError, ImportError):
        raise
    except Exception as error:
        kind = SourceUnreachable if is_away(error) else SourceError
        raise kind(
            f"{redacted(url)} does not answer: {type(error).__name__}.",
            attempt=f"`reticent export` to it first, with --table {table}.",
        ) from None
    by = understood(text, manifest).by
    answers = [_answer(dict(zip(names, row, strict=True)), by) for row in rows]
    return answers if by else answers[0]


def _answer(row: dict[str, Any], by: tuple[str, ...]) -> Answer:
    keys = {name: row[name] for name in by} or None
    if row.get("lower") is None and row.get("estimate") is None:
        return NOTHING
    if row.get("variance") is not None:
        row["std_error"] = sqrt(max(row["variance"], 0.0))
    return Answer(row.get("estimate"), row.get("lower"), row.get("upper"), row.get("std_error"), keys=keys)


def _run(url: str, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    kind = scheme(url)
    if kind == "postgresql":
        with (
            driver("adbc_driver_postgresql.dbapi", "postgres").connect(with_environment(url)) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(sql)
            table = cursor.fetch_arrow_table()
            return table.column_names, [tuple(row.values()) for row in table.to_pylist()]
    if kind == "sqlite":
        with closing(sqlite_to_read(path_of(url))) as connection:
            cursor = connection.execute(sql)
            return [column[0] for column in cursor.description], cursor.fetchall()
    with duckdb_to_read(path_of(url)) as connection:
        cursor = connection.execute(sql)
        return [column[0] for column in cursor.description], cursor.fetchall()
