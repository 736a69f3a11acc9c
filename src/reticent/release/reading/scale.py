"""What a published label covers, read by the column's entry in the manifest.

A `Scale` is a column's values as the reader knows them: a line (numbers, dates, ordered values) or a tree (categories).
It turns labels into extents.  Labels of other tools are understood too: `[20, 30[`, `[20, 30)`, `20-29`, `>= 80`, a
hierarchy's labels, `a|b`, and `*`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reticent.release.manifest import ColumnEntry
from reticent.release.reading.extent import Extent as Extent
from reticent.release.reading.extent import Unreadable as Unreadable
from reticent.release.reading.extent import number as number
from reticent.release.reading.line import Band, Line
from reticent.release.reading.tree import Tree
from reticent.release.trees import tree_of
from reticent.table.grammar import ANY, parse, parse_foreign
from reticent.table.hierarchy import Hierarchy

Scale = Line | Tree


def scale(column: ColumnEntry, labels: Iterable[str | None] = (), *, foreign: bool = False) -> Scale:
    """The scale of a column from its manifest entry; for a file of another tool, what the entry lacks is taken from the labels."""
    if column.type not in ("numeric", "date", "ordinal"):
        return _tree(column, labels, foreign)
    if column.type == "ordinal":
        order = list(column.order or ())
        return Line("ordinal", (0, len(order) - 1), (), {text: i for i, text in enumerate(order)}, foreign=foreign)
    line = Line(column.type, None, (), None, column.dtype, foreign)
    if column.hierarchy:
        line = replace(line, bands=_bands(line, tree_of(column.hierarchy)))
    span: tuple[Any, Any] | None
    if column.domain:
        ends = line.positions([str(end) for end in column.domain])
        span = (ends[0], ends[-1])
    else:
        extents = [
            extent
            for extent in line.read(sorted({label for label in labels if label is not None}))
            if extent.form == "range"
        ]
        span = (min(e.lower for e in extents), max(e.upper for e in extents)) if extents else None
    return replace(line, span=span, bands=[_clipped(band, span) for band in line.bands] if span else line.bands)


def _bands(line: Line, tree: Hierarchy) -> list[Band]:
    """Every node over more than its own leaf, the lowest first; a leaf's own label stands before them where it names a value too."""
    place = line.positions([leaf.strip() for leaf in tree.leaves])
    top = max(tree.height, 1)
    found = [] if line.foreign else [Band(leaf, at, at, 0.0) for leaf, at in zip(tree.leaves, place, strict=True)]
    for level in range(1, tree.height + 1):
        for node in dict.fromkeys(tree.paths[:, level].tolist()):
            held = place[tree.first[node] : tree.last[node] + 1]
            found.append(Band(tree.labels[node], min(held), max(held), level / top))
    return found


def _clipped(band: Band, span: tuple[Any, Any]) -> Band:
    """A hierarchy may have leaves beyond the column's domain: they are not there to be confused with."""
    low, high = max(band.lower, span[0]), min(band.upper, span[1])
    return replace(band, lower=low, upper=high) if low <= high else band


def _tree(column: ColumnEntry, labels: Iterable[str | None], foreign: bool) -> Tree:
    given = column.hierarchy
    if given:
        tree = tree_of(given)
    else:
        values = column.values
        if values is None:
            values = sorted(
                {text for label in labels if label not in (None, ANY) for text in values_named(label, foreign)}
            )
        tree = Hierarchy.flat(list(values) or [""])
    nodes: dict[str, list[tuple[int, int]]] = {}
    for label, first, last in zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True):
        if (first, last) not in nodes.setdefault(label, []):
            nodes[label].append((first, last))
    return Tree(tree, bool(column.null), bool(given), {text: i for i, text in enumerate(tree.leaves)}, nodes, foreign)


def values_named(label: str, foreign: bool) -> tuple[str, ...]:
    """The values a label of a column without a hierarchy names."""
    form, texts = parse_foreign(label) if foreign else parse(label)
    return (label,) if foreign and form != "set" else texts
