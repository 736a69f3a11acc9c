"""Phase 2, generalization (properties G1 to G3): disjoint groups of at least k rows.

`group_by_cuts` makes strict cuts as `mondrian` does, by loss or at the median, from quasi-identifiers alone.  It reads
no sensitive value, perturbed or not: that is what theorems 2 and 3 and the tight bounds assume (ERRATA 5.9).  G3, no
two labels cover one person, is what the attack's "crucial tuple" stands on (ERRATA 5.7): rows with missing
quasi-identifiers form groups of their own.

`group_by_specialization` is the paper's own phase 2: top-down specialization by information gain (Fung, Wang & Yu, ICDE
2005), on perturbed classes.  Every column begins as one part (missing values apart).  The part whose specialization
tells most about the classes is replaced by its children, everywhere at once (global recoding), as long as every group
keeps k rows: children of a hierarchy's node, or the two sides of a range at its best place.  Groups only get smaller,
so a specialization that once fails is never tried again.  Departs from the original: the score is the information gain
alone, not its ratio to the anonymity lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import Domain, TreeDomain
from reticent.errors import JobError, PromiseUnreachable, pluralize, quote_list
from reticent.methods.base import resolve_weights
from reticent.methods.mondrian.method import LOOK_AHEAD_NEVER, LossCuts, MedianCuts
from reticent.methods.mondrian.nodes import Acceptance, PartitionNodes, SpanLosses, make_known_member_nodes
from reticent.models.promise import BoundPromises, Promises


def make_start_nodes(cells: Cells, promises: Promises, k: int) -> tuple[BoundPromises, PartitionNodes]:
    """Make the nodes to cut: the table parted by which quasi-identifiers are missing; each has k rows (times those of a person)."""
    least_size = k * cells.rows_per_person
    if cells.rows < least_size:
        raise PromiseUnreachable(
            f"Groups of {least_size:,} rows cannot be made of {cells.rows:,}.",
            why=f"k = {k}" + (f" and {cells.rows_per_person} rows per person." if least_size > k else "."),
            attempt="a smaller k (a greater s), or more rows.",
        )
    _require_frequent_patterns(cells, least_size)
    bound = BoundPromises(cells, least_size, (), ())
    return bound, make_known_member_nodes(cells, bound, promises)


def _require_frequent_patterns(cells: Cells, least_size: int) -> None:
    """Refuse a pattern of missing quasi-identifiers that too few rows have, and say whose rows to withhold.

    Labels of two groups may not cover one person, and a missing value is no part of a range or a set, so rows that lack the
    same columns are grouped with each other alone. Withholding the rows that lack a column takes whole patterns away and
    leaves the others as they are: columns that every rare pattern lacks one of are all that is needed.
    """
    is_missing = np.column_stack(
        [cells.codes[:, place] == domain.null_code for place, domain in enumerate(cells.quasi)]
    )
    patterns, pattern_of_cell = np.unique(is_missing, axis=0, return_inverse=True)
    rows = np.bincount(pattern_of_cell.reshape(-1), weights=cells.counts, minlength=len(patterns)).astype(np.int64)
    rare = rows < least_size
    if not rare.any():
        return
    columns: list[int] = []
    remaining = rare.copy()
    kept = np.ones(len(patterns), bool)
    while remaining.any() and patterns[remaining].any(axis=1).all():
        lacking = [place for place in range(len(cells.quasi)) if patterns[remaining, place].any()]
        chosen = min(
            lacking,
            key=lambda place: (int(rows[kept & patterns[:, place]].sum()), -int(patterns[remaining, place].sum())),
        )
        columns.append(chosen)
        kept &= ~patterns[:, chosen]
        remaining &= kept
    names = quote_list([cells.quasi[place].name for place in columns])
    withheld = int(rows[~kept].sum())
    withholding = (
        f'missing = "withhold" of {names} ({pluralize(withheld, "row")} of {cells.rows:,} would be withheld), '
        if columns and not remaining.any() and kept.any()
        else ""
    )
    raise PromiseUnreachable(
        f"Groups of {least_size:,} rows cannot be made of rows that lack the same quasi-identifiers.",
        why=f"A missing value lies under no range or set, so that rows are grouped with those that lack the same columns; of "
        f"{pluralize(len(patterns), 'such pattern')} {int(rare.sum())} {'has' if rare.sum() == 1 else 'have'} fewer than {least_size:,} rows: "
        f"{pluralize(int(rows[rare].sum()), 'row')} in all.",
        attempt=f"{withholding}values of their own for missing ones in the source, or k = {max(1, int(rows.min()))}.",
    )


def group_by_cuts(cells: Cells, promises: Promises, k: int, cuts: str, weights: Mapping[str, Any] | None) -> np.ndarray:
    """Return the group of each cell, by strict cuts."""
    bound, nodes = make_start_nodes(cells, promises, k)
    accepts = Acceptance(bound, nodes)
    spans = SpanLosses.from_domains(cells.quasi, resolve_weights([domain.name for domain in cells.quasi], weights))
    chooser: LossCuts | MedianCuts = (
        LossCuts(nodes, accepts, spans, LOOK_AHEAD_NEVER)
        if cuts == "loss"
        else MedianCuts(nodes, accepts, spans, fallback=True, disjoint=False)
    )
    while len(nodes):
        chosen, cuts_made = chooser.choose()
        nodes.close(chosen)
        nodes.cut(cuts_made)
    return nodes.group_of_cell()


def classify_values(domain: Sequence[str], categories: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the class of each value of the domain; every value has exactly one."""
    place = {text: index for index, text in enumerate(domain)}
    class_of_value = np.full(len(domain), -1)
    for number, texts in enumerate(categories):
        for text in texts:
            if text not in place or class_of_value[place[text]] >= 0:
                raise JobError(
                    "categories name a value that the sensitive column does not have, or name one twice.",
                    attempt="a partition of the column's domain.",
                )
            class_of_value[place[text]] = number
    if (class_of_value < 0).any():
        raise JobError(
            f"categories leave out {pluralize(int((class_of_value < 0).sum()), 'value')} of the sensitive column's domain.",
            attempt="a partition of the column's domain.",
        )
    return class_of_value


@dataclass(frozen=True, eq=False)
class Specialization:
    """Specialization of one column: codes `first` .. `last` become the parts that begin at `starts`; its information `gain` in rows."""

    column: int
    first: int
    last: int
    starts: np.ndarray
    gain: float


def group_by_specialization(cells: Cells, promises: Promises, k: int, class_rows: np.ndarray) -> np.ndarray:
    """Return the group of each cell; `class_rows` counts the rows of each cell whose perturbed value is of each class."""
    bound, nodes = make_start_nodes(cells, promises, k)
    group = nodes.group_of_cell()
    code_counts = [_count_known_codes(domain) for domain in cells.quasi]
    tallies = [_tally_column(cells, column_index, class_rows) for column_index in range(len(cells.quasi))]
    first_steps = [
        _find_best_specialization(domain, column_index, 0, code_counts[column_index] - 1, tallies[column_index])
        for column_index, domain in enumerate(cells.quasi)
    ]
    waiting = [specialization for specialization in first_steps if specialization is not None]
    while waiting:
        chosen = max(
            waiting, key=lambda specialization: (specialization.gain, -specialization.column, -specialization.first)
        )
        waiting.remove(chosen)
        finer = _apply_specialization(cells, group, chosen, bound.least_size)
        if finer is None:
            continue
        group = finer
        domain = cells.quasi[chosen.column]
        ends = [*(chosen.starts[1:] - 1), chosen.last]
        for first, last in zip(chosen.starts.tolist(), ends, strict=True):
            finer_part = _find_best_specialization(domain, chosen.column, first, int(last), tallies[chosen.column])
            waiting += [] if finer_part is None else [finer_part]
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def _count_known_codes(domain: Domain) -> int:
    return len(domain.texts)


def _tally_column(cells: Cells, column_index: int, class_rows: np.ndarray) -> np.ndarray:
    """Count the rows of a column: (codes, classes)."""
    tally = np.zeros((cells.quasi[column_index].size, class_rows.shape[1]))
    np.add.at(tally, cells.codes[:, column_index], class_rows)
    return tally


def _find_best_specialization(
    domain: Domain, column: int, first: int, last: int, tally: np.ndarray
) -> Specialization | None:
    """Find the specialization of a part, None for a single value."""
    if first >= last:
        return None
    if isinstance(domain, TreeDomain):
        level = domain.split[first:last].min()
        starts = first + np.append(0, np.flatnonzero(domain.split[first:last] == level) + 1)
    else:
        below = np.cumsum(tally[first:last], axis=0)
        above = tally[first : last + 1].sum(axis=0) - below
        starts = np.array(
            [first, first + 1 + int((_compute_entropy_rows(below) + _compute_entropy_rows(above)).argmin())]
        )
    parts = np.add.reduceat(tally[first : last + 1], starts - first)
    gain = float(_compute_entropy_rows(parts.sum(axis=0)[None])[0] - _compute_entropy_rows(parts).sum())
    return Specialization(column, first, last, starts, gain)


def _apply_specialization(
    cells: Cells, group: np.ndarray, chosen: Specialization, least_size: int
) -> np.ndarray | None:
    """Return the groups after a specialization; None if one of them would be too small."""
    code = cells.codes[:, chosen.column]
    inside = np.flatnonzero((code >= chosen.first) & (code <= chosen.last))
    child = np.searchsorted(chosen.starts, code[inside], side="right") - 1
    _, finer_group = np.unique(group[inside] * len(chosen.starts) + child, return_inverse=True)
    sizes = np.bincount(finer_group.reshape(-1), weights=cells.counts[inside])
    if len(sizes) and sizes.min() < least_size:
        return None
    finer = group.copy()
    finer[inside] = int(group.max()) + 1 + finer_group.reshape(-1)
    return finer


def _compute_entropy_rows(counts: np.ndarray) -> np.ndarray:
    """Compute rows times the entropy of their classes, for each line of counts."""
    total = counts.sum(axis=1, keepdims=True)
    share = counts / np.maximum(total, 1)
    return -(counts * np.log2(np.where(share > 0, share, 1))).sum(axis=1)
