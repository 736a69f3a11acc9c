"""Top-down specialization by information gain (Fung, Wang & Yu, ICDE 2005), on perturbed classes: the paper's own phase 2.

Every column begins as one part (missing values apart).  The part whose specialization tells most about the classes is replaced by
its children, everywhere at once (global recoding), as long as every group keeps k rows: children of a hierarchy's node, or the two
sides of a range at its best place.  Groups only get smaller, so a specialization that once fails is never tried again.

Departs from the original: the score is the information gain alone, not its ratio to the anonymity lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.errors import JobError, some
from reticent.methods.perturbed_generalization.grouping import whole_parts
from reticent.models.promises import Promises
from reticent.table.cells import Cells
from reticent.table.domain import Domain, TreeDomain


def classes_of(domain: Sequence[str], categories: Sequence[Sequence[str]]) -> np.ndarray:
    """The class of each value of the domain; every value has exactly one."""
    place = {text: at for at, text in enumerate(domain)}
    found = np.full(len(domain), -1)
    for number, texts in enumerate(categories):
        for text in texts:
            if text not in place or found[place[text]] >= 0:
                raise JobError(
                    "categories name a value that the sensitive column does not have, or name one twice.",
                    attempt="a partition of the column's domain.",
                )
            found[place[text]] = number
    if (found < 0).any():
        raise JobError(
            f"categories leave out {some(int((found < 0).sum()), 'value')} of the sensitive column's domain.",
            attempt="a partition of the column's domain.",
        )
    return found


@dataclass(frozen=True, eq=False)
class Specialization:
    """Of one column: codes `first` .. `last` become the parts that begin at `starts`; its information `gain` in rows."""

    column: int
    first: int
    last: int
    starts: np.ndarray
    gain: float


def specialized_groups(cells: Cells, promises: Promises, k: int, held: np.ndarray) -> np.ndarray:
    """The group of each cell; `held` counts the rows of each cell whose perturbed value is of each class."""
    bound, nodes = whole_parts(cells, promises, k)
    group = nodes.group_of_cell()
    known = [_known(domain) for domain in cells.quasi]
    tallies = [_tally(cells, at, held) for at in range(len(cells.quasi))]
    whole = [_best(domain, at, 0, known[at] - 1, tallies[at]) for at, domain in enumerate(cells.quasi)]
    waiting = [one for one in whole if one is not None]
    while waiting:
        chosen = max(waiting, key=lambda one: (one.gain, -one.column, -one.first))
        waiting.remove(chosen)
        finer = _applied(cells, group, chosen, bound.least_size)
        if finer is None:
            continue
        group = finer
        domain, ends = cells.quasi[chosen.column], [*(chosen.starts[1:] - 1), chosen.last]
        for first, last in zip(chosen.starts.tolist(), ends, strict=True):
            found = _best(domain, chosen.column, first, int(last), tallies[chosen.column])
            waiting += [] if found is None else [found]
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def _known(domain: Domain) -> int:
    return len(domain.texts)


def _tally(cells: Cells, at: int, held: np.ndarray) -> np.ndarray:
    """(codes, classes) rows of a column."""
    found = np.zeros((cells.quasi[at].size, held.shape[1]))
    np.add.at(found, cells.codes[:, at], held)
    return found


def _best(domain: Domain, column: int, first: int, last: int, tally: np.ndarray) -> Specialization | None:
    """The specialization of a part, None for a single value."""
    if first >= last:
        return None
    if isinstance(domain, TreeDomain):
        level = domain.split[first:last].min()
        starts = first + np.append(0, np.flatnonzero(domain.split[first:last] == level) + 1)
    else:
        left = np.cumsum(tally[first:last], axis=0)
        right = tally[first : last + 1].sum(axis=0) - left
        starts = np.array([first, first + 1 + int((_bits(left) + _bits(right)).argmin())])
    parts = np.add.reduceat(tally[first : last + 1], starts - first)
    gain = float(_bits(parts.sum(axis=0)[None])[0] - _bits(parts).sum())
    return Specialization(column, first, last, starts, gain)


def _bits(counts: np.ndarray) -> np.ndarray:
    """Rows times the entropy of their classes, for each line of counts."""
    total = counts.sum(axis=1, keepdims=True)
    share = counts / np.maximum(total, 1)
    return -(counts * np.log2(np.where(share > 0, share, 1))).sum(axis=1)


def _applied(cells: Cells, group: np.ndarray, chosen: Specialization, least: int) -> np.ndarray | None:
    """The groups after a specialization; None where one of them would be too small."""
    code = cells.codes[:, chosen.column]
    inside = np.flatnonzero((code >= chosen.first) & (code <= chosen.last))
    child = np.searchsorted(chosen.starts, code[inside], side="right") - 1
    _, which = np.unique(group[inside] * len(chosen.starts) + child, return_inverse=True)
    sizes = np.bincount(which.reshape(-1), weights=cells.counts[inside])
    if len(sizes) and sizes.min() < least:
        return None
    finer = group.copy()
    finer[inside] = int(group.max()) + 1 + which.reshape(-1)
    return finer
