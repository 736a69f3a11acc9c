"""Reads a job from TOML, and checks every field before anything is computed.

The reader checks first the size of the whole file, then the type of each field; then each class checks the meaning of
its own values. `ErrorCollector` gathers the faults of all parts, so that a job file can be corrected in one go. A path
in a job file is relative to the job file, unless it exists only relative to the working directory (`resolve_path`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from reticent import registry
from reticent.data.columns import Column
from reticent.data.source import Source
from reticent.errors import JobError, RequestError, quote_list
from reticent.job.job import Job, Output
from reticent.limits import MAX_JOB_FILE_BYTES, require_moderate_job
from reticent.models.rational_bounds import flag
from reticent.registry import check_fields, check_known


class ErrorCollector:
    """Collects the errors of several parts of a request.

    Wrap each part in `with errors.collect():`; `raise_all` raises all errors as one, or the only one as it is.
    """

    def __init__(self) -> None:
        self.errors: list[RequestError] = []

    @contextmanager
    def collect(self) -> Iterator[None]:
        try:
            yield
        except RequestError as error:
            self.errors.append(error)

    def raise_all(self) -> None:
        if len(self.errors) == 1:
            raise self.errors[0] from None
        if self.errors:
            kind = type(self.errors[0]) if len({type(error) for error in self.errors}) == 1 else JobError
            kind = JobError if kind.__init__ is not RequestError.__init__ else kind
            raise kind(f"{len(self.errors)} faults:\n" + "\n".join(f"- {error}" for error in self.errors)) from None


def resolve_paths_relative_to(value: Any, key: str, beside: Path | None) -> Any:
    """Resolve a path, or every path under a `key` of a table ("*": under any), at any depth."""
    if isinstance(value, str) and not key:
        return resolve_path(value, beside)
    if not isinstance(value, Mapping):
        return value

    def resolve_entry(name: str, inner: Any) -> Any:
        if key in (name, "*") and isinstance(inner, str):
            return resolve_path(inner, beside)
        return resolve_paths_relative_to(inner, key, beside) if key else inner

    return {name: resolve_entry(name, inner) for name, inner in value.items()}


def resolve_path(path: str, beside: Path | None) -> str:
    given = Path(path)
    try:
        lies_here = beside is not None and (not (beside / given).exists() and given.exists())
    except (OSError, ValueError):
        raise JobError(
            "A path in the job is none that a file can have.",
            why=f"It has {len(path):,} characters.",
            attempt="a shorter path.",
        ) from None
    if given.is_absolute() or beside is None or lies_here:
        return str(given)
    return str(beside / given)


_LONG_DOTTED_NAME = re.compile(r"""(?:[\w"'-]{1,64}[ \t]?\.[ \t]?){100}""")
JOB_PARTS = ["source", "columns", "promise", "prepare", "method", "release", "jointly"]


def read_job(path: str | Path) -> Job:
    """Read a job from a TOML file; relative paths in it are relative to it."""
    path = Path(path)
    return parse_job(_parse_toml(path, _read_job_text(path)), beside=path.parent)


def _read_job_text(path: Path) -> str:
    try:
        with open(path, "rb") as handle:
            content = handle.read(MAX_JOB_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "the name is none that a file can have"
        raise JobError(
            f"The job file {path} cannot be read: {why}.", attempt="`reticent init DATA`, which drafts one."
        ) from None
    if len(content) > MAX_JOB_FILE_BYTES:
        raise JobError(
            f"The job file {path} has more than {MAX_JOB_FILE_BYTES:,} bytes.", attempt="a file for each hierarchy."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise JobError(f"The job file {path} is not UTF-8.") from None


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    if _LONG_DOTTED_NAME.search(text):  # a name of 100,000 parts takes hours to read
        raise JobError(f"The job file {path} has a name of too many parts.", attempt="a job as init drafts it.")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise JobError(f"The job file {path} is not valid TOML.", why=str(error)) from None
    except RecursionError:
        raise JobError(
            f"The job file {path} has too many lists or tables within each other.", attempt="a job as init drafts it."
        ) from None
    except (ValueError, ArithmeticError):  # Python's own limit on the digits of a number
        raise JobError(f"The job file {path} holds a number or a date that cannot be read.") from None


def parse_job(table: Mapping[str, Any], beside: Path | None = None) -> Job:
    check_known("the job", table, JOB_PARTS)
    require_moderate_job(table)
    for name in ("promise", "prepare"):
        if not isinstance(table.get(name, []), list):
            raise JobError(f"[{name}] must be a list.", attempt=f"[[{name}]] with two brackets.")
    if not isinstance(table.get("columns", {}), Mapping):
        raise JobError("[columns] must be a table.", attempt='lines such as age = "quasi-identifying".')
    return Job(**_parse_parts(table, beside))


def _parse_parts(table: Mapping[str, Any], beside: Path | None) -> dict[str, Any]:
    """Parse the parts of a job from their tables; the faults of all parts are raised together."""
    gathered = ErrorCollector()
    found: dict[str, Any] = {"columns": {}, "promises": [], "prepare": [], "method": None}
    with gathered.collect():
        found["source"] = _parse_source(table.get("source", {}), beside)
    for name, entry in table.get("columns", {}).items():
        with gathered.collect():
            found["columns"][name] = _parse_column(name, entry, beside)
    for entry in table.get("promise", []):
        with gathered.collect():
            found["promises"].append(
                _parse_component(registry.make_promise, registry.load_promise_class, entry, beside)
            )
    for entry in table.get("prepare", []):
        with gathered.collect():
            found["prepare"].append(registry.make_stage(entry))
    with gathered.collect():
        if "method" in table:
            found["method"] = _parse_component(
                registry.make_method, registry.load_method_class, table["method"], beside
            )
    with gathered.collect():
        found["release"] = _parse_dataclass(Output, "[release]", table.get("release", {}))
    with gathered.collect():
        found["jointly"] = flag(table.get("jointly", False), "jointly")
    gathered.raise_all()
    return found


def _parse_dataclass(kind: type, where: str, table: Mapping[str, Any]) -> Any:
    check_known(where, table, [f.name for f in fields(kind)])
    check_fields(kind, where, table)
    return kind(**table)


def _parse_source(table: Mapping[str, Any], beside: Path | None) -> Source:
    source: Source = _parse_dataclass(Source, "[source]", table)
    return replace(source, path=resolve_path(source.path, beside)) if source.path else source


def _parse_column(name: str, table: Any, beside: Path | None) -> Column:
    if isinstance(table, str):
        table = {"role": table}
    where = f"column {quote_list([name])}"
    check_known(where, table, [f.name for f in fields(Column)])
    if "role" not in table:
        raise JobError(
            f"{where} has no role.",
            attempt='role = "quasi-identifying", "sensitive", "identifying" or "insensitive".',
        )
    check_fields(Column, where, table)
    try:
        column = Column(**table)
    except JobError as error:
        raise JobError(f"Column {quote_list([name])}: {error.what}", why=error.why, attempt=error.attempt) from None
    if isinstance(column.hierarchy, str):
        column = replace(column, hierarchy=resolve_path(column.hierarchy, beside))
    return column


def _parse_component(make: Callable[[Any], Any], kind: Callable[[str], Any], entry: Any, beside: Path | None) -> Any:
    """Make a promise or method; the paths that it names (`paths` of its class) are resolved relative to the job file."""
    if not isinstance(entry, Mapping):
        return make(entry)
    name = entry.get("model", entry.get("name"))
    paths = getattr(kind(name), "paths", ()) if isinstance(name, str) else ()
    for path in paths:
        field, _, key = path.partition(".")
        if field in entry:
            entry = {**entry, field: resolve_paths_relative_to(entry[field], key, beside)}
    return make(entry)
