"""Values around every bound of a field of the catalogue, made from the field itself."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from reticent.catalogue import Field

HAIR = Fraction(1, 10**30)
LONG = 2_000  # entries beyond which a list is not made for a test


def boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    """(value, whether it is allowed) around every bound of a field."""
    return BOUNDARIES_OF_KIND[field.kind](field) if field.kind in BOUNDARIES_OF_KIND else iter(())


def _number_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    step = 1 if field.kind == "whole" else HAIR
    if field.finest is not None:
        yield Fraction(1, field.finest), True
        yield Fraction(1, field.finest + 1), False
        step = Fraction(1, field.finest)
    if field.least is not None:
        yield field.least, not field.above
        yield field.least - step, False
        yield field.least + step, True
    if field.most is not None:
        yield field.most, not field.below
        yield field.most + step, False
        yield field.most - step, True
    yield [1], False
    yield True, False
    if field.kind == "whole":
        yield Fraction(5, 2), False


def _choice_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield from ((choice, True) for choice in field.choices)
    yield "nobody", False
    yield 10**9, False
    yield [], False


def _flag_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield from ((True, True), (False, True), ("true", False), (1, False))


def _text_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield from (("age", True), (3, False))


def _line_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    assert isinstance(field.most, int)
    yield from (("a line", True), ("x" * field.most, True), ("x" * (field.most + 1), False), ("", False), (3, False))
    yield from ((f"a{mark}b", False) for mark in ("\x00", "\x1b", "\x7f", "\x9b", "\u202e", "\u200b", "\ud800"))


def _list_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    assert field.each is not None and field.entries is not None
    inner = next(value for value, allowed in boundaries(field.each) if allowed)
    yield [inner] * max(field.entries[0], 1), True
    yield [inner] * (field.entries[0] - 1), field.entries[0] < 1
    if field.entries[1] < LONG:
        yield [inner] * field.entries[1], True
        yield [inner] * (field.entries[1] + 1), False
    yield {"a": inner}, False
    yield from (([value], False) for value, allowed in boundaries(field.each) if not allowed)


def _table_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    assert field.each is not None and field.entries is not None
    yield from (
        ({"age": value}, allowed and not (field.positive and not value)) for value, allowed in boundaries(field.each)
    )
    if field.entries[0]:
        yield {}, False
    yield "age", False


def _record_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    right = {name: next(value for value, allowed in boundaries(one) if allowed) for name, one in field.fields.items()}
    yield right, True
    yield {**right, "nobody": 1}, False
    for name, one in field.fields.items():
        yield {key: value for key, value in right.items() if key != name}, not one.required
        yield from (({**right, name: value}, allowed) for value, allowed in boundaries(one))


def _variant_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    for name, one in field.fields.items():
        yield from (({name: value}, allowed) for value, allowed in boundaries(one))
    yield {}, False
    yield {"nobody": 1}, False


def _grid_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield from (
        ([0, 10, 1], True),
        ([0, 10, 3], False),
        ([0, 10, 0], False),
        ([10, 0, 1], False),
        ([0, 1], False),
        (3, False),
    )


def _matrix_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield {"values": ["a", "b"], "rows": [[0, 1], [1, 0]]}, True
    for rows in ([[0, 1], [2, 0]], [[1, 1], [1, 0]], [[0, -1], [-1, 0]], [[0, 1]]):
        yield {"values": ["a", "b"], "rows": rows}, False


def _value_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield "a", True


def _alternatives(field: Field) -> Iterator[tuple[Any, bool]]:
    """A value that one alternative refuses may be what another takes: only what none takes is refused."""
    drawn = [(one, list(boundaries(one))) for one in field.alternatives if one.kind != "file"]
    for _, around in drawn:
        for value, allowed in around:
            if allowed or not any(could_take(one, others, value) for one, others in drawn):
                yield value, allowed


BOUNDARIES_OF_KIND = {
    "number": _number_boundaries,
    "whole": _number_boundaries,
    "choice": _choice_boundaries,
    "flag": _flag_boundaries,
    "text": _text_boundaries,
    "line": _line_boundaries,
    "column": _text_boundaries,
    "list": _list_boundaries,
    "table": _table_boundaries,
    "record": _record_boundaries,
    "variant": _variant_boundaries,
    "either": _alternatives,
    "grid": _grid_boundaries,
    "matrix": _matrix_boundaries,
    "value": _value_boundaries,
}


def could_take(field: Field, around: list[tuple[Any, bool]], value: Any) -> bool:
    """Whether the value is one that the field's own boundaries allow, or so plain that they do not say."""
    if field.kind in ("column", "text", "file"):
        return isinstance(value, str)
    if field.kind in ("number", "whole") and isinstance(value, int | Fraction) and not isinstance(value, bool):
        low = field.least is None or (value > field.least if field.above else value >= field.least)
        high = field.most is None or (value < field.most if field.below else value <= field.most)
        return low and high and (field.kind == "number" or value == int(value))
    return any(type(one) is type(value) and one == value for one, allowed in around if allowed)
