"""Published labels, read by a parser of the oracle's own: which of a column's leaves does a label cover?

`[20, 29]`    every value from 20 to 29 (numbers, ISO dates, ordered values); never the null
`{a, b}`      exactly these values
`node`        the leaves under the hierarchy's node of that label
`*`           everything, the null included
`a`, `25`     one value; `"[20, 29]"` one value that would read as something else, in JSON quotes
empty, None   the null, a leaf of its own under the root
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

Leaf = object
NUMERIC = "numeric"
DATE = "date"
ORDINAL = "ordinal"
CATEGORICAL = "categorical"


@dataclass(frozen=True)
class Column:
    """A quasi-identifier as the oracle sees it: its kind, its leaves (null apart), its tree where it has one."""

    kind: str
    leaves: tuple[Leaf, ...]
    tree: tuple[tuple[str, ...], ...] | None = None
    has_null: bool = False

    @property
    def everything(self) -> frozenset[Leaf]:
        return frozenset(self.leaves) | {None}


def describe(
    kind: str,
    values: Iterable[object],
    hierarchy: Sequence[Sequence[str]] | None = None,
    order: Sequence[object] | None = None,
) -> Column:
    """A column from its source values (nulls as None), its ARX rows (leaf first), or the order of its values."""
    cells = [leaf_of(value, kind) for value in values]
    known = {cell for cell in cells if cell is not None}
    if hierarchy is not None:
        leaves = [row[0] for row in hierarchy]
        return Column(CATEGORICAL, tuple(leaves), tuple(tuple(row) for row in hierarchy), None in cells)
    leaves = [leaf_of(value, kind) for value in order] if order is not None else sorted(known)
    return Column(kind, tuple(leaves), None, None in cells)


def leaf_of(value: object, kind: str) -> Leaf:
    """A source cell in the form in which leaves are compared."""
    if value is None:
        return None
    if kind == NUMERIC:
        return Fraction(str(value))
    if kind == DATE:
        return value if isinstance(value, date) else _date(str(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _date(text: str) -> date:
    return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)


def parse(label: str | None, column: Column) -> tuple[str, list[Leaf]]:
    """The label's form and its parts: ("null" | "all" | "node" | "range" | "set" | "value", parts)."""
    if label is None or label == "":
        return "null", []
    if label == "*":
        return "all", []
    if column.tree is not None and any(label in row[1:] for row in column.tree):
        return "node", [label]
    if label[0] == '"':
        parts = split_parts(label)
        if parts is not None and len(parts) == 1:
            return "value", _leaves(parts, column)
    if label[0] + label[-1] in ("[]", "{}"):
        parts = split_parts(label[1:-1])
        form = "range" if label[0] == "[" else "set"
        if parts is not None and (form == "set" or len(parts) == 2):
            try:
                return form, _leaves(parts, column)
            except ValueError:
                pass
    return "value", _leaves([label], column)


def split_parts(inside: str) -> list[str] | None:
    """`a, "b, c", d` -> its parts, unquoted; None where the text is not such a list."""
    parts = []
    rest = inside
    while True:
        if rest.startswith('"'):
            try:
                part, end = json.JSONDecoder().raw_decode(rest)
            except ValueError:
                return None
        else:
            end = rest.find(", ")
            end = len(rest) if end < 0 else end
            part = rest[:end]
            if not part:
                return None
        parts.append(part)
        if end == len(rest):
            return parts
        if not rest.startswith(", ", end):
            return None
        rest = rest[end + 2 :]


def _leaves(parts: Sequence[str], column: Column) -> list[Leaf]:
    leaves = [leaf_of(part, column.kind) for part in parts]
    if column.kind in (ORDINAL, CATEGORICAL) and any(leaf not in column.leaves for leaf in leaves):
        raise ValueError("the label names a value that the column does not have")
    return leaves


def covered(label: str | None, column: Column) -> frozenset[Leaf]:
    """The leaves a label covers, None standing for the null."""
    form, parts = parse(label, column)
    if form == "null":
        return frozenset({None})
    if form == "all":
        return column.everything
    if form == "node":
        return _under(parts[0], column)
    if form == "range":
        return frozenset(leaf for leaf in column.leaves if within(leaf, parts, column))
    return frozenset(parts)


def within(leaf: Leaf, ends: Sequence[Leaf], column: Column) -> bool:
    """Whether a leaf that is no null lies in a closed range."""
    if column.kind in (NUMERIC, DATE):
        return ends[0] <= leaf <= ends[1]
    if column.kind == ORDINAL:
        low, high = (column.leaves.index(end) for end in ends)
        return low <= column.leaves.index(leaf) <= high
    raise ValueError("a range needs ordered values")


def _under(label: str, column: Column) -> frozenset[Leaf]:
    """The leaves under a node.  One label for two different sets of leaves cannot be read, and is refused.

    A leaf that bears the label of a node above other leaves must be published in quotes: bare, it means the node.
    """
    levels = range(1, len(column.tree[0]))
    found = {frozenset(row[0] for row in column.tree if row[level] == label) for level in levels} - {frozenset()}
    if len(found) > 1:
        raise ValueError("two nodes of the hierarchy share a label")
    return column.everything if label == column.tree[0][-1] else found.pop()


def covers(label: str | None, column: Column, cell: object) -> bool:
    """Whether a source cell may stand behind a label.  A range covers values between the ones the column lists, too."""
    leaf = leaf_of(cell, column.kind)
    form, parts = parse(label, column)
    if form == "range" and leaf is not None:
        return within(leaf, parts, column)
    return leaf in covered(label, column) if form != "all" else True
