"""The privacy-annotated hierarchies of a transformed release, as its manifest has them (Koudas et al., VLDB 2009, section 3.1).

`tree` lists the nodes as [first, last] places among `values`, parents before children.  Each of the `targets` gives every node a whole
weight, that of the edge above it; siblings share their parent's probability in the ratio of their weights.  `assigned` lists
[group, target] where the target changes, groups ascending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from reticent.release.manifest import Manifest
from reticent.release.shape import Misshapen

DEPTH = 256  # nodes above one another: their weights multiply
WORK = 1 << 24  # the depths of all nodes together


@dataclass(frozen=True, eq=False)
class Annotated:
    """`weights[t, node]` of each target; `assigned` as the manifest has it."""

    texts: Sequence[str]
    first: np.ndarray
    last: np.ndarray
    parent: np.ndarray
    weights: list[list[int]]
    assigned: np.ndarray

    @classmethod
    def of(cls, manifest: Manifest) -> Annotated:
        """Checked: the tree keeps conditions (1) to (4) of section 3.1, and every target is a distribution over its leaves."""
        own = manifest.own
        texts, spans, targets = own["values"], own["tree"], own["targets"]
        parent = _parents(spans, len(texts))
        for weights in targets:
            if len(weights) != len(spans) or not _distributes(weights, parent):
                raise Misshapen("a target is no distribution over the tree", inside=True)
        assigned = np.array(own["assigned"], np.int64).reshape(-1, 2)
        ascending = (np.diff(assigned[:, 0]) > 0).all()
        if (
            not len(assigned)
            or assigned[0, 0]
            or not ascending
            or set(assigned[:, 1].tolist()) != set(range(len(targets)))
        ):
            raise Misshapen("the targets are not assigned to the groups", inside=True)
        first, last = np.array(spans, np.int64).T
        return cls(texts, first, last, parent, targets, assigned)

    def target_of(self, groups: np.ndarray) -> np.ndarray:
        """Which target each of these groups has."""
        return self.assigned[np.searchsorted(self.assigned[:, 0], groups, side="right") - 1, 1]

    @cached_property
    def probabilities(self) -> list[list[Fraction]]:
        """Of each target, the probability of each node."""
        return [_shares(weights, self.parent.tolist()) for weights in self.weights]

    @cached_property
    def leaves(self) -> list[int]:
        """The node of each value."""
        found = [0] * len(self.texts)
        for node, (first, last) in enumerate(zip(self.first.tolist(), self.last.tolist(), strict=True)):
            if first == last:
                found[first] = node
        return found

    def distribution(self, target: int) -> list[Fraction]:
        """The probability of each value under a target."""
        return [self.probabilities[target][node] for node in self.leaves]

    @cached_property
    def floats(self) -> np.ndarray:
        """(targets, values): the nearest doubles."""
        return np.array([[float(p) for p in self.distribution(target)] for target in range(len(self.weights))])


def _parents(spans: Sequence[Sequence[int]], values: int) -> np.ndarray:
    """The parent of each node; raises where children do not partition it, or a leaf is no single value."""
    fault = Misshapen("the tree of the sensitive column is no hierarchy over its values", inside=True)
    if any(len(span) != 2 for span in spans) or not spans or list(spans[0]) != [0, values - 1]:
        raise fault
    order = sorted(range(len(spans)), key=lambda node: (spans[node][0], -spans[node][1]))
    parent, covered = [-1] * len(spans), [0] * len(spans)
    above: list[int] = []
    work = 0
    for node in order:
        first, last = spans[node]
        while above and spans[above[-1]][1] < first:
            above.pop()
        if first > last or (above and (spans[above[-1]][1] < last or list(spans[above[-1]]) == [first, last])):
            raise fault
        if above:
            parent[node] = above[-1]
            covered[above[-1]] += last - first + 1
        above.append(node)
        work += len(above)
        if len(above) > DEPTH or work > WORK:
            raise Misshapen("the tree of the sensitive column is too deep", inside=True)
    sizes = [last - first + 1 for first, last in spans]
    if any(size > 1 and size != inside for size, inside in zip(sizes, covered, strict=True)) or parent.count(-1) != 1:
        raise fault
    return np.array(parent, np.int64)


def _distributes(weights: Sequence[int], parent: np.ndarray) -> bool:
    """Whether every node that has a mass hands all of it to its children."""
    parts = [0] * len(weights)
    inner = [False] * len(weights)
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            parts[above] += weights[node]
            inner[above] = True
    return weights[0] == 1 and all(part > 0 for part, has in zip(parts, inner, strict=True) if has)


def _shares(weights: Sequence[int], parent: Sequence[int]) -> list[Fraction]:
    parts = [0] * len(weights)
    for node, above in enumerate(parent):
        if above >= 0:
            parts[above] += weights[node]
    found = [Fraction(1)] * len(weights)
    for node, above in enumerate(parent):
        if above >= 0:
            found[node] = found[above] * Fraction(weights[node], parts[above])
    return found
