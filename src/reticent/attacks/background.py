"""The background knowledge attack (Li, Li & Zhang, ICDE 2009, section V-A): who learns how much from any table of groups?

The adversary has prior beliefs about everybody: by kernel estimation at a bandwidth, uniform (the ignorant one of section II-D), or of
their own; knows the quasi-identifiers of all and so who is in which group; and infers.  The risk of a person is how far the belief
about them moved.  Where labels overlap, a person is spread over the boxes that cover them, in proportion to their density.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.attacks.beliefs_given import believed
from reticent.attacks.score import Outcome, score
from reticent.attacks.seen import Seen
from reticent.errors import RequestError
from reticent.models.background import parameters
from reticent.models.background.adversary import Adversary, Knowledge
from reticent.models.background.beliefs import ROUNDS, exact, scaled
from reticent.models.background.divergence import js, smoothed
from reticent.models.background.margin import DOUBLE, units
from reticent.models.caps import left_out, ways
from reticent.release.reading.boxes import Boxes

NEAREST = 16  # boxes a person may belong to
BINS = 20
LN2 = 0.6931471805599453


@dataclass(frozen=True, eq=False)
class Learned(Outcome):
    """What an attack answers, and beside it the risk: `vulnerable` people are above `t`."""

    beside: Mapping[str, Any] = field(default_factory=dict)
    risks: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {**Outcome.to_dict(self), **self.beside}


@dataclass(frozen=True, eq=False)
class Entries:
    """`people` of a `point` in a `group`, sorted by group; `shared` where a point lies under the labels of several."""

    point: np.ndarray
    group: np.ndarray
    people: np.ndarray
    shared: bool


def background(
    seen: Seen,
    *,
    bandwidth: Any = None,
    t: Any = None,
    smoothing: Any = None,
    posterior: str | None = None,
    prior: Any = "kernel",
    kernel: str | None = None,
    distances: Any = None,
) -> Learned:
    """The adversaries asked for, or those that the release promised about."""
    promised = next((p.parameters for p in seen.promises if p.name in ("bt-privacy", "skyline")), {})
    points = _points(promised, bandwidth, t, prior)
    wanted = {"smoothing": smoothing, "kernel": kernel, "posterior": posterior, "distances": distances}
    how = {"smoothing": 0, "kernel": "epanechnikov", "posterior": "omega", "distances": None, "base": 2}
    how |= {name: promised[name] for name in how if name in promised}
    how |= {name: value for name, value in wanted.items() if value is not None}
    inference = parameters.inference(how["posterior"])
    entries = _entries(seen)
    found = []
    for width, limit in points:
        known = Knowledge(width, parameters.kernel(how["kernel"]), parameters.smoothing_bandwidth(how["smoothing"]),
                          parameters.matrices(how["distances"]) or {})  # fmt: skip
        scale = 1.0 if str(how["base"]) == "2" else LN2
        found.append(_attacked(seen, entries, known, inference, prior, float(limit), scale))
    return _outcome(seen, points, found, inference, entries)


def _points(promised: Mapping[str, Any], bandwidth: Any, t: Any, prior: Any) -> list[tuple[Any, Fraction]]:
    """(bandwidth, t) of each adversary."""
    given = promised.get("points") or ([promised] if "bandwidth" in promised else [])
    if bandwidth is None and isinstance(prior, str) and prior == "uniform":
        bandwidth = "whole"
    if bandwidth is not None:
        given = [{"bandwidth": bandwidth, "t": t if t is not None else min((p["t"] for p in given), default=None)}]
    elif t is not None:
        given = [{**point, "t": t} for point in given]
    if not given or any(point.get("t") is None for point in given):
        raise RequestError(
            "The background attack needs a bandwidth and a t: the release promises none.",
            attempt="--bandwidth 0.3 --t 0.2.",
        )
    return [(parameters.bandwidths(p["bandwidth"]), parameters.threshold(p["t"])) for p in given]


def _entries(seen: Seen) -> Entries:
    point, group, people = seen.sight.memberships(seen.points, seen.people, NEAREST)
    order = np.argsort(group, kind="stable")
    overlap = isinstance(seen.sight, Boxes) and len(np.unique(point)) < len(point)
    return Entries(point[order], group[order], people[order].astype(float), overlap)


@dataclass(frozen=True, eq=False)
class Attacked:
    belief: np.ndarray  # (points, values)
    risk: np.ndarray  # of each who
    people: np.ndarray  # people with that risk
    vulnerable: float
    exact_share: float


def _attacked(
    seen: Seen, entries: Entries, known: Knowledge, inference: str, prior: Any, t: float, scale: float
) -> Attacked:
    cells = seen.cells
    assert cells is not None
    known.check(cells, 0)
    found = None
    for without in ways(cells.totals(0), cells.sensitive[0].null_code):
        one = _view(seen, entries, Adversary(cells, 0, known, without), inference, prior, t, scale)
        if found is None:
            found = one
        else:  # who has no value is not looked at; everybody else at their greatest risk
            worse = one.risk.max(initial=0.0) > found.risk.max(initial=0.0)
            found = Attacked(found.belief, one.risk if worse else found.risk, one.people if worse else found.people,
                             max(found.vulnerable, one.vulnerable), min(found.exact_share, one.exact_share))  # fmt: skip
    assert found is not None
    return found


def _view(
    seen: Seen, entries: Entries, adversary: Adversary, inference: str, prior: Any, t: float, scale: float
) -> Attacked:
    before = believed(seen, adversary, prior)
    counts = left_out(seen.counts, adversary.without)
    there = adversary.people[entries.point] > 0
    share = adversary.people / np.maximum(seen.people, 1)
    point, group = entries.point[there], entries.group[there]
    people = entries.people[there] * share[point]
    used, offsets = np.unique(group, return_index=True)
    offsets = np.append(offsets, len(group))
    held = counts[used]
    rounds = ROUNDS.get(inference, 1)
    after = scaled(before[point], offsets, people, held, rounds) if len(point) else before[:0]
    share_exact = 0.0
    if inference == "exact" and not entries.shared:
        share_exact = _exactly(before, point, offsets, people, held, after)
    belief = _mixed(before, point, people, after)
    if entries.shared:
        point, people = np.arange(len(before)), adversary.people
        after = belief
    else:  # nobody learns of people whom no label covers: rows that were suppressed
        bare = np.setdiff1d(np.flatnonzero(adversary.people), point)
        point, people = np.append(point, bare), np.append(people, adversary.people[bare])
        after = np.concatenate([after, before[bare]])
    moved = js(smoothed(before[point], adversary.smooth), smoothed(after, adversary.smooth)) * scale
    size = int(np.diff(offsets).max(initial=0))
    error = units(adversary.priors.route.terms, size, before.shape[1], rounds, bool(len(adversary.smooth))) * DOUBLE
    return Attacked(belief, moved, people, float(people[moved - error > t].sum()), share_exact)


def _exactly(
    before: np.ndarray, point: np.ndarray, offsets: np.ndarray, people: np.ndarray, held: np.ndarray, after: np.ndarray
) -> float:
    """Exact posteriors where a group is small enough, written over the estimates; the share of people they are for."""
    reached = 0.0
    for g in range(len(held)):
        here = slice(offsets[g], offsets[g + 1])
        many = np.round(people[here]).astype(np.int64)
        if many.sum() != held[g].sum():
            continue
        found = exact(before[point[here]], many, held[g])
        if found is not None:
            after[here] = found
            reached += float(many.sum())
    return reached / max(float(people.sum()), 1.0)


def _mixed(before: np.ndarray, point: np.ndarray, people: np.ndarray, after: np.ndarray) -> np.ndarray:
    """One belief for each point: over the groups its people may be in; unchanged where none covers it."""
    total, whole = np.zeros(before.shape), np.zeros(len(before))
    np.add.at(total, point, after * people[:, None])
    np.add.at(whole, point, people)
    return np.where(whole[:, None] > 0, total / np.where(whole > 0, whole, 1)[:, None], before)


def _outcome(
    seen: Seen, points: list[tuple[Any, Fraction]], found: list[Attacked], inference: str, entries: Entries
) -> Learned:
    worst = max(range(len(found)), key=lambda at: found[at].risk.max(initial=0.0))
    one = found[worst]
    histogram, edges = np.histogram(one.risk, BINS, (0.0, 1.0), weights=one.people)
    widths = [parameters.said(width) for width, _ in points]
    limits = [float(t) for _, t in points]
    beside = {
        "worst_risk": max(float(each.risk.max(initial=0.0)) for each in found),
        "vulnerable": max(round(each.vulnerable) for each in found),
        "t": limits[0] if len(limits) == 1 else limits,
        "bandwidth": widths[0] if len(widths) == 1 else widths,
        "posterior": inference,
        "histogram": {
            "edges": [round(edge, 4) for edge in edges.tolist()],
            "people": np.round(histogram).astype(int).tolist(),
        },
        "membership": "shared" if entries.shared else "known",
    }
    if inference == "exact":
        beside["exact_share"] = min(each.exact_share for each in found)
    scored = score("background", one.belief, seen.truth, seen.promised)
    return Learned(**{name: getattr(scored, name) for name in scored.__dataclass_fields__}, beside=beside, risks=one.risk,
                   weights=one.people)  # fmt: skip
