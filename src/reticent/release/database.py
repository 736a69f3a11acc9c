"""A release as tables of a database, with its manifest beside it; a failed export leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from reticent.errors import OutputExists, ReticentError, SourceError
from reticent.release.disk import writing
from reticent.release.table_names import check_columns, check_name
from reticent.table.database import driver, path_of, quoted, redacted, scheme

_BESIDE = ("", "-journal", "-wal", "-shm", ".wal", ".tmp")  # what a database keeps beside its file


def write(frames: dict[str, pl.DataFrame], manifest: str, url: str, table: str) -> list[str]:
    """One table per data file (`people`, or `people_quasi` and `people_sensitive`) and `people_manifest`; all or none.

    An existing table is never replaced.  Returns the names of the tables.
    """
    database = scheme(url)
    check_name(table, database, list(frames))
    check_columns(frames, database)
    names = {table if len(frames) == 1 else f"{table}_{name}": frame for name, frame in frames.items()}
    names[f"{table}_manifest"] = pl.DataFrame({"manifest": [manifest]})
    writer = {"postgresql": _postgresql, "sqlite": _sqlite, "duckdb": _duckdb}[database]
    try:
        with _all_or_none(url), writing(redacted(url)):
            writer(url, names)
    except (ReticentError, ImportError):
        raise
    except Exception as error:
        if "exist" in str(error).lower():
            raise OutputExists(
                f"{redacted(url)} has a table of that name, or has no such schema.",
                why="An existing table is never replaced.",
                attempt="another name.",
            ) from None
        raise SourceError(
            f"Writing to {redacted(url)} failed: {type(error).__name__}.",
            why="Nothing was written.",
            attempt="a database file that can be written, and a name that its client accepts.",
        ) from None
    return list(names)


@contextmanager
def _all_or_none(url: str) -> Iterator[None]:
    """A database file that was not there before is removed where the block fails; an existing one rolls back by itself."""
    if scheme(url) == "postgresql":
        yield
        return
    path = path_of(url, there=False)
    if not path.name or path.name.startswith(":") or "\x00" in str(path):
        raise SourceError("The URL names no database file.", attempt=f"{scheme(url)}:///warehouse.db.")
    if there := os.path.lexists(path):
        _refuse_foreign(path)
    try:
        yield
    except BaseException:
        if not there:
            for end in _BESIDE:
                Path(f"{path}{end}").unlink(missing_ok=True)
        raise


def _refuse_foreign(path: Path) -> None:
    if not path.is_file():
        raise SourceError(f"{path} is no database file.", attempt="a file, or a name that is not there yet.")


def _postgresql(url: str, tables: dict[str, pl.DataFrame]) -> None:
    dbapi = driver("adbc_driver_postgresql.dbapi", "postgres")
    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        for name, frame in tables.items():
            schema, _, bare = name.rpartition(".")
            cursor.adbc_ingest(bare, frame.to_arrow(), mode="create", db_schema_name=schema or None)
        connection.commit()


_AFFINITY = {pl.String: "TEXT", pl.Boolean: "INTEGER", pl.Float32: "REAL", pl.Float64: "REAL"}


def _sqlite(url: str, tables: dict[str, pl.DataFrame]) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path_of(url, there=False), isolation_level=None)) as connection:
        connection.execute("BEGIN")
        try:
            for name, held in tables.items():
                frame = _storable(held)
                columns = ", ".join(f"{quoted_name(c)} {_affinity(t)}" for c, t in frame.schema.items())
                connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
                marks = ", ".join("?" * frame.width)
                connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", frame.iter_rows())
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def _storable(frame: pl.DataFrame) -> pl.DataFrame:
    """What SQLite has no type for as text: dates and times, decimals, and whole numbers beyond 2^63."""
    texts = [
        name
        for name, dtype in frame.schema.items()
        if dtype.is_temporal() or dtype.is_decimal() or (dtype == pl.UInt64 and (frame[name] >= 1 << 63).any())
    ]
    return frame.with_columns(pl.col(texts).cast(pl.String))


def quoted_name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _affinity(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "INTEGER"
    return _AFFINITY.get(dtype.base_type(), "TEXT")


def _duckdb(url: str, tables: dict[str, pl.DataFrame]) -> None:
    duckdb = driver("duckdb", "query")
    with duckdb.connect(str(path_of(url, there=False))) as connection:
        connection.begin()
        for at, (name, frame) in enumerate(tables.items()):
            connection.register(f"release_{at}", frame.to_arrow())
            connection.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM release_{at}")
        connection.commit()
