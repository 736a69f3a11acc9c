"""The domain of a coded column: what its codes mean, how a span of codes prints, and what the span loses.

The code of a number, a date or an ordered value is its rank (`RangeDomain`); the code of a category is its leaf's
rank in the hierarchy's pre-order (`TreeDomain`); null is the last code, a leaf of its own directly under the root.
`split[c]` is the depth of the lowest common ancestor of codes c and c + 1, so that the lowest common ancestor of a
span is where `split` is least in it: one array serves cuts, labels and losses alike. `RangeMinimum` answers for whole
arrays of spans at once.

Numbers and dates under a hierarchy (`BandDomain`) are published by its nodes and measured as the ranges they are.
Every node must be a stretch of the line. A steward's node prints by its label, `20-29`, and the manifest holds the
hierarchy; a node of a hierarchy built from the data prints as a range, and needs none. A snapped range has the node's
own ends, `[1990-01-01, 1990-12-31]` of a year, which are nobody's values; a tight range is that of what is published
under the node.

`prune_hierarchy` cuts a hierarchy built from data down to what is published of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.columns import NO_BOUNDS, DeclaredBounds, LabelOptions
from reticent.data.hierarchy import Hierarchy
from reticent.data.label_grammar import (
    ANY_LABEL,
    format_member,
    format_range_label,
    format_set_label,
    format_value_label,
    parse_label,
)
from reticent.errors import HierarchyError

if TYPE_CHECKING:
    from reticent.data.label_styles import StepEnds

MAX_LOSS_TABLE_CODES = 2048  # a table of all spans fits the cache up to about here


class RangeMinimum:
    """Sparse table for the minimum of any span of an array: minima over 1, 2, 4, ... positions.

    Two of them cover any span.
    """

    def __init__(self, values: np.ndarray):
        self.levels = [np.asarray(values, np.int32)]
        width = 1
        while 2 * width <= len(values):
            below = self.levels[-1]
            self.levels.append(np.minimum(below[:-width], below[width:]))
            width *= 2

    def __call__(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the minimum of values[lower..upper], both ends included, for arrays of spans."""
        level = np.frexp((upper - lower + 1).astype(np.float64))[1] - 1
        minima = np.empty(len(lower), np.int32)
        for step in np.unique(level):
            on_level = level == step
            table = self.levels[step]
            minima[on_level] = np.minimum(table[lower[on_level]], table[upper[on_level] - (1 << int(step)) + 1])
        return minima


@dataclass(frozen=True, eq=False)
class Domain:
    """What range and tree domains share. `texts` are the printed values in code order, without the null.

    `declared` is what the steward declares that a sensitive column can hold, apart from its data: the least and the
    greatest number, or a list of values; None where only a hierarchy or an order declares it, or nothing does.
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
        """Loss of every span [lo, hi]; only for domains of at most MAX_LOSS_TABLE_CODES codes."""
        lower, upper = np.triu_indices(self.size)
        table = np.zeros((self.size, self.size))
        table[lower, upper] = self.loss(lower, upper)
        return table

    def loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def compute_printed_loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Compute the loss of the spans' labels: at least that of the spans, more where labels are wider (`labels`)."""
        return self.loss(lower, upper)

    @property
    def tight(self) -> Domain:
        """Return the same column with labels that end at values."""
        return self

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        raise NotImplementedError

    def find_covered_codes(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes that the label of a span covers.

        They are -1 .. size where it prints `*`, which covers unknown values too.
        """
        raise NotImplementedError

    def format_sets(self, members: Sequence[Sequence[int] | np.ndarray]) -> list[str | None]:
        """Format labels that name exactly the values of a group."""
        return [self._format_set(codes) for codes in members]

    def format_packed_sets(self, codes: np.ndarray, offsets: np.ndarray) -> list[str | None]:
        """Format sets as `format_sets` does, given one after another in `codes` and cut at `offsets`."""
        lengths = np.diff(offsets)
        several = (lengths > 1) & (codes[offsets[1:] - 1] != self.null_code)
        texts = np.array(self._member_texts, object)[codes[several.repeat(lengths)]].tolist()
        ends = np.cumsum(lengths[several]).tolist()
        formatted = np.empty(len(lengths), object)
        formatted[several] = [
            f"{{{', '.join(texts[start:end])}}}" for start, end in zip([0, *ends], ends, strict=False)
        ]
        for index in np.flatnonzero(~several):
            formatted[index] = self._format_set(codes[offsets[index] : offsets[index + 1]])
        return formatted.tolist()

    def _format_set(self, codes: Sequence[int] | np.ndarray) -> str | None:
        if self.null and codes[-1] == self.null_code:
            return None if len(codes) == 1 else ANY_LABEL
        if len(codes) == 1:
            return format_value_label(self.texts[codes[0]])
        return "{" + ", ".join([self._member_texts[code] for code in codes]) + "}"

    @cached_property
    def _member_texts(self) -> tuple[str, ...]:
        """Each value as it prints inside a set."""
        return tuple(map(format_member, self.texts))


@dataclass(frozen=True, eq=False)
class RangeDomain(Domain):
    """Numbers, dates and ordered values; the loss of equation 2 (paper 1) is measured on `positions`.

    `ends` are the declared bounds that stand for all values beyond them. Whole numbers beyond 2^53 are no doubles:
    positions and span are then those of the numbers less `origin`, their least, and `declared_ends` are the exact
    ends of a declared domain.
    """

    positions: np.ndarray
    span: tuple[float, float] = (0.0, 0.0)
    ends: DeclaredBounds = NO_BOUNDS
    origin: int = 0
    declared_ends: tuple[int, int] | None = None

    def loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        if not len(self.texts):
            return np.zeros(len(lower))
        reach = self.span[1] - self.span[0]
        position = np.append(self.positions, self.positions[-1]) if self.null else self.positions
        losses = (position[upper] - position[lower]) / reach if reach > 0 else np.zeros(len(lower))
        if self.null:
            losses = np.where(upper == self.null_code, (lower != upper).astype(float), losses)
        return losses

    def find_covered_codes(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mixed = (upper == self.null_code) & (lower != upper)
        return np.where(mixed, -1, lower), np.where(mixed, self.size, upper)

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        texts = self.texts
        null = self.null_code
        formatted: list[str | None] = []
        for low, high in zip(lower.tolist(), upper.tolist(), strict=True):
            if high != null or null < 0:
                formatted.append(format_range_label(texts[low], texts[high]))
            elif low == null:
                formatted.append(None)
            else:
                formatted.append(ANY_LABEL)
        return formatted


@dataclass(frozen=True, eq=False)
class TreeDomain(Domain):
    """Categories under a hierarchy.

    `is_from_steward` is True for a steward's hierarchy (published as it is) and False for one built from data.
    """

    hierarchy: Hierarchy
    is_from_steward: bool
    style: str | None = field(default=None, kw_only=True)  # "nodes" or "sets", where the column asks for one

    def find_common_ancestors(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the lowest common ancestor of each span.

        It is -1 if the span holds the null beside other values, -2 if the null alone.
        """
        tree = self.hierarchy
        has_several = lower != upper
        level = np.zeros(len(lower), np.int32)
        if has_several.any():
            level[has_several] = tree.height - self.split_minimum(lower[has_several], upper[has_several] - 1)
        node = tree.paths[np.minimum(lower, len(self.texts) - 1), np.minimum(level, tree.height)]
        if self.null:
            node = np.where(upper == self.null_code, np.where(has_several, -1, -2), node)
        return node

    def loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Compute equation 3 of paper 1: leaves under the ancestor over all leaves, 0 for a single one."""
        tree = self.hierarchy
        node = self.find_common_ancestors(lower, upper)
        leaves = (tree.last - tree.first + 1)[np.maximum(node, 0)]
        covered = leaves + (self.null & (leaves == len(self.texts)))  # all leaves print as `*`, which covers the null
        losses = np.where(leaves > 1, covered / self.size, 0.0)
        return np.where(node == -1, 1.0, np.where(node == -2, 0.0, losses))

    def find_covered_codes(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        node = self.find_common_ancestors(lower, upper)
        first = self.hierarchy.first[np.maximum(node, 0)]
        last = self.hierarchy.last[np.maximum(node, 0)]
        is_any = (node == -1) | ((node >= 0) & (first == 0) & (last == len(self.texts) - 1) & (first < last))
        first = np.where(node == -2, lower, first)
        last = np.where(node == -2, upper, last)
        return np.where(is_any, -1, first), np.where(is_any, self.size, last)

    @cached_property
    def node_labels(self) -> tuple[str, ...]:
        """Each node's own label; if it could be read as another node with other leaves, the set of its leaves."""
        tree = self.hierarchy
        spans: dict[str, set[tuple[int, int]]] = {}
        for label, first, last in zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True):
            spans.setdefault(label, set()).add((first, last))
        root = (0, len(self.texts) - 1)
        formatted = []
        for label, first, last in zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True):
            if first == last:
                text = self.texts[first]
                formatted.append(format_value_label(text, quoted=len(spans.get(text, ())) > 1))
            elif (first, last) == root:
                formatted.append(ANY_LABEL)
            elif len(spans[label]) > 1 or format_value_label(label) != label:
                formatted.append(format_set_label(self.texts[first : last + 1]))
            else:
                formatted.append(label)
        return tuple(formatted)

    def _format_set(self, codes: Sequence[int] | np.ndarray) -> str | None:
        """Format a set of codes.

        A single value prints as its leaf does: quoted if a node with other leaves has its name.
        """
        if len(codes) == 1 and codes[0] != self.null_code:
            return self.node_labels[self.hierarchy.paths[codes[0], 0]]
        return Domain._format_set(self, codes)

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        special = {-1: ANY_LABEL, -2: None}
        nodes = self.find_common_ancestors(lower, upper).tolist()
        return [special[node] if node < 0 else self.node_labels[node] for node in nodes]


def build_range_domain(
    name: str,
    kind: str,
    dtype: str,
    texts: Sequence[str],
    positions: np.ndarray,
    *,
    null: bool,
    declared: tuple[float, float] | None = None,
    ends: DeclaredBounds = NO_BOUNDS,
    origin: int = 0,
) -> RangeDomain:
    """Build the domain of values on a line; `positions` are those of `texts`, in rising order."""
    split = np.ones(max(len(texts) + null - 1, 0), np.int32)
    if null and len(split):
        split[-1] = 0
    positions = np.asarray(positions, np.float64)
    span = declared or (0.0, 0.0)
    if declared is None and len(positions):
        span = (float(positions[0]), float(positions[-1]))
    return RangeDomain(name, dtype, tuple(texts), null, split, kind, positions, span, ends, origin)


def build_tree_domain(name: str, dtype: str, hierarchy: Hierarchy, *, null: bool, is_from_steward: bool) -> TreeDomain:
    """Build the domain of categories, the leaves of a hierarchy."""
    above = hierarchy.paths  # the root is the last column: the first True from the left is the ancestor's level
    is_shared = above[1:] == above[:-1]
    split = (hierarchy.height - is_shared.argmax(axis=1)).astype(np.int32) if len(above) > 1 else np.zeros(0, np.int32)
    if null:
        split = np.append(split, np.int32(0))
    return TreeDomain(name, dtype, tuple(hierarchy.leaves), null, split, "categorical", hierarchy, is_from_steward)


@dataclass(frozen=True, eq=False)
class NodeEnds:
    """Printed ends of each node of a built hierarchy, None for a node without ends of its own.

    For these nodes it holds the ends of the step that each leaf lies in.
    """

    lower: tuple[str | None, ...]
    upper: tuple[str | None, ...]
    places: StepEnds


@dataclass(frozen=True, eq=False)
class BandDomain(TreeDomain):
    """Numbers or dates under a hierarchy.

    `positions` are the leaves on the line, `span` is what losses are measured against (equation 2 of paper 1). `ends`
    are those of snapped labels of a built hierarchy, chosen by `label_options`; `is_requested` is whether the column
    declares them.
    """

    positions: np.ndarray
    span: tuple[float, float]
    ends: NodeEnds | None = None
    label_options: LabelOptions | None = None
    is_requested: bool = False

    @property
    def tight(self) -> BandDomain:
        """Return the same domain with labels that end at published values."""
        return replace(self, ends=None, label_options=None)

    def loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        tree = self.hierarchy
        node = self.find_common_ancestors(lower, upper)
        inner_node = np.maximum(node, 0)
        low = np.clip(self.positions[tree.first[inner_node]], *self.span)
        high = np.clip(self.positions[tree.last[inner_node]], *self.span)
        reach = self.span[1] - self.span[0]
        losses = (high - low) / reach if reach > 0 else np.zeros(len(node))
        if self.is_from_steward:  # all leaves print as `*`
            losses = np.where((tree.last - tree.first)[inner_node] == max(len(self.texts) - 1, 1), 1.0, losses)
        return np.where(node == -1, 1.0, np.where(node == -2, 0.0, losses))

    @cached_property
    def node_labels(self) -> tuple[str, ...]:
        """A steward's label where it names one stretch only, else the range of the node's values."""
        tree = self.hierarchy
        spans: dict[str, set[tuple[int, int]]] = {}
        ends = list(zip(tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True))
        for label, first, last in ends:
            spans.setdefault(label, set()).add((first, last))
        formatted = []
        for label, first, last in ends:
            if first == last:
                formatted.append(format_value_label(self.texts[first]))
            elif last - first == len(self.texts) - 1:
                formatted.append(ANY_LABEL)
            elif len(spans[label]) == 1 and label != ANY_LABEL and not label.startswith('"'):
                formatted.append(label)
            else:
                formatted.append(format_range_label(self.texts[first], self.texts[last]))
        return tuple(formatted)

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        """Format the labels of spans.

        Under a built hierarchy, all given spans that meet in the same node print as their common range: only
        published values.
        """
        if self.is_from_steward:
            return TreeDomain.labels(self, lower, upper)
        node = self.find_common_ancestors(lower, upper)
        ends: dict[int, tuple[int, int]] = {}
        for number, low, high in zip(node.tolist(), lower.tolist(), upper.tolist(), strict=True):
            ends_so_far = ends.get(number, (low, high))
            ends[number] = (min(low, ends_so_far[0]), max(high, ends_so_far[1]))
        special = {-1: ANY_LABEL, -2: None}
        return [
            special[number] if number < 0 else self._format_range(number, *ends[number]) for number in node.tolist()
        ]

    def _format_range(self, node: int, low: int, high: int) -> str:
        """Format the label of a node under which the published codes are low .. high; one value prints as it is."""
        if self.ends is None or low == high:
            return format_range_label(self.texts[low], self.texts[high])
        lower = self.ends.lower[node]
        upper = self.ends.upper[node]
        if lower is None or upper is None:
            return format_range_label(self.ends.places.lower[low], self.ends.places.upper[high])
        return format_range_label(lower, upper)

    def find_covered_codes(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes that a span's label covers.

        Under a built hierarchy only the span is certain: its label depends on the other groups.
        """
        if self.is_from_steward:
            return TreeDomain.find_covered_codes(self, lower, upper)
        mixed = (upper == self.null_code) & (lower != upper)
        return np.where(mixed, -1, lower), np.where(mixed, self.size, upper)

    def format_sets(self, members: Sequence[Sequence[int] | np.ndarray]) -> list[str | None]:
        """Format groups as ranges: a stretch of a line is not published as a set."""
        return self.labels(np.array([codes[0] for codes in members]), np.array([codes[-1] for codes in members]))


def build_band_domain(
    name: str,
    kind: str,
    dtype: str,
    hierarchy: Hierarchy,
    positions: np.ndarray,
    span: tuple[float, float],
    *,
    null: bool,
    is_from_steward: bool,
) -> BandDomain:
    """Build the domain; `positions` are those of the hierarchy's leaves, in its order."""
    if (np.diff(positions) <= 0).any():
        raise HierarchyError(
            f"The hierarchy of {name!r} is not one of ranges: a node holds values on both sides of another's.",
            attempt=f'nodes that are stretches of the line, or type = "categorical" for {name!r}.',
        )
    tree = build_tree_domain(name, dtype, hierarchy, null=null, is_from_steward=is_from_steward)
    return BandDomain(name, dtype, tree.texts, null, tree.split, kind, hierarchy, is_from_steward, positions, span)


def sort_by_position(hierarchy: Hierarchy, positions: np.ndarray) -> tuple[Hierarchy, np.ndarray]:
    """Return the same tree with its rows in the order of the line, as far as its nodes allow."""
    rows = hierarchy.rows()
    order = np.argsort(positions, kind="stable")
    sorted_tree = Hierarchy.from_rows([rows[index] for index in order])
    position_of_leaf = {row[0]: position for row, position in zip(rows, positions, strict=True)}
    return sorted_tree, np.array([position_of_leaf[leaf] for leaf in sorted_tree.leaves], np.float64)


def prune_hierarchy(domain: TreeDomain, published: Iterable[str | None]) -> list[list[str]]:
    """Cut the hierarchy down to the published labels.

    It keeps their own paths, and under a node two leaves for the values it hides: their number is not disclosed, and
    a loss computed from the result is relative to it.
    """
    tree = domain.hierarchy
    node_of = {label: node for node, label in enumerate(domain.node_labels)}
    code_of = {text: code for code, text in enumerate(domain.texts)}
    nodes = set()
    shown_codes = set()
    for label in published:
        node = node_of.get(label) if label is not None and label != ANY_LABEL else None
        if node is not None and tree.first[node] < tree.last[node]:
            nodes.add(node)
        elif label is not None and label != ANY_LABEL:
            shown_codes |= {code_of[text] for text in parse_label(label)[1]}
    rows = tree.rows()
    rows_by_code = {code: [rows[code]] for code in shown_codes}
    for node in sorted(nodes, key=lambda node: tree.last[node] - tree.first[node]):
        inside = range(tree.first[node], tree.last[node] + 1)
        hidden = [code for code in inside if code not in shown_codes]
        if hidden:
            level = int(np.flatnonzero(tree.paths[hidden[0]] == node)[0])
            unnamed = [f"{tree.labels[node]} (not shown{suffix})" for suffix in ("", ", too")]
            rows_by_code[hidden[0]] = [[leaf] * level + rows[hidden[0]][level:] for leaf in unnamed]
            shown_codes |= set(inside)
    if not rows_by_code:  # nothing but `*` is published
        rows_by_code[0] = [[leaf] * tree.height + [rows[0][-1]] for leaf in ("(not shown)", "(not shown, too)")]
    return [row for code in sorted(rows_by_code) for row in rows_by_code[code]]
