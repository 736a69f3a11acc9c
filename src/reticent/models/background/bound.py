"""Promises about background knowledge bound to cells: the check of groups, why a table is out of reach, and what to warn of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from reticent.errors import JobError
from reticent.models.background.adversary import Adversary, Knowledge
from reticent.models.background.distances import distances
from reticent.models.background.divergence import js, smoothed
from reticent.models.caps import NEVER, ways
from reticent.models.shapes import Check, Groups, Totals
from reticent.table.cells import Cells

LN2 = 0.6931471805599453


class Promise(Protocol):
    """What (B,t)-privacy and its skyline share."""

    @property
    def smoothing(self) -> Fraction: ...

    @property
    def posterior(self) -> str: ...

    @property
    def kernel(self) -> str: ...

    @property
    def base(self) -> str | int: ...

    @property
    def distances(self) -> Mapping[str, Any] | None: ...

    @property
    def column(self) -> str | None: ...

    @property
    def skyline(self) -> list[tuple[Any, Fraction]]: ...


def adversaries(promise: Promise, cells: Cells) -> list[tuple[int, Adversary]]:
    """Each adversary of the promise on each view of the table, with their number in its skyline."""
    at = cells.sensitive_at(promise.column)
    found = []
    for number, (bandwidth, _) in enumerate(promise.skyline):
        knowledge = Knowledge(bandwidth, promise.kernel, promise.smoothing, promise.distances or {})
        knowledge.check(cells, at)
        for without in ways(cells.totals(at), cells.sensitive[at].null_code):
            if without == NEVER or cells.totals(at).sum() > cells.totals(at)[without]:
                found.append((number, Adversary(cells, at, knowledge, without)))
    return found


def refuse_part(name: str, totals: Totals | None) -> None:
    """A prior is estimated over all rows: the totals of a table do not say it of a part."""
    if totals is not None:
        raise JobError(
            f"{name} cannot be kept on a part of a table.",
            why="Its adversary's prior is an estimate over all rows, and not a function of how frequent values are.",
            attempt="planning the whole table at once.",
        )


def bind(promise: Promise, cells: Cells) -> Check:
    allowed = [t for _, t in promise.skyline]
    everyone = adversaries(promise, cells)
    judges = [known.judge(promise.posterior, allowed[at], promise.base) for at, known in everyone]
    _CERTAIN.setdefault(cells, {})[_key(promise)] = _count_certain(promise, everyone)

    def keeps(groups: Groups) -> np.ndarray:
        found = np.ones(len(groups), bool)
        for judge in judges:
            found &= judge.keeps(groups)
        return found

    return keeps


def count_certain_priors(promise: Promise, cells: Cells) -> list[int]:
    """Of how many people each adversary of the skyline is certain before the release: one value alone has a prior above 0.

    Known where the promise was bound to these cells, as every plan binds it; else the priors are estimated for it.
    """
    known = _CERTAIN.get(cells, {}).get(_key(promise))
    return _count_certain(promise, adversaries(promise, cells)) if known is None else known


_CERTAIN: WeakKeyDictionary[Cells, dict[str, list[int]]] = WeakKeyDictionary()


def _key(promise: Promise) -> str:
    return f"{promise.column} {promise.kernel} {promise.distances} {promise.skyline}"


def _count_certain(promise: Promise, everyone: Sequence[tuple[int, Adversary]]) -> list[int]:
    found = [0] * len(promise.skyline)
    for at, known in everyone:
        certain = ((known.prior > 0).sum(axis=1) == 1) & (known.people > 0)
        found[at] = max(found[at], int(known.people[certain].sum()))
    return found


def worst(promise: Promise, cells: Cells, groups: Groups) -> list[float]:
    """The greatest risk of each point of the skyline, in the promise's own units."""
    found = [0.0] * len(promise.skyline)
    for at, known in adversaries(promise, cells):
        risk = float(known.risks(groups, promise.posterior).max(initial=0.0)) * (1 if promise.base == 2 else LN2)
        found[at] = max(risk, found[at])
    return found


def reason(promise: Promise, cells: Cells) -> tuple[str, str]:
    """Why all rows in one group break the promise, and which t would do."""
    whole = Groups(cells, np.arange(len(cells)), cells.counts, np.array([0, len(cells)]))
    risks = worst(promise, cells, whole)
    broken = [(risk, t) for risk, (_, t) in zip(risks, promise.skyline, strict=True) if risk >= float(t)]
    risk, t = max(broken or list(zip(risks, (t for _, t in promise.skyline), strict=True)))
    least = min(int(risk * 10_000) + 1, 10_000) / 10_000
    why = f"All rows in one group leave a risk of {risk:.6f}, and t = {float(t):g} is allowed."
    return why, f"t = {least:g} or more, or a larger bandwidth: who knows less learns less of what all rows say."


def warnings(promise: Promise, cells: Cells) -> list[str]:
    """A smoothing that smooths nothing (errata 3.3), or so much that certain beliefs are alike (errata 3.5)."""
    if not promise.smoothing:
        return []
    at = cells.sensitive_at(promise.column)
    domain, totals = cells.sensitive[at], cells.totals(at)
    there = np.flatnonzero(totals)
    if len(there) < 2:
        return []
    apart = distances(domain, there, (promise.distances or {}).get(domain.name))
    nearest = Fraction(int(apart.parts[~np.eye(len(there), dtype=bool)].min()), apart.unit)
    if nearest >= promise.smoothing:
        return [
            f"smoothing = {float(promise.smoothing):g} reaches no neighbour: the nearest two values of {domain.name!r} are "
            f"{float(nearest):g} apart, and the kernel is 0 from its bandwidth on. Nothing is smoothed."
        ]
    known = adversaries(promise, cells)[0][1]
    certain = smoothed(np.eye(domain.size)[there], known.smooth)
    pairs = js(certain[:, None, :], certain[None, :, :])[np.triu_indices(len(there), 1)]
    pairs = pairs if promise.base == 2 else pairs * LN2
    t = float(min(t for _, t in promise.skyline))
    near = int((pairs <= t).sum())
    if not near:
        return []
    empty = ": the promise is empty" if near == len(pairs) else ""
    return [
        f"With smoothing = {float(promise.smoothing):g}, {near} of {len(pairs)} pairs of values of {domain.name!r} are within t = {t:g} "
        f"of each other even where both beliefs are certain (the nearest at {pairs.min():.2g}, the farthest at {pairs.max():.2g})"
        f"{empty}."
    ]
