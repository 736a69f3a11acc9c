"""Does the manifest repeat what the job declares?  A forged one may loosen a promise, or flatten a hierarchy it is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from reticent.audit.subject import Subject, described_promise
from reticent.table.bounds_given import is_range
from reticent.table.hierarchy import Hierarchy
from reticent.table.roles import Role


def disagreements(subject: Subject, job: Any) -> tuple[str, ...]:
    """What the manifest says otherwise than the job: promises, the method, stages, and what is declared of columns."""
    found = []
    wanted = [described_promise(promise) for promise in job.promises]
    if [(p.name, _plain(p.parameters)) for p in wanted] != [
        (p.name, _plain(p.parameters)) for p in subject.promises[: len(wanted)]
    ]:
        found.append("the promises are not those of the job")
    if subject.manifest is not None and subject.manifest.method.name != job.method.name:
        found.append("the method is not that of the job")
    stages = [(stage.name, getattr(stage, "kind", None)) for stage in job.prepare]
    if [(stage.name, stage.parameters.get("kind")) for stage in subject.stages] != stages:
        found.append("the stages are not those of the job")
    for entry in subject.columns:
        if (column := job.columns.get(entry.name)) is None:
            continue
        if column.format != entry.format:
            found.append(f"column {entry.name!r} is read by another format than in the job")
        asked = column.labels if column.labels is not None and column.labels.style in ("snapped", "padded") else None
        if asked is not None and entry.labels != asked.plain():
            found.append(f"the labels of {entry.name!r} are not those that the job asks for")
        if column.domain is not None and entry.domain and _same(list(column.domain)) != _same(entry.domain):
            found.append(f"the domain of {entry.name!r} is not the job's")
        if entry.role == Role.SENSITIVE and not _same_domain(column, subject):
            found.append(f"the domain of {entry.name!r} is not the job's")
        if column.role != entry.role:
            found.append(f"column {entry.name!r} has another role than in the job")
        elif entry.role != Role.INSENSITIVE and _given(column.hierarchy) and entry.hierarchy is not None:
            tree = Hierarchy.of(column.hierarchy, entry.name).rows()
            if sorted(tree) != sorted(entry.hierarchy):
                found.append(f"the hierarchy of {entry.name!r} is not the job's")
        elif entry.role == Role.SENSITIVE and _given(column.hierarchy) and entry.type == "categorical":
            found.append(f"the hierarchy of {entry.name!r} is missing")
    return tuple(found)


def _same_domain(column: Any, subject: Subject) -> bool:
    """Whether a sampled release draws from the list of values that the job declares of its sensitive column."""
    if subject.manifest is None or column.domain is None or "domain" in subject.manifest.method.parameters:
        return True
    drawn_from = subject.manifest.own.get("domain")
    if drawn_from is None:
        return True
    if column.hierarchy is not None or column.order is not None:
        return True
    if is_range(column.domain):
        least, greatest = (int(end) for end in column.domain)
        return len(drawn_from) == greatest - least + 1 and {str(least), str(greatest)} <= set(drawn_from)
    return sorted(column.domain) == sorted(drawn_from)


def _given(hierarchy: Any) -> bool:
    """Whether the steward gave a hierarchy; one that is built from data is cut down to what is published."""
    return hierarchy is not None and not isinstance(hierarchy, dict)


def _plain(parameters: Any) -> dict[str, Any]:
    return {name: _same(value) for name, value in parameters.items() if name != "population" and value is not None}


def _same(value: Any) -> Any:
    """A parameter in one form, however it is written: numbers as fractions, of a path its last part, tables by their words."""
    if isinstance(value, Mapping):
        return {str(name): _same(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_same(entry) for entry in value]
    if isinstance(value, Path):
        return value.name
    try:
        return str(value) if isinstance(value, bool) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return str(value)
