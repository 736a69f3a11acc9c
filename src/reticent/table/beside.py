"""What stands beside the cells, looked at in one pass: carried columns, which are published, and identifying ones, which are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from reticent.table import carried, persons, repeats
from reticent.table.carried import Carried
from reticent.table.repeats import Repeats
from reticent.table.roles import Column, Role, with_role
from reticent.table.source import collect


@dataclass(frozen=True, slots=True)
class Beside:
    """`notices` are what the steward should know and nothing forbids."""

    carried: tuple[Carried, ...] = ()
    rows_per_person: int = 1
    notices: tuple[str, ...] = ()


def look(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> Beside:
    """Refuses near-unique carried columns and persons with more rows than is declared."""
    names = asked(columns)
    if not names:
        return Beside()
    lazy = lazy.select(pl.len().alias("\x00rows"), *repeats.questions(names))
    counted = collect(lazy, "Counting identifying and carried values")
    return answered(columns, counted["\x00rows"].item(), repeats.answers(names, counted))


def asked(columns: Mapping[str, Column]) -> list[str]:
    """The columns that stand beside the cells."""
    return [*with_role(columns, Role.INSENSITIVE), *with_role(columns, Role.IDENTIFYING)]


def answered(columns: Mapping[str, Column], rows: int, counted: Mapping[str, Repeats]) -> Beside:
    """What was counted, or a refusal."""
    found = carried.answered(columns, rows, counted)
    carried.refuse_near_unique(found, columns)
    return Beside(found, persons.rows_per_person(columns, counted), tuple(persons.notices(columns, counted)))
