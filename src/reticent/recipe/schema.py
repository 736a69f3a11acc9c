"""What a manifest says of each published column."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from reticent.exact import is_whole
from reticent.table.banded import BandDomain
from reticent.table.bounds_given import is_range
from reticent.table.cut_down import rows_for
from reticent.table.domain import Domain, RangeDomain, TreeDomain
from reticent.table.grammar import ANY, parse, value_label
from reticent.table.roles import Column
from reticent.table.types import typed


def quasi_schema(domain: Domain, published: list[str | None], column: Column) -> dict[str, Any]:
    """A quasi-identifier's entry: a steward's hierarchy and order as given; what stems from data cut down to what is published."""
    declared = column.domain is not None
    entry: dict[str, Any] = {
        "name": domain.name,
        "role": "quasi-identifying",
        "type": domain.kind,
        "dtype": domain.dtype,
    }
    entry |= {side: _end(end, domain) for side in ("bottom", "top") if (end := getattr(column, side)) is not None}
    entry |= _written(column)
    if None in published:
        entry["null"] = True
    if labelling := getattr(domain, "labelling", None):
        entry["labels"] = labelling.plain()
    if isinstance(domain, RangeDomain):
        if domain.kind == "ordinal":
            entry["order"] = list(domain.texts)
        else:
            entry["domain"] = _numbers(domain) if declared else _published_range(domain, published)
            if declared and domain.kind == "numeric":
                entry["declared"] = True  # values outside of it were refused
    elif isinstance(domain, BandDomain) and not domain.given:
        entry["domain"] = _numbers(domain) if declared else _published_range(domain, published)
    elif isinstance(domain, TreeDomain) and domain.given:
        entry["hierarchy"] = domain.hierarchy.rows()
        if isinstance(domain, BandDomain) and declared:
            entry["domain"] = _numbers(domain)
    elif isinstance(domain, TreeDomain) and domain.hierarchy.height > 1:
        entry["hierarchy"] = rows_for(domain, published)
        if asked := getattr(domain.hierarchy, "asked", None):
            entry["built"] = dict(asked)
    else:
        entry["values"] = sorted({text for label in published if label not in (None, ANY) for text in parse(label)[1]})
    return entry


def telling(domain: Domain, published: Iterable[str | None]) -> list[str | None]:
    """Labels of which `quasi_schema` says what it says of all that are published: no more than a column has values and nodes."""
    labels = set(published)
    null: list[str | None] = [None] if None in labels else []
    shown = sorted(label for label in labels if label is not None and label != ANY)
    if isinstance(domain, RangeDomain) or (isinstance(domain, BandDomain) and not domain.given):
        return null if domain.kind == "ordinal" else [*null, *map(value_label, _ends(domain, shown))]
    found = set()
    for label in shown:
        form, texts = parse(label)
        found |= {value_label(text, quoted=True) for text in texts} if form == "set" else {label}
    return [*null, *sorted(found)]


def _end(end: int | float | str, domain: Domain) -> int | float | str:
    """A bound as the column's own values print."""
    if not isinstance(end, str):
        return end
    return end[:10] if domain.dtype == "Date" else datetime.fromisoformat(end).isoformat()


def sensitive_schema(domain: Domain, column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": domain.name,
        "role": "sensitive",
        "type": domain.kind,
        "dtype": domain.dtype,
        "missing": column.missing,
        **_written(column),
    }
    if isinstance(domain, RangeDomain) and domain.kind == "ordinal":
        entry["order"] = list(domain.texts)
    declares_range = column.domain is not None and is_range(column.domain)
    if isinstance(domain, RangeDomain) and domain.kind == "numeric" and declares_range:
        entry |= {"domain": _numbers(domain), "declared": True}  # values outside of it were refused
    if isinstance(domain, TreeDomain) and domain.given:
        entry["hierarchy"] = domain.hierarchy.rows()
    return entry


def _numbers(domain: RangeDomain | BandDomain) -> list[Any]:
    whole = domain.dtype.startswith(("Int", "UInt"))
    if isinstance(domain, RangeDomain) and domain.declared_ends is not None:
        return list(domain.declared_ends)
    return [int(end) if whole and end == int(end) else end for end in domain.span]


def _published_range(domain: RangeDomain | BandDomain, published: Iterable[str | None]) -> list[Any]:
    """The least and greatest end that the labels show."""
    ends = _ends(domain, [label for label in published if label is not None and label != ANY])
    return ends if domain.kind == "date" else [_number(end) for end in ends]


def _ends(domain: RangeDomain | BandDomain, shown: Iterable[str]) -> list[str]:
    """The least and greatest end of some labels, as these print them; none of no labels."""
    ends = [text for label in shown for text in parse(label)[1]]
    if not ends:
        return []
    if domain.kind == "date":
        order = dict(zip(ends, typed(ends, domain.dtype).to_physical().to_list(), strict=True))
    else:
        order = {text: Decimal(text) for text in ends}
    return [min(order, key=order.__getitem__), max(order, key=order.__getitem__)]


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def carried_schema(name: str, dtype: str, column: Column | None = None) -> dict[str, Any]:
    """A carried column's entry: as it was, or rounded."""
    entry = {"name": name, "role": "insensitive", "type": "carried", "dtype": dtype}
    if column is None:
        return entry
    return {**entry, **({} if column.round_to is None else {"round_to": column.round_to}), **_written(column)}


def _written(column: Column) -> dict[str, str]:
    """How the source writes the column: whoever compares the release with it reads it alike."""
    return {} if column.format is None else {"format": column.format}


def number(value: Fraction) -> int | float | str:
    """An exact number as JSON can say it: whole, a decimal that reads back exactly, or "1/3"."""
    if is_whole(value):
        return int(value)
    return float(value) if Fraction(repr(float(value))) == value else str(value)
