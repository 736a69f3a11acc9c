"""A question that plain SQL can answer: one aggregate of the sensitive column, conditions on it and on other columns apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from sqlglot import exp

from reticent.errors import RequestError
from reticent.query.asked import Asked
from reticent.query.conditions import condition, conjunction, parts
from reticent.release.asking.axis import of_values
from reticent.release.asking.condition import Condition
from reticent.release.asking.laid import by_column
from reticent.release.asking.pieces import Pieces
from reticent.release.asking.put import describe_withheld_rows
from reticent.release.asking.source_values import is_coded
from reticent.release.manifest import Manifest

ELSE = "release.query, or `reticent query` without --print-sql and --at."


@dataclass(frozen=True, slots=True)
class Withheld:
    """Rows that are not published, as a count sees them: how many must and may be counted; and what all rows are of the published."""

    rows: int
    must: int
    may: int
    share: Fraction


NONE_WITHHELD = Withheld(0, 0, 0, Fraction(1))


@dataclass(frozen=True, slots=True)
class Separated:
    """`where` is over exact columns, as SQL; `holding` over the sensitive one, and `held` the same as SQL."""

    aggregate: str
    where: Any | None
    holding: Condition | None
    held: Any | None
    by: tuple[str, ...]
    withheld: Withheld = NONE_WITHHELD


def separated(asked: Asked, manifest: Manifest) -> Separated:
    sensitive = manifest.sensitive.name
    if len(asked.aggregates) != 1:
        raise RequestError(
            f"{len(asked.aggregates)} aggregates are not one statement of plain SQL.", attempt="one question for each."
        )
    aggregate = asked.aggregates[0]
    if aggregate.column not in (None, sensitive):
        raise RequestError(
            f"{aggregate} is not printed as plain SQL: it is of another column than the sensitive one.", attempt=ELSE
        )
    if sensitive in asked.by:
        raise RequestError(f"GROUP BY {sensitive!r} is not printed as plain SQL: no row says its value.", attempt=ELSE)
    apart: tuple[list[Any], list[Any]] = ([], [])
    for part in parts(asked.where):
        names = {column.name for column in part.find_all(exp.Column)}
        if sensitive in names and len(names) > 1:
            raise RequestError(
                f"A condition that mixes {sensitive!r} with other columns is not printed as plain SQL: it is matched.",
                attempt=ELSE,
            )
        apart[sensitive in names].append(part)
    columns = {column.name: column for column in manifest.columns}
    holding = condition(conjunction(apart[1]), columns)
    if holding is not None and aggregate.name != "count":
        raise RequestError(
            f"{aggregate} with a condition on {sensitive!r} is not printed as plain SQL: it is matched.", attempt=ELSE
        )
    require_plain_columns(asked, manifest)
    withheld = _withheld(asked, manifest)
    return Separated(aggregate.name, conjunction(apart[0]), holding, conjunction(apart[1]), asked.by, withheld)


def require_plain_columns(asked: Asked, manifest: Manifest) -> None:
    """Plain SQL would take a value for itself that stands for others."""
    named = set() if asked.where is None else {column.name for column in asked.where.find_all(exp.Column)}
    for column in manifest.columns:
        if column.round_to is not None and column.name in named | set(asked.by):
            raise RequestError(
                f"A question about {column.name!r} is not printed as plain SQL: its values were rounded, and stand for others.",
                attempt=ELSE,
            )
        if column.name in asked.by and is_coded(column):
            raise RequestError(
                f"GROUP BY {column.name!r} is not printed as plain SQL: its top or bottom stands for all values beyond it.",
                attempt=ELSE,
            )


def _withheld(asked: Asked, manifest: Manifest) -> Withheld:
    """By groups, any of the withheld rows may be in each, and none need be."""
    if not manifest.withheld:
        return NONE_WITHHELD
    columns = {column.name: column for column in manifest.columns}
    among = condition(asked.where, columns)
    column = asked.aggregates[0].column
    found = describe_withheld_rows(manifest.withheld, columns, among, column, unlisted=bool(asked.by))
    share = Fraction(manifest.rows + manifest.withheld, manifest.rows)
    if found is None:
        return Withheld(manifest.withheld, 0, 0, share)
    must, may = (int(found.rows[side].sum()) for side in (found.must, found.may))
    return Withheld(manifest.withheld, must, may, share)


def held(domain: pl.Series, asked: Separated) -> tuple[object, ...] | None:
    """The values of the domain that meet the condition on the sensitive column; None where there is no such condition."""
    if asked.holding is None:
        return None
    axis = of_values(str(domain.name), np.arange(len(domain)), domain, by_column(asked.holding)[str(domain.name)])
    met = Pieces.of([axis], asked.holding).met[axis.may.argmax(axis=1)]
    return tuple(domain.filter(pl.Series(met)).to_list())
