"""k-map (Sweeney 2002, section 5): every published combination fits `>= k` people of a population table.

The release's groups may be small; what counts is how many rows of the population each group's labels cover.  The
population has the release's quasi-identifying columns under the same names, and is placed on their domains (see
`table/placing.py`): a value that the release does not know lies under `*` only, one beyond a declared top or bottom
at the bound.  A null fits a null and `*`.

Closed under union: the label of a union covers what its parts' labels cover.  Labels are hierarchy nodes and
ranges; where exact sets are published instead they cover less, so this promise refuses them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.door import place as a_table
from reticent.kernels.cover_counts import cover_counts
from reticent.models.shapes import Check, Groups, Promise, Totals
from reticent.table.cells import Cells
from reticent.table.placing import place
from reticent.table.population import combinations


@dataclass(frozen=True, slots=True)
class KMap(Promise):
    """Each group's labels cover at least k rows of `population`: a path, a `Source` or a frame."""

    k: int
    population: Any = field(compare=False)
    name: ClassVar[str] = "k-map"
    needs_sensitive: ClassVar[bool] = False
    union_closed: ClassVar[bool] = True
    labels: ClassVar[str] = "nodes"
    paths: ClassVar[tuple[str, ...]] = ("population",)

    def __post_init__(self) -> None:
        check_parameters(self)
        a_table(self.population, "population")
        if isinstance(self.population, str):
            object.__setattr__(self, "population", Path(self.population))

    def bind(self, cells: Cells, totals: Totals | None = None) -> Check:
        """A population says who else a label covers, whatever part of the table the cells are."""
        down, up, people = self._placed(cells)
        order, at = _sorted_column(down)
        down, up, people = np.ascontiguousarray(down[order]), np.ascontiguousarray(up[order]), people[order]

        def keeps(groups: Groups) -> np.ndarray:
            low, high = covered(groups)
            window = np.column_stack(
                [np.searchsorted(down[:, at], low[:, at]), np.searchsorted(down[:, at], high[:, at], "right")]
            ).astype(np.int64)
            found = np.zeros(len(groups), np.int64)
            cover_counts(low, high, window, down, up, people, self.k, found)
            return found >= self.k

        return keeps

    def _placed(self, cells: Cells) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The population's distinct combinations on the cells' domains, and how many people have each."""
        table, people = combinations(self.population, [domain.name for domain in cells.quasi])
        placed = [place(domain, table[domain.name]) for domain in cells.quasi]
        down, up = (np.column_stack([both[side] for both in placed]).astype(np.int32) for side in (0, 1))
        return down, up, people


def covered(groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """The box of codes that each group's labels cover: (groups, quasi) each."""
    codes = groups.cells.codes[groups.cell]
    starts = groups.offsets[:-1]
    lower, upper = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    boxes = [domain.covered(lower[:, at], upper[:, at]) for at, domain in enumerate(groups.cells.quasi)]
    low, high = (np.column_stack([box[side] for box in boxes]) for side in (0, 1))
    return np.ascontiguousarray(low, np.int32), np.ascontiguousarray(high, np.int32)


def _sorted_column(down: np.ndarray) -> tuple[np.ndarray, int]:
    """Points in the order of the column with most values, so that a box is looked for in a window of them."""
    at = int(np.argmax([len(np.unique(column)) for column in down.T]))
    return np.argsort(down[:, at], kind="stable"), at
