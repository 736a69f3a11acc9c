"""The form that writes a question: columns, conditions, aggregates and groups are chosen, and the SQL stands in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from starlette.datastructures import FormData

from reticent.data.parsing import parse_dtype
from reticent.errors import RequestError, suggest
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.query.sql import parse_question
from reticent.release.kind import reader_for

AGGREGATES = {
    "count": "how many rows",
    "avg": "the mean of",
    "sum": "the sum of",
    "min": "the least",
    "max": "the greatest",
}
COMPARISONS = {
    "=": "is",
    "<>": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
    "between": "lies between",
    "in": "is one of (commas between)",
    "null": "is missing",
    "not null": "is not missing",
}
CONDITIONS = 3
"""The conditions that the form has; a question with more is written in SQL."""
MAX_LISTED_VALUES = 200
_SIMPLE_NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class AskedColumn:
    """A published column as the form shows it: what it is for, and which values it may have."""

    name: str
    role: str
    kind: str
    values: str
    can_be_added: bool  # or has at least a least and a greatest value
    listed: tuple[str, ...] = ()


def describe_columns(manifest: Manifest) -> list[AskedColumn]:
    """Describe the columns of a release that can be asked about."""
    return [_describe_column(column, manifest) for column in manifest.columns]


def write_question(form: FormData, manifest: Manifest) -> str:
    """Write the SQL of what was chosen in the form.

    Raises:
        RequestError: a choice is lacking or is none, or a value does not read as its column's do.
    """
    columns = {column.name: column for column in manifest.columns}
    plain = _write(form, columns, _name_plainly)
    try:
        parse_question(plain, manifest)
    except RequestError:
        quoted = _write(form, columns, _quote_name)
        parse_question(quoted, manifest)
        return quoted
    return plain


def _write(form: FormData, columns: Mapping[str, ColumnEntry], name_column: Callable[[str], str]) -> str:
    group = str(form.get("group", ""))
    groups = [name_column(_require_column(group, columns).name)] if group else []
    text = f"SELECT {', '.join([*groups, _write_aggregate(form, columns, name_column)])} FROM release"
    conditions = [
        _write_condition(form, number, columns, name_column)
        for number in range(1, CONDITIONS + 1)
        if form.get(f"column{number}")
    ]
    if conditions:
        text += f" WHERE {' AND '.join(conditions)}"
    if groups:
        text += f" GROUP BY {groups[0]}"
    return text


def _write_aggregate(form: FormData, columns: Mapping[str, ColumnEntry], name_column: Callable[[str], str]) -> str:
    aggregate = str(form.get("aggregate", "count"))
    if aggregate not in AGGREGATES:
        raise RequestError("There is no such aggregate.", attempt=suggest(aggregate, AGGREGATES))
    if aggregate == "count":
        return "COUNT(*)"
    of = str(form.get("of", ""))
    if not of:
        raise RequestError(
            "A sum, a mean, a least or a greatest value is one of a column.", attempt="a column to add up."
        )
    return f"{aggregate.upper()}({name_column(_require_column(of, columns).name)})"


def _write_condition(
    form: FormData, number: int, columns: Mapping[str, ColumnEntry], name_column: Callable[[str], str]
) -> str:
    column = _require_column(str(form.get(f"column{number}", "")), columns)
    comparison = str(form.get(f"comparison{number}", "="))
    if comparison not in COMPARISONS:
        raise RequestError("There is no such comparison.", attempt=suggest(comparison, COMPARISONS))
    name = name_column(column.name)
    if comparison in ("null", "not null"):
        return f"{name} IS {comparison.upper()}"
    value = str(form.get(f"value{number}", "")).strip()
    if comparison == "in":
        values = [_write_value(part.strip(), column, number) for part in value.split(",")]
        return f"{name} IN ({', '.join(values)})"
    first = _write_value(value, column, number)
    if comparison != "between":
        return f"{name} {comparison} {first}"
    return f"{name} BETWEEN {first} AND {_write_value(str(form.get(f'to{number}', '')).strip(), column, number)}"


def _write_value(text: str, column: ColumnEntry, number: int) -> str:
    """Write a value as SQL has it: numbers are read, texts are quoted."""
    if not text:
        raise RequestError(f"Condition {number} lacks a value.", attempt=f"a value of {column.name!r}.")
    dtype = parse_dtype(column.dtype)
    if dtype.is_numeric():
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite():
            raise RequestError(f"{column.name!r} has numbers, and condition {number} has none.", attempt="a number.")
        return text if re.fullmatch(r"-?\d+(\.\d+)?", text) else f"{value:f}"
    return "'" + text.replace("'", "''") + "'"


def _require_column(name: str, columns: Mapping[str, ColumnEntry]) -> ColumnEntry:
    if name not in columns:
        raise RequestError("The release has no such column.", attempt=suggest(name, columns))
    return columns[name]


def _name_plainly(name: str) -> str:
    return name if _SIMPLE_NAME.fullmatch(name) else _quote_name(name)


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _describe_column(column: ColumnEntry, manifest: Manifest) -> AskedColumn:
    labelled = reader_for(manifest.kind).labelled
    roles = {
        "quasi-identifying": "describes" + (", published as labels" if labelled else ""),
        "sensitive": "sensitive",
        "insensitive": "published as it is",
    }
    dtype = parse_dtype(column.dtype)
    is_number = dtype.is_numeric()
    listed = () if is_number else tuple(_list_values(column, manifest))
    return AskedColumn(
        column.name,
        roles.get(column.role, column.role),
        "numbers" if is_number else "values",
        _describe_values(column, listed),
        is_number or dtype.is_temporal(),
        listed,
    )


def _list_values(column: ColumnEntry, manifest: Manifest) -> list[str]:
    """List the values of a column that the manifest states."""
    stated: Any = column.order or column.values
    if stated is None and column.hierarchy is not None:
        stated = [path[0] for path in column.hierarchy if path]
    if stated is None and column.domain is not None:
        stated = column.domain
    if stated is None and column.role == "sensitive":
        stated = manifest.own.get("values") or manifest.own.get("domain")
    if not isinstance(stated, list | tuple):
        return []
    return [str(value) for value in stated if isinstance(value, str | int | float) and value is not True]


def _describe_values(column: ColumnEntry, listed: tuple[str, ...]) -> str:
    if listed:
        shown = ", ".join(listed[:6])
        return f"{shown}, … ({len(listed):,})" if len(listed) > 6 else shown
    domain = column.domain
    if isinstance(domain, list) and len(domain) >= 2:
        return f"{domain[0]} to {domain[-1]}"
    return ""
