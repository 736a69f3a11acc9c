"""What a promise does not cover: carried columns that single people out, or tell a sensitive value to who knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from reticent.table.carried import Carried
from reticent.table.roles import Column, Role, with_role
from reticent.table.source import collect


def uncovered(lazy: pl.LazyFrame, columns: Mapping[str, Column], carried: Sequence[Carried]) -> list[str]:
    """What the promise does not cover: carried columns that single people out or tell a sensitive value."""
    return [
        f"{one} It is published as it is{_guesses(lazy, one.column, with_role(columns, Role.SENSITIVE), one.rows)}."
        for one in carried
    ]


def _guesses(lazy: pl.LazyFrame, carried: str, sensitive: Sequence[str], rows: int) -> str:
    """How much better a sensitive value is guessed by who knows the carried one (Goodman and Kruskal's lambda, both sides)."""
    said = []
    for name in sensitive:
        pairs = lazy.group_by(carried, name).len("count")
        best = pairs.group_by(carried).agg(pl.col("count").max()).select(pl.col("count").sum())
        plain = lazy.group_by(name).len("count").select(pl.col("count").max())
        known, guessed = (collect(part, "Comparing columns").item() / rows for part in (best, plain))
        said.append(f"who knows it guesses {name!r} in {known:.1%} of the rows, who does not in {guessed:.1%}")
    return "".join(f"; {one}" for one in said)
