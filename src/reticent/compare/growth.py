"""Where figures of a part of the rows are on their way to: a guess at all rows from two parts, one four times the other.

A figure is taken to change as a power of the number of rows, as errors of samples (1 / sqrt(n)) and widths of groups do.  Its spread
over runs gives two lines: a hopeful one from the worst of the smaller part to the best of the larger, and a doubtful one the other
way round; and as the power itself changes with the rows, it is taken to be off by half.  Whatever two parts show, who is behind may
gain as samples do and groups over two columns, by 1 / sqrt(n).  This is a guess and never a measurement: it says who may overtake,
and ranks nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any

Figures = Mapping[str, Mapping[str, Any]]
OFF, ROOT = 0.5, 0.5
"""By how much of itself a power may be off, and the power that is always hoped for."""
TIMES = 4
"""How many times the smaller part fits into the larger one."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where a figure may be at all rows, at best and at worst."""

    hopeful: float
    doubtful: float

    @classmethod
    def of(cls, small: Mapping[str, Any], large: Mapping[str, Any], times: float, further: float, less: bool) -> Way:
        """From `small` to `large` there were `times` as many rows, to all rows there are `further` as many."""
        (least, most), (low, high) = (_missing(figure, less) for figure in (small, large))
        steps = log(further) / log(times)
        hopeful, doubtful = _ratio(low, most), _ratio(high, least)
        ends = (
            low * min(hopeful ** (steps * (1 + OFF)), further**-ROOT),
            high * doubtful ** (steps * (1 - OFF if doubtful < 1 else 1 + OFF)),
        )
        return cls(*ends) if less else cls(*(1 - end for end in ends))


def may_overtake(small: Figures, large: Figures, first: str, *, times: float, further: float, less: bool) -> list[str]:
    """The candidates that may be better than `first` on all rows; of one that the smaller part could not tell, nothing is known."""
    if first not in small:
        return [name for name in large if name != first]
    ways = {name: Way.of(small[name], large[name], times, further, less) if name in small else None for name in large}
    held = ways[first]
    assert held is not None

    def may(way: Way | None) -> bool:
        return way is None or (way.hopeful < held.doubtful if less else way.hopeful > held.doubtful)

    return [name for name, way in ways.items() if name != first and may(way)]


def _missing(figure: Mapping[str, Any], less: bool) -> tuple[float, float]:
    """The figure's ends as something to be made small: where more is better, what is missing to 1."""
    return (figure["low"], figure["high"]) if less else (1 - figure["high"], 1 - figure["low"])


def _ratio(after: float, before: float) -> float:
    return after / before if before > 0 else 1.0
