"""Explicit name -> class tables, and the exchange of promises, methods and stages with job files and manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

from reticent.errors import JobError, suggest

MODELS = {
    "k-anonymity": "reticent.models.k_anonymity:KAnonymity",
    "probabilistic-l-diversity": "reticent.models.probabilistic_l_diversity:ProbabilisticLDiversity",
    "t-closeness": "reticent.models.t_closeness:TCloseness",
    "beta-likeness": "reticent.models.beta_likeness:BetaLikeness",
}
METHODS = {
    "mondrian": "reticent.methods.mondrian:Mondrian",
}
STAGES: dict[str, str] = {}
WAYS = {
    "generalized": "reticent.recipe.generalized:Generalized",
}


def _load(table: Mapping[str, str], name: str, what: str) -> Any:
    if name not in table:
        raise JobError(f"Unknown {what} {name!r}.", attempt=suggest(str(name), table))
    module, _, attribute = table[name].partition(":")
    return getattr(import_module(module), attribute)


def model(name: str) -> Any:
    return _load(MODELS, name, "promise")


def method(name: str) -> Any:
    return _load(METHODS, name, "method")


def stage(name: str) -> Any:
    return _load(STAGES, name, "preparing stage")


def way(kind: str) -> Any:
    """How recipes of a release kind are written."""
    return _load(WAYS, kind, "release kind")


def promise_from(entry: Mapping[str, Any]) -> Any:
    """A promise from its table in a job file or manifest: {"model": "k-anonymity", "k": 5}."""
    return _made(model(_name(entry, "model", MODELS)), entry, "model")


def method_from(entry: Mapping[str, Any] | str) -> Any:
    entry = {"name": entry} if isinstance(entry, str) else entry
    return _made(method(_name(entry, "name", METHODS)), entry, "name")


def stage_from(entry: Mapping[str, Any]) -> Any:
    return _made(stage(_name(entry, "name", STAGES)), entry, "name")


def _name(entry: Mapping[str, Any], key: str, table: Mapping[str, str]) -> str:
    if key not in entry:
        raise JobError(f"A table lacks {key!r}.", attempt=f"{key} = {suggest('', table)}")
    return entry[key]


def _made(kind: Any, entry: Mapping[str, Any], key: str) -> Any:
    known = [f.name for f in fields(kind)]
    given = {name: value for name, value in entry.items() if name != key}
    for name in given:
        if name not in known:
            raise JobError(f"{entry[key]} has no parameter {name!r}.", attempt=suggest(name, known))
    try:
        return kind(**given)
    except TypeError:
        lacking = [f.name for f in fields(kind) if f.name not in given and _required(f)]
        raise JobError(f"{entry[key]} needs {', '.join(lacking) or 'other parameters'}.") from None


def _required(field: Any) -> bool:
    from dataclasses import MISSING

    return field.default is MISSING and field.default_factory is MISSING


def describe(thing: Any) -> dict[str, Any]:
    """A promise, method or stage as a manifest and a job file say it; unset options are left out."""
    key = "model" if hasattr(thing, "needs_sensitive") else "name"
    found: dict[str, Any] = {key: thing.name}
    if is_dataclass(thing):
        found |= {f.name: plain(getattr(thing, f.name)) for f in fields(thing) if getattr(thing, f.name) is not None}
    return found


def plain(value: Any) -> Any:
    """Exact numbers as JSON and TOML can say them: whole, decimal, or "1/3"."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return int(value)
        decimal = float(value)
        return decimal if Fraction(repr(decimal)) == value else str(value)
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    return value
