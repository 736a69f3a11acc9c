"""(B,t)-privacy and its skyline (Li, Li & Zhang, ICDE 2009, definitions 1 and 2), recomputed.

The greatest risk of anybody must be `<= t`.

The judges need the source: prior beliefs are estimated from it. Beside the risk by the inference that was promised they
report `t_exact`, the greatest risk by exact inference (equations 3 and 4) over the groups small enough for it, and
`exact_share`, the share of people in these groups: the Omega-estimate can be far below exact (table III of the paper).
Where `t_exact` exceeds t, that is said in the audit's headline.

A promise whose bandwidths the table chose (`bandwidth_by`) is broken where another bandwidth of the grid, next to that
of one column, predicts held-out people better: the statement would be false.

A group whose risk doubles leave in doubt is decided with more digits: fifty, and twice as many until it is decided. A
risk computed with d digits is within `roundings` units of the last of them, 10^(1 - d), of the true one: the same count
of operations that bounds the error of doubles. The group is decided where that interval lies on one side of t. What the
most digits leave in doubt, such as an exact tie, counts as broken: against the publisher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import NEEDS_SOURCE, Evidence, Judgement
from reticent.audit.measure.background_beliefs import (
    INFERENCE_ROUNDS,
    BeliefTable,
    DistanceAxis,
    GroupedPeople,
    bound_error,
    compute_distances,
    compute_divergence,
    compute_kernel_weight,
    compute_kernel_weights,
    compute_posteriors,
    compute_priors,
    count_roundings,
    locate_bucketed_people,
    locate_people,
    smooth_beliefs,
    sum_weights,
)
from reticent.audit.measure.counts import parse_parameter
from reticent.catalogue import OTHER_COLUMNS
from reticent.catalogue.promise_fields import BANDWIDTH_CHOICES
from reticent.data.columns import Role
from reticent.errors import BundleDamaged
from reticent.exact_arithmetic import as_ratio
from reticent.kernels.audit_assignments import compute_beliefs

DIGIT_STEPS = (50, 100, 200, 400)
LIMIT_ROUNDINGS = 8  # roundings of t in bits and of the comparison itself
DecimalMatrix = list[list[Decimal]]
MAX_STATES = 1 << 14
MAX_PEOPLE = 64  # of a group
MAX_STATES_IN_ALL = 1 << 22  # states computed altogether, each with all of its values
LN2 = 0.6931471805599453
MAX_CHOSEN_VALUES = 4096  # of a column: of one with more, a bandwidth of 0 or "whole" is chosen
MIN_CHOICE_GAIN = (
    1e-5  # bits by which another bandwidth must predict better to be the better choice: more than rounding
)
MAX_DIGIT_PAIRS = 1 << 20  # pairs of points recomputed with more digits at most


def judge_bt(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge (B,t)-privacy of one adversary."""
    return _judge_points(parameters, [parameters], evidence, column, lambda risks: risks[0])


def judge_skyline(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge (B,t)-privacy of each adversary of a skyline."""
    return _judge_points(parameters, list(parameters["points"]), evidence, column, list)


@dataclass(eq=False)
class KernelAdversary:
    """One adversary on one view of the people: its priors, and the risk of each group."""

    parameters: Mapping[str, Any]
    bandwidths: list[Any]
    view: GroupedPeople

    def __post_init__(self) -> None:
        view = self.view
        kernel = self.parameters.get("kernel", "epanechnikov")
        self.rounds = INFERENCE_ROUNDS[self.parameters.get("posterior", "omega")]
        order = np.argsort(view.group, kind="stable")
        starts = np.searchsorted(view.group[order], np.arange(len(view.published_counts)))
        self.table = BeliefTable(view.codes[order], view.value_counts[order], starts, view.published_counts)
        self.axes = [
            compute_kernel_weights(axis, bandwidth, kernel)
            for axis, bandwidth in zip(view.axes, self.bandwidths, strict=True)
        ]
        self.prior, self.terms = compute_priors(self.table, self.axes)
        self.smooth = self._make_smoothing(kernel)
        self.risk = np.zeros(len(view.published_counts))
        for groups, points in self.table.pieces():
            after = compute_posteriors(self.table, self.prior, groups, points, self.rounds)
            moved = compute_divergence(
                smooth_beliefs(self.prior[points], self.smooth), smooth_beliefs(after, self.smooth)
            )
            self.risk[groups] = np.maximum.reduceat(moved, self.table.starts[groups] - points.start)

    @property
    def worst(self) -> float:
        return float(self.risk.max(initial=0.0))

    def _make_smoothing(self, kernel: str) -> np.ndarray | None:
        distances = self._value_distances
        width = parse_parameter(self.parameters.get("smoothing", 0))
        if distances is None:
            return None
        weights = np.array(
            [
                [float(compute_kernel_weight(d, width, kernel, i == j)) for j, d in enumerate(row)]
                for i, row in enumerate(distances)
            ]
        )
        return weights / weights.sum(axis=1, keepdims=True)

    @cached_property
    def _value_distances(self) -> list[list[Fraction]] | None:
        """The distances between the sensitive values; None where nothing is smoothed."""
        entry = self.view.entry
        if parse_parameter(self.parameters.get("smoothing", 0)) == 0 or entry is None:
            return None
        values = pl.Series(self.view.values, dtype=pl.String)
        labels = [value for value in self.view.values if value is not None]
        axis = compute_distances(
            entry.with_changes(values=labels), values, labels, self.parameters.get("distances") or {}, True
        )
        return [[axis.get_distance(i, j) for j in range(len(values))] for i in range(len(values))]

    def keeps(self, t: Fraction) -> bool:
        """Whether risk <= t for everybody: by doubles and, where their error leaves a doubt, by more digits."""
        base = str(self.parameters.get("base", 2))
        if base == "2" and t >= 1:
            return True
        limit = float(t) if base == "2" else float(t) / LN2
        sizes = np.diff(np.append(self.table.starts, len(self.table.codes)))
        terms = self.terms + 40 * len(self.axes)  # those that a prior adds up, and the roundings of a weight
        margin = bound_error(terms, sizes, self.table.value_counts.shape[1], self.rounds)
        if (self.risk - margin > limit).any():
            return False
        return all(self._decide_closely(int(g), t, base) for g in np.flatnonzero(self.risk + margin > limit))

    def _decide_closely(self, group: int, t: Fraction, base: str) -> bool:
        """Decide with more digits whether a group's risk is at most t; one that is too large counts as broken."""
        table = self.table
        kernel = self.parameters.get("kernel", "epanechnikov")
        width = self.parameters.get("smoothing", 0)
        points = np.flatnonzero(table.group == group)
        if len(points) * len(table.codes) > MAX_DIGIT_PAIRS:
            return False
        people = table.people[points].tolist()
        published = table.published_counts[group].tolist()

        def risk() -> Decimal:
            prior = [
                compute_decimal_prior(table, self.view.axes, self.bandwidths, kernel, point)
                for point in points.tolist()
            ]
            matrix = None
            if self._value_distances is not None:
                matrix = compute_decimal_smoothing(self._value_distances, parse_parameter(width), kernel)
            return compute_decimal_risk(prior, people, published, matrix, self.rounds)

        terms = 8 * len(self.view.axes) + len(table.codes) + 1  # weights and their product, times a count, added up
        return is_risk_within(risk, t, base, int(count_roundings(terms, len(points), len(published), self.rounds)))


def compute_exact_risk(table: BeliefTable, prior: np.ndarray, smooth: np.ndarray | None) -> tuple[float, float]:
    """Compute the greatest risk in bits by exact inference, and the share of the people it is over.

    Groups with fewest states come first, within the work limit.
    """
    sizes = table.published_counts.sum(axis=1)
    with np.errstate(over="ignore"):
        states = np.exp(np.log1p(table.published_counts).sum(axis=1))
    able = np.flatnonzero((states <= MAX_STATES) & (sizes <= MAX_PEOPLE) & (sizes > 0))
    able = able[np.argsort(states[able], kind="stable")]
    able = able[np.cumsum(states[able]) <= MAX_STATES_IN_ALL]
    if not len(able):
        return 0.0, 0.0
    chosen = np.zeros(len(table.published_counts), bool)
    chosen[able] = True
    point = np.flatnonzero(chosen[table.group])
    person = np.repeat(point, table.people[point]).astype(np.int32)
    groups = np.flatnonzero(chosen)
    begin = np.append(0, np.cumsum(sizes[groups])).astype(np.int64)
    if begin[-1] != len(person):
        return 0.0, 0.0
    highest = prior.max(axis=1, keepdims=True)
    beliefs = np.zeros((len(person), prior.shape[1]))
    is_computed = np.zeros(len(groups), np.int8)
    of_group, value = np.nonzero(table.published_counts[groups])
    first = np.searchsorted(of_group, np.arange(len(groups) + 1)).astype(np.int64)
    value_counts = np.column_stack([value, table.published_counts[groups][of_group, value]]).astype(np.int64)
    compute_beliefs(
        begin,
        person,
        first,
        value_counts,
        np.ascontiguousarray(prior / highest),
        np.zeros((4, MAX_STATES * 2)),
        is_computed,
        beliefs,
    )
    is_decided = np.repeat(is_computed.astype(bool), np.diff(begin))
    if not is_decided.any():
        return 0.0, 0.0
    moved = compute_divergence(
        smooth_beliefs(prior[person[is_decided]], smooth), smooth_beliefs(beliefs[is_decided], smooth)
    )
    return float(moved.max()), float(is_decided.sum() / table.people.sum())


def is_risk_within(risk: Callable[[], Decimal], t: Fraction, base: str, roundings: int) -> bool:
    """Whether the risk in bits, computed in the precision of the context, is at most t."""
    for digits in DIGIT_STEPS:
        with localcontext(Context(prec=digits)):
            computed = risk()
            bound = Decimal(roundings + LIMIT_ROUNDINGS).scaleb(1 - digits)
            limit = convert_to_decimal(t) if base == "2" else convert_to_decimal(t) / Decimal(2).ln()
            if computed + bound <= limit:
                return True
            if computed - bound > limit:
                return False
    return False


def convert_to_decimal(x: Any) -> Decimal:
    if not isinstance(x, Fraction):
        return Decimal(x)
    numerator, denominator = as_ratio(x)
    return Decimal(numerator) / Decimal(denominator)


def compute_decimal_weight(distance: Fraction, bandwidth: Any, kernel: str, is_same: bool) -> Decimal:
    """Compute a kernel weight within six units: the Gaussian's exponent, at most 4.5, multiplies its error by as much."""
    if kernel == "gaussian" and bandwidth not in ("whole", 0) and not is_same and distance < bandwidth:
        return (-convert_to_decimal(Fraction(9, 2) * (distance / bandwidth) ** 2)).exp()
    return convert_to_decimal(compute_kernel_weight(distance, bandwidth, kernel, is_same))


def compute_decimal_prior(
    table: BeliefTable, axes: Sequence[DistanceAxis], bandwidths: Sequence[Any], kernel: str, point: int
) -> list[Decimal]:
    """Compute equation 2 at a point, over all others."""
    total = [Decimal(0)] * table.value_counts.shape[1]
    for other in range(len(table.codes)):
        product = Decimal(1)
        for axis, bandwidth, code, other_code in zip(
            axes, bandwidths, table.codes[point], table.codes[other], strict=True
        ):
            d = Fraction(1) if bandwidth in ("whole", 0) else axis.get_distance(code, other_code)
            product *= compute_decimal_weight(d, bandwidth, kernel, code == other_code)
            if not product:
                break
        for value in np.flatnonzero(table.value_counts[other]) if product else ():
            total[value] += product * int(table.value_counts[other, value])
    return [x / sum(total) for x in total]


def compute_decimal_smoothing(
    distances: Sequence[Sequence[Fraction]], bandwidth: Fraction, kernel: str
) -> DecimalMatrix:
    """Compute the smoothing matrix; each row adds up to 1."""
    rows = [
        [compute_decimal_weight(d, bandwidth, kernel, i == j) for j, d in enumerate(row)]
        for i, row in enumerate(distances)
    ]
    return [[x / sum(row) for x in row] for row in rows]


def compute_decimal_risk(
    prior: DecimalMatrix, people: Sequence[int], published: Sequence[int], matrix: DecimalMatrix | None, rounds: int
) -> Decimal:
    """Compute the greatest risk of a group in bits."""
    values = range(len(published))
    share = [Decimal(n) for n in people]
    for _ in range(rounds):
        column = [sum((s * p[v] for s, p in zip(share, prior, strict=True)), Decimal(0)) for v in values]
        ratio = [published[v] / column[v] if column[v] else Decimal(0) for v in values]
        row = [sum((ratio[v] * p[v] for v in values), Decimal(0)) for p in prior]
        share = [n / r if r else Decimal(0) for n, r in zip(people, row, strict=True)]
    worst = Decimal(0)
    for p, r in zip(prior, row, strict=True):
        pair = [list(p), [ratio[v] * p[v] / r if r else Decimal(published[v]) / sum(published) for v in values]]
        if matrix is not None:
            pair = [
                [sum((w * x for w, x in zip(line, belief, strict=True)), Decimal(0)) for line in matrix]
                for belief in pair
            ]
            pair = [[x / sum(belief) for x in belief] for belief in pair]
        total = sum((x * (2 * x / (a + b)).ln() for a, b in zip(*pair, strict=True) for x in (a, b) if x), Decimal(0))
        worst = max(worst, total / (2 * Decimal(2).ln()))
    return worst


def _judge_points(
    parameters: Mapping[str, Any], points: list[Any], evidence: Evidence, column: str | None, form: Any
) -> Judgement:
    """Judge each point, an adversary's bandwidth and t; `form` makes of the points' risks what is reported."""
    is_labelled = evidence.published is not None and evidence.published.labelled
    if not is_labelled and evidence.grouped is None:
        raise BundleDamaged(
            "(B,t)-privacy and its skyline are judged on generalized and anatomized rows alone.",
            why="They are about who is in which group and what the group lists, and this release shows no such groups.",
            attempt=evidence.suggest_promise(),
        )
    if any(point["bandwidth"] == "auto" for point in points):
        raise BundleDamaged(
            'A promise of (B,t)-privacy has the bandwidth "auto", which is no adversary.',
            why="A release states the bandwidths that its table chose.",
            attempt="the promise with these numbers.",
        )
    if evidence.source is None:
        return Judgement({}, None, NEEDS_SOURCE)
    is_chosen = parameters.get("bandwidth_by") == "held-out"
    compared = _find_choosable_columns(evidence) if is_chosen else _find_compared_columns(points, evidence)
    locate = locate_people if is_labelled else locate_bucketed_people
    people = locate(evidence, column, parameters.get("distances") or {}, compared)
    if people is None:
        return Judgement({"t": None, "membership": "shared"}, False)
    scale = 1.0 if str(parameters.get("base", 2)) == "2" else LN2
    risks = []
    exact_risks = []
    exact_share = 1.0
    kept = True
    for point in points:
        t = parse_parameter(point["t"])
        worst = 0.0
        exact_worst = 0.0
        for view in _list_people_views(people):
            adversary = KernelAdversary(parameters, list_bandwidths(point["bandwidth"], view), view)
            kept &= adversary.keeps(t)
            exact_risk, share = compute_exact_risk(adversary.table, adversary.prior, adversary.smooth)
            worst = max(worst, adversary.worst)
            exact_worst = max(exact_worst, exact_risk)
            exact_share = min(exact_share, share)
        risks.append(worst * scale)
        exact_risks.append(exact_worst * scale)
    achieved = {"t": form(risks), "t_exact": form(exact_risks), "exact_share": exact_share}
    if is_chosen:
        bandwidths = list_bandwidths(points[0]["bandwidth"], people)
        achieved["bandwidth_is_best"] = is_best_choice(people, bandwidths, parameters.get("kernel", "epanechnikov"))
        kept &= achieved["bandwidth_is_best"]
    return Judgement(achieved, kept, caveat=_describe_exact_excess(parameters, points, exact_risks, exact_share))


def is_best_choice(people: GroupedPeople, bandwidths: Sequence[Any], kernel: str) -> bool:
    """Whether held-out people are predicted no better with another bandwidth next to that of one column.

    Next to it are the bandwidths of `BANDWIDTH_CHOICES` that are the nearest, on either side, to give other weights. A
    bandwidth that is none of them was not chosen from them.
    """
    table = BeliefTable(people.codes, people.value_counts, np.zeros(1, np.int64), people.published_counts[:1])

    def weigh(axis: int, bandwidth: Any) -> np.ndarray | None:
        return compute_kernel_weights(people.axes[axis], bandwidth, kernel)

    weights = [weigh(axis, bandwidth) for axis, bandwidth in enumerate(bandwidths)]
    score = compute_held_out_score(table, weights)
    for axis, bandwidth in enumerate(bandwidths):
        is_comparable = len(people.axes[axis].levels) > 0
        choices = [choice for choice in BANDWIDTH_CHOICES if is_comparable or choice in (0, "whole")]
        if bandwidth not in choices:
            return False
        position = choices.index(bandwidth)
        for side in (choices[:position][::-1], choices[position + 1 :]):
            other = next(
                (w for w in (weigh(axis, choice) for choice in side) if _differ(w, weights[axis])), weights[axis]
            )
            changed = [*weights[:axis], other, *weights[axis + 1 :]]
            if compute_held_out_score(table, changed) > score + MIN_CHOICE_GAIN:
                return False
    return True


def compute_held_out_score(table: BeliefTable, weights: Sequence[np.ndarray | None]) -> float:
    """Compute the mean log2 of what the others believe of each person's own value.

    One more person is like all the others. Whoever is the only one with their value is left out.
    """
    whole_axes = [np.ones((1, 1)) if w is not None and w.shape == (1, 1) else w for w in weights]
    sums, _ = sum_weights(table, whole_axes)
    holders = table.value_counts.sum(axis=0)
    point, value = np.nonzero(np.where(holders > 1, table.value_counts, 0))
    if not len(point):
        return 0.0
    others = np.maximum(sums[point, value] - 1, 0) + (holders[value] - 1) / (holders.sum() - 1)
    people = table.value_counts[point, value]
    return float((people * np.log2(others / sums.sum(axis=1)[point])).sum() / people.sum())


def _differ(weights: np.ndarray | None, others: np.ndarray | None) -> bool:
    """Whether two kernels give some two values another weight; None gives weight to equal values alone."""
    if weights is None or others is None:
        given = others if weights is None else weights
        return given is not None and (given.shape == (1, 1) or np.count_nonzero(given) != len(given))
    return weights.shape != others.shape or not np.array_equal(weights, others)


def _describe_exact_excess(
    parameters: Mapping[str, Any], points: list[Any], exact_risks: list[float], exact_share: float
) -> str:
    """Describe by how much exact inference exceeds a promised t; "" where it does not."""
    excesses = [
        (risk, parse_parameter(point["t"]))
        for point, risk in zip(points, exact_risks, strict=True)
        if risk > parse_parameter(point["t"])
    ]
    if not excesses:
        return ""
    risk, t = max(excesses, key=lambda excess: excess[0] - float(excess[1]))
    return (
        f"who infers exactly moves a belief by {risk:.4f}, more than t = {float(t):g}, which is kept for inference by "
        f"{parameters.get('posterior', 'omega')} (exact inference was computed for {exact_share:.0%} of the people)"
    )


def _find_choosable_columns(evidence: Evidence) -> set[str]:
    """Find the quasi-identifiers of which every bandwidth can be tried: those without too many values."""
    assert evidence.source is not None
    frame = evidence.source.frame
    return {
        entry.name
        for entry in evidence.columns
        if entry.role == Role.QUASI and 1 < frame[entry.name].n_unique() <= MAX_CHOSEN_VALUES
    }


def _find_compared_columns(points: list[Any], evidence: Evidence) -> set[str]:
    """Find the columns in which some adversary compares different values."""
    compared = set()
    for point in points:
        for name in [entry.name for entry in evidence.columns]:
            bandwidth = point["bandwidth"]
            if isinstance(bandwidth, Mapping):
                bandwidth = bandwidth.get(name, bandwidth.get(OTHER_COLUMNS, 0))
            if bandwidth != "whole" and parse_parameter(bandwidth) != 0:
                compared.add(name)
    return compared


def _list_people_views(people: GroupedPeople) -> list[GroupedPeople]:
    """List the views to judge: all people and, where some sensitive values are missing, the people whose value is not."""
    null = people.null
    if null < 0:
        return [people]
    known_counts = np.delete(people.value_counts, null, axis=1)
    if not people.value_counts[:, null].any() or not known_counts.any():
        return [people]
    published = np.delete(people.published_counts, null, axis=1)
    has_known = known_counts.any(axis=1)
    values = [value for value in people.values if value is not None]
    _, group = np.unique(people.group[has_known], return_inverse=True)
    published_groups = published[np.unique(people.group[has_known])]
    return [
        people,
        GroupedPeople(
            people.axes,
            people.codes[has_known],
            known_counts[has_known],
            group.reshape(-1),
            published_groups,
            values,
            people.entry,
        ),
    ]


def list_bandwidths(bandwidths: Any, view: GroupedPeople) -> list[Any]:
    """List the bandwidth of each axis, "whole" or a number."""
    names = [axis.name for axis in view.axes]
    if isinstance(bandwidths, Mapping):
        # a quasi-identifier may itself be called so: then the entry is its own, and no default
        remaining = None if OTHER_COLUMNS in names else bandwidths.get(OTHER_COLUMNS)
        by_axis = [bandwidths.get(name, remaining) for name in names]
    else:
        by_axis = [bandwidths] * len(names)
    if None in by_axis:
        raise BundleDamaged(
            "A promise of (B,t)-privacy lacks a bandwidth.",
            why=f"It has none for {names[by_axis.index(None)]!r}, and no default.",
        )
    return [bandwidth if bandwidth == "whole" else parse_parameter(bandwidth) for bandwidth in by_axis]
