"""The parameters of promises, methods and stages as their constructors are given them, held to the catalogue's fields.

A constructor calls `check_parameters(self)`: each parameter is refused unless it is what its `Field` allows, and is kept as it was
written, numbers as exact fractions.  The reader of manifests has a check of its own over the same fields.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction
from keyword import iskeyword
from typing import Any

from reticent import catalogue
from reticent.catalogue import Field, Relation
from reticent.door.entering import kind_of
from reticent.errors import JobError, shortened, suggest
from reticent.limits import refuse_immoderate


def exact(value: object, name: str = "a parameter") -> Fraction:
    """A number as its author wrote it: 0.1 is one tenth."""
    refuse_immoderate(value, name)
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, float):
            return Fraction(repr(float(value)))  # NumPy's doubles are floats that print otherwise
        return Fraction(value)  # type: ignore[call-overload]  # what is no number raises, and is refused below
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise JobError(f"{name} must be a number.", attempt='a number such as 4, 0.5 or "1/3".') from None


def whole_number(value: object, name: str) -> int:
    """A whole number, as it may be written: 5, 5.0 or "5"."""
    number = exact(value, name)
    if number != int(number):
        raise JobError(f"{name} must be a whole number.")
    return int(number)


def word_of(name: str) -> str:
    """A field as job files and manifests say it: `lambda` is `lambda_` in Python, which keeps the word for itself."""
    return name.removesuffix("_") if iskeyword(name.removesuffix("_")) else name


def row_of(name: str) -> catalogue.PromiseRow | catalogue.Row | None:
    """The row of a promise, method or stage; None for one that the catalogue does not have."""
    return catalogue.PROMISES.get(name) or catalogue.METHODS.get(name) or catalogue.STAGES.get(name)


def check_parameters(thing: Any, as_given: tuple[str, ...] = ()) -> None:
    """Refuse a promise, method or stage with a parameter that its fields do not allow, and keep the others as they are computed with.

    Those named `as_given` are kept as they were given: a manifest says them in the same words.
    """
    row = row_of(thing.name)
    if row is None:
        return
    for each in fields(thing):
        name, value = word_of(each.name), getattr(thing, each.name)
        field = row.fields.get(name)  # a class made of another may have more
        if field is None or (value is None and each.default is None):
            continue
        accepted = accept(field, value, name, thing.name)
        if name not in as_given:
            object.__setattr__(thing, each.name, accepted)
    for relation in row.relations:
        _check_relation(relation, {word_of(each.name): getattr(thing, each.name) for each in fields(thing)})


def accept(field: Field, value: Any, name: str, owner: str) -> Any:
    """The value as it is computed with, or a refusal that names the parameter and its owner."""
    return _ACCEPT[field.kind](field, value, name, owner)


def _refused(field: Field, value: Any, name: str, owner: str) -> JobError:
    number = isinstance(value, int | float | Fraction | Decimal) and not isinstance(value, bool)
    shown = shortened(str(value), 40) if number else kind_of(value)
    sentence = field.refusal.replace("{value}", shown) or f"{owner}: {name} must be {field.wanted}; it is {shown}."
    return JobError(sentence, why=field.why, attempt=field.attempt or f"another value for {name}.")


def _accept_number(field: Field, value: Any, name: str, owner: str) -> Any:
    number: int | Fraction = whole_number(value, name) if field.kind == "whole" else exact(value, name)
    low = field.least is not None and (number <= field.least if field.above else number < field.least)
    high = field.most is not None and (number >= field.most if field.below else number > field.most)
    fine = field.finest is not None and Fraction(number).limit_denominator(field.finest) != number
    if low or high or fine:
        raise _refused(field, value, name, owner)
    return number


def _accept_flag(field: Field, value: Any, name: str, owner: str) -> bool:
    if not isinstance(value, bool):
        raise JobError(f"{name} must be true or false; it is {kind_of(value)}.")
    return value


def _accept_text(field: Field, value: Any, name: str, owner: str) -> str:
    if not isinstance(value, str):
        raise JobError(f"{name} must be a text; it is {kind_of(value)}.", attempt=f'{name} = "...".')
    return value


def _accept_choice(field: Field, value: Any, name: str, owner: str) -> Any:
    for choice in field.choices:
        if not isinstance(value, bool) and isinstance(value, str | int) and str(value) == str(choice):
            return choice
    if not isinstance(value, str | int):
        texts = [choice for choice in field.choices if isinstance(choice, str)]
        raise JobError(f"{name} must be {field.wanted}; it is {kind_of(value)}.", attempt=suggest("", texts))
    raise JobError(
        f"{owner}: {name} = {shortened(repr(value), 80)} is not known.",
        attempt=field.attempt or suggest(str(value), [str(choice) for choice in field.choices]),
    )


def _accept_value(field: Field, value: Any, name: str, owner: str) -> str:
    """As columns print it: true and false in small letters, dates as ISO 8601."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else str(value)


def _accept_file(field: Field, value: Any, name: str, owner: str) -> Any:
    """A path or a table; which of them a program may hand over is for its reader to say."""
    if value is None or isinstance(value, bool | int | float):
        raise _refused(field, value, name, owner)
    return value


def _accept_list(field: Field, value: Any, name: str, owner: str) -> tuple[Any, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise _refused(field, value, name, owner)
    _check_entries(field, len(value), value, name, owner)
    assert field.each is not None, "a list has a type of entries"
    return tuple(accept(field.each, entry, f"an entry of {name}", owner) for entry in value)


def _accept_table(field: Field, value: Any, name: str, owner: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _refused(field, value, name, owner)
    _check_entries(field, len(value), value, name, owner)
    assert field.each is not None, "a table has a type of entries"
    table = {str(key): accept(field.each, entry, f"{name} of {key!r}", owner) for key, entry in value.items()}
    if field.positive and not any(table.values()):
        raise _refused(field, value, name, owner)
    return table


def _check_entries(field: Field, entries: int, value: Any, name: str, owner: str) -> None:
    if field.entries is None:
        return
    fewest, most = field.entries
    if fewest <= entries <= most:
        return
    if entries > most:
        raise JobError(
            f"{owner}: {name} has {entries:,} entries; {most:,} are the most.",
            why="Each of them costs time and memory, here and wherever the release is audited.",
            attempt=field.attempt or "fewer of them.",
        )
    raise JobError(
        field.refusal or f"{owner}: {name} must be {field.wanted}; it has {entries:,}.",
        attempt=field.attempt or f"{name} with {fewest} or more.",
    )


def _accept_record(field: Field, value: Any, name: str, owner: str) -> dict[str, Any]:
    lacking = (
        [key for key, inner in field.fields.items() if inner.required and key not in value] if _is_table(value) else []
    )
    if not _is_table(value) or lacking or not set(value) <= set(field.fields):
        raise _refused(field, value, name, owner)
    return {str(key): accept(field.fields[key], entry, key, owner) for key, entry in value.items()}


def _accept_variant(field: Field, value: Any, name: str, owner: str) -> dict[str, Any]:
    if not _is_table(value) or len(value) != 1 or next(iter(value)) not in field.fields:
        raise _refused(field, value, name, owner)
    ((key, entry),) = value.items()
    return {key: accept(field.fields[key], entry, key, owner)}


def _accept_either(field: Field, value: Any, name: str, owner: str) -> Any:
    """By the alternative that has the value's shape; where several have, by the first that takes it."""
    fitting = [one for one in field.alternatives if _has_shape(one, value)]
    refusal: JobError | None = None
    for one in fitting:
        try:
            return accept(one, value, name, owner)
        except JobError as error:
            refusal = error
    if (
        refusal is not None
        and len(fitting) == 1
        and fitting[0].kind in ("table", "record", "variant", "list", "matrix")
    ):
        raise refusal  # says which of its entries is wrong
    raise _refused(field, value, name, owner)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _has_shape(field: Field, value: Any) -> bool:
    """Whether a value could be meant as one of this field's kind."""
    if isinstance(value, Mapping):
        return field.kind in ("table", "record", "variant", "matrix")
    if isinstance(value, str):
        return field.kind in ("choice", "text", "column", "value", "file", "number", "whole")
    if isinstance(value, os.PathLike) or hasattr(value, "columns"):
        return field.kind == "file"
    if isinstance(value, list | tuple):
        return field.kind in ("list", "grid")
    return field.kind in ("number", "whole", "choice", "flag")


def _accept_matrix(field: Field, value: Any, name: str, owner: str) -> Any:
    """A table of values and rows; whether they are distances is looked at where they are read."""
    if not _is_table(value) or set(value) != {"values", "rows"}:
        raise _refused(field, value, name, owner)
    return value


def _accept_grid(field: Field, value: Any, name: str, owner: str) -> tuple[Fraction, Fraction, Fraction]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise JobError(f"{owner}: a {name} is [least, greatest, step].", attempt=field.attempt)
    least, greatest, step = (exact(number, name) for number in value)
    if step <= 0 or greatest <= least or (greatest - least) % step:
        raise JobError(
            f"{owner}: a {name} goes from its least to its greatest value in whole steps above 0.",
            attempt=field.attempt,
        )
    return least, greatest, step


_ACCEPT = {
    "number": _accept_number,
    "whole": _accept_number,
    "flag": _accept_flag,
    "text": _accept_text,
    "column": _accept_text,
    "choice": _accept_choice,
    "value": _accept_value,
    "file": _accept_file,
    "list": _accept_list,
    "table": _accept_table,
    "record": _accept_record,
    "variant": _accept_variant,
    "either": _accept_either,
    "grid": _accept_grid,
    "matrix": _accept_matrix,
}


def _check_relation(relation: Relation, given: Mapping[str, Any]) -> None:
    if is_broken(relation, given):
        raise JobError(relation.refusal, why=relation.why, attempt=relation.attempt)


def is_broken(relation: Relation, given: Mapping[str, Any]) -> bool:
    """Whether parameters are not what they must be to each other."""
    first, second = given.get(relation.first), given.get(relation.second)
    if relation.kind == "exclusive":
        return first is not None and second is not None
    if relation.kind == "less":
        return first is not None and second is not None and not first < second
    asked = first is not None if relation.value is None else first == relation.value
    met = second is not None if relation.needed is None else second == relation.needed
    return asked and not met
