"""What a promise does not cover: carried columns that single people out, or tell a sensitive value to who knows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import polars as pl

from reticent.table.carried import Carried, cramers_v
from reticent.table.roles import Column, Role, with_role

Tallied = Callable[[list[str]], pl.DataFrame]
"""The pairs of values of two columns, and how many rows have each: whoever has the rows counts them."""


def uncovered(
    tallied: Tallied, columns: Mapping[str, Column], carried: Iterable[Carried]
) -> tuple[tuple[Carried, ...], list[str]]:
    """Carried columns with how each goes with each sensitive one, and what the promise does not cover, in sentences."""
    found, said = [], []
    for one in carried:
        ties, guesses = {}, []
        for name in with_role(columns, Role.SENSITIVE):
            pairs = tallied([one.column, name])
            ties[name] = cramers_v(pairs)
            guesses.append(_guesses(pairs, name, one.rows))
        found.append(replace(one, association=ties))
        said.append(f"{found[-1]} It is published as it is{''.join(guesses)}.")
    return tuple(found), said


def _guesses(pairs: pl.DataFrame, name: str, rows: int) -> str:
    """How much better a sensitive value is guessed by who knows the carried one (Goodman and Kruskal's lambda, both sides)."""
    one, other, many = pairs.columns
    known = pairs.group_by(one).agg(pl.col(many).max())[many].sum()
    plain = pairs.group_by(other).agg(pl.col(many).sum())[many].max()
    shares = (float(right or 0) / rows for right in (known, plain))  # type: ignore[arg-type]  # counts
    return "; who knows it guesses {!r} in {:.1%} of the rows, who does not in {:.1%}".format(name, *shares)
