"""The columns that a caller declares: a role, a table of options or a `Column` for each name, all as `Column`s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from reticent.door import kind_of, table
from reticent.errors import JobError, suggest
from reticent.table.roles import Column, Role

EXAMPLE = 'columns = {"age": rt.quasi(), "disease": rt.sensitive()}.'


def columns(value: Any, name: str = "columns") -> dict[str, Column]:
    """{"age": rt.quasi(), "city": "quasi-identifying", "disease": {"role": "sensitive"}}, each as a `Column`."""
    if not isinstance(value, Mapping):
        raise JobError(f"{name} must be a mapping from column names; it is {kind_of(value)}.", attempt=EXAMPLE)
    return {column: column_of(given, column) for column, given in table(value, name).items()}


def column_of(given: Any, name: str) -> Column:
    if isinstance(given, Column):
        return given
    if isinstance(given, str | Role):
        return Column(given)
    if isinstance(given, Mapping):
        return _from_table(given, name)
    if getattr(given, "__module__", None) == Column.__module__ and callable(given):
        raise JobError(
            f"Column {name!r} is given the function {given.__name__} itself.", attempt=f"rt.{given.__name__}()."
        )
    raise JobError(f"Column {name!r} must be a role; it is {kind_of(given)}.", attempt=f"{EXAMPLE}")


def _from_table(given: Mapping[str, Any], name: str) -> Column:
    known = [field.name for field in fields(Column)]
    for word in given:
        if word not in known:
            raise JobError(f"column {name!r}: {word!r} is not known.", attempt=suggest(str(word), known))
    if "role" not in given:
        attempt = 'role = "quasi-identifying", "sensitive", "identifying" or "insensitive".'
        raise JobError(f"Column {name!r} has no role.", attempt=attempt)
    return Column(**given)
