"""k-anonymity and its relatives: (alpha,k)-anonymity and k-map.

`KAnonymity` (Samarati & Sweeney 1998): every group has at least k rows, `size >= k`.  Where a person may have several
rows, up to a declared number, a group has at least k times that number of rows, and so at least k persons.

`AlphaKAnonymity` (Wong, Li, Fu & Wang, KDD 2006): `size >= k`, and `count <= alpha * size` for every sensitive value.
This is the paper's general form: alpha bounds every value, not a chosen one.  A null counts as a row toward k; the
frequencies hold with and without the null rows.  Closed under union, as k-anonymity and a bound on frequencies each
are.

`KMap` (Sweeney 2002, section 5): every published combination fits `>= k` people of a population table.  The release's
groups may be small; what counts is how many rows of the population each group's labels cover.  The population has the
release's quasi-identifying columns under the same names, and is placed on their domains (see `data.population`): a
value that the release does not know lies under `*` only, one beyond a declared top or bottom lies at the bound.  A null
fits a null and `*`.  Closed under union: the label of a union covers what its parts' labels cover.  Labels are
hierarchy nodes and ranges; where exact sets are published instead they cover less, so k-map refuses them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent import validation
from reticent.catalogue import PROMISES
from reticent.data.cells import Cells
from reticent.data.population import count_population, locate_values
from reticent.kernels.cover_counts import count_covered
from reticent.models.promise import (
    CandidateGroups,
    Caps,
    GroupCheck,
    Promise,
    Totals,
    list_excluded_values,
    make_upper_caps,
)
from reticent.models.rational_bounds import Number, find_fraction_below
from reticent.validation import check_parameters, document_parameters


@document_parameters(PROMISES["alpha-k-anonymity"])
@dataclass(frozen=True, slots=True)
class AlphaKAnonymity(Promise):
    """size >= k and count <= alpha * size for every value."""

    alpha: Fraction
    k: int
    column: str | None = None
    name: ClassVar[str] = "alpha-k-anonymity"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, alpha: Number, k: int, column: str | None = None) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        upper = [find_fraction_below(self.alpha, int(totals.sum()))] * len(totals)
        return [
            Caps(
                len(totals),
                least_size=self.k if excluded < 0 else 0,
                upper=make_upper_caps(upper, excluded),
                without=excluded,
            )
            for excluded in list_excluded_values(totals, null)
        ]


@document_parameters(PROMISES["k-anonymity"])
@dataclass(frozen=True, slots=True)
class KAnonymity(Promise):
    """size >= k."""

    k: int
    name: ClassVar[str] = "k-anonymity"
    needs_sensitive: ClassVar[bool] = False
    union_closed: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        return [Caps(len(totals), least_size=self.k)]


@document_parameters(PROMISES["k-map"])
@dataclass(frozen=True, slots=True)
class KMap(Promise):
    """Each group's labels cover at least k rows of `population`: a path, a `Source` or a frame."""

    k: int
    population: Any = field(compare=False)
    name: ClassVar[str] = "k-map"
    needs_sensitive: ClassVar[bool] = False
    union_closed: ClassVar[bool] = True
    labels: ClassVar[str] = "nodes"

    def __post_init__(self) -> None:
        check_parameters(self)
        validation.path_or_table(self.population, "population")
        if isinstance(self.population, str):
            object.__setattr__(self, "population", Path(self.population))

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        """Bind the check to cells; it is the same for a part of the table, since the population tells whom a label covers."""
        down, up, people = self._locate_population(cells)
        order, column = _sort_by_widest_column(down)
        down = np.ascontiguousarray(down[order])
        up = np.ascontiguousarray(up[order])
        people = people[order]

        def keeps(groups: CandidateGroups) -> np.ndarray:
            low, high = find_covered_boxes(groups)
            window = np.column_stack(
                [
                    np.searchsorted(down[:, column], low[:, column]),
                    np.searchsorted(down[:, column], high[:, column], "right"),
                ]
            ).astype(np.int64)
            covered_people = np.zeros(len(groups), np.int64)
            count_covered(low, high, window, down, up, people, self.k, covered_people)
            return covered_people >= self.k

        return keeps

    def _locate_population(self, cells: Cells) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Count the population's distinct combinations on the cells' domains: the combinations and how many people have each."""
        table, people = count_population(self.population, [domain.name for domain in cells.quasi])
        placed = [locate_values(domain, table[domain.name]) for domain in cells.quasi]
        down, up = (np.column_stack([ends[side] for ends in placed]).astype(np.int32) for side in (0, 1))
        return down, up, people


def find_covered_boxes(groups: CandidateGroups) -> tuple[np.ndarray, np.ndarray]:
    """Find the box of codes that each group's labels cover: (groups, quasi) each."""
    codes = groups.cells.codes[groups.cell]
    starts = groups.offsets[:-1]
    lower = np.minimum.reduceat(codes, starts)
    upper = np.maximum.reduceat(codes, starts)
    boxes = [
        domain.find_covered_codes(lower[:, axis], upper[:, axis]) for axis, domain in enumerate(groups.cells.quasi)
    ]
    low, high = (np.column_stack([box[side] for box in boxes]) for side in (0, 1))
    return np.ascontiguousarray(low, np.int32), np.ascontiguousarray(high, np.int32)


def _sort_by_widest_column(down: np.ndarray) -> tuple[np.ndarray, int]:
    """Sort points by the column with most values, so that a box is searched in a window of them."""
    widest = int(np.argmax([len(np.unique(column)) for column in down.T]))
    return np.argsort(down[:, widest], kind="stable"), widest
