"""The greatest earth mover's distance that a class can have, given how many rows it draws from each bucket.

Each ground distance is a sum over sets of values of weight * |rows * size * (q(S) - p(S))|: single values (equal), subtrees
(hierarchical), prefixes of the order (ordered).  That is convex in q, so the worst case has all that is drawn from a bucket on one of
its values; and where buckets are runs of the order, or children of one node, a set is cut by one bucket at most, so that the
worst value of each bucket is found alone.  The result is exact: no class that draws so is further from the table, and one is as far.
All in whole numbers: EMD = work / (scale * rows * size).
"""

from __future__ import annotations

from dataclasses import dataclass
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
    if not isinstance(domain, TreeDomain):
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
        for b, bucket in enumerate(buckets):
            bucket_of[bucket] = b
        for level in self.levels:
            for node in np.unique(level[self.totals > 0]):
                held = np.flatnonzero((level == node) & (self.totals > 0))
                parts = np.unique(bucket_of[held])
                if len(parts) == 1 and len(held) < len(buckets[parts[0]]):
                    continue  # inside a bucket: below
                outer += np.abs(rows * drawn[:, parts].sum(axis=1) - int(self.totals[held].sum()) * size)
        for b, bucket in enumerate(buckets):
            inner[:, b] = self._inside(bucket, rows, drawn[:, b], size)
        return outer, inner

    def _inside(self, bucket: list[int], rows: int, drawn: np.ndarray, size: np.ndarray) -> np.ndarray:
        """All drawn rows on one value: its nodes have too many, every other node of the bucket has none."""
        held = np.array(bucket)
        lacking, change = np.zeros_like(size), np.zeros((len(size), len(bucket)), size.dtype)
        for level in self.levels:
            _, first, member = np.unique(level[held], return_index=True, return_inverse=True)
            if len(first) == 1:
                continue  # the node holds the whole bucket: above
            node_total = np.array([int(self.totals[held[member == n]].sum()) for n in range(len(first))])
            none = node_total * size[:, None]
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
            weight = {node: int(self.totals[held[nodes == node]].sum()) for node in dict.fromkeys(nodes.tolist())}
            heaviest = max(weight, key=lambda node: weight[node])
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
        """Where the two parts cost least in the worst case, drawn in proportion."""
        best: tuple[int, int] | None = None
        for at in range(1, len(bucket)):
            cost = self._alone(bucket[:at]) + self._alone(bucket[at:])
            if best is None or cost < best[0]:
                best = (cost, at)
        assert best is not None
        return [bucket[: best[1]], bucket[best[1] :]]

    def _alone(self, run: list[int]) -> int:
        """The worst inside a run that is drawn in proportion: everything at its first, or at its last value."""
        prefix = np.cumsum(self.totals[run])[:-1]
        whole = int(self.totals[run].sum())
        return int(max((whole - prefix).sum(), prefix.sum())) if len(run) > 1 else 0
