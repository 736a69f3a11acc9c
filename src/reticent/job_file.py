"""Reading a job from TOML: one typed reader, which checks every field before anything is computed.

First the whole of it for its size, then each field for its type, then each class its own values for their meaning.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from reticent import registry
from reticent.errors import JobError, listed
from reticent.gathered import Gathered
from reticent.job import Job, Output
from reticent.limits import FILE, refuse_oversized
from reticent.located import located, lying_beside
from reticent.models.exact import flag
from reticent.table.roles import Column
from reticent.table.source import Source
from reticent.typed import check_fields, check_known

_DOTTED = re.compile(r"""(?:[\w"'-]{1,64}[ \t]?\.[ \t]?){100}""")
PARTS = ["source", "columns", "promise", "prepare", "method", "release", "jointly"]


def read(path: str | Path) -> Job:
    """A job from a TOML file; relative paths in it are relative to it."""
    path = Path(path)
    return job_of(_table(path, _text(path)), beside=path.parent)


def _text(path: Path) -> str:
    try:
        with open(path, "rb") as handle:
            content = handle.read(FILE + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "the name is none that a file can have"
        raise JobError(
            f"The job file {path} cannot be read: {why}.", attempt="`reticent init DATA`, which drafts one."
        ) from None
    if len(content) > FILE:
        raise JobError(f"The job file {path} has more than {FILE:,} bytes.", attempt="a file for each hierarchy.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise JobError(f"The job file {path} is not UTF-8.") from None


def _table(path: Path, text: str) -> dict[str, Any]:
    if _DOTTED.search(text):  # a name of 100,000 parts takes hours to read
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


def job_of(table: Mapping[str, Any], beside: Path | None = None) -> Job:
    check_known("the job", table, PARTS)
    refuse_oversized(table)
    for name in ("promise", "prepare"):
        if not isinstance(table.get(name, []), list):
            raise JobError(f"[{name}] must be a list.", attempt=f"[[{name}]] with two brackets.")
    if not isinstance(table.get("columns", {}), Mapping):
        raise JobError("[columns] must be a table.", attempt='lines such as age = "quasi-identifying".')
    return Job(**_parts(table, beside))


def _parts(table: Mapping[str, Any], beside: Path | None) -> dict[str, Any]:
    """The parts of a job from their tables; the faults of all of them are told at once."""
    gathered = Gathered()
    found: dict[str, Any] = {"columns": {}, "promises": [], "prepare": [], "method": None}
    with gathered.one():
        found["source"] = _source(table.get("source", {}), beside)
    for name, entry in table.get("columns", {}).items():
        with gathered.one():
            found["columns"][name] = _column(name, entry, beside)
    for entry in table.get("promise", []):
        with gathered.one():
            found["promises"].append(_made(registry.promise_from, registry.model, entry, beside))
    for entry in table.get("prepare", []):
        with gathered.one():
            found["prepare"].append(registry.stage_from(entry))
    with gathered.one():
        if "method" in table:
            found["method"] = _made(registry.method_from, registry.method, table["method"], beside)
    with gathered.one():
        found["release"] = _dataclass(Output, "[release]", table.get("release", {}))
    with gathered.one():
        found["jointly"] = flag(table.get("jointly", False), "jointly")
    gathered.settle()
    return found


def _dataclass(kind: type, where: str, table: Mapping[str, Any]) -> Any:
    check_known(where, table, [f.name for f in fields(kind)])
    check_fields(kind, where, table)
    return kind(**table)


def _source(table: Mapping[str, Any], beside: Path | None) -> Source:
    source: Source = _dataclass(Source, "[source]", table)
    return replace(source, path=located(source.path, beside)) if source.path else source


def _column(name: str, table: Any, beside: Path | None) -> Column:
    if isinstance(table, str):
        table = {"role": table}
    where = f"column {listed([name])}"
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
        raise JobError(f"Column {listed([name])}: {error.what}", why=error.why, attempt=error.attempt) from None
    if isinstance(column.hierarchy, str):
        column = replace(column, hierarchy=located(column.hierarchy, beside))
    return column


def _made(make: Callable[[Any], Any], kind: Callable[[str], Any], entry: Any, beside: Path | None) -> Any:
    """A promise or method, the paths that it names (`paths` of its class) lying beside the job file."""
    if not isinstance(entry, Mapping):
        return make(entry)
    name = entry.get("model", entry.get("name"))
    paths = getattr(kind(name), "paths", ()) if isinstance(name, str) else ()
    for path in paths:
        field, _, key = path.partition(".")
        if field in entry:
            entry = {**entry, field: lying_beside(entry[field], key, beside)}
    return make(entry)
