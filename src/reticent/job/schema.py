"""Builds a JSON Schema of the job file, so that an editor completes and checks a job while it is written.

It is made from the fields of the catalogue: names, types, choices, ranges, defaults and what each means. `reticent
schema` and `python -m reticent.job.schema` print it; docs/job.schema.json is that output. `reticent check` tells
whether a promise can be kept.

Where a value may have one of several shapes, the schema says by which key or type the shape is chosen (`if`, `then`), so
that a validator names the key that is wrong instead of all shapes that do not fit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from reticent import catalogue
from reticent.catalogue import Field, JobTableRow, MethodRow, PromiseRow
from reticent.catalogue.fields import MAX_COUNT, MAX_NUMBER
from reticent.plugins import PLUGIN_NAME_PATTERN
from reticent.registry import convert_to_plain

_NUMBER_TEXT_SCHEMA: dict[str, Any] = {
    "type": "string",
    "pattern": r"^\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?(\s*/\s*[0-9]+)?\s*$",
}
PLUGIN_NAME_SCHEMA: dict[str, Any] = {
    "description": "A name that a plugin brings, such as acme:fast.",
    "type": "string",
    "pattern": f"^{PLUGIN_NAME_PATTERN.pattern}$",
}
SCHEMA_ID = "urn:reticent:job"
_SCALAR_SCHEMA: dict[str, Any] = {"not": {"type": ["array", "object"]}}  # a date of TOML is of no type of JSON


def build_job_schema() -> dict[str, Any]:
    """Build the schema of a job file."""
    fields = catalogue.JOB_TABLES["job"].fields
    column = _build_table_schema(catalogue.JOB_TABLES["column"])
    methods = _build_components_schema("name", catalogue.METHODS)
    parts = {
        "source": _build_table_schema(catalogue.JOB_TABLES["source"]),
        "columns": {
            "type": "object",
            "additionalProperties": _choose_by_text(column["properties"]["role"], column),
            "minProperties": 1,
        },
        "promise": {"type": "array", "items": _build_components_schema("model", catalogue.PROMISES)},
        "prepare": {"type": "array", "items": _build_components_schema("name", catalogue.STAGES)},
        "method": _choose_by_text(_choose_names(catalogue.METHODS), methods),
        "release": _build_table_schema(catalogue.JOB_TABLES["release"]),
        "about": _build_table_schema(catalogue.JOB_TABLES["about"]),
        "jointly": build_field_schema(fields["jointly"]),
    }
    properties = {name: {"description": _make_sentence(fields[name].doc)} | part for name, part in parts.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "A job of reticent: what to publish, what to promise, and by which method",
        **_close_object(properties, _list_required(fields)),
    }


def format_schema() -> str:
    """Format the schema as its file has it."""
    return json.dumps(build_job_schema(), indent=1, ensure_ascii=False) + "\n"


def build_field_schema(field: Field) -> dict[str, Any]:
    """Build the schema of one field: what its kind allows, its meaning, and its default."""
    schema = _KIND_SCHEMAS[field.kind](field)
    if field.doc:
        schema = {"description": _describe(field)} | schema
    if field.default is not None and field.default != ():
        schema |= {"default": convert_to_plain(field.default)}
    return schema


def _build_table_schema(row: JobTableRow) -> dict[str, Any]:
    """Build the schema of a table of a job: [source], a column, [release]."""
    properties = {name: build_field_schema(field) for name, field in row.fields.items()}
    return {"description": row.doc, **_close_object(properties, _list_required(row.fields))}


def _build_components_schema(key: str, rows: Mapping[str, PromiseRow] | Mapping[str, MethodRow]) -> dict[str, Any]:
    """Build the schema of a promise, method or stage of any name; its name decides which parameters it has.

    All parameters are listed beside the name, with what they mean, because editors complete by that list.
    """
    parameters: dict[str, Any] = {}
    for row in rows.values():
        for parameter, field in row.fields.items():
            parameters.setdefault(parameter, {"description": _describe(field)} if field.doc else {})
    branches = [
        {
            "if": {"properties": {key: {"const": name}}, "required": [key]},
            "then": _build_component_schema(key, name, row),
        }
        for name, row in rows.items()
    ]
    return {
        "type": "object",
        "properties": {key: _choose_names(rows), **parameters},
        "required": [key],
        "allOf": branches,
    }


def _choose_names(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of a name: ours, or one with a colon, whose plugin knows its parameters; a fault is that of one sort."""
    ours: dict[str, Any] = {"enum": list(rows)}
    if not isinstance(rows, catalogue.RowTable):
        return ours
    return {"if": {"type": "string", "pattern": ":"}, "then": PLUGIN_NAME_SCHEMA, "else": ours}


def _choose_by_text(text_schema: Mapping[str, Any], other_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of a value that is a text, or something else."""
    return {"if": {"type": "string"}, "then": dict(text_schema), "else": dict(other_schema)}


def _build_component_schema(key: str, name: str, row: PromiseRow | MethodRow) -> dict[str, Any]:
    """Build the schema of a promise, method or stage: its name and its parameters."""
    properties = {parameter: build_field_schema(field) for parameter, field in row.fields.items()}
    required = (key, *_list_required(row.fields))
    return {"description": row.doc, **_close_object({key: {"const": name}, **properties}, required)}


def _close_object(properties: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    names = list(required)
    return schema | ({"required": names} if names else {})


def _list_required(fields: Mapping[str, Field]) -> list[str]:
    return [name for name, field in fields.items() if field.required]


def _describe(field: Field) -> str:
    """Describe a field in a sentence, with what is done where it is left out."""
    return _make_sentence(f"{field.doc}. Left out: {field.unset}" if field.unset else field.doc)


def _make_sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _list_bounds(field: Field) -> dict[str, Any]:
    """List the bounds of a number; those that no number in a file reaches are left out."""
    bounds: dict[str, Any] = {}
    if field.least is not None and field.least != -MAX_NUMBER:
        bounds["exclusiveMinimum" if field.above else "minimum"] = _convert_bound(field.least)
    if field.most is not None and field.most not in (MAX_NUMBER, MAX_COUNT):
        bounds["exclusiveMaximum" if field.below else "maximum"] = _convert_bound(field.most)
    return bounds


def _convert_bound(bound: int | Fraction) -> int | float:
    return bound if isinstance(bound, int) else float(bound)


def _build_exact_number_schema(field: Field) -> dict[str, Any]:
    return _choose_by_text(_NUMBER_TEXT_SCHEMA, {"type": "number"} | _list_bounds(field))


def _build_integer_schema(field: Field) -> dict[str, Any]:
    return {"type": "integer"} | _list_bounds(field)


def _build_float_schema(field: Field) -> dict[str, Any]:
    return {"type": "number"} | _list_bounds(field)


def _build_choice_schema(field: Field) -> dict[str, Any]:
    """Build the schema of a choice: a number may be written as a text."""
    words = [word for choice in field.choices for word in dict.fromkeys((choice, str(choice)))]
    return {"enum": [*words, *field.aliases]}


def _build_list_schema(field: Field) -> dict[str, Any]:
    assert field.each is not None, "a list has a type of entries"
    return {"type": "array", "items": build_field_schema(field.each)} | _list_entry_counts(field, "Items")


def _build_map_schema(field: Field) -> dict[str, Any]:
    """Build the schema of a table with an entry of one type for each name."""
    assert field.each is not None, "a table has a type of entries"
    entry = build_field_schema(field.each)
    return {"type": "object", "additionalProperties": entry} | _list_entry_counts(field, "Properties")


def _build_weights_schema(field: Field) -> dict[str, Any]:
    assert field.each is not None, "weights have a type"
    entry = {"type": "number"} | _list_bounds(field.each)
    return {"type": "object", "additionalProperties": entry} | _list_entry_counts(field, "Properties")


def _list_entry_counts(field: Field, noun: str) -> dict[str, int]:
    if field.entries is None:
        return {}
    fewest, most = field.entries
    counts = {f"min{noun}": fewest} if fewest else {}
    return counts | ({f"max{noun}": most} if most != MAX_COUNT else {})


def _build_record_schema(field: Field) -> dict[str, Any]:
    properties = {name: build_field_schema(inner) for name, inner in field.fields.items()}
    return _close_object(properties, _list_required(field.fields))


def _build_variant_schema(field: Field) -> dict[str, Any]:
    properties = {name: build_field_schema(inner) for name, inner in field.fields.items()}
    return _close_object(properties, ()) | {"minProperties": 1, "maxProperties": 1}


def _build_either_schema(field: Field) -> dict[str, Any]:
    schemas = [build_field_schema(alternative) for alternative in field.alternatives]
    texts = [schema for schema in schemas if _describes_texts_only(schema)]
    others = [schema for schema in schemas if schema.get("type") in ("array", "object", "number", "integer", "boolean")]
    if len(texts) == len(others) == 1 and len(schemas) == 2:
        return _choose_by_text(texts[0], others[0])
    return {"anyOf": schemas}


def _describes_texts_only(schema: Mapping[str, Any]) -> bool:
    if "enum" in schema:
        return all(isinstance(value, str) for value in schema["enum"])
    return schema.get("type") == "string"


def _build_labels_schema(field: Field) -> dict[str, Any]:
    row = catalogue.JOB_TABLES["labels"]
    return _choose_by_text(build_field_schema(row.fields["style"]), _build_table_schema(row))


_KIND_SCHEMAS: dict[str, Callable[[Field], dict[str, Any]]] = {
    "number": _build_exact_number_schema,
    "whole": _build_integer_schema,
    "integer": _build_integer_schema,
    "float": _build_float_schema,
    "decimal": _build_exact_number_schema,
    "flag": lambda field: {"type": "boolean"},
    "text": lambda field: {"type": "string"},
    "line": lambda field: {"type": "string", "minLength": 1, "maxLength": field.most},
    "path": lambda field: {"type": "string"},
    "column": lambda field: {"type": "string"},
    "choice": _build_choice_schema,
    "value": lambda field: _SCALAR_SCHEMA,
    "file": lambda field: {"type": "string"},
    "list": _build_list_schema,
    "table": _build_map_schema,
    "weights": _build_weights_schema,
    "record": _build_record_schema,
    "variant": _build_variant_schema,
    "either": _build_either_schema,
    "grid": lambda field: {"type": "array", "minItems": 3, "maxItems": 3},
    "range": lambda field: {"type": "array", "minItems": 2, "maxItems": 2},
    "end": lambda field: _SCALAR_SCHEMA,
    "matrix": lambda field: _close_object({"values": {"type": "array"}, "rows": {"type": "array"}}, ("values", "rows")),
    "hierarchy": lambda field: {"type": ["string", "array", "object"]},
    "labels": _build_labels_schema,
}
"""The schema of each kind of field that a job has."""


def main(write: Callable[[str], Any] = sys.stdout.write) -> None:
    """Print the schema."""
    write(format_schema())


if __name__ == "__main__":
    main()
