"""t-closeness (Li, Li & Venkatasubramanian 2007): the earth mover's distance of a group from the published table, `<= t`.

With e(v) = rows * count(v) - total(v) * size, which is rows * size * (q - p), each distance is a sum of integers:

    equal          1/2 sum |e|                                  over rows * size
    ordered        sum_i |sum_{j <= i} e(j)| / (m - 1)          over rows * size, m values published, in their order
    hierarchical   sum over levels h = 1..H of h/H * 1/2 (sum |e| of the nodes at h - 1, minus that at h)

The third is section 5.2's sum of height * min(positive, negative) over inner nodes: the lesser of the two is half of what
the children's |e| exceed their parent's.  Everything is computed from the values that occur in a group: where one does not,
e is -total * size, and such terms are added in closed form.  A null is the last value of an order, a leaf under the root of a tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.audit.groups import Evidence, Judgement, SensitiveColumn
from reticent.audit.measure.counts import GroupCounts, find_greatest, parse_parameter
from reticent.errors import BundleDamaged


def judge_closeness(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge t-closeness by the ground distance that is promised."""
    t = measure_distance(evidence.column(column), parameters.get("distance", "equal"))
    return Judgement({"t": t}, t <= parse_parameter(parameters["t"]))


def measure_distance(column: SensitiveColumn, name: str) -> Fraction:
    """Measure the greatest earth mover's distance of a group, by ground distance."""
    if name == "hierarchical":
        if column.paths is None:
            raise BundleDamaged(f"Hierarchical t-closeness is promised for {column.name!r}, which has no hierarchy.")
        return measure_hierarchical_distance(column.views, column.paths)
    return {"equal": measure_equal_distance, "ordered": measure_ordered_distance}[name](column.views)


def measure_equal_distance(views: list[GroupCounts]) -> Fraction:
    """Measure the greatest distance of a group where all values are equally far apart."""
    return max(_measure_equal_view(view) for view in views)


def measure_ordered_distance(views: list[GroupCounts]) -> Fraction:
    """Measure the greatest distance of a group where values are in an order."""
    return max(_measure_ordered_view(view) for view in views)


def measure_hierarchical_distance(views: list[GroupCounts], paths: np.ndarray) -> Fraction:
    """Measure the greatest distance of a group by a hierarchy.

    `paths[value, level]` is the node above a value at a level, values in pre-order, level 0 the value itself.
    """
    return max(_measure_hierarchical_view(view, paths) for view in views)


def _measure_equal_view(view: GroupCounts) -> Fraction:
    """Sum the positive e alone: they are half of all |e|."""
    count, sizes, totals = view.integers()
    excess = np.maximum(count * view.rows - totals[view.value] * sizes[view.group], 0)
    return find_greatest(_sum_by_group(excess, view), sizes * view.rows)


def _measure_ordered_view(view: GroupCounts) -> Fraction:
    """Measure one view by the order of values.

    Between two values of a group the cumulative count stays at C, and |rows * C - size * T_i| changes sign once, where
    the table's cumulative count T_i passes rows * C / size.
    """
    if view.occurring < 2:
        return Fraction(0)
    place = np.cumsum(view.totals > 0) - 1
    count, sizes, totals = view.integers(view.occurring)
    table = np.cumsum(totals[view.totals > 0])  # T_i
    before = np.append(0, np.cumsum(table))  # sum of T_0 .. T_{i-1}
    start = place[view.value]
    follows = np.append(start[1:], 0)
    last = np.append(view.group[1:] != view.group[:-1], True)
    stop = np.where(last, view.occurring, follows)
    running = np.cumsum(count)
    reached = running - (running[view.starts] - count[view.starts])[view.group]  # inside each group
    size = sizes[view.group]
    work = _sum_run(start, stop, reached, size, view.rows, table, before)
    total = _sum_by_group(work, view)
    lead = start[view.starts]  # before a group's first value nothing has come: C = 0
    total = total + sizes * before[lead]
    return find_greatest(total, sizes * (view.rows * (view.occurring - 1)))


def _measure_hierarchical_view(view: GroupCounts, paths: np.ndarray) -> Fraction:
    height = paths.shape[1] - 1
    if height == 0 or not len(view.group):
        return Fraction(0)
    count, sizes, totals = view.integers(2 * height)
    work = np.zeros_like(sizes)
    below = _sum_absolute(view, paths[:, 0], count, sizes, totals)
    for level in range(1, height + 1):
        level_sum = _sum_absolute(view, paths[:, level], count, sizes, totals)
        work = work + level * (below - level_sum)
        below = level_sum
    return find_greatest(work, sizes * (2 * height * view.rows))


def _sum_by_group(entries: np.ndarray, view: GroupCounts) -> np.ndarray:
    return np.add.reduceat(entries, view.starts) if len(entries) else entries


def _sum_run(
    start: np.ndarray,
    stop: np.ndarray,
    reached: np.ndarray,
    size: np.ndarray,
    rows: int,
    table: np.ndarray,
    before: np.ndarray,
) -> np.ndarray:
    """Sum |rows * reached - size * T_i| over i in start .. stop."""
    level = reached * rows
    turn = np.searchsorted(table, (level // size).astype(np.int64), side="right")  # T_i <= level / size before it
    turn = np.clip(turn, start, stop)
    below = level * (turn - start) - size * (before[turn] - before[start])
    above = size * (before[stop] - before[turn]) - level * (stop - turn)
    return below + above


def _sum_absolute(
    view: GroupCounts, node: np.ndarray, count: np.ndarray, sizes: np.ndarray, totals: np.ndarray
) -> np.ndarray:
    """Sum |e| over the nodes of one level, for each group; equal nodes are next to each other."""
    of_entry = node[view.value]
    fresh = np.append(True, (view.group[1:] != view.group[:-1]) | (of_entry[1:] != of_entry[:-1]))
    starts = np.flatnonzero(fresh)
    node_counts = np.add.reduceat(count, starts)
    level = np.zeros(int(node.max()) + 1, totals.dtype)
    np.add.at(level, node, totals)
    group = view.group[starts]
    expected = level[of_entry[starts]] * sizes[group]
    # All |e| as if nothing occurred, corrected where something does.
    excess = np.abs(node_counts * view.rows - expected) - expected
    return np.add.reduceat(excess, np.flatnonzero(np.diff(group, prepend=-1))) + sizes * view.rows
