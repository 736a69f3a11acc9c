"""A question answered where the recipient's data lives: the printed SQL, run in a database that `export` wrote to."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from math import sqrt
from typing import Any

from reticent.errors import ReticentError, SourceError, SourceUnreachable, some
from reticent.query.asked import Asked, understood
from reticent.query.keys import OTHER
from reticent.query.printed import printed
from reticent.query.separated import separated
from reticent.redaction import redacted
from reticent.release.answer import NOTHING, Answer
from reticent.release.manifest import Manifest
from reticent.table.database import driver, duckdb_to_read, is_away, path_of, scheme, sqlite_to_read, with_environment

BY_THE_NORMAL_LAW = (
    "The interval takes the estimate to be normally distributed, which it is not where few rows, or nearly none or nearly all of them, "
    "are meant. `reticent query` on the folder has the better one, and bounds."
)


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
    asked = understood(text, manifest)
    answers = [_answer(dict(zip(names, row, strict=True)), asked.by) for row in rows]
    if not asked.by:
        return answers[0]
    withheld = separated(asked, manifest).withheld
    if withheld.may:
        answers.append(_rest(asked, withheld.may))
    return answers


def _rest(asked: Asked, withheld: int) -> Answer:
    """The line of all groups without a line of their own, which only withheld rows can be in."""
    keys = dict.fromkeys(asked.by, OTHER)
    if asked.aggregates[0].name == "count":
        return Answer(0, 0, withheld, keys=keys, published=Answer(0, 0, 0), rest=True)
    note = f"There is no bound: {some(withheld, 'row', 'was', 'were')} withheld."
    return Answer(None, keys=keys, published=NOTHING, rest=True, note=note)


def _answer(row: dict[str, Any], by: tuple[str, ...]) -> Answer:
    keys = {name: row[name] for name in by} or None
    published = None
    if "published_estimate" in row:
        published = _numbers(
            {name.removeprefix("published_"): row[name] for name in row if name.startswith("published_")}
        )
    found = _numbers(row)
    if "published_variance" in row and found.lower is not None and found.lower == found.upper:
        found = replace(found, std_error=0.0)  # nothing in it is random
    return replace(found, keys=keys, published=published)


def _numbers(row: dict[str, Any]) -> Answer:
    if row.get("lower") is None and row.get("estimate") is None:
        return NOTHING
    if row.get("variance") is not None:
        row["std_error"] = sqrt(max(row["variance"], 0.0))
    note = BY_THE_NORMAL_LAW if row.get("std_error") else None
    return Answer(row.get("estimate"), row.get("lower"), row.get("upper"), row.get("std_error"), note=note)


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
