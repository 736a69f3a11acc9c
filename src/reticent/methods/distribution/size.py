"""How large subgroups along the curve should be: the size whose bounds on AVG are the narrowest over a workload of random ranges.

Small groups lie inside or outside a range as a whole, but their values must be generalized further; large ones need less
generalization, but a range cuts them.  The workload is the steward's, random ranges of the columns that it names with the share of their values that a
range covers; left out, random ranges of each quasi-identifier, a tenth to a half of its values wide.  The target is taken to be the group's own distribution, rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from reticent.errors import JobError, suggest
from reticent.methods.distribution.domain import Values
from reticent.methods.distribution.generalize import Held, generalized
from reticent.methods.distribution.groups import subgroups
from reticent.methods.distribution.rounding import schemes
from reticent.methods.distribution.tree import Tree
from reticent.randomness import Random
from reticent.recipe.bounds_table import Ends, bounds_table
from reticent.table.cells import Cells

QUERIES = 60
DEFAULT = 50  # for categories, on which no average is asked


def best_size(
    cells: Cells, group: np.ndarray, values: Values, tree: Tree, workload: Mapping[str, Fraction] | None, rng: Random
) -> int:
    if values.units is None:
        return DEFAULT
    value = values.of_code[cells.values[:, 0]]
    totals = np.bincount(value, weights=cells.counts, minlength=len(values.texts)).astype(np.int64)
    weights = next(schemes(tree, totals, totals > 0, Fraction(1, 20)))
    asked = _ranges(cells, workload, rng.stream("workload"))
    sizes, widths = [cells.rows], {}  # one of all rows: a group as it is
    while (smaller := 16 * 4 ** (len(sizes) - 1)) < cells.rows:
        sizes.append(smaller)
    for size in sizes:
        of, _ = subgroups(cells, group, "hilbert", size)
        held = Held.of(of, value, cells.counts, int(of.max()) + 1, len(values.texts))
        widths[size] = _width(cells, of, generalized(held, tree, weights), tree, values, asked)
    return min(widths, key=lambda one: (widths[one], one))


def _ranges(cells: Cells, workload: Mapping[str, Fraction] | None, draw: np.random.Generator) -> list[np.ndarray]:
    """Which cells each question of the workload selects."""
    place = {domain.name: at for at, domain in enumerate(cells.quasi)}
    lacking = [name for name in workload or () if name not in place]
    if lacking:
        raise JobError(
            f"distribution: the workload names {lacking[0]!r}, which is no quasi-identifying column.",
            attempt=suggest(lacking[0], list(place)),
        )
    ordered = (
        [place[name] for name in workload or ()] or [at for at, one in enumerate(cells.quasi) if one.size > 2] or [0]
    )
    found = []
    for _ in range(QUERIES):
        at = ordered[int(draw.integers(len(ordered)))]
        size, name = cells.quasi[at].size, cells.quasi[at].name
        share = float(workload[name]) if workload else draw.uniform(0.1, 0.5)
        wide = max(round(size * share), 1)
        low = int(draw.integers(max(size - wide, 0) + 1))
        found.append((cells.codes[:, at] >= low) & (cells.codes[:, at] < low + wide))
    return found


def _width(
    cells: Cells, of: np.ndarray, found: np.ndarray, tree: Tree, values: Values, asked: list[np.ndarray]
) -> float:
    """The mean of (upper - lower) / rows over the workload: the width of the bounds on AVG."""
    groups = int(of.max()) + 1
    rows = np.bincount(of, weights=cells.counts, minlength=groups).astype(np.int64)
    units = values.units
    assert units is not None, "bounds are on numbers"
    ends = Ends(found[:, 0], units[tree.first[found[:, 1]]], units[tree.last[found[:, 1]]], found[:, 2])
    table = bounds_table(ends, rows)
    wide = int(rows.max()) + 1
    key = table.group * wide + table.selected
    widths = []
    for chosen in asked:
        met = np.bincount(of[chosen], weights=cells.counts[chosen], minlength=groups).astype(np.int64)
        at = np.flatnonzero(met)
        if not len(at):
            continue
        place = np.searchsorted(key, at * wide + met[at])
        short = table.selected[place] - met[at]
        upper = table.of["sum_upper"][place] - short * table.of["min_upper"][place]
        lower = table.of["sum_lower"][place] - short * table.of["max_lower"][place]
        widths.append(float((upper - lower).sum() / met.sum()))
    return float(np.mean(widths)) if widths else 0.0
