"""Which declaration each column of the data has: by its name, or by a glob pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from reticent.errors import ColumnError, suggest

if TYPE_CHECKING:
    from reticent.table.roles import Column, Role


def resolve(declared: Mapping[str, Column], present: Sequence[str], undeclared: str = "refuse") -> dict[str, Column]:
    """Columns of the data with their declaration, in the data's order; glob patterns give way to exact names."""
    patterns = [name for name in declared if any(mark in name for mark in "*?[") and name not in present]
    exact = [name for name in declared if name not in patterns]
    if exact and not set(exact) & set(present):
        # Where no name fits, the first line may be a record: it is not quoted.
        raise ColumnError(
            f"None of the {len(exact)} declared columns is among the {len(present)} of the data.",
            attempt="a header line in the file, and its names in the job.",
        )
    repeated = sorted({name for name in present if list(present).count(name) > 1})
    if repeated:
        raise ColumnError(
            f"The data has {len(repeated)} column name(s) twice: {', '.join(map(repr, repeated))}.",
            attempt="renaming one of each.",
        )
    for name in exact:
        if name not in present:
            raise ColumnError(f"Column {name!r} is declared but not in the data.", attempt=suggest(name, present))
    found: dict[str, Column] = {}
    for name in present:
        pattern = next((p for p in patterns if fnmatchcase(name, p)), None)
        if name in declared:
            found[name] = declared[name]
        elif pattern is not None:
            found[name] = declared[pattern]
    missing = [name for name in present if name not in found]
    if missing and undeclared == "refuse":
        listed = ", ".join(map(repr, missing[:8])) + (", ..." if len(missing) > 8 else "")
        raise ColumnError(
            f"{len(missing)} column(s) of the data have no role: {listed}.",
            why="An undeclared column is never published silently.",
            attempt='giving each a role, or undeclared = "drop".',
        )
    return found


def with_role(columns: Mapping[str, Column], role: Role) -> list[str]:
    return [name for name, column in columns.items() if column.role is role]
