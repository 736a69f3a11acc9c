"""Checks of plain values: texts, switches, numbers, lists and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from math import inf
from numbers import Real
from typing import Any

from reticent.door.entering import Check, kind_of, optional, refuse
from reticent.errors import JobError, RequestError, suggest
from reticent.limits import refuse_immoderate


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise refuse(name, "a text", value, f'{name} = "...".')
    return value


def flag(value: Any, name: str) -> bool:
    """A switch as its author wrote it: anything but true and false is refused, "false" above all."""
    if not isinstance(value, bool):
        raise JobError(f"{name} must be true or false; it is {kind_of(value)}.")
    return value


def whole(value: Any, name: str) -> int:
    """A whole number, NumPy's too."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise refuse(name, "a whole number", value, f"{name} = 1.")
    return value.__index__()


def wholes(value: Any, name: str) -> list[int]:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping) or hasattr(value, "columns"):
        raise refuse(name, "a list of whole numbers", value, f"{name} = [10, 4, 2, 1, 1].")
    return [whole(one, name) for one in value]


def share(value: Any, name: str) -> Fraction:
    """A number from 0 to 1, exactly as it was written."""
    refuse_immoderate(value, name)
    try:
        found = Fraction(repr(value) if isinstance(value, float) else value)
        if not isinstance(value, bool) and 0 <= found <= 1:
            return found
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        pass
    raise JobError(f"{name} must be a share, from 0 to 1.", attempt=f"{name} = 0.2.")


def seconds(value: Any, name: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf:
        return float(value)
    raise refuse(name, "a number of seconds", value, f"{name} = 10.")


def called(value: Any, name: str) -> Any:
    if isinstance(value, type) or not callable(value):
        raise refuse(name, "a function", value, f"leaving {name} out.")
    return value


def names(value: Any, name: str) -> list[str]:
    """Names of columns, methods or texts; one alone may stand by itself."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list | tuple | set | frozenset) or not all(isinstance(one, str) for one in value):
        raise refuse(name, "a list of texts", value, f'{name} = ["...", "..."].')
    return list(value)


def a_list(value: Any, name: str) -> list[Any]:
    """Values of whatever type; a text alone is one value, not its letters."""
    other = isinstance(value, str | bytes | Mapping | type) or hasattr(value, "columns")
    if other or not isinstance(value, Iterable):
        raise refuse(name, "a list of values", value, f"{name} = [...].")
    return list(value)


def marks(value: Any, name: str) -> tuple[str, ...]:
    """Texts that mean missing."""
    return tuple(names(value, name))


def table(value: Any, name: str) -> Mapping[str, Any]:
    """A mapping whose keys are texts."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise refuse(name, "a mapping from names", value, f'{name} = {{"column": ...}}.')
    return value


def options(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Words that a function takes for one of several parts: each must be one that the part knows."""
    listed = list(known)
    for word in given:
        if word not in listed:
            raise RequestError(f"{what} has no option {word!r}.", attempt=suggest(word, listed) if listed else "")


def weights(value: Any, name: str) -> Mapping[str, Any]:
    """How much each column matters: a finite number of 0 or more for each that is named."""
    for column, weight in table(value, name).items():
        if isinstance(weight, bool) or not isinstance(weight, Real | Decimal) or not 0 <= float(weight) < float("inf"):
            raise JobError(f"The weight of {column!r} must be a number >= 0.", attempt="1 for an ordinary column.")
    return value


_TYPED: dict[str, Check] = {
    "str": text,
    "bool": flag,
    "str | None": optional(text),
    "bool | None": optional(flag),
    "Mapping[str, float] | None": optional(weights),
    "Mapping[str, object] | None": optional(weights),
}


def typed(parameters: Any) -> None:
    """The plain fields of a promise, method or column: texts are texts, and switches are true or false."""
    for field in fields(parameters):
        if check := _TYPED.get(str(field.type)):
            check(getattr(parameters, field.name), field.name)
