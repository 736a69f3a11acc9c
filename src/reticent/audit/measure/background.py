"""(B,t)-privacy and its skyline (Li, Li & Zhang, ICDE 2009, definitions 1 and 2), recomputed: the greatest risk of anybody, `<= t`.

Needs the source: prior beliefs are estimated from it.  Beside the risk by the inference that was promised stands `t_exact`, the
greatest by exact inference over the groups small enough for it, and `exact_share`, the share of people in these: the Omega-estimate
can be far below exact (table III of the paper).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.evidence import NEEDS_SOURCE, Evidence, Judgement
from reticent.audit.measure.background_beliefs import (
    ROUNDS,
    Table,
    bits,
    error,
    kernel_weight,
    posteriors,
    priors,
    roundings,
    smoothed,
    weights,
)
from reticent.audit.measure.background_digits import prior_in_digits, risk_in_digits, smoothing_in_digits, within
from reticent.audit.measure.background_exact import exact_risk
from reticent.audit.measure.background_people import People, distances, people_of
from reticent.audit.measure.comparison import exact
from reticent.errors import BundleDamaged

LN2 = 0.6931471805599453
WORK = 1 << 20  # pairs of points recomputed with more digits at most


def judge_bt(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    return _judged(asked, [asked], evidence, column, lambda found: found[0])


def judge_skyline(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    return _judged(asked, list(asked["points"]), evidence, column, list)


def _judged(
    asked: Mapping[str, Any], points: list[Any], evidence: Evidence, column: str | None, form: Any
) -> Judgement:
    if evidence.published is None or not evidence.published.labelled:
        raise BundleDamaged(
            "(B,t)-privacy and its skyline are judged on generalized rows alone.",
            why="They are about the people whom a label may mean, and this release has no labels with values beside them.",
            attempt="a promise about what groups show, such as beta-likeness.",
        )
    if evidence.source is None:
        return Judgement({}, None, NEEDS_SOURCE)
    found = people_of(evidence, column, asked.get("distances") or {}, _compared(points, evidence))
    if found is None:
        return Judgement({"t": None, "membership": "shared"}, False)
    risks, exacts, share, kept = [], [], 1.0, True
    for point in points:
        t, worst, exactly = exact(point["t"]), 0.0, 0.0
        for view in _views(found):
            one = Adversary(asked, _bandwidths(point["bandwidth"], view), view)
            kept &= one.keeps(t)
            risk, part = exact_risk(one.table, one.prior, one.smooth)
            worst, exactly, share = max(worst, one.worst), max(exactly, risk), min(share, part)
        scale = 1.0 if str(asked.get("base", 2)) == "2" else LN2
        risks.append(worst * scale)
        exacts.append(exactly * scale)
    return Judgement({"t": form(risks), "t_exact": form(exacts), "exact_share": share}, kept)


def _compared(points: list[Any], evidence: Evidence) -> set[str]:
    """Columns in which some adversary compares different values."""
    names = [entry.name for entry in evidence.columns]
    each = [(name, point["bandwidth"]) for point in points for name in names]
    known = [(name, given.get(name, 0) if isinstance(given, Mapping) else given) for name, given in each]
    return {name for name, given in known if given != "whole" and exact(given) != 0}


def _bandwidths(given: Any, view: People) -> list[Any]:
    each = [given[axis.name] if isinstance(given, Mapping) else given for axis in view.axes]
    return [one if one == "whole" else exact(one) for one in each]


def _views(found: People) -> list[People]:
    """All people, and those whose sensitive value is not missing where some are."""
    null = found.null
    if null < 0 or not found.held[:, null].any() or (np.delete(found.held, null, axis=1) == 0).all():
        return [found]
    held, shown = np.delete(found.held, null, axis=1), np.delete(found.shown, null, axis=1)
    there = held.any(axis=1)
    values = [value for value in found.values if value is not None]
    _, group = np.unique(found.group[there], return_inverse=True)
    some = shown[np.unique(found.group[there])]
    return [found, People(found.axes, found.codes[there], held[there], group.reshape(-1), some, values, found.entry)]


@dataclass(eq=False)
class Adversary:
    """One adversary on one view of the people."""

    asked: Mapping[str, Any]
    bandwidths: list[Any]
    view: People

    def __post_init__(self) -> None:
        view, kernel = self.view, self.asked.get("kernel", "epanechnikov")
        self.rounds = ROUNDS[self.asked.get("posterior", "omega")]
        order = np.argsort(view.group, kind="stable")
        starts = np.searchsorted(view.group[order], np.arange(len(view.shown)))
        self.table = Table(view.codes[order], view.held[order], starts, view.shown)
        self.axes = [
            weights(axis, bandwidth, kernel) for axis, bandwidth in zip(view.axes, self.bandwidths, strict=True)
        ]
        self.prior, self.terms = priors(self.table, self.axes)
        self.smooth = self._smoothing(kernel)
        self.risk = np.zeros(len(view.shown))
        for groups, points in self.table.pieces():
            after = posteriors(self.table, self.prior, groups, points, self.rounds)
            moved = bits(smoothed(self.prior[points], self.smooth), smoothed(after, self.smooth))
            self.risk[groups] = np.maximum.reduceat(moved, self.table.starts[groups] - points.start)

    @property
    def worst(self) -> float:
        return float(self.risk.max(initial=0.0))

    def _smoothing(self, kernel: str) -> np.ndarray | None:
        apart, width = self._apart, exact(self.asked.get("smoothing", 0))
        if apart is None:
            return None
        found = np.array(
            [[float(kernel_weight(d, width, kernel, i == j)) for j, d in enumerate(row)] for i, row in enumerate(apart)]
        )
        return found / found.sum(axis=1, keepdims=True)

    @cached_property
    def _apart(self) -> list[list[Fraction]] | None:
        """How far the sensitive values are from each other; None where nothing is smoothed."""
        entry = self.view.entry
        if exact(self.asked.get("smoothing", 0)) == 0 or entry is None:
            return None
        values = pl.Series(self.view.values, dtype=pl.String)
        labels = [value for value in self.view.values if value is not None]
        found = distances(entry.at(values=labels), values, labels, self.asked.get("distances") or {}, True)
        return [[found.apart(i, j) for j in range(len(values))] for i in range(len(values))]

    def keeps(self, t: Fraction) -> bool:
        """risk <= t for everybody: by doubles, and where their error leaves a doubt by more digits."""
        base = str(self.asked.get("base", 2))
        if base == "2" and t >= 1:
            return True
        limit = float(t) if base == "2" else float(t) / LN2
        sizes = np.diff(np.append(self.table.starts, len(self.table.codes)))
        terms = self.terms + 40 * len(self.axes)  # those that a prior adds up, and the roundings of a weight
        margin = error(terms, sizes, self.table.held.shape[1], self.rounds)
        if (self.risk - margin > limit).any():
            return False
        return all(self._closely(int(g), t, base) for g in np.flatnonzero(self.risk + margin > limit))

    def _closely(self, group: int, t: Fraction, base: str) -> bool:
        table, kernel, width = self.table, self.asked.get("kernel", "epanechnikov"), self.asked.get("smoothing", 0)
        points = np.flatnonzero(table.group == group)
        if len(points) * len(table.codes) > WORK:
            return False
        people, shown = table.people[points].tolist(), table.shown[group].tolist()

        def risk() -> Decimal:
            prior = [
                prior_in_digits(table, self.view.axes, self.bandwidths, kernel, point) for point in points.tolist()
            ]
            matrix = None if self._apart is None else smoothing_in_digits(self._apart, exact(width), kernel)
            return risk_in_digits(prior, people, shown, matrix, self.rounds)

        terms = 8 * len(self.view.axes) + len(table.codes) + 1  # weights and their product, times a count, added up
        return within(risk, t, base, int(roundings(terms, len(points), len(shown), self.rounds)))
