"""How often the values of a column occur: what is asked of carried and identifying columns, however they are counted."""

from __future__ import annotations

from collections.abc import Iterable
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
    """What to ask of each column in one pass: how often each value occurs, as one list; `answers` reads it."""
    found = []
    for name in names:
        times = pl.col(name).drop_nulls().alias("value").value_counts(name="times").struct.field("times")
        found += [pl.col(name).null_count().alias(f"missing {name}"), times.implode().alias(f"times {name}")]
    return found


def answers(names: Iterable[str], counted: pl.DataFrame) -> dict[str, Repeats]:
    found = {}
    for name in names:
        times = counted[f"times {name}"].explode(empty_as_null=False)
        most: Any = times.max() or 0
        found[name] = Repeats(counted[f"missing {name}"].item(), len(times), int((times == 1).sum()), int(most))
    return found
