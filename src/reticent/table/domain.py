"""The domain of a coded column: what its codes mean, how a span of codes prints, and what it loses.

A number's, a date's or an ordered value's code is its rank (`RangeDomain`); a category's is its leaf's rank in the
hierarchy's pre-order (`TreeDomain`); null is the last code, a leaf of its own directly under the root.  `split[c]` is
the depth of the lowest common ancestor of codes c and c + 1, so that the lowest common ancestor of a span is where
`split` is least in it: one array serves cuts, labels and losses alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from reticent.table.ends import NO_ENDS, Ends
from reticent.table.grammar import ANY, member, range_label, set_label, value_label
from reticent.table.hierarchy import Hierarchy
from reticent.table.range_minimum import RangeMinimum

TABLE_LIMIT = 2048  # a table of all spans fits the cache up to about here


@dataclass(frozen=True, eq=False)
class Domain:
    """What range and tree domains share.  `texts` are the printed values in code order, without the null.

    `declared` is what the steward says a sensitive column can hold, apart from its data: the least and the greatest
    number, or a list of values; None where only a hierarchy or an order says it, or nothing.
    """

    name: str
    dtype: str
    texts: tuple[str, ...]
    null: bool
    split: np.ndarray
    kind: str
    declared: tuple[Any, ...] | None = field(default=None, kw_only=True)

    @property
    def size(self) -> int:
        return len(self.texts) + self.null

    @property
    def null_code(self) -> int:
        """The null's code, or -1 where the column has none."""
        return len(self.texts) if self.null else -1

    @cached_property
    def split_minimum(self) -> RangeMinimum:
        return RangeMinimum(self.split)

    @cached_property
    def loss_table(self) -> np.ndarray:
        """Loss of every span [lo, hi]; only for domains of at most TABLE_LIMIT codes."""
        lower, upper = np.triu_indices(self.size)
        table = np.zeros((self.size, self.size))
        table[lower, upper] = self.loss(lower, upper)
        return table

    def loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def printed_loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """What the labels of spans lose: no less than the spans, where labels are wider (`printed.py`)."""
        return self.loss(lower, upper)

    @property
    def tight(self) -> Domain:
        """The same column with labels that end at values."""
        return self

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        raise NotImplementedError

    def covered(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The codes that the label of a span covers; -1 .. size where it prints `*`, which covers unknown values too."""
        raise NotImplementedError

    def set_labels(self, members: Sequence[Sequence[int] | np.ndarray]) -> list[str | None]:
        """Labels that name exactly the values of a group."""
        return [self._set_label(codes) for codes in members]

    def joined_labels(self, codes: np.ndarray, offsets: np.ndarray) -> list[str | None]:
        """`set_labels` of sets that lie one after another in `codes`, cut at `offsets`: those of several values are joined at once."""
        lengths = np.diff(offsets)
        several = (lengths > 1) & (codes[offsets[1:] - 1] != self.null_code)
        texts = np.array(self._members, object)[codes[several.repeat(lengths)]].tolist()
        ends = np.cumsum(lengths[several]).tolist()
        found = np.empty(len(lengths), object)
        found[several] = [f"{{{', '.join(texts[start:end])}}}" for start, end in zip([0, *ends], ends, strict=False)]
        for at in np.flatnonzero(~several):
            found[at] = self._set_label(codes[offsets[at] : offsets[at + 1]])
        return found.tolist()

    def _set_label(self, codes: Sequence[int] | np.ndarray) -> str | None:
        if self.null and codes[-1] == self.null_code:
            return None if len(codes) == 1 else ANY
        if len(codes) == 1:
            return value_label(self.texts[codes[0]])
        return "{" + ", ".join([self._members[c] for c in codes]) + "}"

    @cached_property
    def _members(self) -> tuple[str, ...]:
        """Each value as it prints inside a set."""
        return tuple(map(member, self.texts))


@dataclass(frozen=True, eq=False)
class RangeDomain(Domain):
    """Numbers, dates and ordered values; `positions` are what the loss of equation 2 (paper 1) is measured on.

    `ends` are the declared bounds that stand for all values beyond them.  Whole numbers beyond 2^53 are no doubles: positions
    and span are then those of the numbers less `origin`, their least, and `declared_ends` are the exact ends of a declared domain.
    """

    positions: np.ndarray
    span: tuple[float, float] = (0.0, 0.0)
    ends: Ends = NO_ENDS
    origin: int = 0
    declared_ends: tuple[int, int] | None = None

    def loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        if not len(self.texts):
            return np.zeros(len(lower))
        reach = self.span[1] - self.span[0]
        position = np.append(self.positions, self.positions[-1]) if self.null else self.positions
        found = (position[upper] - position[lower]) / reach if reach > 0 else np.zeros(len(lower))
        if self.null:
            found = np.where(upper == self.null_code, (lower != upper).astype(float), found)
        return found

    def covered(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mixed = (upper == self.null_code) & (lower != upper)
        return np.where(mixed, -1, lower), np.where(mixed, self.size, upper)

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        texts, null = self.texts, self.null_code
        return [
            (None if lo == null else ANY) if hi == null and null >= 0 else range_label(texts[lo], texts[hi])
            for lo, hi in zip(lower.tolist(), upper.tolist(), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class TreeDomain(Domain):
    """Categories under a hierarchy; `given` tells a steward's hierarchy (published as it is) from one built from data."""

    hierarchy: Hierarchy
    given: bool
    style: str | None = field(default=None, kw_only=True)  # "nodes" or "sets", where the column asks for one

    def nodes(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """The lowest common ancestor of each span; -1 where the span is or holds the null beside other values, -2 the null alone."""
        tree = self.hierarchy
        apart = lower != upper
        level = np.zeros(len(lower), np.int32)
        if apart.any():
            level[apart] = tree.height - self.split_minimum(lower[apart], upper[apart] - 1)
        node = tree.paths[np.minimum(lower, len(self.texts) - 1), np.minimum(level, tree.height)]
        if self.null:
            node = np.where(upper == self.null_code, np.where(apart, -1, -2), node)
        return node

    def loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Equation 3 of paper 1: leaves under the ancestor over all leaves, 0 for a single one."""
        tree, node = self.hierarchy, self.nodes(lower, upper)
        leaves = (tree.last - tree.first + 1)[np.maximum(node, 0)]
        covered = leaves + (self.null & (leaves == len(self.texts)))  # all leaves print as `*`, which covers the null
        found = np.where(leaves > 1, covered / self.size, 0.0)
        return np.where(node == -1, 1.0, np.where(node == -2, 0.0, found))

    def covered(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        node = self.nodes(lower, upper)
        first, last = self.hierarchy.first[np.maximum(node, 0)], self.hierarchy.last[np.maximum(node, 0)]
        any_ = (node == -1) | ((node >= 0) & (first == 0) & (last == len(self.texts) - 1) & (first < last))
        first, last = np.where(node == -2, lower, first), np.where(node == -2, upper, last)
        return np.where(any_, -1, first), np.where(any_, self.size, last)

    @cached_property
    def node_labels(self) -> tuple[str, ...]:
        """A node's own label; where it could be read as another node with other leaves, the set of its leaves."""
        tree = self.hierarchy
        spans: dict[str, set[tuple[int, int]]] = {}
        for label, first, last in zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True):
            spans.setdefault(label, set()).add((first, last))
        root = (0, len(self.texts) - 1)
        found = []
        for label, first, last in zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True):
            if first == last:
                text = self.texts[first]
                found.append(value_label(text, quoted=len(spans.get(text, ())) > 1))
            elif (first, last) == root:
                found.append(ANY)
            elif len(spans[label]) > 1 or value_label(label) != label:
                found.append(set_label(self.texts[first : last + 1]))
            else:
                found.append(label)
        return tuple(found)

    def _set_label(self, codes: Sequence[int] | np.ndarray) -> str | None:
        """A single value prints as its leaf does: in quotes where a node with other leaves bears its name."""
        alone = len(codes) == 1 and codes[0] != self.null_code
        return self.node_labels[self.hierarchy.paths[codes[0], 0]] if alone else Domain._set_label(self, codes)

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        return [
            ANY if node == -1 else None if node == -2 else self.node_labels[node]
            for node in self.nodes(lower, upper).tolist()
        ]


def range_domain(
    name: str,
    kind: str,
    dtype: str,
    texts: Sequence[str],
    positions: np.ndarray,
    *,
    null: bool,
    declared: tuple[float, float] | None = None,
    ends: Ends = NO_ENDS,
    origin: int = 0,
) -> RangeDomain:
    split = np.ones(max(len(texts) + null - 1, 0), np.int32)
    if null and len(split):
        split[-1] = 0
    positions = np.asarray(positions, np.float64)
    span = declared or ((float(positions[0]), float(positions[-1])) if len(positions) else (0.0, 0.0))
    return RangeDomain(name, dtype, tuple(texts), null, split, kind, positions, span, ends, origin)


def tree_domain(name: str, dtype: str, hierarchy: Hierarchy, *, null: bool, given: bool) -> TreeDomain:
    above = hierarchy.paths  # the root is the last column: the first True from the left is the ancestor's level
    together = above[1:] == above[:-1]
    split = (hierarchy.height - together.argmax(axis=1)).astype(np.int32) if len(above) > 1 else np.zeros(0, np.int32)
    if null:
        split = np.append(split, np.int32(0))
    return TreeDomain(name, dtype, tuple(hierarchy.leaves), null, split, "categorical", hierarchy, given)
