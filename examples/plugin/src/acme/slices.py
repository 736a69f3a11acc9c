"""The method acme:slices: rows in the order of their quasi-identifiers, cut in halves as long as both keep every promise."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reticent.catalogue import Field, MethodRow
from reticent.data.cells import Cells
from reticent.methods.base import bind_reachable_promises
from reticent.models.promise import CandidateGroups, CountCappedPromise, GroupCheckedPromise, Promises
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.validation import check_parameters

ROW = MethodRow(
    "acme.slices:Slices",
    {"most": Field("whole", "how many slices there may be", default=None, least=1, unset="as many as promises allow")},
    "generalized",
    doc="Cuts the rows, in the order of their quasi-identifiers, in halves.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    most: int | None = None
    name: ClassVar[str] = "acme:slices"
    kind: ClassVar[str] = "generalized"
    labels: ClassVar[str] = "nodes"
    keeps: ClassVar[tuple[type, ...]] = (CountCappedPromise, GroupCheckedPromise)

    def __post_init__(self) -> None:
        check_parameters(self)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        bound = bind_reachable_promises(cells, promises, self.name)
        order = np.lexsort(cells.codes.T[::-1])
        slices = []
        waiting = [order]
        while waiting:
            part = waiting.pop()
            middle = len(part) // 2
            has_room = self.most is None or len(slices) + len(waiting) + 2 <= self.most
            if middle and has_room and bound.allow(_make_groups(cells, part, middle)).all():
                waiting += [part[:middle], part[middle:]]
            else:
                slices.append(part)
        group_of_cell = np.empty(len(cells), np.int64)
        for number, part in enumerate(slices):
            group_of_cell[part] = number
        return Recipe.of_groups(cells, group_of_cell)


def _make_groups(cells: Cells, part: np.ndarray, middle: int) -> CandidateGroups:
    return CandidateGroups(cells, part, cells.counts[part], np.array([0, middle, len(part)]))
