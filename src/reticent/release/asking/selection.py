"""Values that a question selects, as each group of a release has them, and how likely a row of the group holds one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from reticent.release.asking.alike import Triple

if TYPE_CHECKING:
    from reticent.release.asking.grouped import Grouped


@dataclass(frozen=True, eq=False)
class Chances:
    """Of `rows` rows of a type, each holds a value with a chance."""

    kind: np.ndarray
    value: np.ndarray
    chance: np.ndarray
    rows: np.ndarray


class Likely(Protocol):
    """How likely a kind takes a row to hold a value."""

    def chances(self, rows: Triple, held: Triple, among: np.ndarray | None) -> Chances:
        """Of the rows and the published values of each group, those that are alike to the question taken together."""

    def shares(self, groups: Grouped, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The chance that a row of a group holds one of the wanted values: the kind of each group, and the chance of each kind."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Some of the values that rows can hold, as each group has them: how many of its published values may stand for one of them,
    how many for others, and how likely a row has one."""

    may: np.ndarray
    others: np.ndarray
    kind: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, groups: Grouped, wanted: np.ndarray, likely: Likely) -> Selection:
        group, node, number = groups.held
        may, others = (
            np.bincount(group, weights=number * groups.may(some)[node], minlength=groups.many).astype(np.int64)
            for some in (wanted, ~wanted)
        )
        return cls(may, others, *likely.shares(groups, wanted))
