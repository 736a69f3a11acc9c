"""Plans in two levels (ADR 10): coarse regions from a sample, and an exact plan of each, wherever it is made.

1. `cut_regions` cuts quasi-identifier space by a keyed sample of the cells: the upper levels of `mondrian`'s tree.  A cut
   sends combinations whose code in a column is between two codes left, and the others right; so a tree of cuts
   (`RegionTree`) sends any cell to one region, whether or not it was in the sample.
2. Each side of each cut is checked exactly, with the whole table's totals (`find_fine_nodes`): a cut of which a side breaks
   a promise is taken back.
3. Each region is planned by the job's method against the whole table's totals (`plan_region`), so every group keeps what is
   promised of the whole table.  Regions know nothing of each other: executors plan them.
4. Groups of two regions may read the same and are then one group; only promises that a union of groups keeps are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.errors import JobError
from reticent.methods.base import Method, bind_reachable_promises, resolve_weights
from reticent.methods.mondrian.method import LOOK_AHEAD_NEVER, LossCuts
from reticent.methods.mondrian.nodes import Acceptance, PartitionNodes, SpanLosses
from reticent.models.promise import CandidateGroups, Promises, resolve_totals
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe

SAMPLE_CELLS = 1 << 16  # cells
RegionMapper = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterable[Any]]
"""Calls a function with each of some arguments, wherever there is room; the results in the same order."""
_WHOLE_TABLE_REASONS = {
    "mosaic": "it moves rows by how the values of all rows are distributed",
    "burel": "its buckets are filled from all rows",
    "sabre": "its buckets are filled from all rows",
    "anatomy": "its groups draw on the values of all rows",
    "distribution": "its groups are made over all rows",
    "beta-perturbation": "it has no groups to plan",
    "perturbed-generalization": "it redraws values before groups are made",
}


@dataclass(eq=False)
class RegionTree:
    """A tree of cuts.

    Node n is cut in `column[n]` between `lo[n]` and `hi[n]` into `left[n]` and the node after it; a leaf has no column.
    """

    column: list[int] = field(default_factory=lambda: [-1])
    lo: list[int] = field(default_factory=lambda: [0])
    hi: list[int] = field(default_factory=lambda: [0])
    left: list[int] = field(default_factory=lambda: [-1])

    def cut(self, node: int, column: int, lo: int, hi: int) -> tuple[int, int]:
        """Cut a node; return the two sides."""
        self.column[node] = column
        self.lo[node] = lo
        self.hi[node] = hi
        self.left[node] = len(self.column)
        for _ in range(2):
            self.column.append(-1)
            self.lo.append(0)
            self.hi.append(0)
            self.left.append(-1)
        return self.left[node], self.left[node] + 1

    def route(self, codes: np.ndarray) -> np.ndarray:
        """Return the leaf of each combination."""
        column, lo, hi, left_side = (
            np.array(numbers, np.int64) for numbers in (self.column, self.lo, self.hi, self.left)
        )
        node_of = np.zeros(len(codes), np.int64)
        waiting = np.arange(len(codes))
        while len(waiting := waiting[column[node_of[waiting]] >= 0]):
            node = node_of[waiting]
            code = codes[waiting, column[node]]
            node_of[waiting] = left_side[node] + ((code < lo[node]) | (code > hi[node]))
        return node_of

    @property
    def leaves(self) -> np.ndarray:
        """Return the nodes that are not cut."""
        return np.flatnonzero(np.array(self.column) < 0)

    def list_ancestors(self) -> Iterator[np.ndarray]:
        """List for each depth, from the deepest up, the ancestor of each node there: itself at its own depth, -1 of shallower nodes."""
        parent = np.full(len(self.left), -1)
        depth = np.zeros(len(self.left), np.int64)
        for node, left_side in enumerate(self.left):
            if left_side >= 0:
                parent[[left_side, left_side + 1]] = node
                depth[[left_side, left_side + 1]] = depth[node] + 1
        above = np.full(len(self.left), -1)
        for level in range(int(depth.max()), -1, -1):
            above = np.where(above >= 0, parent[above], above)
            above[depth == level] = np.flatnonzero(depth == level)
            yield above

    def prune(self, fine: np.ndarray) -> RegionTree:
        """Undo the cuts of which a side is not fine: the two are one region again, with all that was cut below."""
        pruned = RegionTree()
        waiting = [(0, 0)]
        while waiting:
            old, new = waiting.pop()
            left_side = self.left[old]
            if self.column[old] >= 0 and fine[left_side] and fine[left_side + 1]:
                sides = pruned.cut(new, self.column[old], self.lo[old], self.hi[old])
                waiting += [*zip((left_side, left_side + 1), sides, strict=True)]
        return pruned


def hash_codes(codes: np.ndarray, sizes: Sequence[int], rng: Random) -> np.ndarray:
    """Hash each combination of codes by the key (tabulation hashing): the word is the same wherever it is counted."""
    words = np.zeros(len(codes), np.uint64)
    for index, size in enumerate(sizes):
        words ^= rng.words(f"regions {index}", 0, max(size, 1))[codes[:, index]]
    return words


def hash_cells(cells: Cells, rng: Random) -> np.ndarray:
    """Hash cells by all columns but the one that combines several: it adds no information."""
    own = len(cells.sensitive) if cells.joint < 0 else cells.joint
    sizes = [domain.size for domain in (*cells.quasi, *cells.sensitive[:own])]
    return hash_codes(np.hstack([cells.codes, cells.values[:, :own]]), sizes, rng)


def sample_cells(cells: Cells, rng: Random, size: int = SAMPLE_CELLS) -> Cells:
    """Sample cells, each as likely as another: those of the least words."""
    if len(cells) <= size:
        return cells
    sampled = np.sort(np.argpartition(hash_cells(cells, rng), size)[:size])
    return replace(cells, codes=cells.codes[sampled], values=cells.values[sampled], counts=cells.counts[sampled])


def cut_regions(
    sample: Cells, promises: Promises, regions: int, weights: Mapping[str, float] | None = None
) -> RegionTree:
    """Cut about so many regions of even size, by the loss they leave, as long as sides keep the promises in the sample."""
    nodes = PartitionNodes.from_cells(sample)
    tree = RegionTree()
    spans = SpanLosses.from_domains(sample.quasi, resolve_weights([domain.name for domain in sample.quasi], weights))
    chooser = LossCuts(nodes, Acceptance(promises.bind(sample), nodes), spans, LOOK_AHEAD_NEVER)
    number = np.zeros(1, np.int64)
    rows = sample.rows
    while len(nodes):
        chosen, cuts = chooser.choose()
        wide = nodes.size * regions >= 2 * rows
        cuts = cuts[wide[chosen]]
        chosen = chosen & wide
        nodes.close(chosen)
        sides = [tree.cut(int(node), *cut) for node, cut in zip(number[chosen], cuts[:, 2:].tolist(), strict=True)]
        number = np.array(sides, np.int64).reshape(-1)
        nodes.cut(cuts)
    return tree


def require_plannable_by_region(
    method: Method, promises: Promises, *, prepared: bool = False, withholding: bool = False
) -> None:
    """Refuse, before data is read, what cannot be planned region by region."""
    why = _WHOLE_TABLE_REASONS.get(method.name, "")
    if not why and prepared:
        why = "a stage before the method speaks of all rows"
    elif not why and withholding:
        why = "the rows that are best withheld are chosen among all"
    for promise in promises:
        if not why and getattr(promise, "whole_table", False):
            why = f"{promise.name} has a prior over all rows"
        if not why and getattr(promise, "population", None) is not None:
            why = f"{promise.name} counts a population under each group's labels"
        if not why and not getattr(promise, "union_closed", False):
            why = f"{promise.name} may break where groups of two regions read the same"
    if why:
        raise JobError(
            f"{method.name} with these promises cannot be planned in regions: {why}.",
            attempt='no regions, or method = "mondrian" with k-anonymity, l-diversity, t-closeness or beta-likeness.',
        )


def plan_regions(
    method: Method,
    cells: Cells,
    promises: Promises,
    rng: Random,
    regions: int,
    map_regions: RegionMapper = starmap,
    sample_size: int = SAMPLE_CELLS,
) -> Recipe:
    """Plan one recipe of all regions; `map_regions` maps the planning over regions."""
    totals = resolve_totals(cells, None)
    bind_reachable_promises(cells, promises, method.name)
    sample = sample_cells(cells, rng, sample_size)
    tree = cut_regions(sample, promises, regions, getattr(method, "weights", None))
    tree = tree.prune(find_fine_nodes(tree, tree.route(cells.codes), cells, promises))
    leaf = tree.route(cells.codes)
    order = np.argsort(leaf, kind="stable")
    ends = np.flatnonzero(np.diff(leaf[order], append=-1)) + 1
    members = np.split(order, ends[:-1])
    with_totals = replace(promises, reference=totals)
    arguments = (
        (method, _take_cells(cells, member), with_totals, rng.derive(f"region {number}"))
        for number, member in enumerate(members)
    )
    return _join_plans(cells, members, map_regions(plan_region, arguments))


def plan_region(method: Method, cells: Cells, promises: Promises, rng: Random) -> tuple[Any, ...]:
    """Plan one region, in numbers of its own: cells, groups, quotas, how many groups, and how they print."""
    recipe = method.plan(cells, promises, rng)
    return recipe.cell.astype(np.int32), recipe.group.astype(np.int32), recipe.quota, recipe.groups, recipe.labels


def find_fine_nodes(tree: RegionTree, leaf: np.ndarray, cells: Cells, promises: Promises) -> np.ndarray:
    """Tell which nodes of the tree keep every promise as one group, counted exactly; `leaf` is where each cell is sent."""
    bound = promises.bind(cells)
    is_fine = np.zeros(len(tree.column), bool)
    for above in tree.list_ancestors():
        node_of_cell = above[leaf]
        reached = np.flatnonzero(node_of_cell >= 0)
        order = reached[np.argsort(node_of_cell[reached], kind="stable")]
        nodes, first = np.unique(node_of_cell[order], return_index=True)
        is_fine[nodes] = bound.allow(CandidateGroups(cells, order, cells.counts[order], np.append(first, len(order))))
    return is_fine


def _take_cells(cells: Cells, member: np.ndarray) -> Cells:
    return replace(cells, codes=cells.codes[member], values=cells.values[member], counts=cells.counts[member])


def _join_plans(cells: Cells, members: list[np.ndarray], plans: Iterable[tuple[Any, ...]]) -> Recipe:
    cell = []
    group = []
    quota = []
    before = 0
    labels = "nodes"
    for member, (cells_, groups_, quotas, group_count, labels) in zip(members, plans, strict=True):  # noqa: B007
        cell.append(member[cells_])
        group.append(np.where(groups_ >= 0, groups_.astype(np.int64) + before, groups_))
        quota.append(quotas)
        before += group_count
    joined = [np.concatenate(part) for part in (cell, group, quota)]
    return Recipe(cells, joined[0], joined[1], joined[2], before, labels=labels)
