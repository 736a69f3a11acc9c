"""Builds a JSON Schema of the job file, so that an editor completes and checks a job while it is written.

It is made from the dataclasses of columns, source and output, and the catalogue's promises, methods and stages.
`python -m reticent.job.schema` prints it; docs/job.schema.json is that output.  A schema knows names and types;
`reticent check` tells whether a promise can be kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields
from typing import Any

from reticent import limits, registry
from reticent.data.columns import COLUMN_TYPES, ROLE_ALIASES, Column, Role
from reticent.data.source import Source
from reticent.job.job import Output

EXACT_NUMBER_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?(\s*/\s*[0-9]+)?\s*$"},
    ]
}
TYPE_SCHEMAS: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "str": {"type": "string"},
    "float": EXACT_NUMBER_SCHEMA,
    "Fraction": EXACT_NUMBER_SCHEMA,
}
FIELD_SCHEMAS: dict[tuple[type, str], dict[str, Any]] = {
    (Column, "role"): {"enum": [*(role.value for role in Role), *ROLE_ALIASES]},
    (Column, "type"): {"enum": list(COLUMN_TYPES)},
    (Column, "missing"): {"enum": ["refuse", "category"]},
    (Column, "hierarchy"): {"type": ["string", "array", "object"]},
    (Output, "undeclared"): {"enum": ["refuse", "drop"]},
    (Output, "format"): {"enum": ["parquet", "csv"]},
    (Output, "part_rows"): {"type": "integer", "minimum": limits.MIN_PART_ROWS},
}
"""What a field takes, where its type says too little."""


def build_job_schema() -> dict[str, Any]:
    """Build the schema of a job file."""
    column = _build_dataclass_schema(Column, required=("role",))
    promises = [_build_component_schema("model", name, registry.load_promise_class(name)) for name in registry.MODELS]
    methods = [_build_component_schema("name", name, registry.load_method_class(name)) for name in registry.METHODS]
    stages = [_build_component_schema("name", name, registry.load_stage_class(name)) for name in registry.STAGES]
    parts = {
        "source": _build_dataclass_schema(Source),
        "columns": {
            "type": "object",
            "additionalProperties": {"anyOf": [FIELD_SCHEMAS[Column, "role"], column]},
            "minProperties": 1,
        },
        "promise": {"type": "array", "items": {"oneOf": promises}},
        "prepare": {"type": "array", "items": {"oneOf": stages}},
        "method": {"oneOf": [{"enum": list(registry.METHODS)}, *methods]},
        "release": _build_dataclass_schema(Output),
        "jointly": {"type": "boolean"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A job of reticent: what to publish, what to promise, and by which method",
        **_close_object(parts, ("columns", "promise")),
    }


def _build_dataclass_schema(kind: type, required: Iterable[str] = ()) -> dict[str, Any]:
    shown = {f.name: FIELD_SCHEMAS.get((kind, f.name)) or _build_field_schema(f) for f in fields(kind)}
    return {"description": _get_first_line(kind), **_close_object(shown, required)}


def _build_component_schema(key: str, name: str, kind: Any) -> dict[str, Any]:
    """Build the schema of a promise, method or stage: its name and its parameters."""
    parameters = {registry.strip_keyword_suffix(f.name): _build_field_schema(f) for f in fields(kind)}
    required = [
        registry.strip_keyword_suffix(f.name)
        for f in fields(kind)
        if f.default is MISSING and f.default_factory is MISSING
    ]
    return {
        "description": _get_first_line(kind),
        **_close_object({key: {"const": name}, **parameters}, (key, *required)),
    }


def _close_object(properties: dict[str, Any], required: Iterable[str]) -> dict[str, Any]:
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": list(required)} if required else {})


def _build_field_schema(field: Field[Any]) -> dict[str, Any]:
    """Return what a field's annotation allows; anything if it is not made of plain types alone."""
    written = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
    parts = [part.strip() for part in written.split("|") if part.strip() != "None"]
    if not parts or any(part not in TYPE_SCHEMAS for part in parts):
        return {}
    return TYPE_SCHEMAS[parts[0]] if len(parts) == 1 else {"anyOf": [TYPE_SCHEMAS[part] for part in parts]}


def _get_first_line(kind: Any) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0] if kind.__doc__ else ""


def format_schema() -> str:
    """Format the schema as its file has it."""
    return json.dumps(build_job_schema(), indent=1, ensure_ascii=False) + "\n"


def main(write: Callable[[str], Any] = sys.stdout.write) -> None:
    write(format_schema())


if __name__ == "__main__":
    main()
