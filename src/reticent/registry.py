"""Explicit name -> class tables, and the exchange of promises, methods and stages with job files and manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent import catalogue
from reticent.errors import JobError, listed, shortened, suggest
from reticent.typed import check_fields, word

if TYPE_CHECKING:
    from reticent.engines.engine import Engine
    from reticent.methods.protocols import Method, Stage
    from reticent.models.shapes import Promise
    from reticent.recipe.kind import Writer

MODELS = {name: row.model for name, row in catalogue.PROMISES.items()}
METHODS = {name: row.made_by for name, row in catalogue.METHODS.items()}
STAGES = {name: row.made_by for name, row in catalogue.STAGES.items()}
ENGINES = {name: row.made_by for name, row in catalogue.ENGINES.items()}
WRITERS = {name: row.writer for name, row in catalogue.KINDS.items()}


def _load(table: Mapping[str, str], name: str, what: str) -> Any:
    if not isinstance(name, str) or name not in table:
        raise JobError(f"Unknown {what} {shortened(repr(name), 80)}.", attempt=suggest(str(name), table))
    return catalogue.load(table[name])


def model(name: str) -> type[Promise]:
    return _load(MODELS, name, "promise")


def method(name: str) -> type[Method]:
    return _load(METHODS, name, "method")


def stage(name: str) -> type[Stage]:
    return _load(STAGES, name, "preparing stage")


def writer(kind: str) -> type[Writer]:
    """How recipes of a release kind are written."""
    return _load(WRITERS, kind, "release kind")


def engine(name: str | Engine) -> Engine:
    """The engine of that name, or the engine itself; it is no part of any job."""
    return _load(ENGINES, name, "engine") if isinstance(name, str) else name


def promise_from(entry: Mapping[str, Any]) -> Promise:
    """A promise from its table in a job file or manifest: {"model": "k-anonymity", "k": 5}."""
    return _made(model(_name(entry, "model", MODELS)), entry, "model")


def method_from(entry: Mapping[str, Any] | str) -> Method:
    entry = {"name": entry} if isinstance(entry, str) else entry
    return _made(method(_name(entry, "name", METHODS)), entry, "name")


def stage_from(entry: Mapping[str, Any]) -> Stage:
    return _made(stage(_name(entry, "name", STAGES)), entry, "name")


def _name(entry: Mapping[str, Any], key: str, table: Mapping[str, str]) -> str:
    if not isinstance(entry, Mapping) or key not in entry:
        raise JobError(f"A table lacks {key!r}.", attempt=f"{key} = {suggest('', table)}")
    return entry[key]


def _made(kind: Any, entry: Mapping[str, Any], key: str) -> Any:
    field_of = {word(f.name): f.name for f in fields(kind)}
    known = list(field_of)
    given = {name: value for name, value in entry.items() if name != key}
    for name in given:
        if name not in known:
            raise JobError(f"{entry[key]} has no parameter {listed([name])}.", attempt=suggest(name, known))
    lacking = [word(f.name) for f in fields(kind) if word(f.name) not in given and _required(f)]
    if lacking:
        raise JobError(f"{entry[key]} needs {' and '.join(lacking)}.", attempt=f"{lacking[0]} = ... beside {key}.")
    check_fields(kind, entry[key], given)
    return kind(**{field_of[name]: value for name, value in given.items()})


def _required(field: Any) -> bool:
    from dataclasses import MISSING

    return field.default is MISSING and field.default_factory is MISSING


def describe(thing: Any, *, public: bool = False) -> dict[str, Any]:
    """A promise, method or stage as a job file says it; unset options are left out.  `public`: for a manifest."""
    key = "model" if hasattr(thing, "needs_sensitive") else "name"
    found: dict[str, Any] = {key: thing.name}
    if is_dataclass(thing):
        given = {word(f.name): getattr(thing, f.name) for f in fields(thing)}
        found |= {name: plain(value, public=public) for name, value in given.items() if value is not None}
    return found


def plain(value: Any, *, public: bool = False) -> Any:
    """Exact numbers as JSON and TOML can say them: whole, decimal, or "1/3"; of a public path only its last part."""
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
        return plain(value.named, public=public)
    if isinstance(value, Mapping):
        return {key: plain(entry, public=public) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain(entry, public=public) for entry in value]
    return value if isinstance(value, bool | int | float | str | None) else f"a {type(value).__name__}"
