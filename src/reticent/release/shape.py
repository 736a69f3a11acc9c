"""The shapes that fields of a manifest may have; anything else is refused before it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from reticent import limits
from reticent.errors import some
from reticent.release.numbers import DIGITS, fraction

Checker = Callable[[Any], Any]
LENGTH = limits.MAX_TEXT_CHARACTERS
MOST = (1 << 53) - 1  # rows, people and the like: a double counts them exactly
DEPTH = 8  # tables and lists inside a parameter


class Misshapen(ValueError):
    """A value is not of the shape its field has.  The message says what was wanted, never the value.

    `inside` marks a fault of something inside the field, which is a sentence by itself.
    """

    def __init__(self, message: str, *, inside: bool = False):
        super().__init__(message)
        self.inside = inside


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise Misshapen("no text")
    if len(value) > LENGTH:
        raise Misshapen(f"a text of more than {LENGTH:,} characters")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise Misshapen("no text that UTF-8 can write")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Misshapen("neither true nor false")
    return value


def count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Misshapen("no number of rows")
    if value > MOST:
        raise Misshapen(f"a number above {MOST:,}")
    return value


def number(value: Any) -> Any:
    """A finite number, or a text that is one: `0.5`, `"1/3"`."""
    try:
        fraction(value)
    except (TypeError, ValueError, ArithmeticError):
        raise Misshapen(f"no number of at most {DIGITS} digits") from None
    return value


def scalar(value: Any) -> Any:
    if not isinstance(
        value, bool | int | float | str | Decimal | Fraction
    ):  # the last two in promises that are asked for
        raise Misshapen("no single value")
    if isinstance(value, str):
        return text(value)
    return value if isinstance(value, bool) else number(value)


def listed(each: Checker) -> Checker:
    """A list whose entries have one shape."""

    def check(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Misshapen("no list")
        return [each(entry) for entry in value]

    return check


def mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise Misshapen("no table")
    return value


def one_of(*known: str) -> Checker:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise Misshapen(f"none of {', '.join(known)}")
        return value

    return check


def table_of(each: Checker) -> Checker:
    """A table whose entries have one shape."""

    def check(value: Any) -> dict[str, Any]:
        return {text(key): each(entry) for key, entry in mapping(value).items()}

    return check


def either(*shapes: Checker) -> Checker:
    """One of several shapes."""

    def check(value: Any) -> Any:
        for shape in shapes[:-1]:
            try:
                return shape(value)
            except Misshapen:
                continue
        return shapes[-1](value)

    return check


def parameter(value: Any, depth: int = 0) -> Any:
    """What a parameter of a promise, method or stage may be: a value, a list of them, or a table of such."""
    if depth > DEPTH:
        raise Misshapen("nested too deep")
    if isinstance(value, list):
        return [parameter(entry, depth + 1) for entry in value]
    if isinstance(value, dict):
        return {text(key): parameter(entry, depth + 1) for key, entry in value.items()}
    return scalar(value)


def fields(where: str, value: Any, known: Mapping[str, Checker], required: frozenset[str] | set[str]) -> dict[str, Any]:
    """A table with these fields and no other, each of its shape."""
    given = mapping(value)
    extra, lacking = sorted(set(given) - set(known)), sorted(required - set(given))
    if lacking:
        raise Misshapen(f"{where} lacks {', '.join(map(repr, lacking))}", inside=True)
    if extra:
        raise Misshapen(f"{where} has {some(len(extra), 'field', 'that does', 'that do')} not belong", inside=True)
    found = {}
    for name, entry in given.items():
        try:
            found[name] = known[name](entry)
        except Misshapen as error:
            raise Misshapen(str(error) if error.inside else f"{name!r} of {where} is {error}", inside=True) from None
    return found
