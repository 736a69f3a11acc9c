"""A skyline for the steward's own table (Li, Li & Zhang, ICDE 2009, section V-C): the fewest points between which the risk changes little.

For a grid of bandwidths, the same for every column, the greatest risk that the planned groups leave to an adversary of that bandwidth.
Where the risk changes by less than STEP from one point of the grid to another and everywhere between, one of them stands for
both.  What is proposed as t is what the planned groups achieve, rounded up.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any

from reticent.models.background.bound import adversaries, worst
from reticent.models.background.weights import WHOLE, Bandwidth
from reticent.models.shapes import Groups

GRID: tuple[Bandwidth, ...] = (*(Fraction(b, 10) for b in (1, 2, 3, 4, 5, 6, 8, 10, 12)), WHOLE)
STEP = 0.05


def propose(promise: Any, groups: Groups, planned: bool) -> dict[str, Any]:
    """The grid with its risks, and the points that stand for it."""
    from reticent.models.skyline import Skyline

    cells = groups.cells
    points = [{"bandwidth": bandwidth, "t": 1} for bandwidth in GRID]
    names = ("smoothing", "posterior", "kernel", "base", "distances", "column")
    grid = Skyline(points=points, **{name: getattr(promise, name) for name in names})
    risks = worst(grid, cells, groups)
    own = [known.priors.route.name for _, known in adversaries(promise, cells)]
    chosen = fewest(risks, STEP)
    column = cells.sensitive[cells.sensitive_at(promise.column)].name
    return {
        "about": "skyline",
        "column": column,
        "planned": planned,
        "step": STEP,
        "routes": own,
        "grid": [{"bandwidth": _said(b), "risk": risk} for b, risk in zip(GRID, risks, strict=True)],
        "points": [{"bandwidth": _said(GRID[at]), "t": min(max(ceil(risks[at] * 100), 1) / 100, 1.0)} for at in chosen],
        "why": f"From each point the greatest risk stays within {STEP:g} as far as the next, where the grid is that fine: its "
        f"largest step is {steepest(risks):.2f}, and the risk jumps where a bandwidth passes a level of a hierarchy. t is what "
        f"{'the planned groups leave' if planned else 'the table as one group leaves'}, rounded up.",
    }


def fewest(risks: list[float], step: float) -> list[int]:
    """Numbers of grid points: from each the next is as far as the risk stays within `step` of it."""
    found = [0]
    while found[-1] < len(risks) - 1:
        here = found[-1]
        reach = here + 1
        while reach + 1 < len(risks) and all(abs(risks[at] - risks[here]) < step for at in range(here + 1, reach + 2)):
            reach += 1
        found.append(reach)
    return found


def steepest(risks: list[float]) -> float:
    return max((abs(b - a) for a, b in pairwise(risks)), default=0.0)


def _said(bandwidth: Bandwidth) -> Any:
    return bandwidth if bandwidth == WHOLE else float(bandwidth)
