"""How often the ends of tight ranges stand at one person's value alone: counted in the groups of a recipe, for the owner.

An end isolates where exactly one person of its group has the value there.  The control is the same of any value of the table inside
the range, each range counting alike (`attacks.singling_out` measures it on the release).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from reticent.recipe.recipe import Recipe
from reticent.table.domain import RangeDomain
from reticent.table.grids import round_step
from reticent.table.printed import PrintedDomain
from reticent.table.roles import Column

OFTEN = 0.5
MORE_THAN_CONTROL = 1.5
MIN_ENDS = 40
"""The owner is told where more than half of at least so many ends isolate, and half as many again as any value does."""


@dataclass(frozen=True, slots=True)
class EndIsolation:
    """Of one column: how many ends its ranges have, and the shares of ends and of any values that isolate one person."""

    name: str
    ends: int
    isolated: float
    control: float
    has_round_step: bool

    @property
    def is_telling(self) -> bool:
        often = self.ends >= MIN_ENDS and self.isolated > OFTEN
        return often and self.isolated >= MORE_THAN_CONTROL * self.control

    def __str__(self) -> str:
        remedy = (
            'labels = "snapped"' if self.has_round_step else 'labels = { style = "padded", width = 2, share = 0.34 }'
        )
        return (
            f"{self.isolated:.0%} of {self.ends:,} ends of ranges of {self.name!r} are one person's value alone in their group (of any "
            f"value in the ranges: {self.control:.0%}). {remedy} moves them away from people."
        )


def measure_ends(recipe: Recipe, columns: Mapping[str, Column]) -> list[EndIsolation]:
    """Of each column of numbers whose ranges end at people's values though the job does not ask for it."""
    groups, found = recipe.as_groups(), []
    for at, domain in enumerate(recipe.cells.quasi):
        tight = isinstance(domain, RangeDomain) and not isinstance(domain, PrintedDomain) and domain.kind == "numeric"
        if not tight or not len(groups) or columns[domain.name].labels is not None or not domain.texts:
            continue
        assert isinstance(domain, RangeDomain)
        codes = recipe.cells.codes[groups.cell, at].astype(np.int64)
        measured = _measured(domain, codes, groups.group, groups.quota, len(groups), recipe.cells.rows_per_person)
        if measured is not None:
            found.append(measured)
    return found


def _measured(
    domain: RangeDomain, codes: np.ndarray, group: np.ndarray, quota: np.ndarray, groups: int, rows_per_person: int
) -> EndIsolation | None:
    lower = np.full(groups, domain.size, np.int64)
    upper = np.full(groups, -1, np.int64)
    np.minimum.at(lower, group, codes)
    np.maximum.at(upper, group, codes)
    ranged = (lower < upper) & (upper != domain.null_code)
    if not ranged.any():
        return None
    held, place = np.unique(group * domain.size + codes, return_inverse=True)
    rows = np.bincount(place.reshape(-1), weights=quota)
    alone = rows <= rows_per_person
    of_group, code = held // domain.size, held % domain.size
    inside = ranged[of_group]
    at_end = inside & ((code == lower[of_group]) | (code == upper[of_group]))
    singles = np.bincount(of_group[inside & alone], minlength=groups)[ranged]
    control = float((singles / (upper - lower + 1)[ranged]).mean())
    step = round_step(Decimal(domain.texts[0]), Decimal(domain.texts[-1]))
    return EndIsolation(domain.name, int(at_end.sum()), float(alone[at_end].mean()), control, step > 1)
