"""What lowers the cost of a column by a click: its values replaced by the next level of their tree, or leaving it out.

Both are edits of the job, so that Undo takes them back: a `map` with a hierarchy that begins one level higher, or a column
without a role.  What is replaced is gone before anything is counted: a row then keeps more of less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

from reticent.data.hierarchy import Hierarchy
from reticent.errors import JobError, ReticentError
from reticent.studio.desk import Desk
from reticent.studio.job_file import set_in_document

MAX_MAPPED_VALUES = 500
DESCRIBES = "quasi-identifying"


@dataclass(frozen=True, slots=True)
class UpperLevel:
    """The level above a column's values: how many values it has and they have, the parent of each, and the tree from there."""

    values: int
    upper_values: int
    parent_of: Mapping[str, str]
    upper: Hierarchy


def find_upper_level(desk: Desk, name: str) -> UpperLevel | None:
    """Find the level above the values of a column whose tree is a file; None where there is none but the root."""
    path = _find_columns(desk).get(name, {}).get("hierarchy")
    if not isinstance(path, str):
        return None
    try:
        rows = Hierarchy.read(desk.project.resolve(path)).rows()
        if len(rows) > MAX_MAPPED_VALUES or len(rows[0]) < 3:
            return None
        upper = Hierarchy.from_rows(list(dict.fromkeys(tuple(row[1:]) for row in rows)))
    except ReticentError:
        return None
    if len(upper.leaves) >= len(rows):
        return None
    parent_of = {row[0]: row[1] for row in rows if row[0] != row[1]}
    return UpperLevel(len(rows), len(upper.leaves), parent_of, upper)


def use_upper_level(desk: Desk, name: str) -> None:
    """Replace the values of a column by their parents, and write a hierarchy that begins with these.

    Raises:
        JobError: there is no such level, or the job would not be valid; the job is as it was.
    """
    level = find_upper_level(desk, name)
    if level is None:
        raise JobError("This column has no tree with a level to use.", attempt="its tree, on the screen Hierarchies.")
    column = _find_columns(desk)[name]
    moved = {text: level.parent_of.get(value, value) for text, value in column.get("map", {}).items()}
    path = desk.project.choose_new_name(f"{Path(column['hierarchy']).stem}-level.csv")
    level.upper.save(path)

    def change(document: tomlkit.TOMLDocument) -> None:
        set_in_document(document, ["columns", name, "hierarchy"], desk.project.describe(path))
        set_in_document(document, ["columns", name, "map"], {**level.parent_of, **moved})

    try:
        _edit_validly(desk, change)
    except ReticentError:
        path.unlink()
        raise


def can_leave_out(desk: Desk, name: str) -> bool:
    """Tell whether a column can be left out: another one still describes people."""
    columns = _find_columns(desk)
    return name in columns and len(columns) > 1


def leave_out(desk: Desk, name: str) -> None:
    """Leave a describing column out of the release.

    Raises:
        JobError: no other column would describe people, or the job would not be valid; the job is as it was.
    """
    if not can_leave_out(desk, name):
        raise JobError("This column cannot be left out.", attempt="another column that describes people.")

    def change(document: tomlkit.TOMLDocument) -> None:
        set_in_document(document, ["columns", name], None)
        set_in_document(document, ["release", "undeclared"], "drop")

    _edit_validly(desk, change)


def _edit_validly(desk: Desk, change: Callable[[tomlkit.TOMLDocument], None]) -> None:
    """Change the job; take it back where the job is not valid then."""
    before = desk.job_file.text
    with desk.job_file.edit() as document:
        change(document)
    try:
        desk.job_file.read()
    except ReticentError:
        desk.job_file.write(before)
        raise


def _find_columns(desk: Desk) -> dict[str, dict[str, Any]]:
    """Return the declarations of the describing columns by their names; those by a role alone as a table."""
    columns = desk.job_file.read_table().get("columns", {})
    declared = columns.items() if isinstance(columns, dict) else ()
    tables = {name: {"role": column} if isinstance(column, str) else column for name, column in declared}
    return {name: table for name, table in tables.items() if isinstance(table, dict) and table.get("role") == DESCRIBES}
