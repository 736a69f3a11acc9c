"""What a manifest says of one published column, typed: the fields that its role has, values that its type can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from typing import Any

import polars as pl

from reticent.errors import HierarchyError, JobError
from reticent.release import shape
from reticent.release.numbers import fraction
from reticent.release.shape import Misshapen
from reticent.release.trees import tree_of
from reticent.table.labelling import Labelling
from reticent.table.roles import Role
from reticent.table.types import dtype_named


def _dtype(value: Any) -> str:
    """The name of a type that values are read back as."""
    try:
        if str(found := dtype_named(shape.text(value))) == value:
            pl.Series([], dtype=found).to_arrow()  # a zone that is none is found here
            return value
    except Misshapen:
        raise
    except BaseException as error:  # Polars ends some of these in a panic, which is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
    raise Misshapen("no data type that is published")


def _ends(value: Any) -> list[Any]:
    """The least and the greatest value of a column; nothing where every label is `*`."""
    found = shape.listed(shape.scalar)(value)
    if len(found) not in (0, 2):
        raise Misshapen("no least and greatest value")
    return found


def _labels(value: Any) -> Any:
    """How ends of ranges were rounded or moved: a style, or a table of the style and its step or width."""
    try:
        if Labelling.of(value).plain() == value and Labelling.of(value).style in ("snapped", "padded"):
            return value
    except (JobError, TypeError):
        pass
    raise Misshapen("no style of labels")


_SHAPES: dict[str, shape.Checker] = {
    "name": shape.text,
    "role": shape.one_of(Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE),
    "type": shape.one_of("numeric", "date", "ordinal", "categorical", "carried"),
    "dtype": _dtype,
    "null": shape.flag,
    "missing": shape.one_of("refuse", "category"),
    "order": shape.listed(shape.text),
    "hierarchy": shape.listed(shape.listed(shape.text)),
    "built": shape.parameter,
    "domain": _ends,
    "declared": shape.flag,
    "values": shape.listed(shape.text),
    "bottom": shape.scalar,
    "top": shape.scalar,
    "round_to": shape.scalar,
    "format": shape.text,
    "labels": _labels,
}
_ALWAYS = {"name", "role", "type", "dtype"}
_BY_ROLE: dict[str, set[str]] = {
    Role.QUASI: _ALWAYS
    | {"null", "order", "hierarchy", "built", "domain", "declared", "values", "bottom", "top", "format", "labels"},
    Role.SENSITIVE: _ALWAYS | {"missing", "order", "hierarchy", "domain", "declared", "format"},
    Role.INSENSITIVE: _ALWAYS | {"round_to", "format"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnEntry:
    """What a manifest says of one published column; None is what it does not say.

    `domain` is where the values of the whole source lie if it was `declared`; else it is where those of published rows do.
    """

    name: str
    role: str
    type: str
    dtype: str = "String"
    null: bool = False
    missing: str | None = None
    order: list[str] | None = None
    hierarchy: list[list[str]] | None = None
    built: Mapping[str, Any] | None = None
    domain: list[Any] | None = None
    declared: bool = False
    values: list[str] | None = None
    bottom: Any = None
    top: Any = None
    round_to: Any = None
    format: str | None = None
    labels: Any = None

    @classmethod
    def of(cls, value: Any) -> ColumnEntry:
        role = shape.mapping(value).get("role")
        known = _BY_ROLE.get(role) if isinstance(role, str) else None
        if known is None:
            raise Misshapen("a column has no role that is published", inside=True)
        entry = cls(**shape.fields("a column", value, {name: _SHAPES[name] for name in known}, _ALWAYS))
        _refuse_unfit(entry)
        if entry.type == "ordinal" and entry.order is None:
            raise Misshapen("an ordered column has no order", inside=True)
        if entry.hierarchy is not None:
            try:
                tree_of(entry.hierarchy)
            except (HierarchyError, TypeError):
                raise Misshapen("a column has a hierarchy that is no tree", inside=True) from None
        return entry

    def to_dict(self) -> dict[str, Any]:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            name: value
            for name, value in given.items()
            if value is not None and (name not in ("null", "declared") or value)
        }

    def at(self, **changes: Any) -> ColumnEntry:
        return replace(self, **changes)


def _refuse_unfit(entry: ColumnEntry) -> None:
    """Ends and steps that a column of this type cannot have."""
    given = [*(entry.domain or ()), *(end for end in (entry.bottom, entry.top) if end is not None)]
    if not all(_end_of(entry.type, end) for end in given):
        raise Misshapen("a column has ends that are none of its type", inside=True)
    if entry.domain and _place(entry.domain[0]) > _place(entry.domain[1]):
        raise Misshapen("a column ends before it begins", inside=True)
    if entry.declared and (entry.type != "numeric" or not entry.domain):
        raise Misshapen("a column declares a domain that it does not have", inside=True)
    if entry.round_to is not None and (isinstance(entry.round_to, bool | str) or not entry.round_to > 0):
        raise Misshapen("a column is rounded to something that is no step", inside=True)
    if entry.order is not None and len(set(entry.order)) != len(entry.order):
        raise Misshapen("an order lists a value twice", inside=True)


def _end_of(type: str, end: Any) -> bool:
    if type == "numeric":
        return isinstance(end, int | float) and not isinstance(end, bool)
    if type != "date" or not isinstance(end, str):
        return False
    try:
        _moment(end)
    except ValueError:
        return False
    return True


def _place(end: Any) -> Any:
    return _moment(end) if isinstance(end, str) else fraction(end)


def _moment(text: str) -> datetime:
    """A day as its midnight; moments with a zone compare as they are written."""
    if len(text) == 10:
        return datetime.combine(date.fromisoformat(text), datetime.min.time())
    return datetime.fromisoformat(text[:26]).replace(tzinfo=None)
