"""A column whose values are leaves of a hierarchy, or of a flat one, and the labels that are nodes or sets of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reticent.release.reading.extent import EVERYTHING, NULL, Extent, Unreadable
from reticent.table.grammar import ANY, parse, parse_foreign
from reticent.table.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Tree:
    """Categories, numbered in the hierarchy's pre-order; `given` tells a hierarchy from a flat list of what is published."""

    hierarchy: Hierarchy
    null: bool
    given: bool
    leaf: Mapping[str, int]
    nodes: Mapping[str, list[tuple[int, int]]]
    foreign: bool = False

    def values(self, published: Sequence[Extent]) -> list[str]:
        """The leaves.  A list without values has an empty text for a leaf: it is one if it is published."""
        placed = self.given or list(self.leaf) != [""] or any(extent.leaves for extent in published)
        return list(self.leaf) if placed else []

    def read(self, labels: Sequence[str | None]) -> list[Extent]:
        return [self._read(label) for label in labels]

    def _read(self, label: str | None) -> Extent:
        if label is None:
            return NULL
        if label == ANY:
            return EVERYTHING
        if self.foreign and label in self.nodes:
            return self._node(label)
        if label[0:1] == "{" and '"' not in label and (listed := self._plain_set(label)) is not None:
            return listed
        form, texts = parse_foreign(label) if self.foreign else parse(label)
        if form == "value" and not label.startswith('"') and label not in self.leaf and label in self.nodes:
            return self._node(label)
        if form == "range" or not all(text in self.leaf for text in texts):
            texts = tuple(self._listed(label))
        return Extent("leaves", leaves=tuple(sorted({self.leaf[text] for text in texts})))

    def _plain_set(self, label: str) -> Extent | None:
        """A set without quoted members, as most are; None where it is not one of leaves."""
        try:
            return Extent("leaves", leaves=tuple(sorted({self.leaf[text] for text in label[1:-1].split(", ")})))
        except KeyError:
            return None

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
        if low == high:
            return 0, low, high
        if tree.height == 1:
            return 1, 0, len(self.leaf) - 1
        level = next(level for level in range(tree.height + 1) if tree.paths[low, level] == tree.paths[high, level])
        node = tree.paths[low, level]
        return level, int(tree.first[node]), int(tree.last[node])
