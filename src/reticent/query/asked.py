"""A question as it was understood: SQL text -> an aggregate, a condition on exact columns, one on the sensitive column, GROUP BY.

Understood is SELECT [columns,] COUNT(*) | COUNT, SUM, AVG, MIN or MAX of the sensitive column FROM release [WHERE ...] [GROUP BY
columns].  What is not understood is refused by its name: nothing is answered that was not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from reticent.errors import RequestError, suggest
from reticent.query.conditions import conjunction, parts, typed_condition
from reticent.release.manifest import ColumnEntry, Manifest
from reticent.table.roles import Role

AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
SHAPE = "SELECT COUNT(*) or SUM, AVG, MIN or MAX of the sensitive column FROM release WHERE ... GROUP BY ..."
CLAUSES = {
    "joins": "JOIN", "having": "HAVING", "order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET", "distinct": "DISTINCT",
    "with_": "WITH", "with": "WITH", "windows": "WINDOW", "qualify": "QUALIFY", "laterals": "LATERAL",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """`where` is over exact columns, `holding` over the sensitive one; literals have the types of their columns."""

    aggregate: str
    where: exp.Expr | None
    holding: exp.Expr | None
    by: tuple[str, ...]


def understood(text: str, manifest: Manifest) -> Asked:
    tree = _select(text)
    columns = {column.name: column for column in manifest.columns}
    if len(manifest.named(Role.SENSITIVE)) != 1:
        raise RequestError("A question is put to a release with one sensitive column.", attempt="its frame().")
    sensitive = manifest.sensitive.name
    grouping = tree.args.get("group")
    by = tuple(_column(one, columns) for one in (grouping.expressions if grouping else ()))
    if sensitive in by:
        raise RequestError(
            f"GROUP BY {sensitive!r} is not understood: no row says its value.", attempt="GROUP BY other columns."
        )
    aggregate = _aggregate(tree.expressions, by, columns, sensitive)
    where, holding = _conditions(tree.args.get("where"), columns, sensitive)
    if holding is not None and aggregate != "count":
        raise RequestError(
            f"A condition on {sensitive!r} goes with COUNT only, not with {aggregate.upper()}.",
            why="Which rows meet it is not published.",
            attempt=f"COUNT(*) with it, or {aggregate.upper()} without.",
        )
    return Asked(aggregate, where, holding, by)


def _select(text: str) -> exp.Select:
    try:
        found = sqlglot.parse(text, read="duckdb")
    except SqlglotError:
        raise RequestError("The question is no SQL that is understood.", attempt=SHAPE + ".") from None
    if len(found) != 1 or not isinstance(found[0], exp.Select):
        kind = (
            type(found[0]).__name__.upper() if len(found) == 1 and found[0] is not None else f"{len(found)} statements"
        )
        raise RequestError(f"{kind} is not understood: a question is one SELECT.", attempt=SHAPE + ".")
    tree = found[0]
    for clause, word in CLAUSES.items():
        if tree.args.get(clause):
            raise RequestError(f"{word} is not understood.", attempt=SHAPE + ".")
    source = tree.args.get("from_") or tree.args.get("from")
    if source is None or not isinstance(source.this, exp.Table):
        raise RequestError("A question is put to one table: the release.", attempt="FROM release.")
    if tree.find(exp.Subquery) or sum(1 for _ in tree.find_all(exp.Select)) > 1:
        raise RequestError("A question within a question is not understood.", attempt=SHAPE + ".")
    return tree


def _aggregate(shown: Sequence[exp.Expr], by: Sequence[str], columns: dict[str, ColumnEntry], sensitive: str) -> str:
    """The one aggregate; other columns that are shown are those of GROUP BY."""
    found = []
    for one in shown:
        inner = one.this if isinstance(one, exp.Alias) else one
        if isinstance(inner, exp.Column):
            if _column(inner, columns) not in by:
                raise RequestError(
                    f"{inner.name!r} is shown and is not in GROUP BY.", attempt=f"GROUP BY {inner.name}."
                )
        elif type(inner) in AGGREGATES:
            found.append(inner)
        else:
            raise RequestError(f"{type(inner).__name__} is not understood as what to select.", attempt=SHAPE + ".")
    if len(found) != 1:
        raise RequestError(
            f"The question has {len(found)} aggregates: one is answered.", attempt="one question for each."
        )
    name, of = AGGREGATES[type(found[0])], found[0].this
    if isinstance(of, exp.Distinct) or found[0].args.get("expressions"):
        raise RequestError(f"{name.upper()}(DISTINCT ...) is not understood.", attempt=f"{name.upper()}({sensitive}).")
    if name == "count" and isinstance(of, exp.Star):
        return name
    if not isinstance(of, exp.Column):
        raise RequestError(
            f"{name.upper()} of an expression is not understood.", attempt=f"{name.upper()}({sensitive})."
        )
    if _column(of, columns) != sensitive:
        raise RequestError(
            f"{name.upper()} is of the sensitive column {sensitive!r}; {of.name!r} is another.",
            attempt=f"{name.upper()}({sensitive}); a column that is published as it is can be aggregated from frame().",
        )
    return name


def _conditions(
    where: exp.Expr | None, columns: dict[str, ColumnEntry], sensitive: str
) -> tuple[exp.Expr | None, exp.Expr | None]:
    """What is asked of exact columns and what of the sensitive one: two conditions, both to be met."""
    apart: tuple[list[exp.Expr], list[exp.Expr]] = ([], [])
    for part in parts(None if where is None else where.this):
        checked = typed_condition(part, columns)
        names = {column.name for column in checked.find_all(exp.Column)}
        if sensitive in names and len(names) > 1:
            raise RequestError(
                f"A condition that mixes {sensitive!r} with other columns is not understood.",
                why="Which rows meet it is not published.",
                attempt="conditions joined by AND, each on the sensitive column or on others.",
            )
        apart[sensitive in names].append(checked)
    return conjunction(apart[0]), conjunction(apart[1])


def _column(one: exp.Expr, columns: dict[str, ColumnEntry]) -> str:
    if not isinstance(one, exp.Column):
        raise RequestError("GROUP BY is by columns.", attempt="GROUP BY region.")
    if one.name not in columns:
        raise RequestError(f"The release has no column {one.name!r}.", attempt=suggest(one.name, list(columns)))
    return one.name
