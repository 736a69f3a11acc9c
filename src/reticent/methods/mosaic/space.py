"""The loss of a box as kernels read it: one array of doubles, and where each column's part of it lies.

places[j] = (kind, offset, codes, extra), spans already multiplied by the column's weight (equation 4 of paper 1):

    0  table    spans[offset + lo * codes + hi], for up to TABLE_LIMIT codes
    1  line     spans[offset + hi] - spans[offset + lo]; extra is the null's code or -1, its span stands at its own place
    2  levels   from the leaves up: at offset + 2 * level * codes the ancestor of each code, codes further on what it loses;
                extra is the number of levels

so that columns of 100,000 values need no table of all their ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.methods.weights import weights_of
from reticent.table.cells import Cells
from reticent.table.domain import TABLE_LIMIT, Domain, RangeDomain, TreeDomain
from reticent.table.printed import SnappedDomain

FAR = 1 << 20  # ranges from zero on, of which a span is the difference of two large quotients


@dataclass(frozen=True, eq=False)
class Space:
    """The quasi-identifiers as kernels see them."""

    spans: np.ndarray
    places: np.ndarray
    weights: np.ndarray
    domains: tuple[Domain, ...]
    nodes: np.ndarray  # the node above each code, level by level, column by column; the codes themselves first
    trees: np.ndarray  # (offset into nodes, levels) of each column

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.array([domain.size for domain in self.domains], np.int64)

    def per_row(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Loss per row of boxes given by their least and greatest codes, (boxes, columns) each."""
        total = np.zeros(len(lower))
        for j, domain in enumerate(self.domains):
            if self.weights[j]:
                total += self.weights[j] * planned(domain, lower[:, j].astype(np.int64), upper[:, j].astype(np.int64))
        return total


def planned(domain: Domain, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """What spans lose and, where their labels are snapped and a table holds it, what those will."""
    if isinstance(domain, SnappedDomain) and domain.size <= TABLE_LIMIT:
        return domain.planned_loss(lower, upper)
    return domain.loss(lower, upper)


def column_weights(cells: Cells, weights: Mapping[str, object] | None) -> np.ndarray:
    """Weights that sum to 1; a column not named weighs 1 before that."""
    found = weights_of([domain.name for domain in cells.quasi], weights)
    return found / found.sum()


def space_of(cells: Cells, weights: Mapping[str, object] | None = None) -> Space:
    weight = column_weights(cells, weights)
    parts, places, offset = [], np.zeros((len(cells.quasi), 4), np.int64), 0
    for j, domain in enumerate(cells.quasi):
        kind, part, extra = _part(domain)
        places[j] = kind, offset, domain.size, extra
        ids = kind == 2
        part = part * weight[j] if not ids else _weigh_levels(part, weight[j])
        parts.append(part.ravel())
        offset += part.size
    nodes, trees = _nodes(cells.quasi)
    return Space(np.concatenate(parts) if parts else np.zeros(0), places, weight, cells.quasi, nodes, trees)


def _nodes(domains: tuple[Domain, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Every level below the root at which some node holds several codes."""
    parts, trees, offset = [], np.zeros((len(domains), 2), np.int64), 0
    for j, domain in enumerate(domains):
        levels = [np.arange(domain.size, dtype=np.int32)]
        if isinstance(domain, TreeDomain):
            for level in range(1, domain.hierarchy.height):
                above = domain.hierarchy.paths[:, level].astype(np.int32)
                levels.append(np.append(above, np.int32(-1)) if domain.null else above)
        trees[j] = offset, len(levels)
        parts += levels
        offset += sum(map(len, levels))
    return np.concatenate(parts) if parts else np.zeros(0, np.int32), trees


def _part(domain: Domain) -> tuple[int, np.ndarray, int]:
    if domain.size <= TABLE_LIMIT:
        return 0, _table(domain), 0
    if isinstance(domain, RangeDomain):
        reach = domain.span[1] - domain.span[0]
        line = _from_least(domain.positions, reach) / reach if reach > 0 else np.zeros(len(domain.positions))
        return 1, np.append(line, 1.0) if domain.null else line, domain.null_code
    assert isinstance(domain, TreeDomain)
    return 2, _levels(domain), domain.hierarchy.height


def _from_least(positions: np.ndarray, reach: float) -> np.ndarray:
    """Positions as they are, or less the least, where that is so much more than the range that a quotient rounds spans away."""
    return positions - positions[0] if abs(positions[0]) > FAR * reach else positions


def _table(domain: Domain) -> np.ndarray:
    if not isinstance(domain, SnappedDomain):
        return domain.loss_table
    lower, upper = np.divmod(np.arange(domain.size**2), domain.size)
    found = np.zeros(domain.size**2)
    found[lower <= upper] = planned(domain, lower[lower <= upper], upper[lower <= upper])
    return found.reshape(domain.size, domain.size)


def _levels(domain: TreeDomain) -> np.ndarray:
    """(levels, 2, codes): the ancestor of each code, and what its span loses."""
    tree = domain.hierarchy
    ancestors = tree.paths[:, 1:].T.astype(np.float64)
    leaves = (tree.last - tree.first + 1)[tree.paths[:, 1:].T].astype(np.float64)
    loss = np.where(leaves > 1, leaves / domain.size, 0.0)
    if domain.null:
        ancestors = np.hstack([ancestors, np.full((len(ancestors), 1), -1.0)])
        loss = np.hstack([loss, np.zeros((len(loss), 1))])
        ancestors[-1], loss[-1] = 0.0, 1.0  # the null meets the others at the root
    return np.stack([ancestors, loss], axis=1)


def _weigh_levels(part: np.ndarray, weight: float) -> np.ndarray:
    part = part.copy()
    part[:, 1] *= weight
    return part
