"""Tables from names to classes, and conversion of promises, methods and stages from and to job files and manifests.

`load_*` functions find a class by its name in the catalogue; `make_*` functions make an object from its table in a job
file or manifest; `describe` is the way back. `check_fields` refuses a value that is not of its field's type, by the
field's name. The type is the annotation of the field in the class of the promise, method, stage, column or source; only
for fields annotated `Any` is it in WIDER_FIELD_TYPES. A value of the right type may still be refused by its class,
which checks its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent import catalogue
from reticent.errors import JobError, quote_list, shorten_text, suggest
from reticent.limits import require_moderate_number
from reticent.validation import strip_keyword_suffix
from reticent.validation import strip_keyword_suffix as word

if TYPE_CHECKING:
    from reticent.engines.engine import Engine
    from reticent.methods.base import Method, Stage
    from reticent.models.promise import Promise
    from reticent.recipe.kind import Writer


TypeCheck = Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | Fraction | str) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_number_table(value: Any) -> bool:
    return _is_table(value) and all(_is_number(entry) and not isinstance(entry, str) for entry in value.values())


FIELD_TYPES: dict[str, tuple[str, TypeCheck]] = {
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "str": ("a text", lambda value: isinstance(value, str | Path)),
    "Role": ("a text", lambda value: isinstance(value, str)),
    "Literal": ("a text", lambda value: isinstance(value, str)),
    "int": ("a number", _is_number),
    "float": ("a number", _is_number),
    "Fraction": ("a number", _is_number),
    "Sequence": ("a list", _is_list),
    "tuple": ("a list", _is_list),
    "Mapping": ("a table", _is_table),
    "numbers": ("a table of numbers", _is_number_table),
    "frame": ("a frame", lambda value: hasattr(value, "columns")),  # as a program gives it
    "date": ("a date", lambda value: isinstance(value, date | datetime)),
}
WIDER_FIELD_TYPES = {  # fields whose class accepts more than a job can express
    "population": "str | frame",
    "target": "str | Mapping",
    "domain": "Sequence",
    "bandwidth": "float | Mapping",
    "group_by": "str | Sequence | Mapping",
    "workload": "Mapping",
    "hierarchy": "str | Sequence | Mapping",
    "top": "float | str | date",
    "bottom": "float | str | date",
    "round_to": "float",
    "labels": "str | Mapping",
    "weights": "numbers",
    "missing": "str | Sequence",
}


def list_field_types(field: Field[Any]) -> tuple[str, ...]:
    """List the keys of FIELD_TYPES that make up a field's type."""
    written = WIDER_FIELD_TYPES.get(field.name) or str(field.type)
    parts = re.sub(r"\[.*\]", "", written).split("|")
    return tuple(part.strip() for part in parts if part.strip() != "None")


def check_fields(kind: type, where: str, given: Mapping[str, Any]) -> None:
    """Refuse a value that is not of its field's type, or a number beyond the limit of all parameters."""
    for field in fields(kind):
        name = word(field.name)
        if name not in given:
            continue
        value = given[name]
        types = list_field_types(field)
        if not any(FIELD_TYPES[one][1](value) for one in types):
            wanted = " or ".join(dict.fromkeys(FIELD_TYPES[one][0] for one in types))
            raise JobError(f"{where}: {name} must be {wanted}.", attempt=f"another value for {name}.")
        if not isinstance(value, str) or types == ("Fraction",) or types == ("int",):
            require_moderate_number(value, f"{where}: {name}")


def check_known(where: str, given: Any, known: list[str]) -> None:
    """Refuse a value that is not a table, and keys that are not known."""
    if not isinstance(given, Mapping):
        raise JobError(
            f"{where} must be a table.", attempt=f"a line {where} and below it lines such as {known[0]} = ..."
        )
    for name in given:
        if name not in known:
            raise JobError(f"{where}: {quote_list([name])} is not known.", attempt=suggest(name, known))


MODELS = {name: row.model for name, row in catalogue.PROMISES.items()}
METHODS = {name: row.made_by for name, row in catalogue.METHODS.items()}
STAGES = {name: row.made_by for name, row in catalogue.STAGES.items()}
ENGINES = {name: row.made_by for name, row in catalogue.ENGINES.items()}
WRITERS = {name: row.writer for name, row in catalogue.KINDS.items()}


def _load(table: Mapping[str, str], name: str, what: str) -> Any:
    if not isinstance(name, str) or name not in table:
        raise JobError(f"Unknown {what} {shorten_text(repr(name), 80)}.", attempt=suggest(str(name), table))
    return catalogue.load_object(table[name])


def load_promise_class(name: str) -> type[Promise]:
    return _load(MODELS, name, "promise")


def load_method_class(name: str) -> type[Method]:
    return _load(METHODS, name, "method")


def load_stage_class(name: str) -> type[Stage]:
    return _load(STAGES, name, "preparing stage")


def load_writer(kind: str) -> type[Writer]:
    """Return the class that writes recipes of a release kind."""
    return _load(WRITERS, kind, "release kind")


def load_engine(name: str | Engine) -> Engine:
    """Return the engine of that name, or the engine itself; an engine is no part of any job."""
    return _load(ENGINES, name, "engine") if isinstance(name, str) else name


def make_promise(entry: Mapping[str, Any]) -> Promise:
    """Make a promise from its table in a job file or manifest: {"model": "k-anonymity", "k": 5}."""
    return _make_component(load_promise_class(_get_component_name(entry, "model", MODELS)), entry, "model")


def make_method(entry: Mapping[str, Any] | str) -> Method:
    entry = {"name": entry} if isinstance(entry, str) else entry
    return _make_component(load_method_class(_get_component_name(entry, "name", METHODS)), entry, "name")


def make_stage(entry: Mapping[str, Any]) -> Stage:
    return _make_component(load_stage_class(_get_component_name(entry, "name", STAGES)), entry, "name")


def _get_component_name(entry: Mapping[str, Any], key: str, table: Mapping[str, str]) -> str:
    if not isinstance(entry, Mapping) or key not in entry:
        raise JobError(f"A table lacks {key!r}.", attempt=f"{key} = {suggest('', table)}")
    return entry[key]


def _make_component(kind: Any, entry: Mapping[str, Any], key: str) -> Any:
    field_of = {strip_keyword_suffix(f.name): f.name for f in fields(kind)}
    known = list(field_of)
    given = {name: value for name, value in entry.items() if name != key}
    for name in given:
        if name not in known:
            raise JobError(f"{entry[key]} has no parameter {quote_list([name])}.", attempt=suggest(name, known))
    lacking = [
        strip_keyword_suffix(f.name)
        for f in fields(kind)
        if strip_keyword_suffix(f.name) not in given and _is_required(f)
    ]
    if lacking:
        raise JobError(f"{entry[key]} needs {' and '.join(lacking)}.", attempt=f"{lacking[0]} = ... beside {key}.")
    check_fields(kind, entry[key], given)
    return kind(**{field_of[name]: value for name, value in given.items()})


def _is_required(field: Any) -> bool:
    from dataclasses import MISSING

    return field.default is MISSING and field.default_factory is MISSING


def describe(thing: Any, *, public: bool = False) -> dict[str, Any]:
    """Return the table of a promise, method or stage as a job file has it, without unset options.  `public`: for a manifest."""
    key = "model" if hasattr(thing, "needs_sensitive") else "name"
    found: dict[str, Any] = {key: thing.name}
    if is_dataclass(thing):
        given = {strip_keyword_suffix(f.name): getattr(thing, f.name) for f in fields(thing)}
        found |= {name: convert_to_plain(value, public=public) for name, value in given.items() if value is not None}
    return found


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
