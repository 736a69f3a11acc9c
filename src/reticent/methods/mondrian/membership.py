"""Where to start cutting if labels must say who is in which group: no two labels may cover the same person.

Cuts part the values of a column, and an exact set or a tight range covers no value that lies on the other
side.  Two labels cover more than their group: a null beside other values prints `*`, and a node of a hierarchy of
numbers prints values that it does not hold.  So a null stands alone in its column, which parts the table before the
first cut, and such hierarchies are refused.
"""

from __future__ import annotations

import numpy as np

from reticent.errors import JobError, PromiseUnreachable
from reticent.methods.mondrian.nodes import Nodes, run_starts
from reticent.models.promises import BoundPromises, Promises
from reticent.models.shapes import Groups, rows_by_group
from reticent.table.banded import BandDomain
from reticent.table.cells import Cells


def nodes_of_known_members(cells: Cells, bound: BoundPromises, promises: Promises) -> Nodes:
    """One node for each pattern of missing quasi-identifiers, each of which keeps every promise."""
    names = " and ".join(promise.name for promise in promises)
    for domain in cells.quasi:
        if isinstance(domain, BandDomain):
            raise JobError(
                f"{names} needs labels that tell groups apart, "
                f"and {domain.name!r} is published by nodes of a hierarchy.",
                why="Numbers and dates of two groups can lie under one node.",
                attempt=f"no hierarchy for {domain.name!r}: it is then published as ranges.",
            )
    nodes = _parted(Nodes.of(cells))
    kept = bound.allow(_groups(cells, nodes.group_of_cell()))
    if not kept.all():
        raise PromiseUnreachable(
            f"{names} cannot be met by mondrian.",
            why=f"Missing values of a quasi-identifier form groups of their own, so that labels tell groups apart; of "
            f"{len(kept)} patterns of missing values {int((~kept).sum())} break the promise as one group.",
            attempt="filling in or withholding the rows with missing values, or a weaker promise.",
        )
    return nodes


def _parted(whole: Nodes) -> Nodes:
    """The single node's atoms sorted by which of their quasi-identifiers are null, a node for each pattern."""
    cells = whole.cells
    null = np.array([domain.null_code for domain in cells.quasi])
    missing = (cells.codes[whole.first[:-1]] == null) & (null >= 0)
    if not missing.any():
        return whole
    _, pattern = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(pattern.reshape(-1), kind="stable")
    start = run_starts(pattern.reshape(-1)[order]).astype(np.int64)
    stop = np.append(start[1:], len(order)).astype(np.int64)
    return Nodes(cells, whole.first, whole.words[order], whole.atom[order], whole.count[order], start, stop)


def _groups(cells: Cells, group_of_cell: np.ndarray) -> Groups:
    order, offsets = rows_by_group(group_of_cell, int(group_of_cell.max(initial=-1)) + 1)
    return Groups(cells, order, cells.counts[order], offsets)
