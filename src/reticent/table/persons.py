"""Persons with several rows.  Identifying columns are never published, but they say how many rows a person has.

`rows_per_person` declares the most: it is verified, and a group of k * rows_per_person rows then holds at least k persons.
"""

from __future__ import annotations

from collections.abc import Mapping

from reticent.errors import ColumnError, some
from reticent.table.repeats import Repeats
from reticent.table.roles import Column, Role, with_role


def rows_per_person(columns: Mapping[str, Column], counted: Mapping[str, Repeats]) -> int:
    """The declared most rows of a person, 1 where none is declared; refused where a person of the data has more."""
    declared = {name: column.rows_per_person for name, column in columns.items() if column.rows_per_person is not None}
    for name, most in declared.items():
        missing, found = counted[name].missing, counted[name].most
        if missing:
            raise ColumnError(
                f"The identifying column {name!r} is missing in {some(missing, 'row')}: whose rows these are cannot be counted.",
                attempt="a number for every person, or leaving rows_per_person out.",
            )
        if found > most:
            raise ColumnError(
                f"The identifying column {name!r} declares at most {most} rows per person, and one has {found:,}.",
                why="A group would hold fewer persons than is promised.",
                attempt=f"rows_per_person = {found}, or fewer rows of each person.",
            )
    return max(declared.values(), default=1)


def notices(columns: Mapping[str, Column], counted: Mapping[str, Repeats]) -> list[str]:
    """Identifying columns that repeat, though nothing is declared of it.  Where one does not, every row is a person's own."""
    found = {name: counted[name].most for name in with_role(columns, Role.IDENTIFYING)}
    alone = any(most == 1 and not counted[name].missing for name, most in found.items())
    if alone or any(columns[name].rows_per_person is not None for name in found):
        return []
    return [
        f"The identifying column {name!r} repeats, up to {most:,} times: a person with several rows is protected in each row alone. "
        f"If it names persons, say rows_per_person = {most} and k-anonymity counts persons."
        for name, most in found.items()
        if most > 1
    ]
