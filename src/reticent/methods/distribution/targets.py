"""Targets of P-privacy for each group: from a job's target to whole-number masses, and to small weights (section 3.1).

`compute_target_masses` turns what a job declares as the target into whole-number masses over the domain, for each
group.

`find_nearest_distribution` finds the nearest distribution to a group's own that keeps a classic promise, by total
variation.  l-diversity and beta-likeness cap each value's share: what exceeds a cap is spread over the others in
proportion to their own shares, up to their caps; the distance is the excess, and no distribution under the caps is
nearer.  For t-closeness it is a point on the way from the group's own distribution to the reference; by the triangle
inequality none is nearer in the same distance.

`generate_rounded_weights` turns a target into small integer weights on the edges of the hierarchy, within a stated
distance.  An exact target has weights as large as its counts; a node then passes on only multiples of their sum, and
nearly everything stays at the root.  With e(N) the total variation between a node's true split and its weights', the
rounded target is within sum over N of P(N) e(N) of the true one (P goes down the tree one split after the other).  Each
scheme hands out the distance to the nodes in another way; each node takes the least sum of weights within its part, a
value that occurs keeping a weight of at least 1.  `choose_weights` takes the scheme with the least sum of ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.errors import InternalError, JobError, PromiseUnreachable, pluralize
from reticent.exact_arithmetic import find_common_denominator
from reticent.methods.distribution.generalization import GroupValues, generalize_groups, sum_ranges
from reticent.methods.distribution.value_domain import ValueDomain, ValueTree, find_listed_weights
from reticent.models.p_privacy import NEAREST_MODEL_PARAMETERS, PPrivacy
from reticent.models.rational_bounds import enclose_log, is_at_most_log, parse_fraction

Shares = list[Fraction]
CHUNK_TRIED_WEIGHTS = 1 << 20  # weights that are tried together
MAX_TRIED_BLOCK = 32
DISTANCE_ROUNDING = 1e-7  # doubles add up a distance to much less than this: sums of at most 2^20 leaves, each a product of its depth's splits
MAX_SIBLING_WEIGHTS = 1024  # sum of the weights of siblings that is tried; beyond it they stay exact
CURVE_SCALE = 10**9  # what the densest value of a curve weighs
MAX_MASS = 1 << 40
ROUNDING_SLACK = Fraction(1, 10**6)


def find_nearest_distribution(promise: Mapping[str, Any], own: Sequence[int], overall: Sequence[int]) -> Shares:
    """Find the nearest distribution that keeps a classic promise.

    `own` are the group's counts, `overall` those of the published table, which is the reference of t and beta.
    """
    shares = _to_shares(own)
    reference = _to_shares(overall)
    if promise["model"] == "t-closeness":
        limit = parse_fraction(promise["t"], "t")
        distance = compute_distribution_distance(promise, shares, reference)
        if distance <= limit:
            return shares
        part = limit / distance
        return [r + part * (s - r) for s, r in zip(shares, reference, strict=True)]
    return _fit_under_caps(shares, compute_share_caps(promise, reference))


def keeps_classic_promise(promise: Mapping[str, Any], used: Shares, overall: Sequence[int]) -> bool:
    """Tell whether a distribution keeps the classic promise, compared exactly."""
    reference = _to_shares(overall)
    if promise["model"] == "t-closeness":
        return compute_distribution_distance(promise, used, reference) <= parse_fraction(promise["t"], "t")
    if promise["model"] == "probabilistic-l-diversity":
        return max(used) * parse_fraction(promise["l"], "l") <= 1
    beta = parse_fraction(promise["beta"], "beta")
    enhanced = bool(promise.get("enhanced", True))
    for share, base in zip(used, reference, strict=True):
        if share and not base:
            return False
        if base and not (
            share / base - 1 <= beta and (not enhanced or share <= base or is_at_most_log(share / base - 1, 1 / base))
        ):
            return False
    return True


def compute_share_caps(promise: Mapping[str, Any], reference: Shares) -> Shares:
    """Compute the greatest share of each value: a rational not above min(beta, -ln p) where a logarithm enters."""
    if promise["model"] == "probabilistic-l-diversity":
        return [1 / parse_fraction(promise["l"], "l")] * len(reference)
    beta = parse_fraction(promise["beta"], "beta")
    caps = []
    for base in reference:
        gain = beta
        if base and promise.get("enhanced", True) and not is_at_most_log(beta, 1 / base):
            gain = Fraction(int(enclose_log(1 / base, 20)[0] * 10**6), 10**6)
        caps.append(base * (1 + gain))
    return caps


def compute_distribution_distance(promise: Mapping[str, Any], shares: Shares, reference: Shares) -> Fraction:
    """Compute the equal earth mover's distance (total variation), or the ordered: the mean of |cumulated differences|."""
    kind = promise.get("distance", "equal")
    differences = [a - b for a, b in zip(shares, reference, strict=True)]
    if kind == "equal":
        return sum((abs(d) for d in differences), Fraction(0)) / 2
    total = Fraction(0)
    moved = Fraction(0)
    for difference in differences:
        moved += difference
        total += abs(moved)
    return total / (len(shares) - 1)


def compute_exact_weights(tree: ValueTree, masses: np.ndarray) -> np.ndarray:
    return tree.reduce_masses(tree.sum_below(masses))


def generate_rounded_weights(
    tree: ValueTree, masses: np.ndarray, observed: np.ndarray, distance: Fraction
) -> Iterator[np.ndarray]:
    """Yield the weights by each way to hand out the distance, if they are within it."""
    below = tree.sum_below(masses)
    inner = tree.children > 0
    share = below / below[0]
    levels = int(tree.depth.max())
    depth = tree.depth
    total_distance = float(distance) * (1 - 1e-9)
    with np.errstate(divide="ignore"):
        by_node = np.minimum(total_distance / inner.sum() / share, 1.0)
    even = np.full(len(tree), total_distance / levels)
    halves = total_distance / 2.0 ** (depth + 1)
    rising = total_distance * 2.0 ** (depth - levels)
    parts = (even, (even + by_node) / 2, by_node, halves, rising)
    for weights in _round_weights_within(tree, below, tree.sum_below(observed.astype(np.int64)) > 0, parts):
        if is_within_distance(tree, weights, masses, distance):
            yield weights


def compute_weight_shares(tree: ValueTree, weights: np.ndarray) -> list[Fraction]:
    """Compute the distribution over the domain that the weights stand for."""
    parts = np.bincount(tree.parent[1:], weights=weights[1:], minlength=len(tree)).astype(np.int64).tolist()
    node_shares = [Fraction(1)] * len(tree)
    parent = tree.parent.tolist()
    weight_list = weights.tolist()
    for node in range(1, len(tree)):
        node_shares[node] = (
            node_shares[parent[node]] * Fraction(weight_list[node], parts[parent[node]])
            if weight_list[node]
            else Fraction(0)
        )
    return [node_shares[node] for node in tree.leaf.tolist()]


def is_within_distance(tree: ValueTree, weights: np.ndarray, masses: np.ndarray, distance: Fraction) -> bool:
    """Tell whether the weights' distribution is within a distance of that of the masses: by doubles if they decide, else exactly."""
    parts = np.bincount(tree.parent[1:], weights=weights[1:], minlength=len(tree))
    node_shares = np.ones(len(tree))
    for depth in range(1, int(tree.depth.max()) + 1):
        nodes = np.flatnonzero(tree.depth == depth)
        above = tree.parent[nodes]
        node_shares[nodes] = np.where(
            weights[nodes] > 0, node_shares[above] * weights[nodes] / np.maximum(parts[above], 1), 0.0
        )
    roughly = float(np.abs(node_shares[tree.leaf] - masses / masses.sum()).sum() / 2)
    if abs(roughly - float(distance)) > DISTANCE_ROUNDING:
        return roughly < float(distance)
    return compute_total_variation(tree, weights, masses) <= distance


def compute_total_variation(tree: ValueTree, weights: np.ndarray, masses: np.ndarray) -> Fraction:
    """Compute the total variation between the weights' distribution and that of the masses, exactly."""
    total = int(masses.sum())
    used = compute_weight_shares(tree, weights)
    return sum((abs(p - Fraction(int(m), total)) for p, m in zip(used, masses.tolist(), strict=True)), Fraction(0)) / 2


@dataclass(frozen=True, eq=False)
class TargetMasses:
    """Masses of a target, whether the job declares them, and the classic promise that they keep when rounded."""

    masses: np.ndarray
    declared: bool
    keeping: Mapping[str, Any] | None = None


def compute_target_masses(
    promise: PPrivacy, values: ValueDomain, own: np.ndarray, names: Sequence[str]
) -> list[TargetMasses]:
    """Compute the masses of each group; `own` are (groups, values) counts."""
    target = promise.target
    overall = own.sum(axis=0)
    if not (isinstance(target, Mapping) and "groups" in target):
        return [_compute_group_masses(target, values, own[group], overall) for group in range(len(own))]
    listed = target["groups"]
    extra = sorted(set(listed) - set(names))
    lacking = sorted(set(names) - set(listed))
    if extra or lacking:
        raise JobError(
            f"The target names {pluralize(len(extra), 'group')} that the data lacks, and lacks {len(lacking)} of the data's {len(names)}.",
            why="A group is named by its values, such as North, or North / F where two columns make it; bands print as 18 to 40.",
            attempt="a target for each group that occurs, and for no other.",
        )
    return [_compute_group_masses(listed[name], values, own[group], overall) for group, name in enumerate(names)]


def choose_weights(
    want: TargetMasses,
    promise: PPrivacy,
    tree: ValueTree,
    group_values: GroupValues,
    observed: np.ndarray,
    overall: np.ndarray,
) -> np.ndarray:
    """Choose the weights that are used, promised and published: exact, or the rounding with the least sum of ranges."""
    exactly = compute_exact_weights(tree, want.masses)
    if promise.exact:
        return exactly
    rounded = [
        weights
        for weights in generate_rounded_weights(tree, want.masses, observed, promise.distance)
        if _still_keeps_promise(want, tree, weights, overall)
    ]
    tried = [*rounded, exactly] if want.declared or not rounded else rounded
    costs = [sum_ranges(generalize_groups(group_values, tree, weights), tree) for weights in tried]
    best = tried[int(np.argmin(costs))]
    if not _still_keeps_promise(want, tree, best, overall):
        raise InternalError("A target does not keep the promise that it is the nearest to.")
    return best


def _to_shares(counts: Sequence[int]) -> Shares:
    total = sum(counts)
    return [Fraction(int(count), int(total)) for count in counts]


def _fit_under_caps(own: Shares, limits: Shares) -> Shares:
    """Compute min(cap, lambda own) with the lambda that makes it a distribution; the rest goes to values the group lacks."""
    if sum(limits) < 1:
        raise PromiseUnreachable(
            "No distribution over the target's domain keeps the promise that nearest names.",
            why=f"The greatest shares allowed add up to {float(sum(limits)):.3f}.",
            attempt="a weaker promise, or a domain with more values.",
        )
    order = sorted((value for value, share in enumerate(own) if share), key=lambda value: limits[value] / own[value])
    fitted = [Fraction(0)] * len(own)
    remaining = Fraction(1)
    mass = sum(own)
    for place, value in enumerate(order):
        if remaining * own[value] <= limits[value] * mass:
            for rest in order[place:]:
                fitted[rest] = remaining * own[rest] / mass
            return fitted
        fitted[value] = limits[value]
        remaining -= limits[value]
        mass -= own[value]
    capacity = sum(limits[value] for value, share in enumerate(own) if not share)
    return (
        [limits[value] * remaining / capacity if not share else fitted[value] for value, share in enumerate(own)]
        if remaining
        else fitted
    )


def _round_weights_within(
    tree: ValueTree,
    below: np.ndarray,
    occurs: np.ndarray,
    parts: Sequence[np.ndarray],
    max_block: int = MAX_TRIED_BLOCK,
) -> list[np.ndarray]:
    """Find for every node the least sum of weights of its children that is within its part of the distance; for each of `parts`.

    Sums are tried in blocks, and of all parts at once: how far a sum is off does not depend on them.
    """
    parent = tree.parent[1:]
    split = below[1:] / np.maximum(below[parent], 1)
    least_weights = (occurs[1:] & (below[1:] > 0)).astype(np.int64)
    starts = np.flatnonzero(np.diff(parent, prepend=-1))
    node = parent[starts]
    size = np.diff(np.append(starts, len(parent)))
    weights_by_part = [tree.reduce_masses(below) for _ in parts]
    open_ = [below[node] > 0 for _ in parts]  # below a node without mass any split is as good
    block = int(np.clip(CHUNK_TRIED_WEIGHTS // max(len(split), 1), 1, max_block))
    for first in range(1, MAX_SIBLING_WEIGHTS + 1, block):
        open_nodes = np.any(open_, axis=0)
        if not open_nodes.any():
            break
        total = np.arange(first, min(first + block, MAX_SIBLING_WEIGHTS + 1))[:, None]
        chosen = np.repeat(open_nodes, size)
        sizes = size[open_nodes]
        tried = np.maximum(np.floor(split[chosen] * total + 0.5).astype(np.int64), least_weights[chosen])
        begin = np.append(0, np.cumsum(sizes))[:-1]
        sums = np.add.reduceat(tried, begin, axis=1)
        wide = np.repeat(np.maximum(sums, 1), sizes, axis=1)
        off = np.add.reduceat(np.abs(tried / wide - split[chosen]), begin, axis=1) / 2
        for part_index, part in enumerate(parts):
            fine = (sums > 0) & (off <= part[node[open_nodes]]) & open_[part_index][open_nodes]
            settled = fine.any(axis=0)
            settled_entries = np.flatnonzero(np.repeat(settled, sizes))
            weights_by_part[part_index][np.flatnonzero(chosen)[settled_entries] + 1] = tried[
                np.repeat(fine.argmax(axis=0), sizes)[settled_entries], settled_entries
            ]
            open_[part_index][np.flatnonzero(open_nodes)[settled]] = False
    return [tree.reduce_masses(weights) for weights in weights_by_part]


def _compute_group_masses(target: Any, values: ValueDomain, own: np.ndarray, overall: np.ndarray) -> TargetMasses:
    """Compute the masses of one group, which holds `own` of each value."""
    kind: str = target if isinstance(target, str) else next(iter(target))
    parameters: Mapping[str, Any] = {} if isinstance(target, str) else target[kind]
    keeping = None
    if kind == "source":
        masses = overall
    elif kind == "group":
        masses = own
    elif kind == "uniform":
        masses = np.ones(len(values.texts), np.int64)
    elif kind == "nearest":
        keeping = parameters
        masses = _compute_nearest_masses(parameters, own.tolist(), overall.tolist())
    elif kind in ("weights", "file"):
        masses = _compute_listed_masses(target, values)
    else:
        masses = _compute_curve_masses(kind, parameters, values)
    bare = int(((masses == 0) & (own > 0)).sum())
    if bare:
        raise JobError(
            f"The target gives no mass to {pluralize(bare, 'value')} of {values.name!r} that somebody in a group has.",
            why="Whoever has such a value would be said not to have it.",
            attempt="a weight above 0 for every value that occurs.",
        )
    return TargetMasses(np.asarray(masses, np.int64), kind not in ("source", "group", "nearest"), keeping)


def _still_keeps_promise(want: TargetMasses, tree: ValueTree, weights: np.ndarray, overall: np.ndarray) -> bool:
    return want.keeping is None or keeps_classic_promise(
        want.keeping, compute_weight_shares(tree, weights), overall.tolist()
    )


def _compute_nearest_masses(promise: Mapping[str, Any], own: list[int], overall: list[int]) -> np.ndarray:
    """Compute whole numbers in the ratio of the nearest distribution.

    If rounding makes them break the promise, they are computed again for a promise that is stricter by ROUNDING_SLACK.
    """
    masses = _to_whole_masses(find_nearest_distribution(promise, own, overall))
    total = int(masses.sum())
    if keeps_classic_promise(promise, [Fraction(mass, total) for mass in masses.tolist()], overall):
        return masses
    name = NEAREST_MODEL_PARAMETERS[promise["model"]][0]
    hair = 1 + ROUNDING_SLACK if name == "l" else 1 - ROUNDING_SLACK
    return _to_whole_masses(
        find_nearest_distribution({**promise, name: parse_fraction(promise[name], name) * hair}, own, overall)
    )


def _compute_listed_masses(target: Any, values: ValueDomain) -> np.ndarray:
    listed = find_listed_weights(target) or {}
    keys: list[Any] = list(values.texts) if values.units is None else [Fraction(text) for text in values.texts]
    try:
        weight_of = listed if values.units is None else {Fraction(text): weight for text, weight in listed.items()}
    except ValueError:
        raise JobError(f"A target over {values.name!r} lists a value that is no number.") from None
    unknown = len(set(weight_of) - set(keys))
    if unknown:
        has_grid = values.units is not None and values.hierarchy is None
        holder = "domain = [least, greatest, step]" if has_grid else "an order or a hierarchy of the column"
        raise JobError(
            f"The target lists {pluralize(unknown, 'value')} that the domain of {values.name!r} lacks.",
            attempt=f"values of the domain, or {holder} that holds them.",
        )
    return _to_whole_masses([weight_of.get(key, Fraction(0)) for key in keys])


def _compute_curve_masses(kind: str, parameters: Mapping[str, Any], values: ValueDomain) -> np.ndarray:
    """Compute a normal density at each number, or Zipf's law over the order of the domain; every value keeps a mass."""
    if kind == "zipf":
        density = np.arange(1, len(values.texts) + 1, dtype=np.float64) ** -float(parse_fraction(parameters["s"], "s"))
    elif values.positions is None:
        raise JobError(
            f"A normal target is over numbers, and {values.name!r} is categorical.",
            attempt='"uniform" or { zipf = ... }.',
        )
    else:
        density = np.exp(
            -(
                (
                    (values.positions - float(parse_fraction(parameters["mean"], "mean")))
                    / float(parse_fraction(parameters["std"], "std"))
                )
                ** 2
            )
            / 2
        )
    peak = density.max()
    if not peak > 0:
        raise JobError(
            "The normal target has no mass on the domain.",
            why="Its mean lies too many deviations away.",
            attempt="a mean within the domain, or a greater std.",
        )
    return np.maximum(np.round(density / peak * CURVE_SCALE), 1).astype(np.int64)


def _to_whole_masses(weights: Sequence[Fraction]) -> np.ndarray:
    """Scale weights to whole numbers: exact where that takes numbers below 2^40, else rounded to within 2^-40, none to 0."""
    unit = find_common_denominator(weights)
    total = sum(weights)
    if unit * total < MAX_MASS:
        return np.array([int(weight * unit) for weight in weights], np.int64)
    return np.array([max(int(weight * MAX_MASS / total), 1) if weight else 0 for weight in weights], np.int64)
