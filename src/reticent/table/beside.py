"""What stands beside the cells, looked at in one pass: carried columns, which are published, and identifying ones, which are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from reticent.table import carried, persons
from reticent.table.carried import Carried
from reticent.table.roles import Column
from reticent.table.source import collect


@dataclass(frozen=True, slots=True)
class Beside:
    """`notices` are what the steward should know and nothing forbids."""

    carried: tuple[Carried, ...] = ()
    rows_per_person: int = 1
    notices: tuple[str, ...] = ()


def look(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> Beside:
    """Refuses near-unique carried columns and persons with more rows than is declared."""
    asked = carried.questions(columns) | persons.questions(columns)
    if not asked:
        return Beside()
    exprs = [pl.len().alias("rows"), *(one.alias(name) for name, one in asked.items())]
    counted = collect(lazy.select(exprs), "Counting identifying and carried values")
    found = carried.answered(columns, counted)
    carried.refuse_near_unique(found, columns)
    return Beside(found, persons.rows_per_person(columns, counted), tuple(persons.notices(columns, counted)))
