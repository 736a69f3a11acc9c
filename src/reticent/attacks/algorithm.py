"""Attack by an adversary who knows the algorithm (errata 4.5): what the method did *not* publish is informative too.

Definition 3.2 is about an adversary who does not know it.  For every different group of a transformed release the
attack computes the belief in each value of a person, beside the target.  It is exact without fakes
(`compute_counted_posterior`), and by enumeration where multisets are few (`compute_enumerated_posterior`); with fakes
beyond that it is sampled, with an interval.  Where the target of several groups is the exact distribution of the table,
its totals are known, and small tables are taken together (`compute_joint_posteriors`, errata 4.7).

Counted: which counts does algorithm 1 turn into what is published?  Beforehand each person's value is drawn from the
target.  Of a node that m values were passed to, and which passed on j for each unit of weight, algorithm 1 reveals of
the counts c_i below its children: all c_i >= j w_i and, unless (j + 1) W > m, some c_i < (j + 1) w_i.  Nothing else.
Each condition is about one node, so that the chance of a count below a node is a product over its children, summed up
from the leaves (inside) and handed back down (outside).  Counts are taken as Poisson with the target's means: given
their sum, that is the draw.  Sums are of non-negative numbers, in doubles.

Enumerated: every multiset of values behind a group is run through the method again.  With fakes algorithm 2 decides
what is published, and that has no short description: where the multisets are few each is tried, beyond that they are
drawn from the target and those that give the published group are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, factorial, prod
from typing import Any

import numpy as np

from reticent import html_repr
from reticent.attacks.scoring import CONTROL_KEYS, compute_wilson_interval
from reticent.errors import RequestError
from reticent.estimate.guaranteed_bounds import COUNT_COLUMN, GROUP_COLUMN, AnnotatedHierarchy, find_nodes
from reticent.methods.distribution.generalization import GroupValues, add_fakes, generalize_groups
from reticent.methods.distribution.value_domain import ValueTree
from reticent.models.rational_bounds import parse_fraction

CountBox = list[tuple[int, int]]  # for each child, the counts from .. to (excluded)
MAX_MULTISETS = 3_000
SAMPLE_DRAWS = 2_000
MethodRun = Callable[[np.ndarray], bytes]
MAX_EXACT_ROWS = 3_000  # of a group, for the exact posterior
MAX_DISTINCT_GROUPS = 400


def compute_counted_posterior(annotated: AnnotatedHierarchy, target: int, published: np.ndarray) -> np.ndarray:
    """Compute the belief in each value of one person of a group without fakes, exactly.

    `published[node]` values are generalized to each node.
    """
    shares = np.array([float(p) for p in annotated.probabilities[target]])
    weights = annotated.weights[target]
    parent = annotated.parent
    children = _list_children(parent)
    passed = published.copy()
    order = _order_top_down(children)
    for node in reversed(order):
        if parent[node] >= 0:
            passed[parent[node]] += passed[node]
    rows = int(passed[0])
    inside = [np.zeros(0)] * len(parent)
    for node in reversed(order):
        is_unconstrained = node not in children or passed[node] == 0
        inside[node] = (
            _compute_poisson(rows * shares[node], rows)
            if is_unconstrained
            else _compute_inside(node, children, weights, passed, published, inside)
        )
    outside: list[np.ndarray | None] = [None] * len(parent)
    outside[0] = np.eye(1, rows + 1, rows)[0]
    belief = np.zeros(len(annotated.texts))
    for node in order:
        outside_chance = outside[node]
        if outside_chance is None:  # below a node that nothing was passed to
            continue
        if node in children and passed[node] > 0:
            _compute_outside(node, children, weights, passed, published, inside, outside)
        else:
            mean = float((np.arange(rows + 1) * outside_chance * inside[node]).sum())
            _spread_over_leaves(belief, mean, annotated, target, node)
    return belief / belief.sum()


@dataclass(frozen=True, eq=False)
class GroupPosterior:
    """Posterior of a group: `low` and `high` are an interval for the greatest belief, equal to it where it is exact."""

    shares: np.ndarray
    low: float
    high: float
    how: str


def make_exact_posterior(shares: np.ndarray) -> GroupPosterior:
    return GroupPosterior(shares, float(shares.max()), float(shares.max()), "exact")


def list_multisets(rows: int, values: int) -> Iterator[tuple[int, ...]]:
    """List counts of each value that add up to `rows`."""
    if values == 1:
        yield (rows,)
        return
    for first in range(rows + 1):
        for rest in list_multisets(rows - first, values - 1):
            yield (first, *rest)


def compute_enumerated_posterior(
    rows: int, p: Sequence[float], published: bytes, run: MethodRun, rng: np.random.Generator
) -> GroupPosterior:
    """Compute the belief in each value by enumeration, each person's value drawn from p beforehand."""
    possible = [value for value, share in enumerate(p) if share > 0]
    if comb(rows + len(possible) - 1, rows) > MAX_MULTISETS:
        return _estimate_posterior(rows, np.asarray(p), published, run, rng)
    total = np.zeros(len(p))
    for counts in list_multisets(rows, len(possible)):
        full = np.zeros(len(p), np.int64)
        full[possible] = counts
        if run(full) == published:
            chance = prod(p[value] ** count / factorial(count) for value, count in zip(possible, counts, strict=True))
            total += chance * full
    return make_exact_posterior(total / total.sum())


def compute_joint_posteriors(
    rows: Sequence[int], published: Sequence[bytes], runs: Sequence[MethodRun], totals: Sequence[int]
) -> list[np.ndarray] | None:
    """Compute the belief in each group when all groups together hold `totals`, every assignment of values to people being equally likely.

    None where there are too many multisets to try.
    """
    values = len(totals)
    if sum(comb(n + values - 1, n) for n in rows) > MAX_MULTISETS:
        return None
    options = []
    for n, published_bytes, run in zip(rows, published, runs, strict=True):
        fit = [c for c in list_multisets(n, values) if all(a <= b for a, b in zip(c, totals, strict=True))]
        options.append(
            [(c, factorial(n) // prod(map(factorial, c))) for c in fit if run(np.array(c)) == published_bytes]
        )
    return [_weigh_group_counts(group, options, totals) for group in range(len(options))]


@dataclass(frozen=True, eq=False)
class AlgorithmOutcome:
    """Outcome of the attack in shares of people.

    `beliefs[g]` are those in the values of group g's people, None where it was not looked at.
    """

    targets: int
    success: float
    low: float
    high: float
    baseline: float
    worst_posterior: float
    promised: float
    lift: float
    how: str
    beliefs: dict[int, np.ndarray] = field(repr=False)
    attack: str = "algorithm"

    def _repr_html_(self) -> str:
        return html_repr.render_attack(self)

    def to_dict(self) -> dict[str, Any]:
        names = (
            "attack",
            "targets",
            "success",
            "low",
            "high",
            "baseline",
            "worst_posterior",
            "promised",
            "lift",
            "how",
        )
        return {**{name: getattr(self, name) for name in names}, **dict.fromkeys(CONTROL_KEYS)}


def attack_by_algorithm(release: Any) -> AlgorithmOutcome:
    manifest = release.manifest
    if "targets" not in manifest.own:
        raise RequestError(
            "This attack knows how values are generalized to a target distribution; this release has no target.",
            attempt="another attack, or a transformed release.",
        )
    annotated = AnnotatedHierarchy.from_manifest(manifest)
    rows = np.bincount(release.tables["quasi"][GROUP_COLUMN].to_numpy())
    sensitive_table = release.tables["sensitive"]
    published = np.zeros((len(rows), len(annotated.first)), np.int64)
    np.add.at(
        published,
        (sensitive_table[GROUP_COLUMN].to_numpy(), find_nodes(annotated, sensitive_table)),
        sensitive_table[COUNT_COLUMN].to_numpy(),
    )
    target = annotated.find_targets(np.arange(len(rows)))
    groups = _TransformedGroups(
        annotated,
        published,
        rows,
        target,
        parse_fraction(manifest.method.parameters.get("fakes", 0)),
        manifest.sensitive.type == "numeric",
    )
    posteriors = groups.believe_jointly(manifest) or groups.believe_separately()
    return _make_algorithm_outcome(annotated, rows, target, posteriors)


def _list_children(parent: np.ndarray) -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for node, parent_node in enumerate(parent.tolist()):
        if parent_node >= 0:
            children.setdefault(parent_node, []).append(node)
    return children


def _order_top_down(children: dict[int, list[int]]) -> list[int]:
    """Order nodes, parents before children."""
    order = [0]
    for node in order:
        order += children.get(node, [])
    return order


def _compute_poisson(mean: float, rows: int) -> np.ndarray:
    chances = np.zeros(rows + 1)
    chances[0] = np.exp(-mean)
    for count in range(1, rows + 1):
        chances[count] = chances[count - 1] * mean / count
    return chances


def _compute_inside(
    node: int,
    children: dict[int, list[int]],
    weights: Sequence[int],
    passed: np.ndarray,
    published: np.ndarray,
    inside: list[np.ndarray],
) -> np.ndarray:
    rows = int(passed[0])
    total = np.zeros(rows + 1)
    for box in _generate_boxes(node, children, weights, passed, published):
        chances = np.eye(1, rows + 1)[0]
        for child, span in zip(children[node], box, strict=True):
            chances = np.convolve(chances, _cut_to_span(inside[child], span))[: rows + 1]
        total += chances
    return total


def _compute_outside(
    node: int,
    children: dict[int, list[int]],
    weights: Sequence[int],
    passed: np.ndarray,
    published: np.ndarray,
    inside: list[np.ndarray],
    outside: list[np.ndarray | None],
) -> None:
    """Compute what the rest of the tree implies for each count below a child."""
    rows = int(passed[0])
    node_children = children[node]
    outside_chance = outside[node]
    assert outside_chance is not None
    for child in node_children:
        outside[child] = np.zeros(rows + 1)
    for box in _generate_boxes(node, children, weights, passed, published):
        cut = [_cut_to_span(inside[child], span) for child, span in zip(node_children, box, strict=True)]
        for child_index, child in enumerate(node_children):
            others = np.eye(1, rows + 1)[0]
            for other, values in enumerate(cut):
                if other != child_index:
                    others = np.convolve(others, values)[: rows + 1]
            passed_down = np.convolve(np.asarray(outside[node])[::-1], others)[: rows + 1][::-1]
            outside[child] += _cut_to_span(passed_down, box[child_index])


def _spread_over_leaves(belief: np.ndarray, mean: float, annotated: AnnotatedHierarchy, target: int, node: int) -> None:
    """Spread by the target below a node that nothing was passed to."""
    first = int(annotated.first[node])
    last = int(annotated.last[node])
    below = annotated.float_probabilities[target][first : last + 1]
    if below.sum() > 0:
        belief[first : last + 1] += mean * below / below.sum()


def _estimate_posterior(
    rows: int, p: np.ndarray, published: bytes, run: MethodRun, rng: np.random.Generator
) -> GroupPosterior:
    matching_draws = [counts for counts in rng.multinomial(rows, p / p.sum(), SAMPLE_DRAWS) if run(counts) == published]
    if not matching_draws:
        return GroupPosterior(p / p.sum(), 0.0, 1.0, "unknown")
    shares = np.sum(matching_draws, axis=0) / (rows * len(matching_draws))
    # People of one draw are not independent: the interval counts draws, not people.
    low, high = compute_wilson_interval(round(float(shares.max()) * len(matching_draws)), len(matching_draws))
    return GroupPosterior(shares, low, high, "sampled")


def _weigh_group_counts(
    group: int, options: Sequence[Sequence[tuple[tuple[int, ...], int]]], totals: Sequence[int]
) -> np.ndarray:
    """Weigh one group's counts by the ways to fill all others with the rest."""
    ways: dict[tuple[int, ...], int] = {tuple(totals): 1}
    for other, option in enumerate(options):
        if other == group:
            continue
        next_ways: dict[tuple[int, ...], int] = {}
        for remaining, way in ways.items():
            for counts, weight in option:
                next_remaining = tuple(a - b for a, b in zip(remaining, counts, strict=True))
                if min(next_remaining) >= 0:
                    next_ways[next_remaining] = next_ways.get(next_remaining, 0) + way * weight
        ways = next_ways
    total = np.zeros(len(totals))
    for counts, weight in options[group]:
        total += weight * ways.get(counts, 0) * np.array(counts)
    return total / total.sum() if total.sum() else total


@dataclass(frozen=True, eq=False)
class _TransformedGroups:
    annotated: AnnotatedHierarchy
    published: np.ndarray
    rows: np.ndarray
    target: np.ndarray
    fakes: Any
    numeric: bool

    def believe_separately(self) -> dict[int, GroupPosterior]:
        """Compute beliefs of each different group by itself, the target being what was believed beforehand."""
        posterior_by_key: dict[tuple[int, int, bytes], GroupPosterior] = {}
        posteriors = {}
        rng = np.random.default_rng(1)
        for group in np.argsort(self.rows, kind="stable").tolist():
            key = (int(self.target[group]), int(self.rows[group]), self.published[group].tobytes())
            if key not in posterior_by_key:
                if len(posterior_by_key) >= MAX_DISTINCT_GROUPS:
                    continue
                posterior_by_key[key] = self._believe_group(group, rng)
            posteriors[group] = posterior_by_key[key]
        return posteriors

    def _believe_group(self, group: int, rng: np.random.Generator) -> GroupPosterior:
        rows = int(self.rows[group])
        target = int(self.target[group])
        if not self._count_allowed_fakes(rows) and rows <= MAX_EXACT_ROWS:
            return make_exact_posterior(compute_counted_posterior(self.annotated, target, self.published[group]))
        p = self.annotated.float_probabilities[target].tolist()
        return compute_enumerated_posterior(
            rows, p, self.published[group].tobytes(), self.run(target, self._count_allowed_fakes(rows)), rng
        )

    def believe_jointly(self, manifest: Any) -> dict[int, GroupPosterior] | None:
        """Compute beliefs of all groups together where the totals of the table are known and the multisets are few."""
        promise: Mapping[str, Any] = next((p.parameters for p in manifest.promises if p.name == "p-privacy"), {})
        if promise.get("target") != "source" or not promise.get("exact") or len(self.rows) < 2:
            return None
        row_count = int(self.rows.sum())
        totals = [int(share * row_count) for share in self.annotated.distribution(0)]
        runs = [
            self.run(int(t), self._count_allowed_fakes(int(n))) for t, n in zip(self.target, self.rows, strict=True)
        ]
        shares = compute_joint_posteriors(self.rows.tolist(), [row.tobytes() for row in self.published], runs, totals)
        return None if shares is None else {group: make_exact_posterior(share) for group, share in enumerate(shares)}

    def _count_allowed_fakes(self, rows: int) -> int:
        """Count the fakes that the method may add to a group."""
        return int(self.fakes) if self.fakes >= 1 else int(rows * self.fakes)

    def run(self, target: int, max_fakes: int) -> MethodRun:
        """Return the method as a function of a group's counts, which gives the nodes it would publish."""
        annotated = self.annotated
        order = np.lexsort((annotated.first, _compute_depths(annotated.parent)))
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        parent = annotated.parent[order]
        above = np.where(parent >= 0, number[np.maximum(parent, 0)], -1)
        tree = ValueTree(
            annotated.first[order], annotated.last[order], above, _compute_ranges(annotated, self.numeric)[order]
        )
        weights = np.array(annotated.weights[target], np.int64)[order]

        def publish_counts(counts: np.ndarray) -> bytes:
            published = np.zeros(len(order), np.int64)
            present = np.flatnonzero(counts)
            if max_fakes:
                nodes = add_fakes(np.asarray(counts, np.int64), tree, weights, max_fakes).nodes
            else:
                group_values = GroupValues(np.array([0, len(present)]), present, np.asarray(counts, np.int64)[present])
                nodes = generalize_groups(group_values, tree, weights)[:, 1:]
            published[order[nodes[:, 0]]] = nodes[:, 1]
            return published.tobytes()

        return publish_counts


def _make_algorithm_outcome(
    annotated: AnnotatedHierarchy, rows: np.ndarray, target: np.ndarray, posteriors: dict[int, GroupPosterior]
) -> AlgorithmOutcome:
    people = sum(int(rows[group]) for group in posteriors)
    worst = max(posteriors.values(), key=lambda posterior: float(posterior.shares.max()))
    guessed = (
        float(sum(rows[group] * float(posterior.shares.max()) for group, posterior in posteriors.items())) / people
    )
    baseline = (
        float(sum(rows[group] * annotated.float_probabilities[target[group]].max() for group in posteriors)) / people
    )
    floats = annotated.float_probabilities
    lifts = []
    for group, posterior in posteriors.items():
        prior = floats[target[group]]
        lifts.append(float(np.max(np.where(prior > 0, posterior.shares / np.where(prior > 0, prior, 1), 0))))
    posterior_kinds = {posterior.how for posterior in posteriors.values()}
    description = next((kind for kind in ("unknown", "sampled") if kind in posterior_kinds), "exact")
    description += "" if len(posteriors) == len(rows) else f", {len(posteriors)} of {len(rows)} groups"
    return AlgorithmOutcome(
        people,
        guessed,
        worst.low,
        worst.high,
        baseline,
        float(worst.shares.max()),
        float(floats.max()),
        max(lifts),
        description,
        {group: posterior.shares for group, posterior in posteriors.items()},
    )


def _generate_boxes(
    node: int, children: dict[int, list[int]], weights: Sequence[int], passed: np.ndarray, published: np.ndarray
) -> Iterator[CountBox]:
    """Yield the counts below the children that give what is published, as boxes that do not overlap."""
    node_children = children[node]
    rows = int(passed[0])
    units = [weights[child] for child in node_children]
    total_weight = sum(units)
    j = int(passed[node] - published[node]) // total_weight
    if (j + 1) * total_weight > passed[node]:
        yield [(j * unit, rows + 1) for unit in units]
        return
    for first, unit in enumerate(units):  # the first child that has too few for one unit more
        if unit:
            yield [
                *(((j + 1) * before, rows + 1) for before in units[:first]),
                (j * unit, (j + 1) * unit),
                *((j * after, rows + 1) for after in units[first + 1 :]),
            ]


def _cut_to_span(values: np.ndarray, span: tuple[int, int]) -> np.ndarray:
    cut = np.zeros_like(values)
    cut[span[0] : span[1]] = values[span[0] : span[1]]
    return cut


def _compute_depths(parent: np.ndarray) -> np.ndarray:
    depths = np.zeros(len(parent), np.int64)
    for node, ancestor in enumerate(parent.tolist()):
        while ancestor >= 0:
            depths[node] += 1
            ancestor = int(parent[ancestor])
    return depths


def _compute_ranges(annotated: AnnotatedHierarchy, numeric: bool) -> np.ndarray:
    """Compute ranges as the method measures nodes: numbers by their ends, categories by how many they are."""
    if not numeric:
        size = (annotated.last - annotated.first + 1).astype(np.float64)
        return np.where(size > 1, size, 0.0)
    place = np.array([float(text) for text in annotated.texts])
    return place[annotated.last] - place[annotated.first]
