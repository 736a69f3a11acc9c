"""Background knowledge attack (Li, Li & Zhang, ICDE 2009, section V-A): who learns how much from any table of groups?

The adversary has prior beliefs about everybody (section II-D): by kernel estimation at a bandwidth, uniform (the
ignorant one), or listed in a file; knows the quasi-identifiers of all and so who is in which group; and infers.  The
risk of a person is how far the belief about them moved: by the divergence of the promise ("js"), or by those that the
paper compares it with in section IV-B, "kl" (in bits; infinite where the release rules out a value that was believed
possible) and "emd" (over the steward's hierarchy of sensitive values, their order, or equal distances).  Where labels overlap, a person is spread over the boxes that
cover them, in proportion to their density.

A file of beliefs has the quasi-identifiers, the sensitive column and `belief`.  "Tom does not have cancer" is one row
with a belief of 0; what is not listed for a person keeps its proportions.  People in the file must be in the table:
elsewhere a prior is undefined, not 0 (errata 3.9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.scoring import AttackOutcome, score_guesses
from reticent.attacks.target import AttackTarget
from reticent.data.domain import Domain, TreeDomain
from reticent.data.source import Source, collect_frame, scan_source
from reticent.errors import RequestError, pluralize, quote_list, shorten_text
from reticent.labels.adversary_view import Boxes
from reticent.limits import is_moderate_number
from reticent.models.background_knowledge import bt_privacy
from reticent.models.background_knowledge.adversary import (
    DOUBLE_ROUNDING_UNIT,
    BackgroundAdversary,
    BackgroundKnowledge,
    bound_rounding_units,
)
from reticent.models.background_knowledge.bandwidth_choice import choose_bandwidths
from reticent.models.background_knowledge.distances import is_ordered
from reticent.models.background_knowledge.posteriors import (
    POSTERIOR_ROUNDS,
    compute_exact_posteriors,
    compute_js_divergence,
    compute_kl_divergence,
    compute_scaled_posteriors,
    smooth_beliefs,
)
from reticent.models.promise import exclude_value, list_excluded_values
from reticent.models.t_closeness import make_emd_function

BELIEF_COLUMN = "belief"
MAX_BOXES_PER_PERSON = 16  # boxes a person may belong to
RISK_BINS = 20
DIVERGENCES = ("js", "kl", "emd")
LN2 = 0.6931471805599453


def compute_prior_beliefs(target: AttackTarget, adversary: BackgroundAdversary, prior: Any) -> np.ndarray:
    """Compute the prior beliefs, (points, values)."""
    if isinstance(prior, str) and prior == "kernel":
        return adversary.prior
    if isinstance(prior, str) and prior == "uniform":
        occurs = np.zeros(adversary.values, bool)
        occurs[np.unique(adversary.entries[:, 1])] = True
        return np.where(adversary.people[:, None] > 0, occurs / occurs.sum(), 0.0)
    return _apply_listed_beliefs(target, adversary.prior.copy(), _read_prior(prior), adversary.without)


@dataclass(frozen=True, eq=False)
class BackgroundOutcome(AttackOutcome):
    """Outcome of an attack with the risk: `vulnerable` people are above `t`."""

    details: Mapping[str, Any] = field(default_factory=dict)
    risks: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), **self.details}


@dataclass(frozen=True, eq=False)
class GroupEntries:
    """People by point and group: `people` of a `point` in a `group`, sorted by group.

    `shared` where a point lies under the labels of several.
    """

    point: np.ndarray
    group: np.ndarray
    people: np.ndarray
    shared: bool


def attack_by_background_knowledge(
    target: AttackTarget,
    *,
    bandwidth: Any = None,
    t: Any = None,
    smoothing: Any = None,
    posterior: str | None = None,
    prior: Any = "kernel",
    kernel: str | None = None,
    distances: Any = None,
    divergence: str = "js",
) -> BackgroundOutcome:
    """Attack as the adversaries of the options, or as those that the release's promises are about."""
    promised = next((p.parameters for p in target.promises if p.name in ("bt-privacy", "skyline")), {})
    adversary_points = _list_adversary_points(promised, bandwidth, t, prior)
    knowledge_options = {"smoothing": smoothing, "kernel": kernel, "posterior": posterior, "distances": distances}
    settings = {"smoothing": 0, "kernel": "epanechnikov", "posterior": "omega", "distances": None, "base": 2}
    settings |= {name: promised[name] for name in settings if name in promised}
    settings |= {name: value for name, value in knowledge_options.items() if value is not None}
    inference = bt_privacy.parse_inference(settings["posterior"])
    measure = parse_divergence(divergence)
    kernel_name = bt_privacy.parse_kernel(settings["kernel"])
    width_over_values = bt_privacy.parse_smoothing(settings["smoothing"])
    matrices = bt_privacy.parse_distance_matrices(settings["distances"]) or {}
    points = [(_choose_bandwidth(target, width, kernel_name, matrices), limit) for width, limit in adversary_points]
    entries = _list_entries(target)
    views = []
    for width, limit in points:
        knowledge = BackgroundKnowledge(width, kernel_name, width_over_values, matrices)
        scale = 1.0 if str(settings["base"]) == "2" or measure == "emd" else LN2
        views.append(_attack_as_adversary(target, entries, knowledge, inference, prior, measure, float(limit), scale))
    return _make_background_outcome(target, points, views, inference, measure, entries)


def parse_divergence(value: Any) -> str:
    """Parse how far a belief moved is measured: "js", "kl" or "emd"."""
    if value not in DIVERGENCES:
        raise RequestError(
            f"Unknown divergence {shorten_text(repr(value), 80)}.",
            attempt="js (Jensen-Shannon), kl (Kullback-Leibler, which may be infinite) or emd (earth mover's distance).",
        )
    return str(value)


def choose_ground_distance(domain: Domain) -> str:
    """Choose the distance over which the earth mover's distance moves beliefs: the steward's hierarchy, an order, or none."""
    if isinstance(domain, TreeDomain) and domain.is_from_steward:
        return "hierarchical"
    return "ordered" if is_ordered(domain) else "equal"


@dataclass(frozen=True, eq=False)
class AttackedView:
    belief: np.ndarray  # (points, values)
    risk: np.ndarray  # of each who
    people: np.ndarray  # people with that risk
    vulnerable: float
    exact_share: float


def _apply_listed_beliefs(
    target: AttackTarget, beliefs: np.ndarray, table: pl.DataFrame, excluded_value: int
) -> np.ndarray:
    names = [*(domain.name for domain in target.quasi), target.sensitive.name, BELIEF_COLUMN]
    if lacking := [name for name in names if name not in table.columns]:
        raise RequestError(
            f"The beliefs lack {pluralize(len(lacking), 'column')}: {quote_list(lacking)}.",
            attempt="the quasi-identifiers, the sensitive column, and `belief`.",
        )
    codes = [_encode_values(domain, table[domain.name]) for domain in (*target.quasi, target.sensitive)]
    place = {tuple(point): position for position, point in enumerate(target.points.tolist())}
    points = [place.get(point, -1) for point in zip(*(code.tolist() for code in codes[:-1]), strict=True)]
    if outside := sum(point < 0 for point in points):
        raise RequestError(
            f"The beliefs have {pluralize(outside, 'row')} about people who are not in the table: there a prior is undefined.",
            attempt="quasi-identifiers of the source's own rows.",
        )
    if unknown := int((codes[-1] < 0).sum()):
        raise RequestError(
            f"The beliefs have {pluralize(unknown, 'row')} with a value that {target.sensitive.name!r} does not have."
        )
    listed: dict[int, dict[int, float]] = {}
    for point, value, belief in zip(
        points, codes[-1].tolist(), table[BELIEF_COLUMN].cast(pl.Float64).to_list(), strict=True
    ):
        if belief is None or not 0 <= belief <= 1:
            raise RequestError("A belief is a number from 0 to 1.")
        if value != excluded_value:
            listed.setdefault(point, {})[value] = belief
    for point, point_beliefs in listed.items():
        beliefs[point] = _scale_unlisted_beliefs(beliefs[point], point_beliefs)
    return beliefs


def _read_prior(prior: Any) -> pl.DataFrame:
    if isinstance(prior, pl.DataFrame):
        return prior
    return collect_frame(scan_source(Source(path=str(prior))), "Reading the beliefs")


def _list_adversary_points(
    promised: Mapping[str, Any], bandwidth: Any, t: Any, prior: Any
) -> list[tuple[Any, Fraction]]:
    """List (bandwidth, t) of each adversary."""
    adversary_points = promised.get("points") or ([promised] if "bandwidth" in promised else [])
    if bandwidth is None and isinstance(prior, str) and prior == "uniform":
        bandwidth = "whole"
    if bandwidth is not None:
        adversary_points = [
            {"bandwidth": bandwidth, "t": t if t is not None else min((p["t"] for p in adversary_points), default=None)}
        ]
    elif t is not None:
        adversary_points = [{**point, "t": t} for point in adversary_points]
    if adversary_points and any(point.get("t") is None for point in adversary_points):
        raise RequestError(
            "The background attack needs a t beside the bandwidth: the release promises none.", attempt="--t 0.2."
        )
    if not adversary_points:
        if t is not None:
            raise RequestError(
                "The background attack needs a bandwidth beside t: the release promises none.",
                attempt="--bandwidth 0.3.",
            )
        raise RequestError(
            "The background attack needs a bandwidth and a t: the release promises none.",
            attempt="--bandwidth 0.3 --t 0.2.",
        )
    return [(bt_privacy.parse_bandwidths(p["bandwidth"]), bt_privacy.parse_threshold(p["t"])) for p in adversary_points]


def _choose_bandwidth(target: AttackTarget, width: Any, kernel: str, matrices: Mapping[str, Any]) -> Any:
    """Return the bandwidths themselves: of "auto" those by which the other people predict the sensitive column best."""
    if width != bt_privacy.AUTO_BANDWIDTH:
        return width
    assert target.cells is not None
    return dict(choose_bandwidths(target.cells, 0, kernel, matrices).bandwidths)


def _make_divergence(name: str, adversary: BackgroundAdversary) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Make the function that measures how far beliefs moved, from prior and posterior."""
    if name == "js":
        return compute_js_divergence
    if name == "kl":
        return compute_kl_divergence
    domain = adversary.cells.sensitive[adversary.at]
    totals = exclude_value(adversary.cells.totals(adversary.at), adversary.without)
    work, unit = make_emd_function(choose_ground_distance(domain), domain, totals)
    return lambda before, after: work(after - before) / unit


def _list_entries(target: AttackTarget) -> GroupEntries:
    point, group, people = target.sight.memberships(target.points, target.people, MAX_BOXES_PER_PERSON)
    order = np.argsort(group, kind="stable")
    overlap = isinstance(target.sight, Boxes) and len(np.unique(point)) < len(point)
    return GroupEntries(point[order], group[order], people[order].astype(float), overlap)


def _attack_as_adversary(
    target: AttackTarget,
    entries: GroupEntries,
    knowledge: BackgroundKnowledge,
    inference: str,
    prior: Any,
    divergence: str,
    t: float,
    scale: float,
) -> AttackedView:
    cells = target.cells
    assert cells is not None
    knowledge.check(cells, 0)
    worst_view = None
    for excluded_value in list_excluded_values(cells.totals(0), cells.sensitive[0].null_code):
        adversary = BackgroundAdversary(cells, 0, knowledge, excluded_value)
        view = _attack_view(target, entries, adversary, inference, prior, divergence, t, scale)
        if worst_view is None:
            worst_view = view
        else:  # who has no value is not looked at; everybody else at their greatest risk
            is_worse = view.risk.max(initial=0.0) > worst_view.risk.max(initial=0.0)
            worst_view = AttackedView(
                worst_view.belief,
                view.risk if is_worse else worst_view.risk,
                view.people if is_worse else worst_view.people,
                max(worst_view.vulnerable, view.vulnerable),
                min(worst_view.exact_share, view.exact_share),
            )
    assert worst_view is not None
    return worst_view


def _make_background_outcome(
    target: AttackTarget,
    points: list[tuple[Any, Fraction]],
    views: list[AttackedView],
    inference: str,
    divergence: str,
    entries: GroupEntries,
) -> BackgroundOutcome:
    worst = max(range(len(views)), key=lambda view_index: views[view_index].risk.max(initial=0.0))
    worst_view = views[worst]
    is_finite = np.isfinite(worst_view.risk)
    most = 1.0 if divergence != "kl" else max(1.0, float(worst_view.risk[is_finite].max(initial=0.0)))
    histogram, edges = np.histogram(
        worst_view.risk[is_finite], RISK_BINS, (0.0, most), weights=worst_view.people[is_finite]
    )
    worst_risk = max(float(view.risk.max(initial=0.0)) for view in views)
    widths = [bt_privacy.to_json_bandwidth(width) for width, _ in points]
    limits = [float(t) for _, t in points]
    details = {
        "worst_risk": worst_risk if np.isfinite(worst_risk) else None,
        "infinite": max(round(float(view.people[np.isinf(view.risk)].sum())) for view in views),
        "vulnerable": max(round(view.vulnerable) for view in views),
        "t": limits[0] if len(limits) == 1 else limits,
        "bandwidth": widths[0] if len(widths) == 1 else widths,
        "posterior": inference,
        "divergence": divergence,
        "histogram": {
            "edges": [round(edge, 4) for edge in edges.tolist()],
            "people": np.round(histogram).astype(int).tolist(),
        },
        "membership": "shared" if entries.shared else "known",
    }
    if inference == "exact":
        details["exact_share"] = min(view.exact_share for view in views)
    scored = score_guesses("background", worst_view.belief, target.truth, target.promised)
    return BackgroundOutcome(
        **{name: getattr(scored, name) for name in scored.__dataclass_fields__},
        details=details,
        risks=worst_view.risk,
        weights=worst_view.people,
    )


def _encode_values(domain: Domain, column: pl.Series) -> np.ndarray:
    """Return the code of each cell, -1 for values that do not occur."""
    numeric = getattr(domain, "kind", "") == "numeric"
    code_by_key = {_make_value_key(text, numeric): code for code, text in enumerate(domain.texts)}
    code_by_key[None] = domain.null_code
    return np.array(
        [code_by_key.get(_make_value_key(text, numeric), -1) for text in column.cast(pl.String).to_list()], np.int64
    )


def _scale_unlisted_beliefs(belief: np.ndarray, listed: dict[int, float]) -> np.ndarray:
    """Keep the listed beliefs, and scale the others in their proportions."""
    scaled = belief.copy()
    values = list(listed)
    scaled[values] = 0.0
    remaining = 1.0 - sum(listed.values())
    total = scaled.sum()
    if remaining < -1e-9 or (total == 0 and abs(remaining) > 1e-9):
        raise RequestError("The beliefs about one person do not add up to 1.")
    scaled *= max(remaining, 0.0) / total if total else 0.0
    scaled[values] = [listed[value] for value in values]
    return scaled / scaled.sum()


def _attack_view(
    target: AttackTarget,
    entries: GroupEntries,
    adversary: BackgroundAdversary,
    inference: str,
    prior: Any,
    divergence: str,
    t: float,
    scale: float,
) -> AttackedView:
    before = compute_prior_beliefs(target, adversary, prior)
    counts = exclude_value(target.counts, adversary.without)
    is_present = adversary.people[entries.point] > 0
    share = adversary.people / np.maximum(target.people, 1)
    point = entries.point[is_present]
    group = entries.group[is_present]
    people = entries.people[is_present] * share[point]
    used, offsets = np.unique(group, return_index=True)
    offsets = np.append(offsets, len(group))
    published_counts = counts[used]
    rounds = POSTERIOR_ROUNDS.get(inference, 1)
    after = (
        compute_scaled_posteriors(before[point], offsets, people, published_counts, rounds)
        if len(point)
        else before[:0]
    )
    share_exact = 0.0
    if inference == "exact" and not entries.shared:
        share_exact = _apply_exact_posteriors(before, point, offsets, people, published_counts, after)
    belief = _mix_beliefs(before, point, people, after)
    if entries.shared:
        point = np.arange(len(before))
        people = adversary.people
        after = belief
    else:  # nobody learns of people whom no label covers: rows that were suppressed
        uncovered = np.setdiff1d(np.flatnonzero(adversary.people), point)
        point = np.append(point, uncovered)
        people = np.append(people, adversary.people[uncovered])
        after = np.concatenate([after, before[uncovered]])
    measure = _make_divergence(divergence, adversary)
    risk = measure(smooth_beliefs(before[point], adversary.smooth), smooth_beliefs(after, adversary.smooth)) * scale
    size = int(np.diff(offsets).max(initial=0))
    error = (
        bound_rounding_units(adversary.priors.route.terms, size, before.shape[1], rounds, bool(len(adversary.smooth)))
        * DOUBLE_ROUNDING_UNIT
    )
    return AttackedView(belief, risk, people, float(people[risk - error > t].sum()), share_exact)


def _make_value_key(text: str | None, numeric: bool) -> Any:
    if text is None or not numeric:
        return text
    try:
        return Fraction(text.strip()) if is_moderate_number(text) else text
    except (ValueError, ZeroDivisionError):
        return text


def _apply_exact_posteriors(
    before: np.ndarray,
    point: np.ndarray,
    offsets: np.ndarray,
    people: np.ndarray,
    published_counts: np.ndarray,
    after: np.ndarray,
) -> float:
    """Write exact posteriors over the estimates where a group is small enough; return the share of people they are for."""
    people_reached = 0.0
    for g in range(len(published_counts)):
        group_slice = slice(offsets[g], offsets[g + 1])
        group_people = np.round(people[group_slice]).astype(np.int64)
        if group_people.sum() != published_counts[g].sum():
            continue
        posteriors = compute_exact_posteriors(before[point[group_slice]], group_people, published_counts[g])
        if posteriors is not None:
            after[group_slice] = posteriors
            people_reached += float(group_people.sum())
    return people_reached / max(float(people.sum()), 1.0)


def _mix_beliefs(before: np.ndarray, point: np.ndarray, people: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Mix one belief for each point over the groups its people may be in; unchanged where none covers it."""
    total = np.zeros(before.shape)
    point_weight = np.zeros(len(before))
    np.add.at(total, point, after * people[:, None])
    np.add.at(point_weight, point, people)
    return np.where(point_weight[:, None] > 0, total / np.where(point_weight > 0, point_weight, 1)[:, None], before)
