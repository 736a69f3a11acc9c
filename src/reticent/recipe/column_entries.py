"""Manifest entries of the published columns.

Quasi-identifiers (`build_quasi_entry`), sensitive columns (`build_sensitive_entry`) and passthrough columns
(`build_passthrough_entry`) each have their own form.  `build_exact_entries`, with the functions before it, makes the
entries of kinds that publish exact quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.data.columns import Column, Role, is_numeric_range
from reticent.data.domain import BandDomain, Domain, RangeDomain, TreeDomain, prune_hierarchy
from reticent.data.grammar import ANY_LABEL, format_value_label, parse_label
from reticent.data.parsing import parse_texts
from reticent.exact_arithmetic import is_whole
from reticent.recipe.recipe import Recipe


def build_quasi_entry(domain: Domain, published: list[str | None], column: Column) -> dict[str, Any]:
    """Build a quasi-identifier's entry.

    A steward's hierarchy and order are copied as declared; what stems from data is cut down to what is published.
    """
    declared = column.domain is not None
    entry: dict[str, Any] = {
        "name": domain.name,
        "role": "quasi-identifying",
        "type": domain.kind,
        "dtype": domain.dtype,
    }
    entry |= {
        side: _format_bound(end, domain) for side in ("bottom", "top") if (end := getattr(column, side)) is not None
    }
    entry |= _build_format_entry(column)
    if None in published:
        entry["null"] = True
    if labelling := getattr(domain, "label_options", None):
        entry["labels"] = labelling.to_plain()
    if isinstance(domain, RangeDomain):
        if domain.kind == "ordinal":
            entry["order"] = list(domain.texts)
        else:
            entry["domain"] = _list_domain_ends(domain) if declared else _find_published_range(domain, published)
            if declared and domain.kind == "numeric":
                entry["declared"] = True  # values outside of it were refused
    elif isinstance(domain, BandDomain) and not domain.is_from_steward:
        entry["domain"] = _list_domain_ends(domain) if declared else _find_published_range(domain, published)
    elif isinstance(domain, TreeDomain) and domain.is_from_steward:
        entry["hierarchy"] = domain.hierarchy.rows()
        if isinstance(domain, BandDomain) and declared:
            entry["domain"] = _list_domain_ends(domain)
    elif isinstance(domain, TreeDomain) and domain.hierarchy.height > 1:
        entry["hierarchy"] = prune_hierarchy(domain, published)
        if request := getattr(domain.hierarchy, "request", None):
            entry["built"] = dict(request)
    else:
        entry["values"] = sorted(
            {text for label in published if label not in (None, ANY_LABEL) for text in parse_label(label)[1]}
        )
    return entry


def select_telling_labels(domain: Domain, published: Iterable[str | None]) -> list[str | None]:
    """Select labels for which `build_quasi_entry` gives the same entry as for all published labels.

    They are no more than the column's values and nodes.
    """
    labels = set(published)
    null: list[str | None] = [None] if None in labels else []
    printed = sorted(label for label in labels if label is not None and label != ANY_LABEL)
    if isinstance(domain, RangeDomain) or (isinstance(domain, BandDomain) and not domain.is_from_steward):
        return (
            null if domain.kind == "ordinal" else [*null, *map(format_value_label, _find_label_ends(domain, printed))]
        )
    telling = set()
    for label in printed:
        form, texts = parse_label(label)
        telling |= {format_value_label(text, quoted=True) for text in texts} if form == "set" else {label}
    return [*null, *sorted(telling)]


def _format_bound(end: int | float | str, domain: Domain) -> int | float | str:
    """Format a bound as the column's own values print."""
    if not isinstance(end, str):
        return end
    return end[:10] if domain.dtype == "Date" else datetime.fromisoformat(end).isoformat()


def build_sensitive_entry(domain: Domain, column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": domain.name,
        "role": "sensitive",
        "type": domain.kind,
        "dtype": domain.dtype,
        "missing": column.missing,
        **_build_format_entry(column),
    }
    if isinstance(domain, RangeDomain) and domain.kind == "ordinal":
        entry["order"] = list(domain.texts)
    declares_range = column.domain is not None and is_numeric_range(column.domain)
    if isinstance(domain, RangeDomain) and domain.kind == "numeric" and declares_range:
        entry |= {"domain": _list_domain_ends(domain), "declared": True}  # values outside of it were refused
    if isinstance(domain, TreeDomain) and domain.is_from_steward:
        entry["hierarchy"] = domain.hierarchy.rows()
    return entry


def _list_domain_ends(domain: RangeDomain | BandDomain) -> list[Any]:
    is_integer = domain.dtype.startswith(("Int", "UInt"))
    if isinstance(domain, RangeDomain) and domain.declared_ends is not None:
        return list(domain.declared_ends)
    return [int(end) if is_integer and end == int(end) else end for end in domain.span]


def _find_published_range(domain: RangeDomain | BandDomain, published: Iterable[str | None]) -> list[Any]:
    """Find the least and the greatest end that the labels show."""
    ends = _find_label_ends(domain, [label for label in published if label is not None and label != ANY_LABEL])
    return ends if domain.kind == "date" else [_parse_number(end) for end in ends]


def _find_label_ends(domain: RangeDomain | BandDomain, labels: Iterable[str]) -> list[str]:
    """Find the least and the greatest end of some labels, as these print them; none if there are no labels."""
    ends = [text for label in labels for text in parse_label(label)[1]]
    if not ends:
        return []
    if domain.kind == "date":
        order = dict(zip(ends, parse_texts(ends, domain.dtype).to_physical().to_list(), strict=True))
    else:
        order = {text: Decimal(text) for text in ends}
    return [min(order, key=order.__getitem__), max(order, key=order.__getitem__)]


def _parse_number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def build_passthrough_entry(name: str, dtype: str, column: Column | None = None) -> dict[str, Any]:
    """Build the entry of a passthrough column: unchanged, or rounded."""
    entry = {"name": name, "role": "insensitive", "type": "carried", "dtype": dtype}
    if column is None:
        return entry
    return {
        **entry,
        **({} if column.round_to is None else {"round_to": column.round_to}),
        **_build_format_entry(column),
    }


def _build_format_entry(column: Column) -> dict[str, str]:
    """Build the entry of how the source writes the column, so that a comparison with the release reads the source alike."""
    return {} if column.format is None else {"format": column.format}


def to_json_number(value: Fraction) -> int | float | str:
    """Convert an exact number to JSON: whole, a decimal that reads back exactly, or "1/3"."""
    if is_whole(value):
        return int(value)
    return float(value) if Fraction(repr(float(value))) == value else str(value)


def list_domain_values(domain: Domain) -> pl.Series:
    """List the values of a domain in code order, null last, in the column's own type.

    A hierarchy may list numbers that the type does not have, and no row holds these: they are null here.
    """
    texts = [*domain.texts, *([None] if domain.null else [])]
    return parse_texts(texts, domain.dtype, strict=False).alias(domain.name)


def find_published_cells(recipe: Recipe) -> np.ndarray:
    """Find the cells of which a row is published."""
    is_published = np.zeros(len(recipe.cells), bool)
    is_published[recipe.cell if recipe.is_complete else recipe.cell[recipe.published_entries]] = True
    return np.flatnonzero(is_published)


def list_published_labels(recipe: Recipe, column_index: int, published: np.ndarray) -> list[str | None]:
    """List the labels of the values that published cells show in a quasi-identifier: each value as itself, none of a withheld row."""
    domain = recipe.cells.quasi[column_index]
    codes = np.unique(recipe.cells.codes[published, column_index])
    return [None if code == domain.null_code else format_value_label(domain.texts[code]) for code in codes.tolist()]


def build_exact_entries(
    recipe: Recipe, columns: Mapping[str, Column], types: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Build the manifest's entry for each published column; `types` are those of passthrough columns."""
    cells = recipe.cells
    entries = []
    published = find_published_cells(recipe)
    place = {domain.name: index for index, domain in enumerate(cells.quasi)}
    for name, column in columns.items():
        if column.role is Role.QUASI:
            labels = list_published_labels(recipe, place[name], published)
            entries.append(build_quasi_entry(cells.quasi[place[name]].tight, labels, column))
        elif column.role is Role.SENSITIVE:
            entries.append(build_sensitive_entry(cells.sensitive[0], column))
        elif column.role is Role.INSENSITIVE:
            entries.append(build_passthrough_entry(name, types[name], column))
    return entries
