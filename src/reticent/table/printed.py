"""Lines whose labels do not end at people's values: snapped to round places, or padded by secret amounts.

A method plans on values as they are, so that cuts and promises are those of tight labels; what is printed is wider.  `mosaic` weighs
what a snapped label will lose (`planned_loss`).
A group of one value prints that value: all of its rows have it, and none of them stands out.  Fractions and times are as good
as a name: `coarse` ones are rounded whatever the group.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from reticent.table.domain import RangeDomain
from reticent.table.grammar import range_label
from reticent.table.grids import Place, Places, iso, plain
from reticent.table.labelling import Labelling
from reticent.table.roles import Column
from reticent.table.types import dtype_named


@dataclass(frozen=True, eq=False, kw_only=True)
class PrintedDomain(RangeDomain):
    labelling: Labelling
    column: Column
    coarse: bool

    @property
    def asked(self) -> bool:
        """Whether the column asks for its labels, or has them by default."""
        return self.column.labels is not None

    @property
    def tight(self) -> RangeDomain:
        return RangeDomain(**given(self))

    def ranged(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Which spans print as a range with other ends than their own: not a null, not `*`, not a value that is printed as it is."""
        return (upper != self.null_code) & ((lower != upper) | self.coarse)

    def share(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """What ranges lose (equation 2 of paper 1)."""
        reach = self.span[1] - self.span[0]
        return (high - low) / reach if reach > 0 else np.zeros(len(low))


@dataclass(frozen=True, eq=False, kw_only=True)
class SnappedDomain(PrintedDomain):
    """`places` are the ends of the step that each code lies in."""

    places: Places

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        found = RangeDomain.labels(self, lower, upper)
        for at in np.flatnonzero(self.ranged(lower, upper)).tolist():
            found[at] = range_label(self.places.lower[lower[at]], self.places.upper[upper[at]])
        return found

    def printed_loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        ranged = self.ranged(lower, upper)
        found = self.loss(lower, upper)
        found[ranged] = self.share(self.places.low[lower[ranged]], self.places.high[upper[ranged]])
        return found

    def planned_loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Halfway between what spans and what their labels lose: a method that saw labels alone would end groups on the grid, where
        few people are, and isolate them again (ADR 6 has the figures)."""
        return (self.loss(lower, upper) + self.printed_loss(lower, upper)) / 2


@dataclass(frozen=True, eq=False, kw_only=True)
class PaddedDomain(PrintedDomain):
    """Ends are whole multiples of `unit` (1, a day, an hour, a round fraction), moved by at most `most`, by no more
    than the declared share of the span, and not past `limits`."""

    first: np.ndarray  # by code, the greatest multiple that is not above it
    last: np.ndarray  # by code, the least multiple that is not below it
    unit: Any
    most: int
    limits: tuple[Place | None, Place | None]

    def reach(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """The most that the ends of each span are moved by, in multiples of the unit; nothing where no range is printed."""
        found = np.zeros(len(lower), np.int64)
        ranged = np.flatnonzero(self.ranged(lower, upper))
        spans = (self.last[upper[ranged]] - self.first[lower[ranged]]).tolist()
        found[ranged] = [self.labelling.reach(max(span, 0), self.most) for span in spans]
        return found

    def moved(self, lower: np.ndarray, upper: np.ndarray, pads: np.ndarray) -> tuple[list[str | None], np.ndarray]:
        """The labels of spans whose ends are moved outwards by `pads`, (spans, 2) multiples of the unit, and what they lose."""
        found, lost = RangeDomain.labels(self, lower, upper), self.loss(lower, upper)
        here = np.flatnonzero(self.ranged(lower, upper))
        below, low = self._ends(self.first[lower[here]] - pads[here, 0], 0)
        above, high = self._ends(self.last[upper[here]] + pads[here, 1], 1)
        for at, least, most in zip(here.tolist(), below, above, strict=True):
            found[at] = range_label(least, most)
        lost[here] = self.share(low, high)
        return found, lost

    def place(self, unit: int) -> Place:
        """One multiple of the unit as an end."""
        texts, places = self._ends(np.array([unit], object), 0)
        return Place(texts[0], float(places[0]))

    def _ends(self, units: np.ndarray, side: int) -> tuple[list[str], np.ndarray]:
        """Ends as they print, held within the limit of their side, and where they stand."""
        places = np.array([float(unit * self.unit - self.origin) for unit in units.tolist()], np.float64)
        if self.kind == "numeric":
            texts = [plain(Decimal(unit) * self.unit) for unit in units.tolist()]
        else:
            texts = iso(
                pl.Series([unit * self.unit for unit in units.tolist()], dtype=pl.Int64).cast(dtype_named(self.dtype))
            )
        limit = self.limits[side]
        if limit is None:
            return texts, places
        past = places > limit.at if side else places < limit.at
        return [limit.text if out else text for text, out in zip(texts, past.tolist(), strict=True)], np.where(
            past, limit.at, places
        )


def given(domain: RangeDomain) -> dict[str, Any]:
    """The fields that every line has."""
    return {field.name: getattr(domain, field.name) for field in fields(RangeDomain)}
