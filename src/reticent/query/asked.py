"""A question as it was understood: SQL text -> aggregates, a condition, GROUP BY.

Understood is SELECT [columns,] COUNT(*) | COUNT, SUM, AVG, MIN or MAX of a column [, ...] FROM release [WHERE ...] [GROUP BY columns].
What is not understood is refused by its name: nothing is answered that was not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from reticent.errors import RequestError, suggest
from reticent.query.conditions import typed_condition
from reticent.query.parsed import besides, called, parsed
from reticent.release.manifest import ColumnEntry, Manifest
from reticent.table.types import dtype_named

AGGREGATES: dict[Any, str] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max"}
SHAPE = "SELECT COUNT(*) or SUM, AVG, MIN or MAX of a column FROM release WHERE ... GROUP BY ..."
TABLE = "release"
CLAUSES = {
    "joins": "JOIN", "order": "ORDER BY", "with_": "WITH", "windows": "WINDOW", "laterals": "LATERAL", "pivots": "PIVOT", "locks": "FOR",
    "sample": "SAMPLE", "connect": "CONNECT BY", "cluster": "CLUSTER BY", "sort": "SORT BY", "distribute": "DISTRIBUTE BY",
    "kind": "SELECT AS",
}  # fmt: skip
"""Where sqlglot's word is not SQL's own."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`column` None: of rows."""

    name: str
    column: str | None

    def __str__(self) -> str:
        return f"{self.name.upper()}({self.column or '*'})"


@dataclass(frozen=True, slots=True)
class Asked:
    """`where` is checked, and its literals have the types of their columns."""

    aggregates: tuple[Aggregate, ...]
    where: Any | None
    by: tuple[str, ...]


def understood(text: str, manifest: Manifest) -> Asked:
    tree = _select(text)
    columns = {column.name: column for column in manifest.columns}
    grouping = tree.args.get("group")
    by = tuple(dict.fromkeys(_column(one, columns) for one in (grouping.expressions if grouping else ())))
    where = tree.args.get("where")
    return Asked(
        _aggregates(tree.expressions, by, columns), None if where is None else typed_condition(where.this, columns), by
    )


def _select(text: str) -> exp.Select:
    found = parsed(text, "The question", SHAPE + ".")
    if len(found) != 1 or not isinstance(found[0], exp.Select):
        kind = (
            type(found[0]).__name__.upper() if len(found) == 1 and found[0] is not None else f"{len(found)} statements"
        )
        raise RequestError(f"{kind} is not understood: a question is one SELECT.", attempt=SHAPE + ".")
    tree = found[0]
    if clause := besides(tree, ("expressions", "from_", "where", "group")):
        raise RequestError(f"{CLAUSES.get(clause, clause.upper())} is not understood.", attempt=SHAPE + ".")
    if tree.find(exp.Subquery) or sum(1 for _ in tree.find_all(exp.Select)) > 1:
        raise RequestError("A question within a question is not understood.", attempt=SHAPE + ".")
    _refuse_other_tables(tree)
    if (grouping := tree.args.get("group")) and (more := besides(grouping, ("expressions",))):
        word = more.upper().replace("_", " ")
        raise RequestError(f"GROUP BY with {word} is not understood.", attempt="GROUP BY and the names of columns.")
    return tree


def _refuse_other_tables(tree: exp.Select) -> None:
    """A question is put to the release, under its name or the one that FROM gives it, and to all of it."""
    source = tree.args.get("from_")
    table = None if source is None else source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise RequestError("A question is put to one table: the release.", attempt=f"FROM {TABLE}.")
    if table.args.get("db") or table.name.lower() != TABLE:
        raise RequestError(
            "A question is put to the release, and FROM names another table.",
            why=f"Whatever is published, a question calls it {TABLE}.",
            attempt=f"FROM {TABLE}.",
        )
    alias = table.args.get("alias")
    if clause := besides(table, ("this", "alias")) or (alias and besides(alias, ("this",))):
        raise RequestError(
            f"{CLAUSES.get(clause, clause.upper())} after FROM {TABLE} is not understood.", attempt=f"FROM {TABLE}."
        )
    for column in tree.find_all(exp.Column):
        if column.table and (column.args.get("db") or column.table.lower() not in (TABLE, table.alias.lower())):
            raise RequestError(
                f"{column.name!r} is asked of another table than the release.",
                attempt=f"{column.name}, without a table.",
            )


def _aggregates(shown: Sequence[Any], by: Sequence[str], columns: dict[str, ColumnEntry]) -> tuple[Aggregate, ...]:
    """What is asked for; other columns that are shown are those of GROUP BY."""
    found = []
    for one in shown:
        inner = one.this if isinstance(one, exp.Alias) else one
        if isinstance(inner, exp.Column):
            if _column(inner, columns) not in by:
                raise RequestError(
                    f"{inner.name!r} is shown and is not in GROUP BY.", attempt=f"GROUP BY {inner.name}."
                )
        elif type(inner) in AGGREGATES:
            found.append(_aggregate(inner, columns))
        else:
            raise RequestError(f"{called(inner)} is not understood as what to select.", attempt=SHAPE + ".")
    if not found:
        raise RequestError("The question has no aggregate.", attempt=SHAPE + ".")
    return tuple(dict.fromkeys(found))


def _aggregate(one: Any, columns: dict[str, ColumnEntry]) -> Aggregate:
    name, of = AGGREGATES[type(one)], one.this
    attempt = "COUNT(*), or COUNT of a column." if name == "count" else f"{name.upper()} of a column."
    if of is None:
        raise RequestError(f"{name.upper()} of nothing is not understood.", attempt=attempt)
    if isinstance(of, exp.Distinct):
        raise RequestError(f"{name.upper()}(DISTINCT ...) is not understood.", attempt=attempt)
    if besides(one, ("this", "big_int")) or besides(of, ("this", "table")):
        raise RequestError(f"{name.upper()} of more than a column is not understood.", attempt=attempt)
    if name == "count" and isinstance(of, exp.Star):
        return Aggregate(name, None)
    if not isinstance(of, exp.Column):
        raise RequestError(f"{name.upper()} of an expression is not understood.", attempt=attempt)
    column = columns[_column(of, columns)]
    if name != "count" and not dtype_named(column.dtype).is_numeric():
        raise RequestError(
            f"{name.upper()} of {column.name!r} cannot be answered: its values are no numbers.",
            attempt=f"COUNT(*), with a condition on it, or {name.upper()} of a column of numbers.",
        )
    return Aggregate(name, column.name)


def _column(one: Any, columns: dict[str, ColumnEntry]) -> str:
    if not isinstance(one, exp.Column):
        raise RequestError(
            f"{called(one)} is not understood in GROUP BY, which is by columns.",
            attempt="GROUP BY and the names of columns.",
        )
    if one.name not in columns:
        raise RequestError(f"The release has no column {one.name!r}.", attempt=suggest(one.name, list(columns)))
    return one.name
