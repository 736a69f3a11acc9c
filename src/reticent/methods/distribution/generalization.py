"""Groups of values, a tree and a target -> the P-private generalization with the least sum of ranges (sections 4.1 and 5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.errors import JobError
from reticent.kernels.distribution_allocate import allocate
from reticent.kernels.distribution_fakes import fill_costs, recover_choices
from reticent.methods.distribution.value_domain import ValueTree

MAX_COST_BYTES = 2_000_000_000  # bytes that the table of costs may take


@dataclass(frozen=True, eq=False)
class GroupValues:
    """Values of groups: group g holds `count[i]` of the domain's value `value[i]` for i in starts[g] .. starts[g + 1]."""

    starts: np.ndarray
    value: np.ndarray
    count: np.ndarray

    @classmethod
    def from_entries(
        cls, group: np.ndarray, value: np.ndarray, count: np.ndarray, groups: int, values: int
    ) -> GroupValues:
        """Make groups from entries in any order; equal entries are added up."""
        key, at = np.unique(group.astype(np.int64) * values + value, return_inverse=True)
        total = np.bincount(at.reshape(-1), weights=count, minlength=len(key)).astype(np.int64)
        sizes = np.bincount(key // values, minlength=groups)
        return cls(np.append(0, np.cumsum(sizes)).astype(np.int64), (key % values).astype(np.int64), total)

    @property
    def groups(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> np.ndarray:
        return np.add.reduceat(self.count, self.starts[:-1])

    def only(self, groups: np.ndarray) -> GroupValues:
        """Return some of the groups, in this order."""
        lengths = np.diff(self.starts)[groups]
        starts = np.append(0, np.cumsum(lengths))
        entry = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths) + np.repeat(self.starts[groups], lengths)
        return GroupValues(starts.astype(np.int64), self.value[entry], self.count[entry])

    def histogram(self, group: int, values: int) -> np.ndarray:
        found = np.zeros(values, np.int64)
        here = slice(self.starts[group], self.starts[group + 1])
        found[self.value[here]] = self.count[here]
        return found


def generalize_groups(held: GroupValues, tree: ValueTree, weights: np.ndarray) -> np.ndarray:
    """Run algorithm 1: (entries, 3) of group, node and how many values are generalized to it."""
    lengths = np.diff(held.starts)
    deepest = int(tree.depth.max()) + 1
    room = int(
        np.minimum(np.minimum(lengths * deepest * (int(tree.children.max(initial=1)) + 1), held.sizes), len(tree)).sum()
    )
    out = np.empty((room, 3), np.int64)
    scratch = np.zeros((3, len(tree)), np.int64)
    entries = allocate(held.starts, tree.leaf[held.value], held.count, tree.to_kernel_arrays(weights), scratch, out)
    return out[:entries]


def sum_ranges(found: np.ndarray, tree: ValueTree) -> float:
    return float(tree.ranges[found[:, 1]] @ found[:, 2])


@dataclass(frozen=True, eq=False)
class FakedGroup:
    """A group with fakes: (entries, 2) of node and count, how many of each value are fake, and the sum of ranges by their number."""

    nodes: np.ndarray
    fakes: np.ndarray
    costs: np.ndarray


def add_fakes(counts: np.ndarray, tree: ValueTree, weights: np.ndarray, most: int) -> FakedGroup:
    """Run algorithm 2: find the best of 0 .. `most` fakes beside a group with these counts of each value.

    The fewest fakes win where several numbers are best.
    """
    below = tree.sum_below(counts)
    held = np.ascontiguousarray(below, np.int64)
    weighted = tree.to_kernel_arrays(weights)
    _require_affordable(counts, (most + 1) * (int(held.max()) + most + 1) * 8, most)  # of the root alone
    offsets = np.zeros((len(tree) + 1, 2), np.int64)
    offsets[1:, 0] = np.cumsum((most + 1) * (held + most + 1))
    parts = np.bincount(tree.parent[1:], weights=weights[1:], minlength=len(tree)).astype(np.int64)
    units = np.where(parts > 0, (held + most) // np.maximum(parts, 1) + 1, 1)
    edges = np.append(0, (most + 1) * units[tree.parent[1:]])
    offsets[1:, 1] = np.cumsum(edges)
    need = int(offsets[-1, 0] + (most + 1) * units.max()) * 8 + int(offsets[-1, 1]) * 4
    _require_affordable(counts, need, most)
    cost = np.empty(int(offsets[-1, 0] + (most + 1) * units.max()))
    choice = np.empty(max(int(offsets[-1, 1]), 1), np.int32)
    fill_costs(held, weighted, tree.ranges, cost, choice, offsets, most)
    rows = int(counts.sum())
    costs = cost[np.arange(most + 1) * (rows + most + 1) + rows + np.arange(most + 1)]
    best = int(costs.argmin())
    out = np.zeros((len(tree), 3), np.int64)
    out[0, :2] = best, rows + best
    recover_choices(held, weighted, tree.ranges, cost, choice, offsets, most, out)
    used = np.flatnonzero(out[:, 2])
    return FakedGroup(np.column_stack([used, out[used, 2]]), out[tree.leaf, 0], costs)


def _require_affordable(counts: np.ndarray, need: int, most: int) -> None:
    """Refuse so many fakes that the table of costs would not fit; `need` are its bytes."""
    if need > MAX_COST_BYTES:
        raise JobError(
            f"{most:,} fakes beside {int(counts.sum()):,} values of a domain of {len(counts):,} need {need / 1e9:,.1f} GB.",
            why="The table of costs grows with the square of the number of fakes (theorem 2).",
            attempt='fewer fakes, smaller groups (group_by, within = "qi-sa" or "hilbert"), or a coarser grid.',
        )
