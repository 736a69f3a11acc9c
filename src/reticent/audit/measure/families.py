"""beta-likeness of families of values: nodes of a sensitive hierarchy (semantic), windows of a width (proximity).

Semantic: rows of one family are counted as one value, and the measure is that of `likeness`.  Proximity: values i .. j are all that some
interval of the width holds iff x_j - x_i <= width and the neighbours on both sides do not fit as well, x_(j+1) - x_(i-1) > width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.audit.evidence import Evidence, Judgement
from reticent.audit.measure import likeness
from reticent.audit.measure.comparison import compare_ln, exact, extremes_by_value
from reticent.audit.measure.counts import Counts
from reticent.errors import BundleDamaged

CHUNK = 1 << 22  # counts of windows in groups that are looked at together


def semantic_beta(views: list[Counts], family: np.ndarray, *, enhanced: bool, two_sided: bool) -> Fraction | None:
    """The least beta of the families' frequencies; `family` is that of each value."""
    return likeness.beta([_gathered(view, family) for view in views], enhanced=enhanced, two_sided=two_sided)


def _gathered(view: Counts, family: np.ndarray) -> Counts:
    families = int(family.max(initial=-1)) + 1
    pair, inverse = np.unique(view.group * families + family[view.value], return_inverse=True)
    count = np.bincount(inverse, weights=view.count).astype(np.int64)
    totals = np.bincount(family, weights=view.totals, minlength=families).astype(np.int64)
    return Counts(pair // families, pair % families, count, totals, view.emptied)


def proximity_beta(
    views: list[Counts], positions: Sequence[Fraction | None], width: Fraction, *, enhanced: bool
) -> Fraction | None:
    """The least beta that holds for every window; `positions` ascend, None (a null) stands alone."""
    least = Fraction(0)
    for view in views:
        greatest: dict[Fraction, Fraction] = {}  # of windows of one frequency the worst decides
        for p, q in _frequencies(view, positions, width):
            greatest[p] = max(q, greatest.get(p, q))
        for p, q in greatest.items():
            gain = q / p - 1
            if enhanced and gain > 0 and compare_ln(1 / p, gain) < 0:
                return None
            least = max(least, gain)
    return least


def runs(positions: Sequence[Fraction], width: Fraction) -> list[tuple[int, int]]:
    """(first, last) of every window with other values in it."""
    found, reach = [], 0  # the last value that a window from the one before reaches to
    for i in range(len(positions)):
        before, reach = reach, max(reach, i)
        while reach + 1 < len(positions) and positions[reach + 1] - positions[i] <= width:
            reach += 1
        found += [(i, j) for j in range(max(i, before), reach + 1)]
    return found


def _frequencies(
    view: Counts, positions: Sequence[Fraction | None], width: Fraction
) -> list[tuple[Fraction, Fraction]]:
    """(frequency in the table, greatest in a group) of each window."""
    occurring = np.flatnonzero(view.totals).tolist()
    known = [(v, place) for v in occurring if (place := positions[v]) is not None]
    spans = [(known[i][0], known[j][0]) for i, j in runs([place for _, place in known], width)]
    spans += [(v, v) for v in occurring if positions[v] is None]
    first, last = (np.array(ends, np.int64) for ends in zip(*spans, strict=True))
    until = np.append(0, np.cumsum(view.totals))
    share = [Fraction(int(n), view.rows) for n in until[last + 1] - until[first]]
    worst: dict[int, Fraction] = {}
    step = max(CHUNK // len(spans), 1)
    for start in range(0, view.groups, step):
        here = (view.group >= start) & (view.group < start + step)
        sizes = view.sizes[start : start + step]
        held = np.zeros((len(sizes), len(view.totals) + 1), np.int64)
        np.add.at(held, (view.group[here] - start, view.value[here] + 1), view.count[here])
        held = np.cumsum(held, axis=1)
        inside = held[:, last + 1] - held[:, first]
        window = np.broadcast_to(np.arange(len(spans)), inside.shape)
        found = extremes_by_value(window.ravel(), inside.ravel(), np.repeat(sizes, len(spans)), max)
        worst = {w: max(q, worst.get(w, Fraction(0))) for w, q in found.items()}
    return [(share[w], q) for w, q in worst.items()]


def judge_semantic(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    found, level = evidence.column(column), int(asked.get("level", 1))
    if found.paths is None or not 1 <= level < found.paths.shape[1] - 1:
        raise BundleDamaged(f"A promise speaks of level {level} of the hierarchy of {found.name!r}, which has none.")
    form = {"enhanced": asked.get("enhanced", True), "two_sided": asked.get("two_sided", False)}
    beta = semantic_beta(found.views, found.paths[:, level], **form)
    return Judgement({"beta": beta, "level": level}, beta is not None and beta <= exact(asked["beta"]))


def judge_proximity(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    found, width = evidence.column(column), exact(asked["width"])
    if found.positions is None:
        raise BundleDamaged(f"A promise speaks of windows of {found.name!r}, which has no order.")
    beta = proximity_beta(found.views, found.positions, width, enhanced=asked.get("enhanced", True))
    return Judgement({"beta": beta, "width": width}, beta is not None and beta <= exact(asked["beta"]))
