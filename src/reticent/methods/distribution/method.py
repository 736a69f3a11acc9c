"""Distribution-based anonymization (Koudas, Srivastava, Yu & Zhang, VLDB 2009): the grouping analysts want, a target for each group.

Cells and a promise of P-privacy -> quasi-identifiers as they are; in each group the sensitive values generalized to nodes of a
hierarchy, mixed with fakes and permuted, so that a person's value follows the group's target.

Departs from the paper: a target is rounded to small weights unless it is to be exact (an exact one pushes nearly everything to the
root and, as the target of several groups, hands out the table's totals: errata 4.7); fakes are taken for trees of any arity;
`within` "hilbert" cuts a group along a curve into subgroups between the paper's two extremes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.errors import JobError
from reticent.exact_arithmetic import floor_shares
from reticent.methods.base import Method
from reticent.methods.distribution.analysis_groups import (
    choose_subgroup_size,
    divide_groups,
    group_cells,
    require_workload_columns,
)
from reticent.methods.distribution.generalization import GroupValues, add_fakes, generalize_groups, sum_ranges
from reticent.methods.distribution.targets import choose_weights, compute_target_masses
from reticent.methods.distribution.value_domain import ValueDomain, ValueTree, make_value_domain
from reticent.models.p_privacy import PPrivacy
from reticent.models.promise import Promises
from reticent.models.rational_bounds import Number
from reticent.randomness import Random
from reticent.recipe.recipe import GroupTable, TransformedRecipe
from reticent.validation import check_parameters, document_parameters


@document_parameters(METHODS["distribution"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution(Method):
    """Sensitive values among fakes, generalized and permuted so that a group shows its target.

    A share of fakes is that of section 6.2.
    """

    group_by: Any = None
    within: str = "sa-only"
    fakes: Fraction = Fraction(0)
    arity: int = 2
    size: int | None = None
    k: int | None = None
    workload: Any = None
    name: ClassVar[str] = "distribution"
    kind: ClassVar[str] = "transformed"
    labels: ClassVar[None] = None
    keeps: ClassVar[tuple[type, ...]] = (PPrivacy,)
    prepares: ClassVar[bool] = False

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            *,
            group_by: Any = None,
            within: str = "sa-only",
            fakes: Number = 0,
            arity: int = 2,
            size: int | None = None,
            k: int | None = None,
            workload: Any = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("group_by", "workload"))

    def refuse(self, promises: Promises) -> None:
        """Before any data is read: one target, and no other promise, can be kept."""
        if len(promises.all) != 1:
            raise JobError(
                f"distribution keeps one promise of p-privacy; the job has {len(promises.all)}.",
                attempt="one [[promise]], its target given for each group by name.",
            )

    def notices(self, promises: Promises) -> tuple[str, ...]:
        """List what the owner should know of a target that is made from the data."""
        promise = promises.require_models(PPrivacy)[0]
        target = promise.target
        sentences = []
        if promise.exact and target == "source" and (self.group_by is not None or self.within != "sa-only"):
            sentences.append(
                "the target of several groups is the exact distribution of the table: who knows the algorithm has the table's totals, "
                "and can rule values out (reticent attack --as algorithm); without exact = true it is rounded"
            )
        if target == "group":
            sentences.append(
                "each group's target is its own distribution: the release says how values are distributed in each group"
            )
        if isinstance(target, Mapping) and "nearest" in target:
            sentences.append("a nearest target says on which side of the promise a group was, and where it was cut")
        return tuple(sentences)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> TransformedRecipe:
        self.refuse(promises)
        require_workload_columns(cells, self.workload)
        promise = promises.require_models(PPrivacy)[0]
        values = make_value_domain(cells, promise)
        tree = values.tree(self.arity)
        top = group_cells(cells, self.group_by, self.k, rng)
        value = values.of_code[cells.values[:, 0]]
        own = np.zeros((len(top.names), len(values.texts)), np.int64)
        np.add.at(own, (top.of_cell, value), cells.counts)
        wants = compute_target_masses(promise, values, own, top.names)
        overall = own.sum(axis=0)
        size = self.size
        if self.within == "hilbert" and size is None:
            size = choose_subgroup_size(cells, top.of_cell, values, tree, self.workload, rng)
        group, above = divide_groups(cells, top.of_cell, self.within, size)
        group_values = GroupValues.from_entries(group, value, cells.counts, len(above), len(values.texts))
        parts = []
        for target_index, tops in _group_equal_targets(wants):
            mine = np.flatnonzero(np.isin(above, tops))
            part = group_values.only(mine)
            observed = (own[tops] > 0).any(axis=0)
            weights = choose_weights(wants[target_index], promise, tree, part, observed, overall)
            parts.append((mine, self._make_entries(part, tree, weights, len(values.texts)), weights))
            promise.verify(_make_verified_parameters(tree, weights, parts[-1][1]))
        return _build_recipe(cells, group, values, tree, parts)

    def _make_entries(self, group_values: GroupValues, tree: ValueTree, weights: np.ndarray, values: int) -> np.ndarray:
        """Make (entries, 3) of group, node and count; with fakes where a group may have any."""
        sizes = group_values.sizes
        if self.fakes >= 1:
            max_fakes = np.full(group_values.groups, int(self.fakes))
        else:
            max_fakes = floor_shares(sizes, self.fakes)
        plain = np.flatnonzero(max_fakes == 0)
        entries = (
            [_renumber_groups(generalize_groups(group_values.only(plain), tree, weights), plain)] if len(plain) else []
        )
        for group in np.flatnonzero(max_fakes).tolist():
            nodes = add_fakes(group_values.histogram(group, values), tree, weights, int(max_fakes[group])).nodes
            entries.append(np.column_stack([np.full(len(nodes), group), nodes]))
        return np.concatenate(entries)


def _group_equal_targets(wants: list[Any]) -> list[tuple[int, np.ndarray]]:
    """List the groups that share a target (the same masses), with the first of each."""
    keys = [(want.masses.tobytes(), str(want.keeping)) for want in wants]
    first: dict[Any, list[int]] = {}
    for index, key in enumerate(keys):
        first.setdefault(key, []).append(index)
    return [(members[0], np.array(members)) for members in first.values()]


def _make_verified_parameters(tree: ValueTree, weights: np.ndarray, entries: np.ndarray) -> dict[str, np.ndarray]:
    """Make the parameters that the promise verifies."""
    group, node, count = entries.T
    return {"parent": tree.parent, "weights": weights, "group": group, "node": node, "count": count}


def _build_recipe(
    cells: Cells, group: np.ndarray, values: ValueDomain, tree: ValueTree, parts: list[Any]
) -> TransformedRecipe:
    """Build the recipe.

    `parts` has, for each target: its groups, their entries (group within them, node, count), and its weights.
    """
    entries = np.concatenate([_renumber_groups(part, mine) for mine, part, _ in parts])
    distinct = {weights: rank for rank, weights in enumerate(dict.fromkeys(tuple(w.tolist()) for _, _, w in parts))}
    target = np.zeros(int(group.max()) + 1, np.int64)
    for mine, _, weights in parts:
        target[mine] = distinct[tuple(weights.tolist())]
    first = np.unique(target, return_index=True)[1]  # targets numbered as groups meet them
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    listed = list(distinct)
    return TransformedRecipe(
        cells,
        np.arange(len(cells)),
        group,
        cells.counts,
        len(target),
        listed=GroupTable(entries[:, 0], entries[:, 1], entries[:, 2]),
        texts=values.texts,
        node_labels=tuple(values.labels(tree)),
        first=tree.first,
        last=tree.last,
        weights=tuple(listed[rank] for rank in order.tolist()),
        target=number[target],
        units=values.units,
        scale=values.scale,
        sum_of_ranges=sum_ranges(entries, tree),
    )


def _renumber_groups(entries: np.ndarray, groups: np.ndarray) -> np.ndarray:
    return np.column_stack([groups[entries[:, 0]], entries[:, 1:]])
