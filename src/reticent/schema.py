"""A JSON Schema of the job file, so that an editor completes and checks a job while it is written.

It is made from what a job is made of: the dataclasses of columns, source and output, and the catalogue's promises,
methods and stages.  `python -m reticent.schema` prints it; docs/job.schema.json is that output.  A schema knows names and
types; whether a promise can be kept, `reticent check` says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields
from typing import Any

from reticent import limits, registry
from reticent.job import Output
from reticent.table.roles import ALIASES, TYPES, Column, Role
from reticent.table.source import Source

EXACT: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?(\s*/\s*[0-9]+)?\s*$"},
    ]
}
KNOWN: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "str": {"type": "string"},
    "float": EXACT,
    "Fraction": EXACT,
}
CHOICES: dict[tuple[type, str], dict[str, Any]] = {
    (Column, "role"): {"enum": [*(role.value for role in Role), *ALIASES]},
    (Column, "type"): {"enum": list(TYPES)},
    (Column, "missing"): {"enum": ["refuse", "category"]},
    (Column, "hierarchy"): {"type": ["string", "array", "object"]},
    (Output, "undeclared"): {"enum": ["refuse", "drop"]},
    (Output, "format"): {"enum": ["parquet", "csv"]},
    (Output, "part_rows"): {"type": "integer", "minimum": limits.PART_ROWS},
}
"""What a field takes, where its type says too little."""


def job_schema() -> dict[str, Any]:
    """The schema of a job file."""
    column = _table(Column, required=("role",))
    promises = [_named("model", name, registry.model(name)) for name in registry.MODELS]
    methods = [_named("name", name, registry.method(name)) for name in registry.METHODS]
    stages = [_named("name", name, registry.stage(name)) for name in registry.STAGES]
    parts = {
        "source": _table(Source),
        "columns": {
            "type": "object",
            "additionalProperties": {"anyOf": [CHOICES[Column, "role"], column]},
            "minProperties": 1,
        },
        "promise": {"type": "array", "items": {"oneOf": promises}},
        "prepare": {"type": "array", "items": {"oneOf": stages}},
        "method": {"oneOf": [{"enum": list(registry.METHODS)}, *methods]},
        "release": _table(Output),
        "jointly": {"type": "boolean"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A job of reticent: what to publish, what to promise, and by which method",
        **_closed(parts, ("columns", "promise")),
    }


def _table(kind: type, required: Iterable[str] = ()) -> dict[str, Any]:
    shown = {f.name: CHOICES.get((kind, f.name)) or _type(f) for f in fields(kind)}
    return {"description": _first_line(kind), **_closed(shown, required)}


def _named(key: str, name: str, kind: Any) -> dict[str, Any]:
    """A promise, method or stage: its name and its parameters."""
    parameters = {registry.word(f.name): _type(f) for f in fields(kind)}
    required = [registry.word(f.name) for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    return {"description": _first_line(kind), **_closed({key: {"const": name}, **parameters}, (key, *required))}


def _closed(properties: dict[str, Any], required: Iterable[str]) -> dict[str, Any]:
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": list(required)} if required else {})


def _type(field: Field[Any]) -> dict[str, Any]:
    """What a field's annotation allows; anything where it is not made of plain types alone."""
    written = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
    parts = [part.strip() for part in written.split("|") if part.strip() != "None"]
    if not parts or any(part not in KNOWN for part in parts):
        return {}
    return KNOWN[parts[0]] if len(parts) == 1 else {"anyOf": [KNOWN[part] for part in parts]}


def _first_line(kind: Any) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0] if kind.__doc__ else ""


def written() -> str:
    """The schema as a file holds it."""
    return json.dumps(job_schema(), indent=1, ensure_ascii=False) + "\n"


def main(write: Callable[[str], Any] = sys.stdout.write) -> None:
    write(written())


if __name__ == "__main__":
    main()
