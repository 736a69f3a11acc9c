"""Checks of the things of the field: paths, tables, jobs, promises, hierarchies, ledgers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from reticent.door.entering import a, refuse
from reticent.errors import JobError

LONGEST = 255  # bytes in one part of a path, on the file systems we know

a_job = a("reticent.job.Job", "a job", 'rt.Job(columns={...}, promises=[...]), or rt.Job.read("job.toml").')
an_output = a("reticent.job.Output", "an output", 'rt.Output(format="csv", undeclared="drop").')
a_plan = a("reticent.planning.Plan", "a plan", "what rt.plan(job) returns.")
cells = a("reticent.table.cells.Cells", "counted cells", "what rt.count(job) returns.")


def an_engine(value: Any, name: str) -> Any:
    """The name of an engine, or an engine: what has its verbs."""
    if isinstance(value, str):
        return value
    if isinstance(value, type) or not all(
        hasattr(value, verb) for verb in ("scan", "held", "typed", "look", "count", "tallied", "cut", "apply", "each")
    ):
        raise refuse(name, "the name of an engine", value, f'{name} = "stream", or rt.Spark(master="local[2]").')
    return value


def path(value: Any, name: str) -> Any:
    """A text or a path that a file system can hold."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise refuse(name, "a path", value, f'{name} = "folder/name".')
    spelled = os.fspath(value)
    long = any(len(part.encode("utf-8", "surrogatepass")) > LONGEST for part in spelled.split(os.sep))
    if not spelled or "\0" in spelled or long:
        why = "it is empty" if not spelled else f"a part is longer than {LONGEST} bytes" if long else "it holds a NUL"
        raise JobError(f"{name} is no path: {why}.", attempt=f'{name} = "folder/name".')
    return value


_NO_PLACE = (type, bool, int, float, complex, list, tuple, dict, set, frozenset)


def place(value: Any, name: str) -> Any:
    """A path, or what the function knows besides: a frame, an opened release, a `Source`."""
    if isinstance(value, bytes | str | os.PathLike):
        return path(value, name)
    if isinstance(value, _NO_PLACE) or value is None or callable(value):
        raise refuse(name, "a path or a frame", value, f'{name} = "data.csv", or a pandas, Polars or Arrow table.')
    return value


def promise(value: Any, name: str) -> Any:
    """A promise, or its table as in a job file: never a text, nor a class without its parameters."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type) and hasattr(value, "needs_sensitive"):
        attempt = f"rt.{value.__name__}(...), with its parameters."
        raise JobError(f"{name} holds the class {value.__name__} itself.", attempt=attempt)
    stated = hasattr(value, "needs_sensitive") or hasattr(value, "parameters")
    if isinstance(value, type) or not stated or not isinstance(getattr(value, "name", None), str):
        raise refuse(name, "promises", value, "promises = [rt.KAnonymity(5)].")
    return value


def promises(value: Any, name: str) -> list[Any]:
    """Several promises, or one that stands by itself."""
    if isinstance(value, list | tuple | set | frozenset):
        return [promise(one, name) for one in value]
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) and not hasattr(value, "columns"):
        return [promise(one, name) for one in value]
    return [promise(value, name)]


def a_ledger(value: Any, name: str) -> Any:
    known = a("reticent.owner.ledger.Ledger", "a ledger", "")
    return path(value, name) if isinstance(value, str | bytes | os.PathLike) else known(value, name)


def hierarchy(value: Any, name: str) -> Any:
    """A path, rows, a table that says how to build one, or a `Hierarchy`."""
    rows = isinstance(value, list | tuple) and all(isinstance(row, list | tuple) for row in value)
    if rows or isinstance(value, Mapping):
        return value
    if isinstance(value, str | bytes | os.PathLike):
        return path(value, name)
    attempt = f'{name} = "file.csv", or [["Kiel", "north", "*"], ...].'
    return a("reticent.table.hierarchy.Hierarchy", "a hierarchy", attempt)(value, name)
