"""Numbers and dates under a hierarchy: published by its nodes, measured as the ranges they are.

Every node must be a stretch of the line.  A steward's node prints by its label, `20-29`, and the manifest holds the
hierarchy; a node of a hierarchy built from the data prints as a range, and needs none.  Snapped, the range has the node's own ends,
`[1990-01-01, 1990-12-31]` of a year, which are nobody's values; tight, it is the range of what is published under the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reticent.errors import HierarchyError
from reticent.table.domain import TreeDomain, tree_domain
from reticent.table.grammar import ANY, range_label, value_label
from reticent.table.grids import Places
from reticent.table.hierarchy import Hierarchy
from reticent.table.labelling import Labelling


@dataclass(frozen=True, eq=False)
class NodeEnds:
    """The ends of each node of a built hierarchy as they print, None of a node that has none of its own; for these the ends of the
    step that each leaf lies in."""

    lower: tuple[str | None, ...]
    upper: tuple[str | None, ...]
    places: Places


@dataclass(frozen=True, eq=False)
class BandDomain(TreeDomain):
    """`positions` are the leaves on the line, `span` what losses are measured against (equation 2 of paper 1).

    `ends` are those that snapped labels of a built hierarchy have, by `labelling`; `asked` says whether the column asks for them.
    """

    positions: np.ndarray
    span: tuple[float, float]
    ends: NodeEnds | None = None
    labelling: Labelling | None = None
    asked: bool = False

    @property
    def tight(self) -> BandDomain:
        """The same with labels that end at published values."""
        return replace(self, ends=None, labelling=None)

    def loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        tree, node = self.hierarchy, self.nodes(lower, upper)
        at = np.maximum(node, 0)
        low = np.clip(self.positions[tree.first[at]], *self.span)
        high = np.clip(self.positions[tree.last[at]], *self.span)
        reach = self.span[1] - self.span[0]
        found = (high - low) / reach if reach > 0 else np.zeros(len(node))
        if self.given:  # all leaves print as `*`
            found = np.where((tree.last - tree.first)[at] == max(len(self.texts) - 1, 1), 1.0, found)
        return np.where(node == -1, 1.0, np.where(node == -2, 0.0, found))

    @cached_property
    def node_labels(self) -> tuple[str, ...]:
        """A steward's label where it names one stretch only, else the range of the node's values."""
        tree = self.hierarchy
        spans: dict[str, set[tuple[int, int]]] = {}
        ends = list(zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True))
        for label, first, last in ends:
            spans.setdefault(label, set()).add((first, last))
        found = []
        for label, first, last in ends:
            if first == last:
                found.append(value_label(self.texts[first]))
            elif last - first == len(self.texts) - 1:
                found.append(ANY)
            elif len(spans[label]) == 1 and label != ANY and not label.startswith('"'):
                found.append(label)
            else:
                found.append(range_label(self.texts[first], self.texts[last]))
        return tuple(found)

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        """Of a built hierarchy, the range of all spans here that meet in the same node: nothing but published values."""
        if self.given:
            return TreeDomain.labels(self, lower, upper)
        node = self.nodes(lower, upper)
        ends: dict[int, tuple[int, int]] = {}
        for at, low, high in zip(node.tolist(), lower.tolist(), upper.tolist(), strict=True):
            known = ends.get(at, (low, high))
            ends[at] = (min(low, known[0]), max(high, known[1]))
        special = {-1: ANY, -2: None}
        return [special[at] if at < 0 else self._range(at, *ends[at]) for at in node.tolist()]

    def _range(self, node: int, low: int, high: int) -> str:
        """The label of a node under which the published codes are low .. high; one value prints as it is."""
        if self.ends is None or low == high:
            return range_label(self.texts[low], self.texts[high])
        lower, upper = self.ends.lower[node], self.ends.upper[node]
        if lower is None or upper is None:
            return range_label(self.ends.places.lower[low], self.ends.places.upper[high])
        return range_label(lower, upper)

    def covered(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of a built hierarchy no more than the span itself is sure: its label depends on what else is published."""
        if self.given:
            return TreeDomain.covered(self, lower, upper)
        mixed = (upper == self.null_code) & (lower != upper)
        return np.where(mixed, -1, lower), np.where(mixed, self.size, upper)

    def set_labels(self, members: Sequence[Sequence[int] | np.ndarray]) -> list[str | None]:
        """A stretch of a line is not published as a set."""
        return self.labels(np.array([codes[0] for codes in members]), np.array([codes[-1] for codes in members]))


def band_domain(
    name: str,
    kind: str,
    dtype: str,
    hierarchy: Hierarchy,
    positions: np.ndarray,
    span: tuple[float, float],
    *,
    null: bool,
    given: bool,
) -> BandDomain:
    """`positions` of the hierarchy's leaves, in its order."""
    if (np.diff(positions) <= 0).any():
        raise HierarchyError(
            f"The hierarchy of {name!r} is not one of ranges: a node holds values on both sides of another's.",
            attempt=f'nodes that are stretches of the line, or type = "categorical" for {name!r}.',
        )
    tree = tree_domain(name, dtype, hierarchy, null=null, given=given)
    return BandDomain(name, dtype, tree.texts, null, tree.split, kind, hierarchy, given, positions, span)


def sorted_by_position(hierarchy: Hierarchy, positions: np.ndarray) -> tuple[Hierarchy, np.ndarray]:
    """The same tree with its rows in the order of the line, as far as its nodes let them be."""
    rows = hierarchy.rows()
    order = np.argsort(positions, kind="stable")
    found = Hierarchy.from_rows([rows[at] for at in order])
    place = {row[0]: position for row, position in zip(rows, positions, strict=True)}
    return found, np.array([place[leaf] for leaf in found.leaves], np.float64)
