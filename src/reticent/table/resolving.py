"""Which declaration each column of the data has: by its name, or by a glob pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from reticent.errors import ColumnError, listed, some
from reticent.table.header import is_record, known, oddities
from reticent.table.names import refuse_unusable

if TYPE_CHECKING:
    from reticent.table.roles import Column, Role


def resolve(declared: Mapping[str, Column], present: Sequence[str], undeclared: str = "refuse") -> dict[str, Column]:
    """Columns of the data with their declaration, in the data's order; glob patterns give way to exact names."""
    times = Counter(present)
    patterns = [name for name in declared if any(mark in name for mark in "*?[") and name not in times]
    exact = [name for name in declared if name not in patterns]
    if exact and not set(exact) & set(present):
        # Where no name fits, the first line may be a record: it is not quoted.
        raise ColumnError(
            f"None of the {len(exact)} declared columns is among the {len(present)} of the data.",
            attempt="a header line in the file, and its names in the job.",
        )
    repeated = sorted(name for name, count in times.items() if count > 1)
    if repeated:
        typed = [name for name in repeated if name in exact]  # others may be a record's values
        raise ColumnError(
            f"The data has {some(len(repeated), 'column name')} twice{': ' + listed(typed) if typed else ''}."
            if set(exact) & set(present)
            else f"{some(len(repeated), 'name', 'stands', 'stand')} twice in the first line, which may be a record.",
            attempt="renaming one of each.",
        )
    if absent := [name for name in exact if name not in times]:
        said = " ".join(f"Column {listed([name])} is declared but not in the data." for name in absent)
        raise ColumnError(said, attempt="; ".join(dict.fromkeys(known(name, present) for name in absent)))
    found: dict[str, Column] = {}
    for name in present:
        pattern = next((p for p in patterns if fnmatchcase(name, p)), None)
        if name in declared:
            found[name] = declared[name]
        elif pattern is not None:
            found[name] = declared[pattern]
    missing = [name for name in present if name not in found]
    if missing and undeclared == "refuse":
        raise ColumnError(
            f"The data has {some(len(missing), 'column')} without a role{'' if is_record(present) or oddities(missing)[0] else ': ' + listed(missing)}.",
            why="An undeclared column is never published silently.",
            attempt='giving each a role, or undeclared = "drop".',
        )
    refuse_unusable(present, list(found))
    return found


def with_role(columns: Mapping[str, Column], role: Role) -> list[str]:
    return [name for name, column in columns.items() if column.role is role]
