"""A condition on the columns of a table, with SQL's three-valued logic: atoms about one column each, joined and negated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
NULL = "is null"
AMONG = "among"  # a list of values: one atom, however long the list is


@dataclass(frozen=True, slots=True)
class Atom:
    """A column compared with one value, or with a tuple of them (AMONG), or asked whether it is missing."""

    column: str
    test: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class Joined:
    """All of the parts, or any of them."""

    all: bool
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    part: Condition


Condition = Atom | Joined | Negated
Truth = tuple[np.ndarray, np.ndarray]  # where it is true, and where it is false; elsewhere it is unknown


def both(*parts: Condition | None) -> Condition | None:
    """All of the conditions that there are."""
    given = tuple(part for part in parts if part is not None)
    return Joined(True, given) if len(given) > 1 else given[0] if given else None


def atoms(condition: Condition | None) -> Iterator[Atom]:
    if isinstance(condition, Atom):
        yield condition
    elif isinstance(condition, Negated):
        yield from atoms(condition.part)
    elif condition is not None:
        for part in condition.parts:
            yield from atoms(part)


def list_constants(asked: Iterable[Atom]) -> list[Any]:
    """The values that a column is compared with."""
    found: list[Any] = []
    for atom in asked:
        if atom.test == AMONG:
            found.extend(atom.value)
        elif atom.test != NULL:
            found.append(atom.value)
    return found


def judged(condition: Condition, of: Callable[[Atom], Truth]) -> Truth:
    """Where a condition is true and where it is false, from where its atoms are."""
    if isinstance(condition, Atom):
        return of(condition)
    if isinstance(condition, Negated):
        true, false = judged(condition.part, of)
        return false, true
    parts = [judged(part, of) for part in condition.parts]
    trues, falses = [part[0] for part in parts], [part[1] for part in parts]
    if condition.all:
        return reduce(np.logical_and, trues), reduce(np.logical_or, falses)
    return reduce(np.logical_or, trues), reduce(np.logical_and, falses)
