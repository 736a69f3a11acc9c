"""Tables from names to classes, and conversion of promises, methods and stages from and to job files and manifests.

`load_*` functions find a class by its name in the catalogue (that of a plugin only once a job or an argument has loaded
it: `reticent.plugins`); `make_*` functions make an object from its table in a job
file or manifest; `describe` is the way back. `check_types` refuses a value that is not of its field's type, by the
field's name: what a job file may hold of each kind of field is in `_JOB_TYPES`. A value of the right type may still be
refused by its class, which checks its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reticent import catalogue, plugins
from reticent.catalogue import Field, MethodRow, PromiseRow, RowTable
from reticent.errors import JobError, quote_list, shorten_text, suggest
from reticent.limits import require_moderate_number
from reticent.validation import add_keyword_suffix, strip_keyword_suffix

if TYPE_CHECKING:
    from reticent.engines.engine import Engine
    from reticent.methods.base import Method, Stage
    from reticent.models.promise import Promise
    from reticent.recipe.kind import Writer

Row = TypeVar("Row")
_JOB_TYPES: dict[str, tuple[str, ...]] = {
    "number": ("a number",),
    "whole": ("a number",),
    "integer": ("a number",),
    "float": ("a number",),
    "decimal": ("a number",),
    "flag": ("true or false",),
    "text": ("a text",),
    "line": ("a text",),
    "path": ("a text",),
    "column": ("a text",),
    "value": ("a text",),
    "file": ("a text", "a frame"),
    "list": ("a list",),
    "table": ("a table",),
    "weights": ("a table of numbers",),
    "record": ("a table",),
    "variant": ("a table",),
    "grid": ("a list",),
    "range": ("a list",),
    "end": ("a number", "a text", "a date"),
    "matrix": ("a table",),
    "hierarchy": ("a text", "a list", "a table"),
    "labels": ("a text", "a table"),
}


def load_promise_class(name: str) -> type[Promise]:
    return catalogue.load_object(_find_row(catalogue.PROMISES, name, "promise").model)


def load_method_class(name: str) -> type[Method]:
    return catalogue.load_object(_find_row(catalogue.METHODS, name, "method").made_by)


def load_stage_class(name: str) -> type[Stage]:
    return catalogue.load_object(_find_row(catalogue.STAGES, name, "preparing stage").made_by)


def load_writer(kind: str) -> type[Writer]:
    """Return the class that writes recipes of a release kind."""
    return catalogue.load_object(_find_row(catalogue.KINDS, kind, "release kind").writer)


def load_engine(name: str | Engine) -> Engine:
    """Return the engine of that name, or the engine itself; an engine is no part of any job."""
    if not isinstance(name, str):
        return name
    plugins.load_plugin_if_named("engines", name)
    return catalogue.load_object(_find_row(catalogue.ENGINES, name, "engine").made_by)


def make_promise(entry: Mapping[str, Any]) -> Promise:
    """Make a promise from its table in a job file or manifest: {"model": "k-anonymity", "k": 5}."""
    name = _get_component_name(entry, "model", catalogue.PROMISES)
    return _make_component(load_promise_class(name), catalogue.PROMISES[name], entry, "model")


def make_method(entry: Mapping[str, Any] | str) -> Method:
    """Make a method from its name, or from its table: {"name": "mondrian", "cuts": "median"}."""
    table = {"name": entry} if isinstance(entry, str) else entry
    name = _get_component_name(table, "name", catalogue.METHODS)
    return _make_component(load_method_class(name), catalogue.METHODS[name], table, "name")


def make_stage(entry: Mapping[str, Any]) -> Stage:
    """Make a preparing stage from its table: {"name": "suppression", "l": 3}."""
    name = _get_component_name(entry, "name", catalogue.STAGES)
    return _make_component(load_stage_class(name), catalogue.STAGES[name], entry, "name")


def describe(thing: Any, *, public: bool = False) -> dict[str, Any]:
    """Return the table of a promise, method or stage as a job file has it, without unset options.  `public`: for a manifest."""
    key = "model" if hasattr(thing, "needs_sensitive") else "name"
    table: dict[str, Any] = {key: thing.name}
    if is_dataclass(thing):
        values = {strip_keyword_suffix(each.name): getattr(thing, each.name) for each in fields(thing)}
        table |= {name: convert_to_plain(value, public=public) for name, value in values.items() if value is not None}
    return table


def convert_to_plain(value: Any, *, public: bool = False) -> Any:
    """Convert exact numbers to what JSON and TOML can hold: an integer, a decimal, or "1/3"; of a public path only the last part."""
    if isinstance(value, Decimal) or (
        isinstance(value, Number) and not isinstance(value, bool | int | float | Fraction)
    ):
        value = Fraction(str(value))  # as it was written in a job file, or a NumPy number
    if isinstance(value, Fraction):
        if value == int(value):
            return int(value)
        decimal = float(value)
        return decimal if Fraction(repr(decimal)) == value else str(value)
    if isinstance(value, Path):
        return value.name if public else str(value)
    if hasattr(value, "named"):
        return convert_to_plain(value.named, public=public)
    if isinstance(value, Mapping):
        return {key: convert_to_plain(entry, public=public) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [convert_to_plain(entry, public=public) for entry in value]
    return value if isinstance(value, bool | int | float | str | None) else f"a {type(value).__name__}"


def check_known(where: str, table: Any, known: Iterable[str]) -> None:
    """Refuse a value that is not a table, and keys that are not known."""
    names = list(known)
    if not isinstance(table, Mapping):
        is_section = where.startswith("[")
        heading = f"a line {where} and below it lines such as" if is_section else "a table such as"
        example = f"{names[0]} = ..." if is_section else f"{{ {names[0]} = ... }}."
        raise JobError(f"{where} must be a table.", attempt=f"{heading} {example}")
    for name in table:
        if name not in names:
            raise JobError(f"{where}: {quote_list([name])} is not known.", attempt=suggest(name, names))


def check_types(known: Mapping[str, Field], where: str, table: Mapping[str, Any]) -> None:
    """Refuse a value that is not of its field's type, or a number beyond the limit of all parameters."""
    for name, field in known.items():
        if name not in table:
            continue
        value = table[name]
        types = list_job_types(field)
        if not any(_TYPE_CHECKS[type_name](value) for type_name in types):
            allowed_types = " or ".join(types)
            raise JobError(
                f"{where}: {name} must be {allowed_types}.", attempt=field.attempt or f"{allowed_types} for {name}."
            )
        if not isinstance(value, str) or (types == ("a number",) and field.kind != "float"):
            require_moderate_number(value, f"{where}: {name}")


def list_job_types(field: Field) -> tuple[str, ...]:
    """List the types that a job file may have for a field, as words: "a number", "a table"."""
    if field.kind == "choice":
        has_numbers = any(isinstance(choice, int) for choice in field.choices)
        return ("a text", "a number") if has_numbers else ("a text",)
    if field.kind != "either":
        return _JOB_TYPES[field.kind]
    types: dict[str, None] = {}
    for alternative in field.alternatives:
        for type_name in list_job_types(alternative):
            if type_name != "a text" or "a number" not in types:  # a number may be written as a text
                types[type_name] = None
    return tuple(types)


def _find_row(rows: Mapping[str, Row], name: str, what: str) -> Row:
    """Find the row of a name; one that is not known is refused with those that are."""
    row = None
    if isinstance(name, str):
        row = rows.find(name) if isinstance(rows, RowTable) else rows.get(name)
    if row is None:
        raise JobError(f"Unknown {what} {shorten_text(repr(name), 80)}.", attempt=suggest(str(name), rows))
    return row


def _get_component_name(entry: Mapping[str, Any], key: str, rows: Mapping[str, Any]) -> str:
    if not isinstance(entry, Mapping) or key not in entry:
        raise JobError(f"A table lacks {key!r}.", attempt=f"{key} = {suggest('', rows)}")
    return entry[key]


def _make_component(kind: Any, row: PromiseRow | MethodRow, entry: Mapping[str, Any], key: str) -> Any:
    """Make an object of its class from its table; the row has the parameters that it may and must have."""
    component = entry[key]
    parameters = {name: value for name, value in entry.items() if name != key}
    for name in parameters:
        if name not in row.fields:
            raise JobError(f"{component} has no parameter {quote_list([name])}.", attempt=suggest(name, row.fields))
    lacking = [name for name, field in row.fields.items() if field.required and name not in parameters]
    if lacking:
        raise JobError(f"{component} needs {' and '.join(lacking)}.", attempt=f"{lacking[0]} = ... beside {key}.")
    check_types(row.fields, component, parameters)
    return kind(**{add_keyword_suffix(name): value for name, value in parameters.items()})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | Fraction | str) and not isinstance(value, bool)


def _is_number_table(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        _is_number(entry) and not isinstance(entry, str) for entry in value.values()
    )


_TYPE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "true or false": lambda value: isinstance(value, bool),
    "a text": lambda value: isinstance(value, str | Path),
    "a number": _is_number,
    "a list": lambda value: isinstance(value, list | tuple),
    "a table": lambda value: isinstance(value, Mapping),
    "a table of numbers": _is_number_table,
    "a frame": lambda value: hasattr(value, "columns"),  # as a program passes it
    "a date": lambda value: isinstance(value, date | datetime),
}
