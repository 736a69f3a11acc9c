"""Groups that analysts want (columns, bands of numbers, a k-anonymous Mondrian), and subgroups within them (section 4.2).

`choose_subgroup_size` chooses how large subgroups along the curve should be: the size whose bounds on AVG are the
narrowest over a workload of random ranges.  Small groups lie inside or outside a range as a whole, but their values
must be generalized further; large ones need less generalization, but a range cuts them.  The workload is the steward's:
random ranges of the columns that it names, each covering the named share of their values; without one, random ranges of
each quasi-identifier, a tenth to a half of its values wide.  The target is taken to be the group's own distribution,
rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.data.domain import Domain
from reticent.errors import JobError, suggest
from reticent.kernels.hilbert import compute_hilbert_keys
from reticent.methods.distribution.generalization import GroupValues, generalize_groups
from reticent.methods.distribution.targets import generate_rounded_weights
from reticent.methods.distribution.value_domain import ValueDomain, ValueTree
from reticent.methods.equivalence_classes import choose_curve_bits, compute_grid
from reticent.methods.mondrian import Mondrian
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.aggregate_bounds import IntervalCounts, compute_bounds

WORKLOAD_QUERIES = 60
DEFAULT_SUBGROUP_SIZE = 50  # for categories, on which no average is asked


@dataclass(frozen=True, eq=False)
class CellGrouping:
    """The group of each cell, and the name of each group."""

    of_cell: np.ndarray
    names: tuple[str, ...]


def group_cells(cells: Cells, group_by: Any, k: int | None, rng: Random) -> CellGrouping:
    if group_by is None:
        return CellGrouping(np.zeros(len(cells), np.int64), ("all",))
    if group_by == "mondrian":
        return _group_by_mondrian(cells, k or METHODS["distribution"].fields["k"].implied, rng)
    edges_by_column: Mapping[str, Sequence[Any]] = (
        group_by
        if isinstance(group_by, Mapping)
        else dict.fromkeys([group_by] if isinstance(group_by, str) else group_by, ())
    )
    place = {domain.name: index for index, domain in enumerate(cells.quasi)}
    for name in edges_by_column:
        if name not in place:
            raise JobError(
                f"distribution: {name!r} is no quasi-identifying column to group by.",
                attempt=suggest(name, list(place)),
            )
    parts = [
        _divide_column(cells.quasi[place[name]], cells.codes[:, place[name]], edges)
        for name, edges in edges_by_column.items()
    ]
    keys = np.column_stack([part for part, _ in parts])
    rows, group = np.unique(keys, axis=0, return_inverse=True)
    names = tuple(
        " / ".join(called[code] for code, (_, called) in zip(row, parts, strict=True)) for row in rows.tolist()
    )
    return CellGrouping(group.reshape(-1), names)


def number_combinations(cells: Cells) -> np.ndarray:
    """Number each cell's combination of quasi-identifiers; cells are in their order."""
    codes = cells.codes
    return np.cumsum(np.append(True, (codes[1:] != codes[:-1]).any(axis=1))[: len(codes)]) - 1


def divide_groups(cells: Cells, group: np.ndarray, within: str, size: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the subgroup of each cell, numbered group by group, and the group of each subgroup."""
    if within == "sa-only":
        return group, np.arange(int(group.max()) + 1)
    combination = number_combinations(cells)
    if within == "qi-sa":
        pairs, number = np.unique(group * (int(combination[-1]) + 1) + combination, return_inverse=True)
        return number.reshape(-1), pairs // (int(combination[-1]) + 1)
    first = np.unique(combination, return_index=True)[1]
    rows = np.bincount(combination, weights=cells.counts).astype(np.int64)
    keys = np.empty(len(cells), np.int64)
    bits = choose_curve_bits(cells)
    compute_hilbert_keys(compute_grid(cells, bits, stretch=True), bits, keys)
    order = np.lexsort((keys[first], group[first]))
    of = group[first][order]
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    lengths = np.diff(np.append(starts, len(of)))
    until = np.cumsum(rows[order])
    before = until - rows[order] - np.repeat((until - rows[order])[starts], lengths)
    group_rows = np.add.reduceat(rows[order], starts)
    pieces = np.maximum(group_rows // max(size or 1, 1), 1)
    piece = np.minimum(
        before * np.repeat(pieces, lengths) // np.repeat(group_rows, lengths), np.repeat(pieces, lengths) - 1
    )
    pairs, number = np.unique(of * (int(pieces.max()) + 1) + piece, return_inverse=True)
    subgroup = np.empty(len(first), np.int64)
    subgroup[order] = number.reshape(-1)
    return subgroup[combination], pairs // (int(pieces.max()) + 1)


def choose_subgroup_size(
    cells: Cells,
    group: np.ndarray,
    values: ValueDomain,
    tree: ValueTree,
    workload: Mapping[str, Fraction] | None,
    rng: Random,
) -> int:
    if values.units is None:
        return DEFAULT_SUBGROUP_SIZE
    value = values.of_code[cells.values[:, 0]]
    totals = np.bincount(value, weights=cells.counts, minlength=len(values.texts)).astype(np.int64)
    weights = next(generate_rounded_weights(tree, totals, totals > 0, Fraction(1, 20)))
    queries = _draw_range_queries(cells, workload, rng.stream("workload"))
    sizes = [cells.rows]
    widths = {}  # one of all rows: a group as it is
    while (smaller := 16 * 4 ** (len(sizes) - 1)) < cells.rows:
        sizes.append(smaller)
    for size in sizes:
        of, _ = divide_groups(cells, group, "hilbert", size)
        group_values = GroupValues.from_entries(of, value, cells.counts, int(of.max()) + 1, len(values.texts))
        widths[size] = _measure_bound_width(
            cells, of, generalize_groups(group_values, tree, weights), tree, values, queries
        )
    return min(widths, key=lambda candidate: (widths[candidate], candidate))


def _group_by_mondrian(cells: Cells, k: int, rng: Random) -> CellGrouping:
    recipe = Mondrian().plan(cells, Promises.from_iterable([KAnonymity(k)]), rng)
    of_cell = np.zeros(len(cells), np.int64)
    of_cell[recipe.cell] = recipe.group
    _, of_cell = np.unique(of_cell, return_inverse=True)
    of_cell = of_cell.reshape(-1)
    return CellGrouping(of_cell, tuple(f"group {number}" for number in range(int(of_cell.max()) + 1)))


def _divide_column(domain: Domain, codes: np.ndarray, edges: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """Return the part of each cell, and the names of parts: a value, or a band of numbers from an edge up to the next."""
    if not edges:
        return codes.astype(np.int64), [*domain.texts, "missing"]
    positions = getattr(domain, "positions", None)
    if positions is None or getattr(domain, "kind", "") != "numeric":
        raise JobError(
            f"distribution: bands are of numbers, and {domain.name!r} has none.",
            attempt=f"group_by = [{domain.name!r}].",
        )
    ends = [float(edge) for edge in edges]
    if ends != sorted(set(ends)):
        raise JobError(
            f"distribution: the bands of {domain.name!r} must ascend.", attempt="edges such as [18, 40, 65]."
        )
    edge_texts = [f"{end:g}" for end in ends]
    names = [
        f"below {edge_texts[0]}",
        *(f"{a} to {b}" for a, b in pairwise(edge_texts)),
        f"{edge_texts[-1]} and above",
        "missing",
    ]
    band = np.append(np.searchsorted(ends, positions, side="right"), len(ends) + 1)
    return band[codes], names


def require_workload_columns(cells: Cells, workload: Mapping[str, Fraction] | None) -> None:
    """Refuse a workload over columns that are not quasi-identifying, also where no size is chosen by it."""
    names = [domain.name for domain in cells.quasi]
    lacking = [name for name in workload or () if name not in names]
    if lacking:
        raise JobError(
            f"distribution: the workload names {lacking[0]!r}, which is no quasi-identifying column.",
            attempt=suggest(lacking[0], names),
        )


def _draw_range_queries(
    cells: Cells, workload: Mapping[str, Fraction] | None, draw: np.random.Generator
) -> list[np.ndarray]:
    """Draw which cells each query of the workload selects."""
    place = {domain.name: column_index for column_index, domain in enumerate(cells.quasi)}
    ordered = (
        [place[name] for name in workload or ()]
        or [column_index for column_index, quasi in enumerate(cells.quasi) if quasi.size > 2]
        or [0]
    )
    selections = []
    for _ in range(WORKLOAD_QUERIES):
        column_index = ordered[int(draw.integers(len(ordered)))]
        size = cells.quasi[column_index].size
        name = cells.quasi[column_index].name
        share = float(workload[name]) if workload else draw.uniform(0.1, 0.5)
        wide = max(round(size * share), 1)
        low = int(draw.integers(max(size - wide, 0) + 1))
        selections.append((cells.codes[:, column_index] >= low) & (cells.codes[:, column_index] < low + wide))
    return selections


def _measure_bound_width(
    cells: Cells, of: np.ndarray, entries: np.ndarray, tree: ValueTree, values: ValueDomain, queries: list[np.ndarray]
) -> float:
    """Measure the mean of (upper - lower) / rows over the workload: the width of the bounds on AVG."""
    groups = int(of.max()) + 1
    rows = np.bincount(of, weights=cells.counts, minlength=groups).astype(np.int64)
    units = np.asarray(values.units)
    ends = IntervalCounts(
        entries[:, 0], units[tree.first[entries[:, 1]]], units[tree.last[entries[:, 1]]], entries[:, 2]
    )
    table = compute_bounds(ends, rows)
    wide = int(rows.max()) + 1
    key = table.group * wide + table.selected
    widths = []
    for chosen in queries:
        selected_rows = np.bincount(of[chosen], weights=cells.counts[chosen], minlength=groups).astype(np.int64)
        groups_met = np.flatnonzero(selected_rows)
        if not len(groups_met):
            continue
        place = np.searchsorted(key, groups_met * wide + selected_rows[groups_met])
        short = table.selected[place] - selected_rows[groups_met]
        upper = table.columns["sum_upper"][place] - short * table.columns["min_upper"][place]
        lower = table.columns["sum_lower"][place] - short * table.columns["max_lower"][place]
        widths.append(float((upper - lower).sum() / selected_rows.sum()))
    return float(np.mean(widths)) if widths else 0.0
