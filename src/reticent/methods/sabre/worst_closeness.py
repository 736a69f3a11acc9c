"""The greatest earth mover's distance that a class can have, given how many rows it draws from each bucket.

Each ground distance is a sum over sets of values of weight * |rows * size * (q(S) - p(S))|: single values (equal), subtrees
(hierarchical), prefixes of the order (ordered).  That is convex in q, so the worst case has all that is drawn from a bucket on one of
its values; and where buckets are runs of the order, or children of one node, a set is cut by one bucket at most, so that the
worst value of each bucket is found alone.  The result is exact: no class that draws so is further from the table, and one is as far.
All in whole numbers: EMD = work / (scale * rows * size).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np

from reticent.errors import JobError
from reticent.table.domain import Domain, TreeDomain

Buckets = list[list[int]]


class Ground(Protocol):
    """A ground distance over the values that occur."""

    @property
    def scale(self) -> int: ...

    def work(self, buckets: Buckets, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For (classes, buckets) rows drawn: what the draws themselves cost, and the worst inside each bucket."""
        ...

    def split(self, bucket: list[int]) -> Buckets:
        """The bucket as two."""
        ...


def ground(distance: str, domain: Domain, totals: np.ndarray) -> Ground:
    if distance == "ordered":
        return Line(totals)
    if distance == "equal":
        return Tree(totals, [np.arange(len(totals))], 1)
    if not isinstance(domain, TreeDomain) or not domain.given:
        raise JobError(
            f"Hierarchical t-closeness needs a hierarchy over {domain.name!r}.",
            attempt='hierarchy = "file.csv" on that column.',
        )
    return Tree(totals, _levels(domain), domain.hierarchy.height)


def _levels(domain: TreeDomain) -> list[np.ndarray]:
    """The node above each value at every level below the root; a null is a node of its own on all of them."""
    paths = domain.hierarchy.paths
    return [np.append(paths[:, level], [-1] * domain.null).astype(np.int64) for level in range(paths.shape[1] - 1)]


@dataclass(frozen=True, eq=False)
class Tree:
    """EMD = 1/(2 H) * the sum over nodes below the root of |excess|; one level and H = 1 is the equal distance."""

    totals: np.ndarray
    levels: list[np.ndarray]
    height: int

    @property
    def scale(self) -> int:
        return 2 * self.height

    def work(self, buckets: Buckets, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, size = int(self.totals.sum()), drawn.sum(axis=1)
        outer, inner = np.zeros_like(size), np.zeros_like(drawn)
        bucket_of = np.full(len(self.totals), -1)
        lengths = np.array([len(bucket) for bucket in buckets])
        bucket_of[np.fromiter(chain.from_iterable(buckets), np.int64)] = np.repeat(np.arange(len(buckets)), lengths)
        occurring = np.flatnonzero(self.totals > 0)
        for level in self.levels:
            outer += self._between(level[occurring], occurring, bucket_of[occurring], lengths, drawn)
        for b, bucket in enumerate(buckets):
            if len(bucket) > 1:
                inner[:, b] = self._inside(bucket, rows, drawn[:, b], size)
        return outer, inner

    def _between(
        self, nodes: np.ndarray, values: np.ndarray, of: np.ndarray, lengths: np.ndarray, drawn: np.ndarray
    ) -> np.ndarray:
        """What nodes cost that hold whole buckets; those inside a bucket are left for `_inside`."""
        rows, size = int(self.totals.sum()), drawn.sum(axis=1)
        _, node = np.unique(nodes, return_inverse=True)
        held, total = np.bincount(node), np.zeros(node.max() + 1, np.int64)
        np.add.at(total, node, self.totals[values])
        pairs = np.unique(node * len(lengths) + of)  # the buckets of each node
        node_of, part = pairs // len(lengths), pairs % len(lengths)
        starts = np.flatnonzero(np.diff(node_of, prepend=-1))
        alone = np.diff(np.append(starts, len(pairs))) == 1
        whole = ~(alone & (held < lengths[part[starts]]))
        taken = np.add.reduceat(drawn[:, part], starts, axis=1)[:, whole]
        return np.abs(rows * taken - total[whole].astype(drawn.dtype) * size[:, None]).sum(axis=1)

    def _inside(self, bucket: list[int], rows: int, drawn: np.ndarray, size: np.ndarray) -> np.ndarray:
        """All drawn rows on one value: its nodes have too many, every other node of the bucket has none."""
        held = np.array(bucket)
        lacking, change = np.zeros_like(size), np.zeros((len(size), len(bucket)), size.dtype)
        for level in self.levels:
            _, first, member = np.unique(level[held], return_index=True, return_inverse=True)
            if len(first) == 1:
                continue  # the node holds the whole bucket: above
            node_total = np.zeros(len(first), np.int64)
            np.add.at(node_total, member, self.totals[held])
            none = node_total.astype(size.dtype) * size[:, None]
            lacking = lacking + none.sum(axis=1)
            change = change + (np.abs(rows * drawn[:, None] - none) - none)[:, member]
        return lacking + change.max(axis=1)

    def split(self, bucket: list[int]) -> Buckets:
        """Off with the heaviest child of the lowest node that holds the bucket."""
        held = np.array(bucket)
        for level in reversed(self.levels):
            nodes = level[held]
            if (nodes == nodes[0]).all():
                continue
            different, first, member = np.unique(nodes, return_index=True, return_inverse=True)
            weight = np.zeros(len(different), np.int64)
            np.add.at(weight, member, self.totals[held])
            heaviest = different[np.lexsort((first, -weight))[0]]
            return [held[nodes != heaviest].tolist(), held[nodes == heaviest].tolist()]
        raise AssertionError("a bucket of one value is not split")


@dataclass(frozen=True, eq=False)
class Line:
    """EMD = 1/(m - 1) * the sum over prefixes of |excess|; buckets are runs of the order."""

    totals: np.ndarray

    @property
    def scale(self) -> int:
        return max(int((self.totals > 0).sum()) - 1, 1)

    def work(self, buckets: Buckets, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, size = int(self.totals.sum()), drawn.sum(axis=1)
        until = np.cumsum(drawn, axis=1) * rows
        outer, inner = np.zeros_like(size), np.zeros_like(drawn)
        below = 0
        for b, bucket in enumerate(buckets):
            prefix = below + np.cumsum(self.totals[bucket])
            below = int(prefix[-1])
            outer += np.abs(until[:, b] - below * size)
            if len(bucket) == 1:
                continue
            wanted = prefix[:-1] * size[:, None]
            before = np.abs((until[:, b] - drawn[:, b] * rows)[:, None] - wanted)
            after = np.abs(until[:, [b]] - wanted)
            # rows arrive at the a-th value: prefixes before it lack them, those from it on have them
            arrive = np.cumsum(np.concatenate([after.sum(axis=1)[:, None], before - after], axis=1), axis=1)
            inner[:, b] = arrive.max(axis=1)
        return outer, inner

    def split(self, bucket: list[int]) -> Buckets:
        """Where the two parts cost least in the worst case, drawn in proportion: the first of such places."""
        totals = self.totals[bucket].astype(np.int64)
        cost = _alone(totals)[:-1] + _alone(totals[::-1])[-2::-1]
        at = int(np.argmin(cost)) + 1
        return [bucket[:at], bucket[at:]]


def _alone(totals: np.ndarray) -> np.ndarray:
    """For each beginning of a run, the worst inside it if it is drawn in proportion: everything at its first, or at its last value."""
    until = np.cumsum(totals)
    prefixes = np.cumsum(until) - until  # the sum of all prefixes but the whole
    return np.maximum(np.arange(len(totals)) * until - prefixes, prefixes)
