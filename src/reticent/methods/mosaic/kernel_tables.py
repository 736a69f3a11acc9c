"""Promises and losses as the kernels of Mosaic read them.

`KernelRule` is a conjunction of promises as the quota-cut kernel reads it.  Kernels judge one sensitive column: sizes,
distinct values and caps by integers, closeness, entropy and recursive diversity by doubles.  `exact` tells whether the
kernel decides everything; where it does not (doubles, a second sensitive column, caps without the null rows, promises a
kernel does not know), the promises themselves check the kernel's result again.

`LossSpace` is the loss of a box as kernels read it: one array of doubles, and where each column's part of it lies.
places[j] = (kind, offset, codes, extra), spans already multiplied by the column's weight (equation 4 of paper 1):

    0  table    spans[offset + lo * codes + hi], for up to MAX_LOSS_TABLE_CODES codes
    1  line     spans[offset + hi] - spans[offset + lo]; extra is the null's code or -1, its span stands at its own place
    2  levels   from the leaves up: at offset + 2 * level * codes the ancestor of each code, codes further on what it loses;
                extra is the number of levels

so that columns of 100,000 values need no table of all their ranges.

`fold_families` shows a search families in place of values, so that kernels judge semantic beta-likeness as they judge
beta-likeness: by caps on whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import MAX_LOSS_TABLE_CODES, Domain, RangeDomain, TreeDomain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.data.label_styles import SnappedDomain
from reticent.methods.base import resolve_weights
from reticent.models.beta_likeness import SemanticLikeness
from reticent.models.l_diversity import EntropyLDiversity, RecursiveLDiversity
from reticent.models.promise import BoundPromises, Caps, GroupCheckedPromise, Promises
from reticent.models.t_closeness import TCloseness

KERNEL_MODELS = (TCloseness, EntropyLDiversity, RecursiveLDiversity)
EQUAL_DISTANCE = 1
ORDERED_DISTANCE = 2
HIERARCHICAL_DISTANCE = 3
FAR_RANGE_RATIO = 1 << 20  # ranges from zero on, of which a span is the difference of two large quotients


@dataclass(frozen=True, eq=False)
class KernelRule:
    """A conjunction of promises as the quota-cut kernel reads it.

    `column` is the sensitive column the kernel looks at, -1 where it needs none.
    """

    column: int
    least_size: int
    least_distinct: int
    null: int
    arrays: tuple[np.ndarray, ...]  # caps, rates, least, limits, edges
    capped: bool  # there are caps or more, beyond sizes and distinct values
    exact: bool  # the kernel's word is final
    known: bool  # every promise is at least approximated
    union_closed: bool
    by_values: bool  # whether sizes and sensitive values decide, so that rows of equal value may change places

    @property
    def capped_only(self) -> bool:
        """Whether integers decide it: no closeness, entropy or recursive diversity."""
        thresholds = self.arrays[2]
        limits = self.arrays[3]
        return thresholds[4] == 0 and thresholds[5] == 0 and limits[1] == 0

    @property
    def knows_nothing(self) -> bool:
        """Whether the kernel sees no more of the promises than a size."""
        return not self.known and not self.capped and self.least_distinct <= 1

    @property
    def upper(self) -> np.ndarray:
        """The upper cap of each value: numerator and denominator."""
        return self.arrays[0][:, :2]

    @property
    def lower(self) -> np.ndarray:
        return self.arrays[0][:, 2:]


def make_kernel_rule(cells: Cells, promises: Promises, bound: BoundPromises) -> KernelRule:
    checked = [promise for promise in promises.select_shape(GroupCheckedPromise) if isinstance(promise, KERNEL_MODELS)]
    columns = [cells.find_sensitive(promise.column) for promise in checked] + [column for column, _ in bound.caps]
    column = columns[0] if columns else -1
    main = next((cap for cap_column, cap in bound.caps if cap_column == column and cap.without < 0), None)
    checked = [promise for promise in checked if cells.find_sensitive(promise.column) == column]
    arrays, capped = _make_rule_arrays(cells, column, bound.least_size, main, checked)
    is_known = len(checked) == len(bound.checks) and all(cap_column == column for cap_column, _ in bound.caps)
    exact = is_known and not checked and len(bound.caps) == (main is not None)
    least_distinct, null = (main.least_distinct, main.null) if main else (0, -1)
    by_values = all(promise.needs_sensitive for promise in promises.select_shape(GroupCheckedPromise))
    return KernelRule(
        column,
        bound.least_size,
        least_distinct,
        null,
        arrays,
        capped,
        exact,
        is_known,
        promises.union_closed,
        by_values,
    )


def fold_families(cells: Cells, promises: Promises) -> tuple[Cells, Promises]:
    """Return the cells with families in place of values, and beta-likeness of these, for semantic beta-likeness alone.

    The cells are the same, in the same order, so that groups of one are groups of the other.  Where another promise
    speaks of values, or of families of another level or column, cells and promises are returned as they were.
    """
    about_values = [promise for promise in promises if promise.needs_sensitive]
    semantic = [promise for promise in about_values if isinstance(promise, SemanticLikeness)]
    targets = {(cells.find_sensitive(promise.column), promise.level) for promise in semantic}
    if len(semantic) < len(about_values) or len(targets) != 1:
        return cells, promises
    column, _ = targets.pop()
    domain = cells.sensitive[column]
    family = semantic[0].families(domain)
    names = [str(number) for number in range(int(family.max()) + 1 - domain.null)]
    families = build_tree_domain(domain.name, "String", Hierarchy.flat(names), null=domain.null, is_from_steward=False)
    values = cells.values.copy()
    values[:, column] = family[values[:, column]]
    sensitive = (*cells.sensitive[:column], families, *cells.sensitive[column + 1 :])
    reference = promises.reference
    if reference is not None:
        folded = np.bincount(family, weights=reference[column], minlength=families.size).astype(np.int64)
        reference = [*reference[:column], folded, *reference[column + 1 :]]
    about_families = tuple(
        replace(promise.likeness, column=domain.name) if isinstance(promise, SemanticLikeness) else promise
        for promise in promises
    )
    return (
        replace(cells, values=values, sensitive=sensitive),
        replace(promises, all=about_families, reference=reference),
    )


@dataclass(frozen=True, eq=False)
class LossSpace:
    """The quasi-identifiers as kernels read them."""

    spans: np.ndarray
    places: np.ndarray
    weights: np.ndarray
    domains: tuple[Domain, ...]
    nodes: np.ndarray  # the node above each code, level by level, column by column; the codes themselves first
    trees: np.ndarray  # (offset into nodes, levels) of each column

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.array([domain.size for domain in self.domains], np.int64)

    def compute_loss_per_row(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Compute the loss per row of boxes with these least and greatest codes, (boxes, columns) each."""
        total = np.zeros(len(lower))
        for j, domain in enumerate(self.domains):
            if self.weights[j]:
                total += self.weights[j] * compute_planned_losses(
                    domain, lower[:, j].astype(np.int64), upper[:, j].astype(np.int64)
                )
        return total


def compute_planned_losses(domain: Domain, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Compute what spans lose or, where labels are snapped and a table holds it, what their labels will lose."""
    if isinstance(domain, SnappedDomain) and domain.size <= MAX_LOSS_TABLE_CODES:
        return domain.compute_planned_loss(lower, upper)
    return domain.loss(lower, upper)


def normalize_weights(cells: Cells, weights: Mapping[str, object] | None) -> np.ndarray:
    """Scale weights to a sum of 1; a column not named weighs 1 before that."""
    resolved = resolve_weights([domain.name for domain in cells.quasi], weights)
    return resolved / resolved.sum()


def make_loss_space(cells: Cells, weights: Mapping[str, object] | None = None) -> LossSpace:
    weight = normalize_weights(cells, weights)
    parts = []
    places = np.zeros((len(cells.quasi), 4), np.int64)
    offset = 0
    for j, domain in enumerate(cells.quasi):
        kind, part, extra = _tabulate_column(domain)
        places[j] = kind, offset, domain.size, extra
        ids = kind == 2
        part = part * weight[j] if not ids else _weigh_levels(part, weight[j])
        parts.append(part.ravel())
        offset += part.size
    nodes, trees = _tabulate_nodes(cells.quasi)
    return LossSpace(np.concatenate(parts) if parts else np.zeros(0), places, weight, cells.quasi, nodes, trees)


def _make_rule_arrays(
    cells: Cells, column: int, size: int, main: Caps | None, checked: list
) -> tuple[tuple[np.ndarray, ...], bool]:
    values = cells.sensitive[column].size if column >= 0 else 1
    caps = np.tile(np.array([1, 1, 0, 1], np.int64), (values, 1))
    thresholds = np.array([size, 0, 0, -1, 0, 0, 7], np.int64)
    limits = np.array([0.0, 0.0, 0.0, 0.7, 0.7])
    edges = np.ones((1, values), np.int8)
    if main is not None:
        thresholds[1:4] = main.least_distinct, main.present_only, main.null
        if main.upper is not None:
            caps[:, :2] = main.upper
        if main.lower is not None:
            caps[:, 2:] = main.lower
    for promise in checked:
        if isinstance(promise, TCloseness):
            thresholds[4], limits[0], edges = _tabulate_closeness(promise, cells, column)
            if thresholds[4] == EQUAL_DISTANCE:  # the excess is the distance itself: little to search for
                thresholds[6] = 3
                limits[3:] = (limits[0], 0.85)
        elif isinstance(promise, EntropyLDiversity):
            limits[1] = max(limits[1], log(promise.l))
        else:
            thresholds[5] = promise.l
            limits[2] = float(promise.c)
    rates = np.ones((3, values))
    # one unit in the last place too many, so that a whole product is never rounded below itself; the kernel decides by integers
    rates[0] = np.nextafter(caps[:, 0] / caps[:, 1], 2)
    rates[1] = caps[:, 2] / caps[:, 3]
    if column >= 0:
        rates[2] = np.maximum(cells.totals(column), 1e-9) / cells.rows
    thresholds[0] = max(
        size, _compute_smallest_group(caps, rates, limits[0] if thresholds[4] == EQUAL_DISTANCE else 1.0)
    )
    capped = bool(checked) or (main is not None and (main.upper is not None or main.lower is not None))
    return (caps, rates, thresholds, limits, edges), capped


def _tabulate_column(domain: Domain) -> tuple[int, np.ndarray, int]:
    if domain.size <= MAX_LOSS_TABLE_CODES:
        return 0, _tabulate_span_losses(domain), 0
    if isinstance(domain, RangeDomain):
        reach = domain.span[1] - domain.span[0]
        line = _shift_positions(domain.positions, reach) / reach if reach > 0 else np.zeros(len(domain.positions))
        return 1, np.append(line, 1.0) if domain.null else line, domain.null_code
    assert isinstance(domain, TreeDomain)
    return 2, _tabulate_levels(domain), domain.hierarchy.height


def _weigh_levels(part: np.ndarray, weight: float) -> np.ndarray:
    part = part.copy()
    part[:, 1] *= weight
    return part


def _tabulate_nodes(domains: tuple[Domain, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Tabulate every level below the root at which some node holds several codes."""
    parts = []
    trees = np.zeros((len(domains), 2), np.int64)
    offset = 0
    for j, domain in enumerate(domains):
        levels = [np.arange(domain.size, dtype=np.int32)]
        if isinstance(domain, TreeDomain):
            for level in range(1, domain.hierarchy.height):
                above = domain.hierarchy.paths[:, level].astype(np.int32)
                levels.append(np.append(above, np.int32(-1)) if domain.null else above)
        trees[j] = offset, len(levels)
        parts += levels
        offset += sum(map(len, levels))
    return np.concatenate(parts) if parts else np.zeros(0, np.int32), trees


def _tabulate_closeness(promise: TCloseness, cells: Cells, column: int) -> tuple[int, float, np.ndarray]:
    """Return (kind, limit on the kernel's sum per row, first values of the nodes of each level)."""
    domain = cells.sensitive[column]
    t = float(promise.t)
    if promise.distance == "equal":
        return EQUAL_DISTANCE, t, np.ones((1, domain.size), np.int8)
    if promise.distance == "ordered":
        occurring = int((cells.totals(column) > 0).sum())
        return ORDERED_DISTANCE, t * max(occurring - 1, 1), np.ones((1, domain.size), np.int8)
    assert isinstance(domain, TreeDomain)
    tree = domain.hierarchy
    edges = np.zeros((tree.height + 1, domain.size), np.int8)
    for level in range(tree.height + 1):
        edges[level, : len(domain.texts)] = np.diff(tree.paths[:, level], prepend=-1) != 0
    edges[:-1, len(domain.texts) :] = 1
    return HIERARCHICAL_DISTANCE, 2 * t * tree.height, edges


def _compute_smallest_group(caps: np.ndarray, rates: np.ndarray, t: float) -> int:
    """Compute the size below which no group keeps the upper caps, or an equal distance of t: kernels need not look for one."""
    for size in range(1, 1000):
        if (caps[:, 0] * size // caps[:, 1]).sum() < size:
            continue
        even = rates[2] * size
        gain = np.sort(np.minimum(1.0, even - np.floor(even)))[
            ::-1
        ]  # what one more row of a value takes off the distance
        spare = max(size - int(np.floor(even).sum()), 0)
        if (even - np.floor(even)).sum() - gain[:spare].sum() <= t * size * (1 + 1e-9):
            return size
    return 1


def _tabulate_span_losses(domain: Domain) -> np.ndarray:
    if not isinstance(domain, SnappedDomain):
        return domain.loss_table
    lower, upper = np.divmod(np.arange(domain.size**2), domain.size)
    losses = np.zeros(domain.size**2)
    losses[lower <= upper] = compute_planned_losses(domain, lower[lower <= upper], upper[lower <= upper])
    return losses.reshape(domain.size, domain.size)


def _shift_positions(positions: np.ndarray, reach: float) -> np.ndarray:
    """Positions as they are, or less the least, where that is so much more than the range that a quotient rounds spans away."""
    return positions - positions[0] if abs(positions[0]) > FAR_RANGE_RATIO * reach else positions


def _tabulate_levels(domain: TreeDomain) -> np.ndarray:
    """Tabulate (levels, 2, codes): the ancestor of each code, and what its span loses."""
    tree = domain.hierarchy
    ancestors = tree.paths[:, 1:].T.astype(np.float64)
    leaves = (tree.last - tree.first + 1)[tree.paths[:, 1:].T].astype(np.float64)
    loss = np.where(leaves > 1, leaves / domain.size, 0.0)
    if domain.null:
        ancestors = np.hstack([ancestors, np.full((len(ancestors), 1), -1.0)])
        loss = np.hstack([loss, np.zeros((len(loss), 1))])
        ancestors[-1] = 0.0
        loss[-1] = 1.0  # the null meets the others at the root
    return np.stack([ancestors, loss], axis=1)
