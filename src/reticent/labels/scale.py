"""What a published label covers, read by the column's entry in the manifest.

A `Scale` is a column's values as the reader knows them: a `LineScale` (numbers, dates, ordered values; labels are
stretches of it) or a `TreeScale` (categories: leaves of a hierarchy, or of a flat one; labels are nodes or sets of
leaves). It turns labels into extents (`Extent`). Labels of other tools are understood too: `[20, 30[`, `[20, 30)`,
`20-29`, `>= 80`, a hierarchy's labels, `a|b`, and `*`.

`read_leaf_extents` reads all labels of a tree's column at once, into one array of leaves cut at offsets
(`LeafExtents`): a sampled release has tens of thousands of distinct sets. Sets without quoted members are split and
numbered in one go; every other label is read on its own (`TreeScale.read`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import isfinite
from typing import Any, cast

import numpy as np
import polars as pl

from reticent.data.grammar import ANY_LABEL, parse_label, parse_third_party_label
from reticent.data.hierarchy import Hierarchy
from reticent.data.parsing import parse_texts
from reticent.format.manifest import ColumnEntry, build_cached_tree


class UnreadableLabel(ValueError):
    """Raised for a label that the column's schema does not explain.

    It holds the label: show a count of them, never the label.
    """


@dataclass(frozen=True, slots=True)
class Extent:
    """What a label covers; `form` is one of four:

    `null`: the missing value alone; `any`: everything; `range`: a stretch of a line; `leaves`: leaves of a tree, by
    number.

    A range such as `< 20` is `endless` on one side: for the loss it ends where the column does, and it covers what
    lies beyond.
    """

    form: str
    lower: Any = None
    upper: Any = None
    open_lower: bool = False
    open_upper: bool = False
    leaves: tuple[int, ...] | range = ()
    endless: str = ""  # "lower" or "upper"


NULL_EXTENT = Extent("null")
ANY_EXTENT = Extent("any")


def parse_number(text: str) -> int | float:
    """Parse a number that compares exactly with others: whole where it is written so."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(json.loads(text) if text.startswith('"') else text)
    except (ValueError, TypeError, RecursionError):
        raise UnreadableLabel("a number") from None
    if not isfinite(value):
        raise UnreadableLabel("a finite number")
    return value


@dataclass(frozen=True, eq=False)
class TreeScale:
    """Categories, numbered in the hierarchy's pre-order; `given` is False for a flat list of what is published."""

    hierarchy: Hierarchy
    null: bool
    given: bool
    leaf: Mapping[str, int]
    nodes: Mapping[str, list[tuple[int, int]]]
    foreign: bool = False

    def values(self, published: Sequence[Extent]) -> list[str]:
        """Return the leaves. A list without values has an empty text for a leaf: it is one if it is published."""
        placed = self.given or list(self.leaf) != [""] or any(extent.leaves for extent in published)
        return list(self.leaf) if placed else []

    def read(self, labels: Sequence[str | None]) -> list[Extent]:
        return [self._read(label) for label in labels]

    def _read(self, label: str | None) -> Extent:
        if label is None:
            return NULL_EXTENT
        if label == ANY_LABEL:
            return ANY_EXTENT
        if self.foreign and label in self.nodes:
            return self._read_node(label)
        if label[0:1] == "{" and '"' not in label and (listed := self._read_plain_set(label)) is not None:
            return listed
        form, texts = parse_third_party_label(label) if self.foreign else parse_label(label)
        if form == "value" and not label.startswith('"') and label not in self.leaf and label in self.nodes:
            return self._read_node(label)
        if form == "range" or not all(text in self.leaf for text in texts):
            texts = tuple(self._split_set_label(label))
        return Extent("leaves", leaves=tuple(sorted({self.leaf[text] for text in texts})))

    def _read_plain_set(self, label: str) -> Extent | None:
        """Read a set without quoted members, as most are; None if it is not one of leaves."""
        try:
            return Extent("leaves", leaves=tuple(sorted({self.leaf[text] for text in label[1:-1].split(", ")})))
        except KeyError:
            return None

    def _read_node(self, label: str) -> Extent:
        """Read a label that may name several nodes: with the same leaves, or in a foreign file any of them."""
        spans = self.nodes[label]
        if len(spans) > 1 and not self.foreign:
            raise UnreadableLabel(label)
        covered = sorted({leaf for first, last in spans for leaf in range(first, last + 1)})
        return Extent("leaves", leaves=range(covered[0], covered[-1] + 1) if len(spans) == 1 else tuple(covered))

    def _split_set_label(self, label: str) -> list[str]:
        """Split `a|b` or `['a', 'b']`, as other tools write sets."""
        parts = [part for part in re.split(r"[,|{}\[\]']\s*", label) if part]
        if not self.foreign or not parts or not all(part in self.leaf for part in parts):
            raise UnreadableLabel(label)
        return parts

    def loss(self, extent: Extent) -> float:
        """Compute equation 3 of paper 1: leaves under the lowest common ancestor over all leaves, 0 for a single one."""
        if extent.form != "leaves":
            return float(extent.form == "any")
        first, last = self._find_ancestor(extent)[1:]
        whole = len(self.leaf) + self.null
        under = last - first + 1 + (self.null and last - first + 1 == len(self.leaf) and len(extent.leaves) > 1)
        return under / whole if under > 1 else 0.0

    def height(self, extent: Extent) -> float:
        """Return the ancestor's level over the root's."""
        if extent.form != "leaves":
            return float(extent.form == "any")
        return self._find_ancestor(extent)[0] / max(self.hierarchy.height, 1)

    def _find_ancestor(self, extent: Extent) -> tuple[int, int, int]:
        """Return (level, first leaf, last leaf) of the lowest common ancestor.

        In pre-order it is that of the least and the greatest leaf.
        """
        tree = self.hierarchy
        low = extent.leaves[0]
        high = extent.leaves[-1]
        if low == high:
            return 0, low, high
        if tree.height == 1:
            return 1, 0, len(self.leaf) - 1
        level = next(level for level in range(tree.height + 1) if tree.paths[low, level] == tree.paths[high, level])
        node = tree.paths[low, level]
        return level, int(tree.first[node]), int(tree.last[node])


LEAVES_FORM = 0
ANY_FORM = 1
MISSING_FORM = 2


@dataclass(frozen=True, eq=False)
class LeafExtents(Sequence[Extent]):
    """Extents of labels: `form` of each (LEAVES_FORM, ANY_FORM or MISSING_FORM), and all leaves in one array.

    Label i covers leaves[offsets[i] : offsets[i + 1]], in order, each once.
    """

    form: np.ndarray
    offsets: np.ndarray
    leaves: np.ndarray

    def __len__(self) -> int:
        return len(self.form)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        if self.form[at] != LEAVES_FORM:
            return ANY_EXTENT if self.form[at] == ANY_FORM else NULL_EXTENT
        at = range(len(self))[at]
        return Extent("leaves", leaves=tuple(self.leaves[self.offsets[at] : self.offsets[at + 1]].tolist()))

    @cached_property
    def counts(self) -> np.ndarray:
        return np.diff(self.offsets)

    @cached_property
    def label(self) -> np.ndarray:
        """The label that each of `leaves` belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    def only(self, chosen: np.ndarray) -> LeafExtents:
        """Return some of the labels."""
        offsets = np.append(0, np.cumsum(self.counts[chosen]))
        return LeafExtents(self.form[chosen], offsets, self.leaves[chosen[self.label]])

    @property
    def several(self) -> np.ndarray:
        """Whether a label covers more than one value."""
        return (self.form == ANY_FORM) | (self.counts > 1)


def read_leaf_extents(tree: TreeScale, labels: pl.Series) -> LeafExtents:
    """Read the extents of distinct labels, as `tree.read` does one by one."""
    which, leaf, alone = _read_plain_sets(tree, labels)
    read = tree.read(labels.gather(alone).to_list())
    form = np.full(len(labels), LEAVES_FORM, np.uint8)
    form[alone] = [{"any": ANY_FORM, "null": MISSING_FORM}.get(extent.form, LEAVES_FORM) for extent in read]
    lengths = np.fromiter((len(extent.leaves) for extent in read), np.int64, len(read))
    rest = np.fromiter(chain.from_iterable(extent.leaves for extent in read), np.int64, int(lengths.sum()))
    width = max(len(tree.leaf), 1)
    key = np.concatenate([which * width + leaf, np.repeat(alone, lengths) * width + rest])
    if (np.diff(key) <= 0).any():
        key.sort(kind="stable")  # a few sorted stretches
        key = key[np.diff(key, prepend=-1) > 0]
    held = np.bincount(key // width, minlength=len(labels))
    return LeafExtents(form, np.append(0, np.cumsum(held)), key % width)


def _read_plain_sets(tree: TreeScale, labels: pl.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read the sets that name leaves without quotes.

    Returns (label, leaf) of every member, and the labels that are no such sets.
    """
    texts = labels.cast(pl.String)
    plain = texts.str.starts_with("{") & texts.str.ends_with("}") & ~texts.str.contains('"', literal=True)
    plain = plain.fill_null(False) & (not tree.foreign)
    at = np.flatnonzero(plain.to_numpy())
    if not len(at):
        return at, at, np.arange(len(labels))
    members = texts.gather(at).str.strip_prefix("{").str.strip_suffix("}").str.split(", ")
    owner = np.repeat(np.arange(len(at)), members.list.len().to_numpy())
    found = members.explode().cast(pl.Enum(list(tree.leaf)), strict=False).to_physical()
    number = np.fromiter(tree.leaf.values(), np.int64, len(tree.leaf))
    known = found.is_not_null().to_numpy()
    whole = np.bincount(owner[~known], minlength=len(at)) == 0
    kept = known & whole[owner]
    alone = np.ones(len(labels), bool)
    alone[at[whole]] = False
    return at[owner[kept]], number[found.to_numpy()[kept].astype(np.int64)], np.flatnonzero(alone)


_NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INTERVAL_PATTERN = re.compile(
    rf"([\[\](])?\s*({_NUMBER_PATTERN})\s*(?:,|;|-|–|~|\.\.|\bto\b)\s*({_NUMBER_PATTERN})\s*([\]\[)])?"
)
_HALF_LINE_PATTERN = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER_PATTERN})")
_ASCII_COMPARISONS = {"≤": "<=", "≥": ">="}


@dataclass(frozen=True, eq=False)
class LineScale:
    """Numbers, dates or ordered values; `span` is the column's domain, None where all that is published is `*`."""

    kind: str
    span: tuple[Any, Any] | None
    bands: Sequence[HierarchyBand] = ()
    places: Mapping[str, int] | None = None
    dtype: str = "String"
    foreign: bool = False

    def positions(self, texts: Sequence[str]) -> list[Any]:
        """Return the positions of values on the line, as numbers that compare exactly."""
        if self.kind == "numeric":
            return [parse_number(text) for text in texts]
        if self.places is not None:
            return [_find_ordered_place(self.places, text) for text in texts]
        try:
            return parse_texts(texts, self.dtype if self.dtype.startswith("Date") else "Date").to_physical().to_list()
        except Exception:
            raise UnreadableLabel("a date") from None

    def read(self, labels: Sequence[str | None]) -> list[Extent]:
        found: list[Extent | None] = [self._read_directly(label) for label in labels]
        rest = [i for i, extent in enumerate(found) if extent is None]
        parsed = parse_third_party_label if self.foreign else parse_label
        ends = [parsed(label)[1] for i in rest if (label := labels[i]) is not None]
        if not all(1 <= len(pair) <= 2 for pair in ends):
            raise UnreadableLabel("a set on a line")
        lower = self.positions([pair[0] for pair in ends])
        upper = self.positions([pair[-1] for pair in ends])
        for i, low, high in zip(rest, lower, upper, strict=True):
            if low > high:
                raise UnreadableLabel(labels[i])
            found[i] = Extent("range", low, high)
        return cast("list[Extent]", found)

    def _read_directly(self, label: str | None) -> Extent | None:
        if label is None:
            return NULL_EXTENT
        if label == ANY_LABEL:
            return ANY_EXTENT
        if band := self.named.get(label):
            return Extent("range", band.lower, band.upper)
        return self._read_interval(label) if self.foreign and self.kind == "numeric" else None

    def _read_interval(self, label: str) -> Extent | None:
        if half := _HALF_LINE_PATTERN.fullmatch(label.strip()):
            sign = _ASCII_COMPARISONS.get(half[1], half[1])
            end = parse_number(half[2])
            low, high = self.span or (end, end)
            if sign[0] == "<":
                return Extent("range", min(low, end), end, open_upper=sign == "<", endless="lower")
            return Extent("range", end, max(high, end), open_lower=sign == ">", endless="upper")
        if whole := _INTERVAL_PATTERN.fullmatch(label.strip()):
            return Extent(
                "range", parse_number(whole[2]), parse_number(whole[3]), whole[1] in ("]", "("), whole[4] in ("[", ")")
            )
        return None

    def loss(self, extent: Extent) -> float:
        """Compute equation 2 of paper 1: (u - l) / (U - L)."""
        if extent.form != "range":
            return float(extent.form == "any")
        if self.span is None or self.span[0] == self.span[1]:
            return 0.0
        return float((extent.upper - extent.lower) / (self.span[1] - self.span[0]))

    def height(self, extent: Extent) -> float:
        """Return the level of the lowest band that covers the extent, over the root's level.

        Without bands a line is a tree of height 1.
        """
        if extent.form != "range":
            return float(extent.form == "any")
        if extent.lower == extent.upper:
            return 0.0
        return min(
            (band.height for band in self.bands if band.lower <= extent.lower and extent.upper <= band.upper),
            default=1.0,
        )

    @cached_property
    def named(self) -> dict[str, HierarchyBand]:
        """What a label of the hierarchy covers.

        In a release a label that names two stretches is not used, nor one that is a value too; another tool's may be
        the wider.
        """
        found: dict[str, HierarchyBand] = {}
        for band in self.bands:
            known = found.get(band.label)
            if known is None:
                found[band.label] = band
            elif self.foreign:
                found[band.label] = HierarchyBand(
                    band.label, min(known.lower, band.lower), max(known.upper, band.upper), band.height
                )
        return found


@dataclass(frozen=True, slots=True)
class HierarchyBand:
    """A node of a hierarchy over a line; `height` is its level over the root's."""

    label: str
    lower: Any
    upper: Any
    height: float


def _find_ordered_place(places: Mapping[str, int], text: str) -> int:
    try:
        return places[text]
    except KeyError:
        raise UnreadableLabel("an ordered value") from None


Scale = LineScale | TreeScale


def make_scale(column: ColumnEntry, labels: Iterable[str | None] = (), *, foreign: bool = False) -> Scale:
    """Make the scale of a column from its manifest entry.

    For another tool's file, what the entry lacks comes from the labels.
    """
    if column.type not in ("numeric", "date", "ordinal"):
        return _make_tree_scale(column, labels, foreign)
    if column.type == "ordinal":
        order = list(column.order or ())
        return LineScale("ordinal", (0, len(order) - 1), (), {text: i for i, text in enumerate(order)}, foreign=foreign)
    line = LineScale(column.type, None, (), None, column.dtype, foreign)
    if column.hierarchy:
        line = replace(line, bands=_list_bands(line, build_cached_tree(column.hierarchy)))
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
    return replace(line, span=span, bands=[_clip_band(band, span) for band in line.bands] if span else line.bands)


def _list_bands(line: LineScale, tree: Hierarchy) -> list[HierarchyBand]:
    """List every node above the leaves, the lowest first; in a release each leaf's own label comes before them."""
    place = line.positions([leaf.strip() for leaf in tree.leaves])
    top = max(tree.height, 1)
    found = (
        [] if line.foreign else [HierarchyBand(leaf, at, at, 0.0) for leaf, at in zip(tree.leaves, place, strict=True)]
    )
    for level in range(1, tree.height + 1):
        for node in dict.fromkeys(tree.paths[:, level].tolist()):
            held = place[tree.first[node] : tree.last[node] + 1]
            found.append(HierarchyBand(tree.labels[node], min(held), max(held), level / top))
    return found


def _clip_band(band: HierarchyBand, span: tuple[Any, Any]) -> HierarchyBand:
    """Clip a band to the column's domain: a hierarchy may have leaves beyond it, which nobody can be confused with."""
    low = max(band.lower, span[0])
    high = min(band.upper, span[1])
    return replace(band, lower=low, upper=high) if low <= high else band


def _make_tree_scale(column: ColumnEntry, labels: Iterable[str | None], foreign: bool) -> TreeScale:
    given = column.hierarchy
    if given:
        tree = build_cached_tree(given)
    else:
        values = column.values
        if values is None:
            values = sorted(
                {
                    text
                    for label in labels
                    if label not in (None, ANY_LABEL)
                    for text in list_named_values(label, foreign)
                }
            )
        tree = Hierarchy.flat(list(values) or [""])
    nodes: dict[str, list[tuple[int, int]]] = {}
    for label, first, last in zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True):
        if (first, last) not in nodes.setdefault(label, []):
            nodes[label].append((first, last))
    return TreeScale(
        tree, bool(column.null), bool(given), {text: i for i, text in enumerate(tree.leaves)}, nodes, foreign
    )


def list_named_values(label: str, foreign: bool) -> tuple[str, ...]:
    """List the values that a label of a column without a hierarchy names."""
    form, texts = parse_third_party_label(label) if foreign else parse_label(label)
    return (label,) if foreign and form != "set" else texts
