"""Conditions of a question: checked, their literals brought to the types of their columns, and as a Polars expression.

AND, OR, NOT, comparisons, BETWEEN, IN and IS NULL, with SQL's three-valued logic: a row for which a condition is unknown is not
selected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import polars as pl
from sqlglot import exp

from reticent.errors import RequestError, suggest
from reticent.release.manifest import ColumnEntry
from reticent.table.types import dtype_named, typed

COMPARED: dict[Any, Callable[[Any, Any], Any]] = {
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.GT: lambda a, b: a > b,
    exp.GTE: lambda a, b: a >= b,
    exp.LT: lambda a, b: a < b,
    exp.LTE: lambda a, b: a <= b,
}
KNOWN = "AND, OR, NOT, =, <>, <, <=, >, >=, BETWEEN, IN (...) and IS NULL, on columns and values"


def parts(condition: Any | None) -> list[Any]:
    """The conditions that AND joins at the top."""
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return parts(condition.this)
    if isinstance(condition, exp.And):
        return [*parts(condition.left), *parts(condition.right)]
    return [condition]


def conjunction(found: Sequence[Any]) -> Any | None:
    return reduce(lambda a, b: exp.And(this=exp.Paren(this=a), expression=exp.Paren(this=b)), found) if found else None


def typed_condition(one: Any, columns: Mapping[str, ColumnEntry]) -> Any:
    """The same condition with known parts only, columns quoted, each literal written as its column's type has it."""
    if isinstance(one, exp.Paren):
        return exp.Paren(this=typed_condition(one.this, columns))
    if isinstance(one, exp.And | exp.Or):
        return type(one)(this=exp.Paren(this=typed_condition(one.left, columns)),
                         expression=exp.Paren(this=typed_condition(one.right, columns)))  # fmt: skip
    if isinstance(one, exp.Not):
        return exp.Not(this=exp.Paren(this=typed_condition(one.this, columns)))
    if isinstance(one, exp.Is) and isinstance(one.expression, exp.Null):
        return exp.Is(this=_column(one.this, columns), expression=exp.Null())
    if isinstance(one, exp.Between):
        column = _column(one.this, columns)
        low, high = (_literal(one.args[end], columns[column.name]) for end in ("low", "high"))
        return exp.Between(this=column, low=low, high=high)
    if isinstance(one, exp.In) and one.expressions:
        column = _column(one.this, columns)
        return exp.In(this=column, expressions=[_literal(value, columns[column.name]) for value in one.expressions])
    if type(one) in COMPARED and isinstance(one, exp.Binary):
        return _comparison(one, columns)
    raise RequestError(f"{type(one).__name__} is not understood in a condition.", attempt=f"{KNOWN}.")


def _comparison(one: Any, columns: Mapping[str, ColumnEntry]) -> Any:
    left, right = one.left, one.right
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        return type(one)(this=_column(left, columns), expression=_column(right, columns))
    if isinstance(left, exp.Column):
        return type(one)(this=_column(left, columns), expression=_literal(right, columns[left.name]))
    if isinstance(right, exp.Column):
        return type(one)(this=_literal(left, columns[_column(right, columns).name]), expression=_column(right, columns))
    raise RequestError("A comparison without a column is not understood.", attempt=f"{KNOWN}.")


def _column(one: Any, columns: Mapping[str, ColumnEntry]) -> exp.Column:
    if not isinstance(one, exp.Column):
        raise RequestError(f"{type(one).__name__} is not understood where a column is asked.", attempt=f"{KNOWN}.")
    if one.name not in columns:
        raise RequestError(f"The release has no column {one.name!r}.", attempt=suggest(one.name, list(columns)))
    return exp.column(one.name, quoted=True)


def _literal(one: Any, column: ColumnEntry) -> Any:
    """A value as the column's type has it; a text for a number or the reverse is read as what the column holds."""
    inner = one.this if isinstance(one, exp.Cast | exp.Paren) else one
    sign = "-" if isinstance(inner, exp.Neg) else ""
    inner = inner.this if sign else inner
    dtype = dtype_named(column.dtype)
    if isinstance(inner, exp.Boolean) and dtype == pl.Boolean:
        return exp.Boolean(this=inner.this)
    if not isinstance(inner, exp.Literal):
        raise RequestError(f"{type(inner).__name__} is not understood as a value.", attempt=f"{KNOWN}.")
    text = sign + inner.name
    if dtype.is_numeric():
        try:
            float(text)
        except ValueError:
            raise RequestError(
                f"{column.name!r} holds numbers, and it is compared with a text.", attempt="a number."
            ) from None
        return exp.Literal.number(text)
    if dtype == pl.String:
        return exp.Literal.string(text)
    try:
        value(exp.Literal.string(text), column)
    except Exception:
        raise RequestError(
            f"{column.name!r} is compared with a text that is no {column.dtype}.", attempt="a value as it is published."
        ) from None
    return exp.Literal.string(text)


def value(literal: Any, column: ColumnEntry) -> Any:
    """The value that a literal stands for."""
    if isinstance(literal, exp.Boolean):
        return bool(literal.this)
    text = literal.name
    if dtype_named(column.dtype).is_numeric():
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    return typed([text], column.dtype)[0]


def expression(one: Any | None, columns: Mapping[str, ColumnEntry]) -> pl.Expr | None:
    """A typed condition as a Polars expression."""
    return None if one is None else _expression(one, columns)


def _expression(one: Any, columns: Mapping[str, ColumnEntry]) -> pl.Expr:
    if isinstance(one, exp.Paren):
        return _expression(one.this, columns)
    if isinstance(one, exp.And):
        return _expression(one.left, columns) & _expression(one.right, columns)
    if isinstance(one, exp.Or):
        return _expression(one.left, columns) | _expression(one.right, columns)
    if isinstance(one, exp.Not):
        return ~_expression(one.this, columns)
    if isinstance(one, exp.Is):
        return pl.col(one.this.name).is_null()
    column = next(one.find_all(exp.Column)).name
    entry = columns[column]
    if isinstance(one, exp.Between):
        low, high = (value(one.args[end], entry) for end in ("low", "high"))
        return (pl.col(column) >= low) & (pl.col(column) <= high)
    if isinstance(one, exp.In):
        return reduce(lambda a, b: a | b, (pl.col(column) == value(each, entry) for each in one.expressions))
    assert isinstance(one, exp.Binary)
    sides = [
        pl.col(side.name) if isinstance(side, exp.Column) else pl.lit(value(side, entry))
        for side in (one.left, one.right)
    ]
    return COMPARED[type(one)](*sides)
