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

from reticent.data.hierarchy import Hierarchy
from reticent.data.label_grammar import ANY_LABEL, parse_label, parse_third_party_label
from reticent.data.parsing import parse_texts
from reticent.format.manifest import ColumnEntry, build_cached_tree

LEAVES_FORM = 0
ANY_FORM = 1
MISSING_FORM = 2
_NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INTERVAL_PATTERN = re.compile(
    rf"([\[\](])?\s*({_NUMBER_PATTERN})\s*(?:,|;|-|–|~|\.\.|\bto\b)\s*({_NUMBER_PATTERN})\s*([\]\[)])?"
)
_HALF_LINE_PATTERN = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER_PATTERN})")
_ASCII_COMPARISONS = {"≤": "<=", "≥": ">="}


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
        has_leaves = self.given or list(self.leaf) != [""] or any(extent.leaves for extent in published)
        return list(self.leaf) if has_leaves else []

    def read(self, labels: Sequence[str | None]) -> list[Extent]:
        return [self._read(label) for label in labels]

    def _read(self, label: str | None) -> Extent:
        if label is None:
            return NULL_EXTENT
        if label == ANY_LABEL:
            return ANY_EXTENT
        if self.foreign and label in self.nodes:
            return self._read_node(label)
        if label[0:1] == "{" and '"' not in label and (plain_set := self._read_plain_set(label)) is not None:
            return plain_set
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
        leaf_count = len(self.leaf) + self.null
        under = last - first + 1 + (self.null and last - first + 1 == len(self.leaf) and len(extent.leaves) > 1)
        return under / leaf_count if under > 1 else 0.0

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

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        if self.form[index] != LEAVES_FORM:
            return ANY_EXTENT if self.form[index] == ANY_FORM else NULL_EXTENT
        index = range(len(self))[index]
        return Extent("leaves", leaves=tuple(self.leaves[self.offsets[index] : self.offsets[index + 1]].tolist()))

    @cached_property
    def counts(self) -> np.ndarray:
        return np.diff(self.offsets)

    @cached_property
    def label(self) -> np.ndarray:
        """The label that each of `leaves` belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    def only(self, is_wanted: np.ndarray) -> LeafExtents:
        """Return some of the labels."""
        offsets = np.append(0, np.cumsum(self.counts[is_wanted]))
        return LeafExtents(self.form[is_wanted], offsets, self.leaves[is_wanted[self.label]])

    @property
    def several(self) -> np.ndarray:
        """Whether a label covers more than one value."""
        return (self.form == ANY_FORM) | (self.counts > 1)


def read_leaf_extents(tree: TreeScale, labels: pl.Series) -> LeafExtents:
    """Read the extents of distinct labels, as `tree.read` does one by one."""
    label_of_leaf, leaf, other_labels = _read_plain_sets(tree, labels)
    other_extents = tree.read(labels.gather(other_labels).to_list())
    form = np.full(len(labels), LEAVES_FORM, np.uint8)
    form[other_labels] = [
        {"any": ANY_FORM, "null": MISSING_FORM}.get(extent.form, LEAVES_FORM) for extent in other_extents
    ]
    lengths = np.fromiter((len(extent.leaves) for extent in other_extents), np.int64, len(other_extents))
    rest = np.fromiter(chain.from_iterable(extent.leaves for extent in other_extents), np.int64, int(lengths.sum()))
    width = max(len(tree.leaf), 1)
    key = np.concatenate([label_of_leaf * width + leaf, np.repeat(other_labels, lengths) * width + rest])
    if (np.diff(key) <= 0).any():
        key.sort(kind="stable")  # a few sorted stretches
        key = key[np.diff(key, prepend=-1) > 0]
    counts = np.bincount(key // width, minlength=len(labels))
    return LeafExtents(form, np.append(0, np.cumsum(counts)), key % width)


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
        extents: list[Extent | None] = [self._read_directly(label) for label in labels]
        rest = [i for i, extent in enumerate(extents) if extent is None]
        parse = parse_third_party_label if self.foreign else parse_label
        ends = [parse(label)[1] for i in rest if (label := labels[i]) is not None]
        if not all(1 <= len(pair) <= 2 for pair in ends):
            raise UnreadableLabel("a set on a line")
        lower = self.positions([pair[0] for pair in ends])
        upper = self.positions([pair[-1] for pair in ends])
        for i, low, high in zip(rest, lower, upper, strict=True):
            if low > high:
                raise UnreadableLabel(labels[i])
            extents[i] = Extent("range", low, high)
        return cast("list[Extent]", extents)

    def _read_directly(self, label: str | None) -> Extent | None:
        if label is None:
            return NULL_EXTENT
        if label == ANY_LABEL:
            return ANY_EXTENT
        if band := self.named.get(label):
            return Extent("range", band.lower, band.upper)
        return self._read_interval(label) if self.foreign and self.kind == "numeric" else None

    def _read_interval(self, label: str) -> Extent | None:
        if half_line := _HALF_LINE_PATTERN.fullmatch(label.strip()):
            sign = _ASCII_COMPARISONS.get(half_line[1], half_line[1])
            end = parse_number(half_line[2])
            low, high = self.span or (end, end)
            if sign[0] == "<":
                return Extent("range", min(low, end), end, open_upper=sign == "<", endless="lower")
            return Extent("range", end, max(high, end), open_lower=sign == ">", endless="upper")
        if interval := _INTERVAL_PATTERN.fullmatch(label.strip()):
            return Extent(
                "range",
                parse_number(interval[2]),
                parse_number(interval[3]),
                interval[1] in ("]", "("),
                interval[4] in ("[", ")"),
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
        bands_by_label: dict[str, HierarchyBand] = {}
        for band in self.bands:
            earlier = bands_by_label.get(band.label)
            if earlier is None:
                bands_by_label[band.label] = band
            elif self.foreign:
                bands_by_label[band.label] = HierarchyBand(
                    band.label, min(earlier.lower, band.lower), max(earlier.upper, band.upper), band.height
                )
        return bands_by_label


@dataclass(frozen=True, slots=True)
class HierarchyBand:
    """A node of a hierarchy over a line; `height` is its level over the root's."""

    label: str
    lower: Any
    upper: Any
    height: float


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


def list_named_values(label: str, foreign: bool) -> tuple[str, ...]:
    """List the values that a label of a column without a hierarchy names."""
    form, texts = parse_third_party_label(label) if foreign else parse_label(label)
    return (label,) if foreign and form != "set" else texts


def _read_plain_sets(tree: TreeScale, labels: pl.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read the sets that name leaves without quotes.

    Returns (label, leaf) of every member, and the labels that are no such sets.
    """
    texts = labels.cast(pl.String)
    plain = texts.str.starts_with("{") & texts.str.ends_with("}") & ~texts.str.contains('"', literal=True)
    plain = plain.fill_null(False) & (not tree.foreign)
    set_labels = np.flatnonzero(plain.to_numpy())
    if not len(set_labels):
        return set_labels, set_labels, np.arange(len(labels))
    members = texts.gather(set_labels).str.strip_prefix("{").str.strip_suffix("}").str.split(", ")
    owner = np.repeat(np.arange(len(set_labels)), members.list.len().to_numpy())
    leaf_codes = members.explode().cast(pl.Enum(list(tree.leaf)), strict=False).to_physical()
    number = np.fromiter(tree.leaf.values(), np.int64, len(tree.leaf))
    is_leaf = leaf_codes.is_not_null().to_numpy()
    has_leaves_only = np.bincount(owner[~is_leaf], minlength=len(set_labels)) == 0
    is_read = is_leaf & has_leaves_only[owner]
    is_other = np.ones(len(labels), bool)
    is_other[set_labels[has_leaves_only]] = False
    return set_labels[owner[is_read]], number[leaf_codes.to_numpy()[is_read].astype(np.int64)], np.flatnonzero(is_other)


def _find_ordered_place(places: Mapping[str, int], text: str) -> int:
    try:
        return places[text]
    except KeyError:
        raise UnreadableLabel("an ordered value") from None


Scale = LineScale | TreeScale


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


def _list_bands(line: LineScale, tree: Hierarchy) -> list[HierarchyBand]:
    """List every node above the leaves, the lowest first; in a release each leaf's own label comes before them."""
    place = line.positions([leaf.strip() for leaf in tree.leaves])
    top = max(tree.height, 1)
    bands = (
        []
        if line.foreign
        else [HierarchyBand(leaf, position, position, 0.0) for leaf, position in zip(tree.leaves, place, strict=True)]
    )
    for level in range(1, tree.height + 1):
        for node in dict.fromkeys(tree.paths[:, level].tolist()):
            node_places = place[tree.first[node] : tree.last[node] + 1]
            bands.append(HierarchyBand(tree.labels[node], min(node_places), max(node_places), level / top))
    return bands


def _clip_band(band: HierarchyBand, span: tuple[Any, Any]) -> HierarchyBand:
    """Clip a band to the column's domain: a hierarchy may have leaves beyond it, which nobody can be confused with."""
    low = max(band.lower, span[0])
    high = min(band.upper, span[1])
    return replace(band, lower=low, upper=high) if low <= high else band
