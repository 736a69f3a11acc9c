"""What a published label covers, read by the column's entry in the manifest.

A `Scale` is a column's values as the reader knows them: a line (numbers, dates, ordered values) or a tree (categories).
It turns labels into extents.  Labels of other tools are understood too: `[20, 30[`, `[20, 30)`, `20-29`, `>= 80`, a
hierarchy's labels, `a|b`, and `*`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from reticent.table.hierarchy import Hierarchy
from reticent.table.labels import ANY, parse
from reticent.table.types import typed

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INTERVAL = re.compile(rf"([\[\](])?\s*({_NUMBER})\s*(?:,|;|-|–|~|\.\.|\bto\b)\s*({_NUMBER})\s*([\]\[)])?")
_HALF = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_SPELLING = {"≤": "<=", "≥": ">="}


class Unreadable(ValueError):
    """A label that the column's schema does not explain.  It holds the label: show a count of them, never the label."""


@dataclass(frozen=True, slots=True)
class Extent:
    """`null`: the missing value alone; `any`: everything; `range`: a stretch of a line; `leaves`: leaves of a tree, by number."""

    form: str
    lower: Any = None
    upper: Any = None
    open_lower: bool = False
    open_upper: bool = False
    leaves: tuple[int, ...] | range = ()


NULL, EVERYTHING = Extent("null"), Extent("any")


@dataclass(frozen=True, eq=False)
class Line:
    """Numbers, dates or ordered values; `span` is the column's domain, None where all that is published is `*`."""

    kind: str
    span: tuple[Any, Any] | None
    bands: Sequence[Band] = ()
    places: Mapping[str, int] | None = None
    dtype: str = "String"
    foreign: bool = False

    def positions(self, texts: Sequence[str]) -> list[Any]:
        """Where values stand on the line, as numbers that compare exactly."""
        if self.kind == "numeric":
            return [number(text) for text in texts]
        if self.places is not None:
            return [_known(self.places, text) for text in texts]
        try:
            return typed(texts, self.dtype if self.dtype.startswith("Date") else "Date").to_physical().to_list()
        except Exception:
            raise Unreadable("a date") from None

    def read(self, labels: Sequence[str | None]) -> list[Extent]:
        found: list[Extent | None] = [self._at_once(label) for label in labels]
        rest = [i for i, extent in enumerate(found) if extent is None]
        ends = [parse(labels[i])[1] for i in rest]  # type: ignore[arg-type]
        if any(len(pair) > 2 for pair in ends):
            raise Unreadable("a set on a line")
        lower, upper = self.positions([pair[0] for pair in ends]), self.positions([pair[-1] for pair in ends])
        for i, low, high in zip(rest, lower, upper, strict=True):
            if low > high:
                raise Unreadable(labels[i])
            found[i] = Extent("range", low, high)
        return found  # type: ignore[return-value]

    def _at_once(self, label: str | None) -> Extent | None:
        if label is None:
            return NULL
        if label == ANY:
            return EVERYTHING
        if band := self.named.get(label):
            return Extent("range", band.lower, band.upper)
        return self._interval(label) if self.foreign and self.kind == "numeric" else None

    def _interval(self, label: str) -> Extent | None:
        if half := _HALF.fullmatch(label.strip()):
            sign, end = _SPELLING.get(half[1], half[1]), number(half[2])
            low, high = self.span or (end, end)
            if sign[0] == "<":
                return Extent("range", min(low, end), end, open_upper=sign == "<")
            return Extent("range", end, max(high, end), open_lower=sign == ">")
        if whole := _INTERVAL.fullmatch(label.strip()):
            return Extent("range", number(whole[2]), number(whole[3]), whole[1] in ("]", "("), whole[4] in ("[", ")"))
        return None

    def loss(self, extent: Extent) -> float:
        """Equation 2 of paper 1: (u - l) / (U - L)."""
        if extent.form != "range":
            return float(extent.form == "any")
        if self.span is None or self.span[0] == self.span[1]:
            return 0.0
        return float((extent.upper - extent.lower) / (self.span[1] - self.span[0]))

    def height(self, extent: Extent) -> float:
        """The lowest band that covers the extent, by its level over the root's; without bands a line is a tree of height 1."""
        if extent.form != "range":
            return float(extent.form == "any")
        if extent.lower == extent.upper:
            return 0.0
        return min(
            (band.height for band in self.bands if band.lower <= extent.lower and extent.upper <= band.upper),
            default=1.0,
        )

    @cached_property
    def named(self) -> dict[str, Band]:
        """What a label of the hierarchy covers.  In a release a label that names two stretches is not used, nor one that is a value
        too; another tool's may be the wider."""
        found: dict[str, Band] = {}
        for band in self.bands:
            known = found.get(band.label)
            if known is None:
                found[band.label] = band
            elif self.foreign:
                found[band.label] = Band(
                    band.label, min(known.lower, band.lower), max(known.upper, band.upper), band.height
                )
        return found


@dataclass(frozen=True, slots=True)
class Band:
    """A node of a hierarchy over a line; `height` is its level over the root's."""

    label: str
    lower: Any
    upper: Any
    height: float


@dataclass(frozen=True, eq=False)
class Tree:
    """Categories, numbered in the hierarchy's pre-order; `given` tells a hierarchy from a flat list of what is published."""

    hierarchy: Hierarchy
    null: bool
    given: bool
    leaf: Mapping[str, int]
    nodes: Mapping[str, list[tuple[int, int]]]
    foreign: bool = False

    def read(self, labels: Sequence[str | None]) -> list[Extent]:
        return [self._read(label) for label in labels]

    def _read(self, label: str | None) -> Extent:
        if label is None:
            return NULL
        if label == ANY:
            return EVERYTHING
        if self.foreign and label in self.nodes:
            return self._node(label)
        form, texts = parse(label)
        if form == "value" and not label.startswith('"') and label not in self.leaf and label in self.nodes:
            return self._node(label)
        if form == "range" or not all(text in self.leaf for text in texts):
            texts = self._listed(label)
        return Extent("leaves", leaves=tuple(sorted({self.leaf[text] for text in texts})))

    def _node(self, label: str) -> Extent:
        """A label may name several nodes: the same leaves, or in a foreign file any of them."""
        spans = self.nodes[label]
        if len(spans) > 1 and not self.foreign:
            raise Unreadable(label)
        covered = sorted({leaf for first, last in spans for leaf in range(first, last + 1)})
        return Extent("leaves", leaves=range(covered[0], covered[-1] + 1) if len(spans) == 1 else tuple(covered))

    def _listed(self, label: str) -> list[str]:
        """`a|b` or `['a', 'b']`, as other tools write sets."""
        parts = [part for part in re.split(r"[,|{}\[\]']\s*", label) if part]
        if not self.foreign or not parts or not all(part in self.leaf for part in parts):
            raise Unreadable(label)
        return parts

    def loss(self, extent: Extent) -> float:
        """Equation 3 of paper 1: leaves under the lowest common ancestor over all leaves, 0 for a single one."""
        if extent.form != "leaves":
            return float(extent.form == "any")
        first, last = self._ancestor(extent)[1:]
        whole = len(self.leaf) + self.null
        under = last - first + 1 + (self.null and last - first + 1 == len(self.leaf) and len(extent.leaves) > 1)
        return under / whole if under > 1 else 0.0

    def height(self, extent: Extent) -> float:
        """The ancestor's level over the root's."""
        if extent.form != "leaves":
            return float(extent.form == "any")
        return self._ancestor(extent)[0] / max(self.hierarchy.height, 1)

    def _ancestor(self, extent: Extent) -> tuple[int, int, int]:
        """(level, first leaf, last leaf) of the lowest common ancestor: in pre-order that of the least and the greatest leaf."""
        tree, low, high = self.hierarchy, extent.leaves[0], extent.leaves[-1]
        level = next(level for level in range(tree.height + 1) if tree.paths[low, level] == tree.paths[high, level])
        node = tree.paths[low, level]
        return level, int(tree.first[node]), int(tree.last[node])


Scale = Line | Tree


def scale(column: Mapping[str, Any], labels: Iterable[str | None] = (), *, foreign: bool = False) -> Scale:
    """The scale of a column from its manifest entry; for a file of another tool, what the entry lacks is taken from the labels."""
    if column["type"] not in ("numeric", "date", "ordinal"):
        return _tree(column, labels, foreign)
    if column["type"] == "ordinal":
        order = list(column["order"])
        return Line("ordinal", (0, len(order) - 1), (), {text: i for i, text in enumerate(order)}, foreign=foreign)
    line = Line(column["type"], None, (), None, column.get("dtype", "String"), foreign)
    if column.get("hierarchy"):
        line = replace(line, bands=_bands(line, Hierarchy.of(column["hierarchy"], column["name"])))
    if column.get("domain"):
        ends = line.positions([str(end) for end in column["domain"]])
        span = (ends[0], ends[-1])
    else:
        extents = [
            extent
            for extent in line.read(sorted({label for label in labels if label is not None}))
            if extent.form == "range"
        ]
        span = (min(e.lower for e in extents), max(e.upper for e in extents)) if extents else None  # type: ignore[assignment]
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


def _tree(column: Mapping[str, Any], labels: Iterable[str | None], foreign: bool) -> Tree:
    given = column.get("hierarchy")
    if given:
        tree = Hierarchy.of(given, column["name"])
    else:
        values = column.get("values")
        if values is None:
            values = sorted({text for label in labels if label not in (None, ANY) for text in _values(label, foreign)})
        tree = Hierarchy.flat(list(values) or [""])
    nodes: dict[str, list[tuple[int, int]]] = {}
    for label, first, last in zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True):
        if (first, last) not in nodes.setdefault(label, []):
            nodes[label].append((first, last))
    return Tree(
        tree, bool(column.get("null")), bool(given), {text: i for i, text in enumerate(tree.leaves)}, nodes, foreign
    )


def _values(label: str, foreign: bool) -> tuple[str, ...]:
    """The values a label of a column without a hierarchy names."""
    form, texts = parse(label)
    return (label,) if foreign and form != "set" else texts


def number(text: str) -> int | float:
    """A number that compares exactly with others: whole where it is written so."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(json.loads(text) if text.startswith('"') else text)
    except (ValueError, TypeError):
        raise Unreadable("a number") from None
    return value


def _known(places: Mapping[str, int], text: str) -> int:
    try:
        return places[text]
    except KeyError:
        raise Unreadable("an ordered value") from None
