"""The values of a job's columns and the rows that hold each, as the job reads them: what hierarchies are drawn over.

A small file is counted at once; a large one, a folder or a database by a child process (`python -m` this module), whose
result is the counted columns as Arrow.  Counts are kept until the source, or how it is read, changes.  Nothing of a
hierarchy, a promise or a method is asked, so that a job that is not whole yet is counted too.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from reticent.data.columns import Column, Role
from reticent.errors import JobError, ReticentError

if TYPE_CHECKING:
    from reticent.studio.desk import Desk
    from reticent.studio.runs import Run

MAX_KEPT_COUNTS = 8
MEMORY = "column counts"
MEMORY_OF_LIMITS = "limits of column counts"
_PLACEHOLDERS = {"promise": [{"model": "k-anonymity", "k": 2}], "method": {"name": "mondrian"}}


@dataclass(frozen=True, slots=True)
class CountLimits:
    """How large a source is counted while a page waits, and how many values of a column are listed."""

    bytes_at_once: int = 16 * 2**20
    distinct_values: int = 200_000  # beyond them nobody draws a hierarchy


DEFAULT_LIMITS = CountLimits()


@dataclass(frozen=True)
class CountedColumn:
    """A column: its declaration without a hierarchy, its distinct values (a null among them) and the rows of each."""

    name: str
    column: Column
    values: pl.Series
    rows: pl.Series
    distinct: int  # more than there are `values` where these were too many

    @property
    def is_counted(self) -> bool:
        return self.distinct == self.values.len()

    @property
    def row_count(self) -> int:
        return int(self.rows.sum())


@dataclass(frozen=True)
class ColumnCounts:
    """What is known of the columns now: the counts, the work that makes them, or why there are none."""

    columns: Mapping[str, CountedColumn] = field(default_factory=dict)
    run: Run | None = None
    error: ReticentError | None = None
    is_waiting: bool = False  # the source is large, and nobody has asked for counts


def find_column_counts(desk: Desk) -> ColumnCounts:
    """Return the counts of the describing and sensitive columns of the job as it is now."""
    table = desk.job_file.read_table()
    try:
        _read_stripped_job(table, desk.job_file.path.parent)
        key = make_counts_key(desk, table)
        kept = desk.remember(MEMORY)
        limits = desk.remember(MEMORY_OF_LIMITS).get("limits", DEFAULT_LIMITS)
        if key not in kept and _is_small(desk, limits):
            _keep(kept, key, count_columns(table, desk.job_file.path.parent, limits))
    except ReticentError as error:
        return ColumnCounts(error=error)
    if key in kept:
        return ColumnCounts(kept[key])
    run = desk.runs.find(key)
    if run is None:
        return ColumnCounts(is_waiting=True)
    if not run.succeeded or not isinstance(run.result, dict):
        return ColumnCounts(run=run, is_waiting=not run.is_running)
    _keep(kept, key, read_counts(run.result, table, desk.job_file.path.parent))
    return ColumnCounts(kept[key])


def start_counting(desk: Desk) -> None:
    """Start a child that counts the columns of the job as it is now."""
    key = make_counts_key(desk, desk.job_file.read_table())
    desk.remember(MEMORY).pop(key, None)
    desk.runs.start([str(desk.job_file.path)], key, program=("-m", "reticent.studio.column_counts"))


def make_counts_key(desk: Desk, table: Mapping[str, Any]) -> str:
    """Make a key that changes with the source and how its columns are read, and with nothing else of a job."""
    from reticent.studio.desk import sign_file

    source = desk.find_source()
    reading = json.dumps(_strip_job(table), sort_keys=True, default=str)
    return ":".join(
        ["counts", hashlib.sha256(reading.encode()).hexdigest()[:16], "" if source is None else sign_file(source)]
    )


def count_columns(
    table: Mapping[str, Any], beside: Path, limits: CountLimits = DEFAULT_LIMITS
) -> dict[str, CountedColumn]:
    """Read the source of a job, and count the values of its describing and sensitive columns.

    Raises:
        ReticentError: the source or the columns cannot be read as the job says.
    """
    from reticent import registry
    from reticent.data.columns import apply_source_types, has_types, resolve_columns
    from reticent.data.source import collect_frame

    job = _read_stripped_job(table, beside)
    engine: Any = registry.load_engine("local")
    scan = engine.scan(job.source)
    columns = resolve_columns(job.columns, scan.names, "drop")
    if has_types(job.source):
        columns = apply_source_types(columns, scan.rows.collect_schema())
    rows = engine.cast(scan.rows, columns)
    counted = {}
    for name in _list_coded_columns(columns):
        frame = collect_frame(rows.group_by(name).len("rows"), "Counting a column").sort(name)
        distinct = len(frame)
        frame = frame.head(distinct if distinct <= limits.distinct_values else 0)
        values = frame[name].cast(pl.String) if isinstance(frame[name].dtype, pl.Categorical) else frame[name]
        counted[name] = CountedColumn(name, columns[name], values, frame["rows"].cast(pl.Int64), distinct)
    return counted


def write_counts(columns: Mapping[str, CountedColumn]) -> dict[str, Any]:
    """Write counts as what JSON can hold: a column's values and rows as Arrow."""
    written = {}
    for name, counted in columns.items():
        buffer = io.BytesIO()
        frame = pl.DataFrame({"value": counted.values, "rows": counted.rows})
        frame.write_ipc(buffer, compression="zstd")
        written[name] = {"arrow": b64encode(buffer.getvalue()).decode("ascii"), "distinct": counted.distinct}
    return {"columns": written}


def read_counts(result: Mapping[str, Any], table: Mapping[str, Any], beside: Path) -> dict[str, CountedColumn]:
    """Read counts that `write_counts` wrote, with the declarations of the job."""
    declared = _read_stripped_job(table, beside).columns
    columns = {}
    for name, entry in result["columns"].items():
        frame = pl.read_ipc(io.BytesIO(b64decode(entry["arrow"])))
        columns[name] = CountedColumn(name, declared[name], frame["value"], frame["rows"], entry["distinct"])
    return columns


def strip_column(declaration: Any) -> Any:
    """Return the declaration of a column without what does not change how it is read."""
    if not isinstance(declaration, Mapping):
        return declaration
    return {option: value for option, value in declaration.items() if option not in ("hierarchy", "labels")}


def _strip_job(table: Mapping[str, Any]) -> dict[str, Any]:
    columns = table.get("columns", {})
    columns = columns if isinstance(columns, Mapping) else {}
    return {
        "source": table.get("source", {}),
        "columns": {name: strip_column(declaration) for name, declaration in columns.items()},
    }


def _read_stripped_job(table: Mapping[str, Any], beside: Path) -> Any:
    from reticent.job.job import Job

    if not table.get("columns"):
        raise JobError("The job declares no columns yet.", attempt="the screens Data and Columns first.")
    return Job.from_dict({**_strip_job(table), **_PLACEHOLDERS}, beside)


def _list_coded_columns(columns: Mapping[str, Column]) -> list[str]:
    return [name for name, column in columns.items() if column.role in (Role.QUASI, Role.SENSITIVE)]


def _is_small(desk: Desk, limits: CountLimits) -> bool:
    source = desk.find_source()
    return source is not None and source.is_file() and source.stat().st_size <= limits.bytes_at_once


def _keep(kept: dict[str, Any], key: str, columns: Mapping[str, CountedColumn]) -> None:
    kept[key] = columns
    for old in list(kept)[:-MAX_KEPT_COUNTS]:
        del kept[old]


def main(words: list[str]) -> int:
    """Count the columns of the job file that is named, and print them as JSON."""
    import tomllib
    from decimal import Decimal

    path = Path(words[0])
    sys.stderr.write(json.dumps({"stage": "reading and counting the columns"}) + "\n")
    sys.stderr.flush()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        sys.stdout.write(json.dumps(write_counts(count_columns(table, path.parent))))
    except ReticentError as error:
        sys.stdout.write(json.dumps({"error": {"what": error.what, "why": error.why, "try": error.attempt}}))
        return 1
    except (OSError, ValueError):
        sys.stdout.write(json.dumps({"error": {"what": "The job file cannot be read."}}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
