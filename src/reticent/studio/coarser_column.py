"""One step coarser for a column that costs much: numbers rounded, or values replaced by the next level of their tree.

The step is an edit of the job (`round_to`, or `map` with a hierarchy that begins one level higher), so that Undo takes it
back.  What is replaced is gone before anything is counted: a row then keeps more of less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.data.hierarchy import Hierarchy
from reticent.errors import JobError, ReticentError
from reticent.report.distributions import choose_round_step
from reticent.studio.desk import Desk

MAX_MAPPED_VALUES = 500
STEPS_OF_RANGE = 20  # that a first rounding leaves, about


@dataclass(frozen=True, slots=True)
class CoarserStep:
    """What would be done to a column: a sentence for the button, and what is said beside it."""

    button: str
    effect: str


def propose_step(desk: Desk, name: str, preview: Mapping[str, Any] | None) -> CoarserStep | None:
    """Propose the next coarser step of a column of the job; None where only another hierarchy would help."""
    column = _find_column(desk, name)
    if column is None:
        return None
    tree = _read_tree(desk, column)
    if tree is not None:
        return CoarserStep(
            f"Try its second level: {len(tree.parents)} values instead of {tree.values}",
            "Each value is replaced by its parent in the tree before anything is counted; what a row keeps is then "
            "counted from the new values.",
        )
    step = _find_round_step(column, name, preview)
    if step is not None:
        return CoarserStep(
            f"Try it rounded to {step:g}",
            "Each number is rounded before anything is counted; what a row keeps is then counted from the new values.",
        )
    return None


def take_step(desk: Desk, name: str, preview: Mapping[str, Any] | None) -> None:
    """Take the step that is proposed.

    Raises:
        JobError: there is no such step, or the job with it would not be valid; the job is as it was.
    """
    column = _find_column(desk, name)
    if column is None or propose_step(desk, name, preview) is None:
        raise JobError("There is no coarser step of this column.", attempt="its tree, on the screen Hierarchies.")
    tree = _read_tree(desk, column)
    changes: dict[str, Any]
    if tree is None:
        step = _find_round_step(column, name, preview)
        assert step is not None
        changes = {"round_to": int(step) if step == int(step) else step}
    else:
        path = desk.project.choose_new_name(f"{Path(str(column['hierarchy'])).stem}-level.csv")
        tree.upper.save(path)
        earlier = column.get("map", {})
        moved = {text: tree.parent_of.get(value, value) for text, value in earlier.items()}
        changes = {"hierarchy": desk.project.describe(path), "map": {**tree.parent_of, **moved}}
    before = desk.job_file.text
    with desk.job_file.edit() as document:
        entry = document["columns"][name]  # type: ignore[index]
        if isinstance(entry, str):
            document["columns"][name] = {"role": str(entry), **changes}  # type: ignore[index]
        else:
            for key, value in changes.items():
                entry[key] = value  # type: ignore[index]
    try:
        desk.job_file.read()
    except ReticentError:
        desk.job_file.write(before)
        raise


@dataclass(frozen=True, slots=True)
class _Tree:
    """A hierarchy file with a level between its values and its root."""

    values: int
    parents: tuple[str, ...]
    parent_of: dict[str, str]
    upper: Hierarchy


def _find_column(desk: Desk, name: str) -> dict[str, Any] | None:
    """Find the declaration of a quasi-identifying column; None where there is none."""
    columns = desk.job_file.read_table().get("columns", {})
    declared = columns.get(name) if isinstance(columns, dict) else None
    column = {"role": declared} if isinstance(declared, str) else declared
    return column if isinstance(column, dict) and column.get("role") == "quasi-identifying" else None


def _read_tree(desk: Desk, column: Mapping[str, Any]) -> _Tree | None:
    """Read the column's hierarchy where it is a file of few values with a level between them and the root."""
    path = column.get("hierarchy")
    if not isinstance(path, str):
        return None
    try:
        rows = Hierarchy.read(desk.project.resolve(path)).rows()
        if len(rows) > MAX_MAPPED_VALUES or len(rows[0]) < 3:
            return None
        parent_of = {row[0]: row[1] for row in rows if row[0] != row[1]}
        upper = Hierarchy.from_rows(list(dict.fromkeys(tuple(row[1:]) for row in rows)))
    except (ReticentError, OSError):
        return None
    parents = tuple(upper.leaves)
    return _Tree(len(rows), parents, parent_of, upper) if len(parents) < len(rows) else None


def _find_round_step(column: Mapping[str, Any], name: str, preview: Mapping[str, Any] | None) -> float | None:
    """Find the next round step of a column of numbers: about twenty over its range, or double the step it has."""
    if "hierarchy" in column or column.get("type", "numeric") != "numeric" or preview is None:
        return None
    drawn = next((each for each in preview.get("columns", ()) if each["name"] == name and each["on_line"]), None)
    try:
        numbers = [float(text) for text in drawn["steps"] if not text.startswith("(")] if drawn else []
        earlier = float(column.get("round_to", 0))
    except (TypeError, ValueError):
        return None
    if len(numbers) < 3:
        return None
    least = choose_round_step(numbers[0], numbers[-1], STEPS_OF_RANGE)
    return least if least > earlier and least > 1 else choose_round_step(0, max(earlier, least, 1) * 2, 1)
