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
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from reticent import catalogue, registry
from reticent.catalogue import Field, MethodRow, PromiseRow, RowTable
from reticent.data.columns import Column
from reticent.data.source import Source
from reticent.errors import JobError, RequestError, quote_list
from reticent.job.description import About
from reticent.job.job import Job, Output
from reticent.limits import MAX_JOB_FILE_BYTES, require_moderate_job
from reticent.plugins import load_plugin_if_named
from reticent.registry import check_known, check_types
from reticent.validation import flag

_LONG_DOTTED_NAME = re.compile(r"""(?:[\w"'-]{1,64}[ \t]?\.[ \t]?){100}""")


def read_job(path: str | Path) -> Job:
    """Read a job from a TOML file; relative paths in it are relative to it."""
    path = Path(path)
    return parse_job(_parse_toml(path, _read_job_text(path)), beside=path.parent)


def parse_job(table: Mapping[str, Any], beside: Path | None = None) -> Job:
    check_known("the job", table, catalogue.JOB_TABLES["job"].fields)
    require_moderate_job(table)
    for name in ("promise", "prepare"):
        if not isinstance(table.get(name, []), list):
            raise JobError(f"[{name}] must be a list.", attempt=f"[[{name}]] with two brackets.")
    if not isinstance(table.get("columns", {}), Mapping):
        raise JobError("[columns] must be a table.", attempt='lines such as age = "quasi-identifying".')
    return Job(**_parse_parts(table, beside))


def resolve_field_paths(field: Field, value: Any, beside: Path | None) -> Any:
    """Resolve the paths in a value of a field: the texts where the field has a file, at any depth."""
    if field.kind == "file":
        return resolve_path(value, beside) if isinstance(value, str) else value
    if field.kind == "either":
        for alternative in field.alternatives:
            value = resolve_field_paths(alternative, value, beside)
        return value
    if not isinstance(value, Mapping):
        return value
    if field.kind == "table" and field.each is not None:
        return {name: resolve_field_paths(field.each, entry, beside) for name, entry in value.items()}
    if field.kind in ("record", "variant"):
        return {
            name: resolve_field_paths(field.fields[name], entry, beside) if name in field.fields else entry
            for name, entry in value.items()
        }
    return value


def resolve_path(path: str, beside: Path | None) -> str:
    resolved = Path(path)
    try:
        is_in_working_folder = beside is not None and (not (beside / resolved).exists() and resolved.exists())
    except (OSError, ValueError):
        raise JobError(
            "A path in the job is none that a file can have.",
            why=f"It has {len(path):,} characters.",
            attempt="a shorter path.",
        ) from None
    if resolved.is_absolute() or beside is None or is_in_working_folder:
        return str(resolved)
    return str(beside / resolved)


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


def _parse_parts(table: Mapping[str, Any], beside: Path | None) -> dict[str, Any]:
    """Parse the parts of a job from their tables; the faults of all parts are raised together."""
    errors = ErrorCollector()
    parts: dict[str, Any] = {"columns": {}, "promises": [], "prepare": [], "method": None}
    with errors.collect():
        parts["source"] = _parse_source(table.get("source", {}), beside)
    for name, entry in table.get("columns", {}).items():
        with errors.collect():
            parts["columns"][name] = _parse_column(name, entry, beside)
    for entry in table.get("promise", []):
        with errors.collect():
            load_plugin_if_named("promises", entry.get("model") if isinstance(entry, Mapping) else None)
            parts["promises"].append(_parse_component(registry.make_promise, catalogue.PROMISES, entry, beside))
    for entry in table.get("prepare", []):
        with errors.collect():
            parts["prepare"].append(registry.make_stage(entry))
    with errors.collect():
        if "method" in table:
            method = table["method"]
            load_plugin_if_named("methods", method.get("name") if isinstance(method, Mapping) else method)
            parts["method"] = _parse_component(registry.make_method, catalogue.METHODS, method, beside)
    with errors.collect():
        parts["release"] = _parse_table("release", Output, table.get("release", {}))
    with errors.collect():
        if "about" in table:
            parts["about"] = _parse_table("about", About, table["about"])
    with errors.collect():
        parts["jointly"] = flag(table.get("jointly", False), "jointly")
    errors.raise_all()
    return parts


def _parse_source(table: Mapping[str, Any], beside: Path | None) -> Source:
    source: Source = _parse_table("source", Source, table)
    return replace(source, path=resolve_path(source.path, beside)) if source.path else source


def _parse_column(name: str, table: Any, beside: Path | None) -> Column:
    if isinstance(table, str):
        table = {"role": table}
    where = f"column {quote_list([name])}"
    known = catalogue.JOB_TABLES["column"].fields
    check_known(where, table, known)
    if "role" not in table:
        raise JobError(
            f"{where} has no role.",
            attempt='role = "quasi-identifying", "sensitive", "identifying" or "insensitive".',
        )
    check_types(known, where, table)
    try:
        column = Column(**table)
    except JobError as error:
        raise JobError(f"Column {quote_list([name])}: {error.what}", why=error.why, attempt=error.attempt) from None
    if isinstance(column.hierarchy, str):
        column = replace(column, hierarchy=resolve_path(column.hierarchy, beside))
    return column


def _parse_component(
    make: Callable[[Any], Any],
    rows: RowTable[PromiseRow] | RowTable[MethodRow],
    entry: Any,
    beside: Path | None,
) -> Any:
    """Make a promise or method; the files that it names are resolved relative to the job file."""
    if not isinstance(entry, Mapping):
        return make(entry)
    name = entry.get("model", entry.get("name"))
    row = rows.find(name) if isinstance(name, str) else None
    if row is None:
        return make(entry)
    return make(
        {
            parameter: resolve_field_paths(row.fields[parameter], value, beside) if parameter in row.fields else value
            for parameter, value in entry.items()
        }
    )


def _parse_table(name: str, kind: type, table: Mapping[str, Any]) -> Any:
    """Make the object of a table [name] of the job."""
    known = catalogue.JOB_TABLES[name].fields
    check_known(f"[{name}]", table, known)
    check_types(known, f"[{name}]", table)
    return kind(**table)
