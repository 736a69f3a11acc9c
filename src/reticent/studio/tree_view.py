"""A hierarchy as the studio draws it: people at each node, what each level costs, and large trees folded.

What a level costs is measured by the column's own domain, as a plan measures it: the share of a row's detail that is
left if everybody were published at that level.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reticent.data.cells import Coding, build_coding
from reticent.data.columns import Role
from reticent.data.declared_hierarchy import is_built_from_values, read_declared_hierarchy
from reticent.data.domain import TreeDomain
from reticent.data.hierarchy import Hierarchy
from reticent.data.hierarchy_builders import build
from reticent.errors import HierarchyError
from reticent.studio.column_counts import CountedColumn
from reticent.studio.tree_edits import NodeName

MAX_NODES_DRAWN = 300  # of a tree that is drawn whole; of a larger one, upper levels and what is opened
MAX_CHILDREN_DRAWN = 100
MAX_MATCHES = 60


@dataclass(frozen=True, slots=True)
class LevelCost:
    """A level of a tree: how many labels hold people, the fewest people of one, and what is left of a row's detail."""

    level: int
    labels: int
    smallest: int
    kept: float


@dataclass(slots=True)
class DrawnNode:
    """A node of the drawing, with what is drawn below it, and how much is not."""

    name: NodeName
    people: int
    values: int
    share: float
    children: list[DrawnNode] = field(default_factory=list)
    below: int = 0  # children, drawn or not

    @property
    def hidden(self) -> int:
        return self.below - len(self.children)


@dataclass(frozen=True)
class CodedTree:
    """A column under its hierarchy: the tree, and how many rows hold each leaf; missing values are apart."""

    domain: TreeDomain
    people: np.ndarray
    missing: int

    @property
    def tree(self) -> Hierarchy:
        return self.domain.hierarchy

    @property
    def row_count(self) -> int:
        return int(self.people.sum()) + self.missing

    def measure_levels(self) -> list[LevelCost]:
        """Measure each level, the values themselves first."""
        tree = self.tree
        costs = []
        for level in range(tree.height + 1):
            nodes = tree.paths[:, level]
            people = np.bincount(nodes, weights=self.people)
            people = people[people > 0]
            loss = self.domain.loss(tree.first[nodes], tree.last[nodes])
            lost = float((loss * self.people).sum()) + (self.missing if level == tree.height else 0)
            costs.append(
                LevelCost(
                    level, len(people), int(people.min()) if len(people) else 0, 1 - lost / max(self.row_count, 1)
                )
            )
        return costs

    def draw(self, opened: Collection[str] = ()) -> DrawnNode:
        """Draw the tree from its root down: whole where it is small, else to where it grows wide, and what is `opened`."""
        until = np.append(0, np.cumsum(self.people))
        total = max(self.row_count, 1)
        is_small = len(self.tree.labels) <= MAX_NODES_DRAWN
        budget = MAX_NODES_DRAWN

        def make_node(number: int, level: int) -> DrawnNode:
            first, last = int(self.tree.first[number]), int(self.tree.last[number])
            people = int(until[last + 1] - until[first])
            return DrawnNode(NodeName(level, self.tree.labels[number]), people, last - first + 1, people / total)

        root_number = int(self.tree.paths[0, -1])
        root = make_node(root_number, self.tree.height)
        waiting = [(root, root_number)]
        while waiting:
            node, number = waiting.pop(0)
            if node.name.level == 0 or _stands_for_itself(self.tree, number):
                continue
            children = _find_children(self.tree, number, node.name.level)
            node.below = len(children)
            is_open = is_small or str(node.name) in opened
            if not is_open and len(children) > budget:
                continue
            budget -= 0 if is_open else len(children)
            drawn = children if is_small else children[:MAX_CHILDREN_DRAWN]
            for child in drawn:
                node.children.append(make_node(child, node.name.level - 1))
                waiting.append((node.children[-1], child))
        return root

    def search(self, text: str) -> tuple[list[DrawnNode], int]:
        """Find the labels that hold a text, the uppermost first, and how many there are."""
        wanted = text.casefold()
        until = np.append(0, np.cumsum(self.people))
        matches = []
        for level in range(self.tree.height - 1, -1, -1):
            for number in dict.fromkeys(self.tree.paths[:, level].tolist()):
                if wanted in self.tree.labels[number].casefold() and not (
                    level and _stands_for_itself(self.tree, number)
                ):
                    matches.append((level, number))
        drawn = []
        for level, number in matches[:MAX_MATCHES]:
            first, last = int(self.tree.first[number]), int(self.tree.last[number])
            people = int(until[last + 1] - until[first])
            share = people / max(self.row_count, 1)
            drawn.append(DrawnNode(NodeName(level, self.tree.labels[number]), people, last - first + 1, share))
        return drawn, len(matches)


def code_column(counted: CountedColumn, hierarchy: Any) -> CodedTree | None:
    """Put a column under a hierarchy as a plan does; None where it is published as ranges, without a tree.

    Raises:
        ReticentError: the hierarchy does not fit the column.
    """
    coding = build_column_coding(counted, hierarchy)
    if not isinstance(coding.domain, TreeDomain) or not coding.domain.texts:
        return None
    codes = coding.encode(counted.values)
    rows = counted.rows.to_numpy()
    is_null = counted.values.is_null().to_numpy()
    people = np.bincount(codes[~is_null], weights=rows[~is_null], minlength=len(coding.domain.texts))
    return CodedTree(coding.domain, people[: len(coding.domain.texts)].astype(np.int64), int(rows[is_null].sum()))


def build_column_coding(counted: CountedColumn, hierarchy: Any) -> Coding:
    """Code a column under a hierarchy by the code that plans use; what a sensitive column would be built is listed."""
    column = counted.column
    if column.role is Role.SENSITIVE:
        column = replace(column, missing="category", domain=None)
        if isinstance(hierarchy, dict):
            hierarchy = build_rows(counted, hierarchy)
    return build_coding(
        counted.name, replace(column, hierarchy=hierarchy), counted.values, counted.rows.to_numpy().astype(np.int64)
    )


def build_rows(counted: CountedColumn, request: dict[str, Any]) -> list[list[str]]:
    """Build a hierarchy over the values of a column, as rows."""
    if not is_built_from_values(request):
        return read_declared_hierarchy(request, counted.name).rows()
    is_value = counted.values.is_not_null()
    return build(request, counted.values.filter(is_value), counted.rows.filter(is_value).to_list(), counted.name).rows()


def require_tree(counted: CountedColumn, hierarchy: Any) -> CodedTree:
    """Put a column under a hierarchy, and refuse what is no tree."""
    coded = code_column(counted, hierarchy)
    if coded is None:
        raise HierarchyError("This column has no tree.", attempt="a builder, which makes one.")
    return coded


def _stands_for_itself(tree: Hierarchy, number: int) -> bool:
    """Tell whether a node is a value that repeats its name on the levels above."""
    first = int(tree.first[number])
    return first == int(tree.last[number]) and tree.labels[number] == tree.labels[tree.paths[first, 0]]


def _find_children(tree: Hierarchy, number: int, level: int) -> list[int]:
    below = tree.paths[tree.first[number] : tree.last[number] + 1, level - 1]
    return below[np.flatnonzero(np.diff(below, prepend=-1))].tolist()
