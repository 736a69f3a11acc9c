"""Groups of values, a tree and a target -> the P-private generalization with the least sum of ranges (sections 4.1 and 5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.errors import JobError
from reticent.kernels.distribution_allocate import allocate
from reticent.kernels.distribution_fakes import fill_costs, recover_choices
from reticent.methods.distribution.value_domain import ValueTree

MAX_COST_BYTES = 2_000_000_000  # bytes that the table of costs may take
SMALLER_TABLE = (
    'fewer fakes, or a share of them (fakes = 0.05) in smaller groups (group_by, within = "qi-sa", or within = "hilbert" '
    "with a size)"
)


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
        key, key_index = np.unique(group.astype(np.int64) * values + value, return_inverse=True)
        total = np.bincount(key_index.reshape(-1), weights=count, minlength=len(key)).astype(np.int64)
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
        counts = np.zeros(values, np.int64)
        entries = slice(self.starts[group], self.starts[group + 1])
        counts[self.value[entries]] = self.count[entries]
        return counts


def generalize_groups(group_values: GroupValues, tree: ValueTree, weights: np.ndarray) -> np.ndarray:
    """Run algorithm 1: (entries, 3) of group, node and how many values are generalized to it."""
    lengths = np.diff(group_values.starts)
    deepest = int(tree.depth.max()) + 1
    max_entries = int(
        np.minimum(
            np.minimum(lengths * deepest * (int(tree.children.max(initial=1)) + 1), group_values.sizes), len(tree)
        ).sum()
    )
    out = np.empty((max_entries, 3), np.int64)
    scratch = np.zeros((3, len(tree)), np.int64)
    entries = allocate(
        group_values.starts,
        tree.leaf[group_values.value],
        group_values.count,
        tree.to_kernel_arrays(weights),
        scratch,
        out,
    )
    return out[:entries]


def sum_ranges(entries: np.ndarray, tree: ValueTree) -> float:
    return float(tree.ranges[entries[:, 1]] @ entries[:, 2])


@dataclass(frozen=True, eq=False)
class FakedGroup:
    """A group with fakes: (entries, 2) of node and count, how many of each value are fake, and the sum of ranges by their number."""

    nodes: np.ndarray
    fakes: np.ndarray
    costs: np.ndarray


def add_fakes(counts: np.ndarray, tree: ValueTree, weights: np.ndarray, max_fakes: int) -> FakedGroup:
    """Run algorithm 2: find the best of 0 .. `max_fakes` fakes beside a group with these counts of each value.

    The fewest fakes win where several numbers are best.
    """
    below = tree.sum_below(counts)
    values_below = np.ascontiguousarray(below, np.int64)
    weighted = tree.to_kernel_arrays(weights)
    root_need = (max_fakes + 1) * (int(values_below.max()) + max_fakes + 1) * 8
    _require_affordable(counts, root_need, max_fakes, SMALLER_TABLE + ".")
    offsets = np.zeros((len(tree) + 1, 2), np.int64)
    offsets[1:, 0] = np.cumsum((max_fakes + 1) * (values_below + max_fakes + 1))
    parts = np.bincount(tree.parent[1:], weights=weights[1:], minlength=len(tree)).astype(np.int64)
    units = np.where(parts > 0, (values_below + max_fakes) // np.maximum(parts, 1) + 1, 1)
    edges = np.append(0, (max_fakes + 1) * units[tree.parent[1:]])
    offsets[1:, 1] = np.cumsum(edges)
    need = int(offsets[-1, 0] + (max_fakes + 1) * units.max()) * 8 + int(offsets[-1, 1]) * 4
    _require_affordable(counts, need, max_fakes, SMALLER_TABLE + ", or a coarser grid.")
    cost = np.empty(int(offsets[-1, 0] + (max_fakes + 1) * units.max()))
    choice = np.empty(max(int(offsets[-1, 1]), 1), np.int32)
    fill_costs(values_below, weighted, tree.ranges, cost, choice, offsets, max_fakes)
    rows = int(counts.sum())
    costs = cost[np.arange(max_fakes + 1) * (rows + max_fakes + 1) + rows + np.arange(max_fakes + 1)]
    best = int(costs.argmin())
    out = np.zeros((len(tree), 3), np.int64)
    out[0, :2] = best, rows + best
    recover_choices(values_below, weighted, tree.ranges, cost, choice, offsets, max_fakes, out)
    used = np.flatnonzero(out[:, 2])
    return FakedGroup(np.column_stack([used, out[used, 2]]), out[tree.leaf, 0], costs)


def _require_affordable(counts: np.ndarray, need: int, max_fakes: int, attempt: str) -> None:
    """Refuse so many fakes that the table of costs would not fit; `need` are its bytes."""
    if need > MAX_COST_BYTES:
        raise JobError(
            f"{max_fakes:,} fakes beside {int(counts.sum()):,} values of a domain of {len(counts):,} need {need / 1e9:,.1f} GB.",
            why="The table of costs grows with the square of the number of fakes (theorem 2).",
            attempt=attempt,
        )
