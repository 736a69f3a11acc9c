"""Conditions of a question: checked, their literals brought to the types of their columns, and as estimators take them.

AND, OR, NOT, comparisons, BETWEEN, IN and IS NULL, with SQL's three-valued logic: a row for which a condition is unknown is not
selected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import isfinite
from typing import Any

import polars as pl
from sqlglot import exp

from reticent.errors import RequestError, suggest
from reticent.query.parsed import called
from reticent.release.asking.condition import NULL, Atom, Condition, Joined, Negated
from reticent.release.manifest import ColumnEntry
from reticent.table.types import dtype_named, typed

COMPARED: dict[Any, str] = {exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
TURNED = {"=": "=", "<>": "<>", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
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
    if isinstance(one, exp.Between) and not one.args.get("symmetric"):
        column = _column(one.this, columns)
        low, high = (_literal(one.args[end], columns[column.name]) for end in ("low", "high"))
        return exp.Between(this=column, low=low, high=high)
    if isinstance(one, exp.In) and one.expressions:
        column = _column(one.this, columns)
        return exp.In(this=column, expressions=[_literal(value, columns[column.name]) for value in one.expressions])
    if type(one) in COMPARED and isinstance(one, exp.Binary):
        return _comparison(one, columns)
    raise RequestError(f"{called(one)} is not understood in a condition.", attempt=f"{KNOWN}.")


def _comparison(one: Any, columns: Mapping[str, ColumnEntry]) -> Any:
    left, right = one.left, one.right
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        for side in (left, right):
            _column(side, columns)
        raise RequestError(
            f"A comparison of {left.name!r} with {right.name!r} is not understood: a comparison is of one column with a value.",
            attempt=f"{KNOWN}.",
        )
    if isinstance(left, exp.Column):
        return type(one)(this=_column(left, columns), expression=_literal(right, columns[left.name]))
    if isinstance(right, exp.Column):
        return type(one)(this=_literal(left, columns[_column(right, columns).name]), expression=_column(right, columns))
    strange = next((called(side) for side in (left, right) if not isinstance(side, exp.Literal)), None)
    said = "A comparison without a column" if strange is None else f"{strange} in a comparison"
    raise RequestError(f"{said} is not understood.", attempt=f"{KNOWN}.")


def _column(one: Any, columns: Mapping[str, ColumnEntry]) -> exp.Column:
    if not isinstance(one, exp.Column):
        raise RequestError(f"{called(one)} is not understood where a column is asked.", attempt=f"{KNOWN}.")
    if one.name not in columns:
        raise RequestError(f"The release has no column {one.name!r}.", attempt=suggest(one.name, list(columns)))
    return exp.column(one.name, quoted=True)


def _literal(one: Any, column: ColumnEntry) -> Any:
    """A value as the column's type has it; a text for a number or the reverse is read as what the column holds.

    A number keeps its sign in its text: sqlglot would put a node for the sign around it.
    """
    dtype = dtype_named(column.dtype)
    inner = one.this if isinstance(one, exp.Paren) or _dated(one, dtype) else one
    sign = "-" if isinstance(inner, exp.Neg) else ""
    inner = inner.this if sign else inner
    if isinstance(inner, exp.Boolean) and dtype == pl.Boolean:
        return exp.Boolean(this=inner.this)
    if isinstance(inner, exp.Column):
        raise RequestError(
            f"A comparison of {column.name!r} with {inner.name!r} is not understood: a comparison is of one column with a value.",
            attempt=f"{KNOWN}.",
        )
    if isinstance(inner, exp.Null):
        raise RequestError(
            "A comparison with NULL is not understood: it selects nobody.", attempt=f"{column.name} IS NULL."
        )
    if not isinstance(inner, exp.Literal):
        raise RequestError(f"{called(inner)} is not understood as a value.", attempt=f"{KNOWN}.")
    text = sign + inner.name
    if dtype.is_numeric():
        if not _finite(text):
            raise RequestError(f"{column.name!r} holds numbers, and it is compared with a text.", attempt="a number.")
        return exp.Literal(this=text, is_string=False)
    if dtype == pl.String:
        return exp.Literal.string(text)
    try:
        value(exp.Literal.string(text), column)
    except Exception:
        raise RequestError(
            f"{column.name!r} is compared with a text that is no {column.dtype}.", attempt="a value as it is published."
        ) from None
    return exp.Literal.string(text)


def _dated(one: Any, dtype: Any) -> bool:
    """DATE '2020-01-31', which is a cast to sqlglot; casts that would change a value are not understood."""
    return isinstance(one, exp.Cast) and dtype.is_temporal() and one.to.is_type(*exp.DataType.TEMPORAL_TYPES)


def value(literal: Any, column: ColumnEntry) -> Any:
    """The value that a literal stands for."""
    if isinstance(literal, exp.Boolean):
        return bool(literal.this)
    text = literal.name
    if dtype_named(column.dtype).is_numeric():
        whole = len(text) < 30 and text.lstrip("+-").isdigit() and abs(int(text)) < 1 << 64
        return int(text) if whole else float(text)
    return typed([text], column.dtype)[0]


def _finite(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def condition(one: Any | None, columns: Mapping[str, ColumnEntry]) -> Condition | None:
    """A typed condition as estimators take it."""
    return None if one is None else _condition(one, columns)


def _condition(one: Any, columns: Mapping[str, ColumnEntry]) -> Condition:
    if isinstance(one, exp.Paren):
        return _condition(one.this, columns)
    if isinstance(one, exp.And | exp.Or):
        return Joined(isinstance(one, exp.And), (_condition(one.left, columns), _condition(one.right, columns)))
    if isinstance(one, exp.Not):
        return Negated(_condition(one.this, columns))
    if isinstance(one, exp.Is):
        return Atom(one.this.name, NULL)
    entry = columns[next(one.find_all(exp.Column)).name]
    if isinstance(one, exp.Between):
        return Joined(True, (_atom(entry, ">=", one.args["low"]), _atom(entry, "<=", one.args["high"])))
    if isinstance(one, exp.In):
        return Joined(False, tuple(_atom(entry, "=", each) for each in one.expressions))
    assert isinstance(one, exp.Binary)
    if isinstance(one.left, exp.Column):
        return _atom(entry, COMPARED[type(one)], one.right)
    return _atom(entry, TURNED[COMPARED[type(one)]], one.left)


def _atom(column: ColumnEntry, test: str, literal: Any) -> Atom:
    found = Atom(column.name, test, value(literal, column))
    _refuse_beyond(column, found)
    return found


def _refuse_beyond(column: ColumnEntry, atom: Atom) -> None:
    """A comparison that values beyond a declared top or bottom would answer differently is not told by the release."""
    for end, side, alike in ((column.top, "top", ("<", ">=")), (column.bottom, "bottom", (">", "<="))):
        if end is None:
            continue
        limit = value(exp.Literal.string(str(end)), column)
        beyond = atom.value > limit if side == "top" else atom.value < limit
        if beyond or (atom.value == limit and atom.test not in alike):
            raise RequestError(
                f"Column {column.name!r} is published up to a declared {side} of {end}: what lies beyond it is not told apart.",
                attempt=f"{column.name} {alike[1]} {end}.",
            )
