"""How often the values of a column occur: what is asked of carried and identifying columns, however they are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True, slots=True)
class Repeats:
    """Of the values that are not missing: how many differ, how many occur once, and how often the most frequent does."""

    missing: int
    distinct: int
    once: int
    most: int


def questions(names: Iterable[str]) -> list[pl.Expr]:
    """What to ask of each column in one pass; `answers` reads it."""
    found = []
    for name in names:
        times = pl.col(name).drop_nulls().alias("value").value_counts(name="times").struct.field("times")
        found += [
            pl.col(name).null_count().alias(f"missing {name}"),
            times.len().alias(f"distinct {name}"),
            (times == 1).sum().alias(f"once {name}"),
            times.max().fill_null(0).alias(f"most {name}"),
        ]
    return found


def answers(names: Iterable[str], counted: Mapping[str, Any]) -> dict[str, Repeats]:
    return {
        name: Repeats(*(int(counted[f"{word} {name}"] or 0) for word in ("missing", "distinct", "once", "most")))
        for name in names
    }
