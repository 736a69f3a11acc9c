"""A question that plain SQL can answer: one aggregate of the sensitive column, conditions on it and on other columns apart."""

from __future__ import annotations

from dataclasses import dataclass
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
from reticent.release.manifest import Manifest

ELSE = "release.query, or `reticent query` without --print-sql and --at."


@dataclass(frozen=True, slots=True)
class Separated:
    """`where` is over exact columns, as SQL; `holding` over the sensitive one, and `held` the same as SQL."""

    aggregate: str
    where: Any | None
    holding: Condition | None
    held: Any | None
    by: tuple[str, ...]


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
    return Separated(aggregate.name, conjunction(apart[0]), holding, conjunction(apart[1]), asked.by)


def held(domain: pl.Series, asked: Separated) -> tuple[object, ...] | None:
    """The values of the domain that meet the condition on the sensitive column; None where there is no such condition."""
    if asked.holding is None:
        return None
    axis = of_values(str(domain.name), np.arange(len(domain)), domain, by_column(asked.holding)[str(domain.name)])
    met = Pieces.of([axis], asked.holding).met[axis.may.argmax(axis=1)]
    return tuple(domain.filter(pl.Series(met)).to_list())
