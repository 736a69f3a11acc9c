"""The fields of a job as their types: each value that a job gives is of its field's type, or the job is refused by the field's name.

The type stands at the field, in the class of the promise, method, stage, column or source.  Only where that says `Any` is it said
here (`WIDER`).  A value that has the right type may still be refused by its class, which knows what it means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from reticent.door.parameters import word_of as word
from reticent.errors import JobError, listed, suggest
from reticent.limits import refuse_immoderate

Fits = Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | Fraction | str) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_numbers(value: Any) -> bool:
    return _is_table(value) and all(_is_number(entry) and not isinstance(entry, str) for entry in value.values())


FITS: dict[str, tuple[str, Fits]] = {
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
    "numbers": ("a table of numbers", _is_numbers),
    "frame": ("a frame", lambda value: hasattr(value, "columns")),  # as a program gives it
    "date": ("a date", lambda value: isinstance(value, date | datetime)),
}
WIDER = {  # fields whose class takes more than a job can say
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


def types_of(field: Field[Any]) -> tuple[str, ...]:
    """The words of FITS that a field's type is made of."""
    written = WIDER.get(field.name) or str(field.type)
    parts = re.sub(r"\[.*\]", "", written).split("|")
    return tuple(part.strip() for part in parts if part.strip() != "None")


def check_fields(kind: type, where: str, given: Mapping[str, Any]) -> None:
    """Refuse a value that is not of its field's type, or a number that is beyond all parameters."""
    for field in fields(kind):
        name = word(field.name)
        if name not in given:
            continue
        value, types = given[name], types_of(field)
        if not any(FITS[one][1](value) for one in types):
            wanted = " or ".join(dict.fromkeys(FITS[one][0] for one in types))
            raise JobError(f"{where}: {name} must be {wanted}.", attempt=f"another value for {name}.")
        if not isinstance(value, str) or types == ("Fraction",) or types == ("int",):
            refuse_immoderate(value, f"{where}: {name}")


def check_known(where: str, given: Any, known: list[str]) -> None:
    """Refuse what is no table, and names that it does not have."""
    if not isinstance(given, Mapping):
        raise JobError(
            f"{where} must be a table.", attempt=f"a line {where} and below it lines such as {known[0]} = ..."
        )
    for name in given:
        if name not in known:
            raise JobError(f"{where}: {listed([name])} is not known.", attempt=suggest(name, known))
