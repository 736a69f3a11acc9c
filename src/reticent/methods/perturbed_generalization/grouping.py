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

`group_by_gain` cuts region by region where the classes of a reference table differ most: other people's rows, public or of
an earlier year.  A group is cut in two at the place of any column that tells most about the classes of the reference rows
under it, if that is more than chance explains (3 standard deviations of the likelihood ratio's chi-square), and else at the median
of the column that loses most.  Of the table it reads quasi-identifiers alone, as `group_by_cuts` does, so that the bounds hold with k.
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


@dataclass(frozen=True, eq=False)
class ReferenceRows:
    """Rows of a reference table on the codes of a table: `codes` by quasi-identifier, -1 below all, and `classes`."""

    codes: np.ndarray
    classes: np.ndarray


def group_by_gain(
    cells: Cells, promises: Promises, k: int, reference: ReferenceRows, weights: Mapping[str, Any] | None
) -> np.ndarray:
    """Return the group of each cell, by the cuts that tell most about the classes of the reference rows."""
    bound, nodes = make_start_nodes(cells, promises, k)
    loss_weights = resolve_weights([domain.name for domain in cells.quasi], weights)
    pattern_of_cell = nodes.group_of_cell()
    group_of_cell = np.full(len(cells), -1, np.int64)
    missing = np.array([domain.null_code if domain.null else -2 for domain in cells.quasi])
    pending = []
    for pattern in range(int(pattern_of_cell.max(initial=-1)) + 1):
        cell = np.flatnonzero(pattern_of_cell == pattern)
        lacks = cells.codes[cell[0]] == missing
        pending.append((cell, np.flatnonzero(((reference.codes == missing) == lacks).all(axis=1))))
    groups = 0
    while pending:
        cell, row = pending.pop()
        cut = _find_telling_cut(cells, cell, reference, row, bound.least_size, loss_weights)
        if cut is None:
            group_of_cell[cell] = groups
            groups += 1
            continue
        column, last = cut
        is_left = cells.codes[cell, column] <= last
        row_is_left = reference.codes[row, column] <= last
        pending += [(cell[~is_left], row[~row_is_left]), (cell[is_left], row[row_is_left])]
    return group_of_cell


def _find_telling_cut(
    cells: Cells,
    cell: np.ndarray,
    reference: ReferenceRows,
    row: np.ndarray,
    least_size: int,
    weights: np.ndarray,
) -> tuple[int, int] | None:
    """Find the column and the last code of the left side of the best cut with enough rows on both sides; None without any."""
    size = int(cells.counts[cell].sum())
    if size < 2 * least_size:
        return None
    present, class_of_row = np.unique(reference.classes[row], return_inverse=True)
    freedom = max(1, len(present) - 1)
    least_gain = (freedom + 3 * (2 * freedom) ** 0.5) / (2 * np.log(2))
    telling: tuple[float, int, int] | None = None
    median: tuple[float, int, int] | None = None
    for column, domain in enumerate(cells.quasi):
        code, place = np.unique(cells.codes[cell, column], return_inverse=True)
        if len(code) < 2:
            continue
        left_rows = np.cumsum(np.bincount(place.reshape(-1), weights=cells.counts[cell]))[:-1]
        allowed = np.flatnonzero((left_rows >= least_size) & (size - left_rows >= least_size))
        if not len(allowed):
            continue
        loss = float(domain.loss(code[:1], code[-1:])[0]) * float(weights[column])
        if median is None or loss > median[0]:
            middle = allowed[np.abs(left_rows[allowed] - size / 2).argmin()]
            median = (loss, column, int(code[middle]))
        if len(present) < 2:
            continue
        place_of_row = np.clip(np.searchsorted(code, reference.codes[row, column], side="right") - 1, 0, None)
        tally = np.bincount(place_of_row * len(present) + class_of_row, minlength=len(code) * len(present))
        left = np.cumsum(tally.reshape(len(code), -1), axis=0)
        whole = left[-1:]
        left = left[allowed]
        gain = _compute_entropy_rows(whole) - _compute_entropy_rows(left) - _compute_entropy_rows(whole - left)
        best = int(gain.argmax())
        if gain[best] >= least_gain and (telling is None or gain[best] > telling[0]):
            telling = (float(gain[best]), column, int(code[allowed[best]]))
    chosen = telling or median
    return None if chosen is None else chosen[1:]


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
