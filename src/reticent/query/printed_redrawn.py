"""A question to a release of redrawn values as plain SQL: every row adds a number that belongs to the value it shows.

A score s of the true value (1 or 0 for COUNT, the value for SUM and AVG) is estimated by w = M^-1 s of the shown one; the variance of
a row is estimated by w^2 - M^-1 s^2 of it (`release/asking/redrawn.py`, where 30 rows of the whole table's spread are added in).  Both
are one CASE over the values.  The root of `variance` is the standard error: not every database has a root.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from sqlglot import exp

from reticent.errors import RequestError
from reticent.query.separated import ELSE, Separated, held
from reticent.release.asking.axis import numbers_of
from reticent.release.asking.redrawn import BORROWED, refuse_extremes
from reticent.release.manifest import Manifest
from reticent.release.reconstruction import Reconstruction


def printed_redrawn(manifest: Manifest, asked: Separated, dialect: str, double: str, table: str) -> str:
    """`table` is the quoted name of the rows, `dialect` sqlglot's, `double` the database's type."""
    model, column = Reconstruction.of(manifest), manifest.sensitive
    score = _scores(model.values, asked)
    weight = model.inverse @ score
    each = weight**2 - model.inverse @ score**2
    name = exp.to_identifier(column.name, quoted=True).sql(dialect=dialect)
    shown = [_literal(value, dialect) for value in model.values.to_list()]
    by = [exp.to_identifier(one, quoted=True).sql(dialect=dialect) for one in asked.by]
    keys, group = (
        "".join(f"{one}, " for one in by),
        f"\nGROUP BY {', '.join(by)}\nORDER BY {', '.join(by)}" if by else "",
    )
    where = "" if asked.where is None else f"\n  WHERE {asked.where.sql(dialect=dialect)}"
    weights, spreads = (_case(name, shown, numbers, double) for numbers in (weight, each))
    rows = f"CAST(COUNT(*) AS {double})"
    total = f"COALESCE(SUM(reticent_weight), CAST(0 AS {double}))"
    variance = (
        f"COALESCE(({rows} * SUM(reticent_spread) + {BORROWED} * {rows} * (SELECT reticent_mean FROM whole)) / ({rows} + {BORROWED}), "
        f"CAST(0 AS {double}))"
    )
    if asked.aggregate != "count":
        total = f"SUM(reticent_weight){f' / {rows}' if asked.aggregate == 'avg' else ''}"
        variance += f" / ({rows} * {rows})" if asked.aggregate == "avg" else ""
    columns = f"{total} AS estimate, {variance} AS variance"
    comment = ""
    if asked.withheld.rows:
        groups = " any of them may be in each group, or in one that has no line;" if by else ""
        comment = f"-- {asked.withheld.rows} rows of the source were withheld:{groups} the estimate takes them to be like the others\n"
        share = 1.0 if asked.aggregate == "avg" else float(asked.withheld.share)
        columns = f"({total}) * {share!r} AS estimate, ({variance}) * {share * share!r} AS variance"
        if asked.holding is None and asked.aggregate == "count":
            columns = (
                f"({total}) * {share!r} AS estimate, COUNT(*) + {asked.withheld.must} AS lower, "
                f"COUNT(*) + {asked.withheld.may} AS upper"
            )
        columns += f", {total} AS published_estimate, {variance} AS published_variance"
    return (
        f"{comment}WITH whole AS (\n  SELECT AVG({spreads}) AS reticent_mean FROM {table}\n),\n"
        f"picked AS (\n  SELECT {keys}{weights} AS reticent_weight, {spreads} AS reticent_spread\n  FROM {table}{where}\n)\n"
        f"SELECT {keys}{columns}\nFROM picked{group}"
    )


def _scores(values: pl.Series, asked: Separated) -> np.ndarray:
    refuse_extremes(asked.aggregate)
    if asked.aggregate != "count":
        return numbers_of(values).astype(float)
    among = held(values, asked)
    return np.ones(len(values)) if among is None else values.is_in(list(among)).to_numpy().astype(float)


def _literal(value: object, dialect: str) -> str:
    if not isinstance(value, str | int | float):
        raise RequestError("Values that are neither texts nor numbers are not printed as plain SQL.", attempt=ELSE)
    literal = exp.Literal.string(value) if isinstance(value, str) else exp.convert(value)
    return literal.sql(dialect=dialect)


def _case(name: str, shown: list[str], numbers: np.ndarray, double: str) -> str:
    cases = " ".join(f"WHEN {value} THEN {float(number)!r}" for value, number in zip(shown, numbers, strict=True))
    return f"CAST(CASE {name} {cases} END AS {double})"
