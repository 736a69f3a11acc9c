"""Edits of a hierarchy by hand: put nodes under a name, rename a label, dissolve it, remove a level, add what lacks.

A hierarchy is edited as its rows (leaf first, root last); each edit returns new rows, which `Hierarchy.from_rows` has
accepted.  A node is named by its level and its label, which no other node of that level has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reticent.data.hierarchy import Hierarchy
from reticent.errors import RequestError

Rows = list[list[str]]
MAX_LABEL_LETTERS = 200
MAX_LEVELS = 30


@dataclass(frozen=True, slots=True)
class NodeName:
    """A node as a form names it: `2:south`."""

    level: int
    label: str

    @classmethod
    def parse(cls, text: str) -> NodeName:
        level, mark, label = text.partition(":")
        if not mark or not level.isascii() or not level.isdigit() or len(level) > 3:
            raise RequestError("This is no node of the tree.", attempt="a node that the screen shows.")
        return cls(int(level), label)

    def __str__(self) -> str:
        return f"{self.level}:{self.label}"


def put_under(rows: Rows, nodes: Iterable[NodeName], name: str) -> Rows:
    """Put nodes under one label: a node that is there already, the root, or a new one beside their parents."""
    chosen = list(nodes)
    name = _require_label(name)
    if not chosen:
        raise RequestError("Nothing is selected.", attempt="a tick at each value that belongs under the name.")
    _require_nodes(rows, chosen)
    root = len(rows[0]) - 1
    level = max(node.level for node in chosen)
    if level >= root:
        raise RequestError("The root stands above everything.", attempt="labels below it.")
    names = {(node.level, node.label) for node in chosen}
    moved = [any((depth, label) in names for depth, label in enumerate(row[: level + 1])) for row in rows]
    if name == rows[0][root]:
        return _check(_stand_alone(rows, moved, chosen))
    if level + 1 == root:  # there is no level for a new label: one is inserted, where all others stand for themselves
        if len(rows[0]) > MAX_LEVELS:
            raise RequestError(f"A tree has at most {MAX_LEVELS} levels.", attempt="removing a level first.")
        rows = [[*row[:root], row[level], row[root]] for row in rows]
    above = _find_path_above(rows, moved, level + 1, name)
    result = []
    for row, is_moved in zip(rows, moved, strict=True):
        if not is_moved:
            result.append(row)
            continue
        own = next(depth for depth, label in enumerate(row[: level + 1]) if (depth, label) in names)
        kept = [*row[: own + 1], *[row[own]] * (level - own)]
        result.append([*kept, *above])
    return _check(result)


def rename(rows: Rows, node: NodeName, name: str) -> Rows:
    """Rename a label; a value itself is the data's, and keeps its name."""
    name = _require_label(name)
    _require_nodes(rows, [node])
    if node.level == 0:
        raise RequestError(
            "A value of the data keeps its name in a hierarchy.",
            attempt="a label above it, or `map` in the columns for another spelling.",
        )
    if any(row[node.level] == name for row in rows) and name != node.label:
        raise RequestError("Another label of this level has that name.", attempt="putting one under the other.")
    return _check(
        [[*row[: node.level], name, *row[node.level + 1 :]] if row[node.level] == node.label else row for row in rows]
    )


def dissolve(rows: Rows, node: NodeName) -> Rows:
    """Take a label away: what stood under it stands for itself on this level."""
    _require_nodes(rows, [node])
    if not 0 < node.level < len(rows[0]) - 1:
        raise RequestError(
            "Only a label between the values and the root can be dissolved.", attempt="a label in between."
        )
    dissolved = [
        [*row[: node.level], row[node.level - 1], *row[node.level + 1 :]] if row[node.level] == node.label else row
        for row in rows
    ]
    return _check(dissolved)


def remove_level(rows: Rows, level: int) -> Rows:
    """Remove a level between the values and the root."""
    if not 0 < level < len(rows[0]) - 1:
        raise RequestError("Only a level between the values and the root can be removed.", attempt="one in between.")
    return _check([[*row[:level], *row[level + 1 :]] for row in rows])


def add_values(rows: Rows, values: Iterable[str]) -> Rows:
    """Add values that the tree lacks, each for itself right below the root."""
    width = len(rows[0])
    present = {row[0] for row in rows}
    added = [[value] * (width - 1) + [rows[0][-1]] for value in values if value not in present]
    return _check([*rows, *added])


def _stand_alone(rows: Rows, moved: Sequence[bool], chosen: Sequence[NodeName]) -> Rows:
    """Put nodes right below the root: each stands for itself on all levels in between."""
    names = {(node.level, node.label) for node in chosen}
    result = []
    for row, is_moved in zip(rows, moved, strict=True):
        if is_moved:
            own = next(depth for depth, label in enumerate(row) if (depth, label) in names)
            result.append([*row[: own + 1], *[row[own]] * (len(row) - 2 - own), row[-1]])
        else:
            result.append(row)
    return result


def _find_path_above(rows: Rows, moved: Sequence[bool], level: int, name: str) -> list[str]:
    """Return the labels from `level` up for what is put under a name: those of the node that has it, else a new node's."""
    for row in rows:
        if row[level] == name:
            return row[level:]
    first = next(row for row, is_moved in zip(rows, moved, strict=True) if is_moved)
    own = first[level - 1]  # may stand for itself on the levels above
    return [name, *(name if label == own else label for label in first[level + 1 : -1]), first[-1]]


def _require_nodes(rows: Rows, nodes: Iterable[NodeName]) -> None:
    present = {(level, label) for row in rows for level, label in enumerate(row)}
    for node in nodes:
        if (node.level, node.label) not in present:
            raise RequestError(
                "The tree has changed: it has no such label any more.", attempt="looking again, and then once more."
            )


def _require_label(name: str) -> str:
    name = name.strip()
    if not name or len(name) > MAX_LABEL_LETTERS or any(ord(letter) < 32 for letter in name):
        raise RequestError(
            "A label needs a name.",
            why=f"It has 1 to {MAX_LABEL_LETTERS} letters, on one line.",
            attempt="a short word.",
        )
    return name


def _check(rows: Rows) -> Rows:
    return Hierarchy.from_rows(rows, "the tree").rows()
