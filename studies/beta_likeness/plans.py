"""The methods compared, and what is measured of the classes they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isclose, log
from typing import Any

import numpy as np

import reticent as rt
from studies.jobs import job_for


@dataclass(frozen=True, eq=False)
class Made:
    """Classes as a method made them, whether or not two of them have the same label."""

    plan: Any

    @property
    def ail(self) -> float:
        """Equation 5."""
        return self.plan.loss

    @property
    def cpu(self) -> float:
        """The CPU seconds that planning took."""
        return self.plan.seconds

    @property
    def classes(self) -> int:
        return len(self.sizes)

    @property
    def sizes(self) -> np.ndarray:
        return self.plan.sizes

    @property
    def frequencies(self) -> tuple[np.ndarray, np.ndarray]:
        """(overall, classes x values) over the values that occur."""
        counts = self.plan.histogram()
        total = counts.sum(axis=0)
        seen = total > 0
        return total[seen] / total.sum(), counts[:, seen] / counts.sum(axis=1, keepdims=True)

    @property
    def beta(self) -> float:
        """The greatest relative gain of any value in any class (definition 2)."""
        p, q = self.frequencies
        return float((q / p - 1).max())

    @property
    def closeness(self) -> np.ndarray:
        """Each class's earth mover's distance, values in their order (equal for categories)."""
        p, q = self.frequencies
        if distance_of(self.plan.cells) == "equal":
            return np.abs(q - p).sum(axis=1) / 2
        return np.abs(np.cumsum(q - p, axis=1)).sum(axis=1) / max(len(p) - 1, 1)

    @property
    def diversity(self) -> np.ndarray:
        """Each class's probabilistic l: 1 over its greatest frequency."""
        return 1 / self.frequencies[1].max(axis=1)


def distance_of(cells: Any) -> str:
    return "equal" if cells.sensitive[0].kind == "categorical" else "ordered"


def delta_for(cells: Any, beta: float) -> Fraction:
    """Section 6.2: delta = ln(1 + min(beta, -ln max p)), rounded down."""
    greatest = cells.totals(0).max() / cells.rows
    return Fraction(int(log(1 + min(beta, -log(greatest))) * 10**9), 10**9)


METHODS = {
    "burel": lambda cells, beta: (rt.Burel(), rt.BetaLikeness(_exact(beta))),
    "burel, nearest": lambda cells, beta: (rt.Burel(fill="nearest"), rt.BetaLikeness(_exact(beta))),
    "burel, steps": lambda cells, beta: (rt.Burel(axes="steps"), rt.BetaLikeness(_exact(beta))),
    "burel, share .9": lambda cells, beta: (rt.Burel(share="0.9"), rt.BetaLikeness(_exact(beta))),
    "lmondrian": lambda cells, beta: (rt.Mondrian(cuts="median", fallback=False), rt.BetaLikeness(_exact(beta))),
    "lmondrian, fallback": lambda cells, beta: (rt.Mondrian(cuts="median"), rt.BetaLikeness(_exact(beta))),
    "dmondrian": lambda cells, beta: (
        rt.Mondrian(cuts="median", fallback=False),
        rt.DeltaDisclosure(delta_for(cells, beta)),
    ),
    "mondrian, loss cuts": lambda cells, beta: (rt.Mondrian(), rt.BetaLikeness(_exact(beta))),
    "mosaic, quick": lambda cells, beta: (rt.Mosaic(effort="quick"), rt.BetaLikeness(_exact(beta))),
    "mosaic, 12 s": lambda cells, beta: (rt.Mosaic(effort=12), rt.BetaLikeness(_exact(beta))),
    "sabre": lambda cells, t: (rt.Sabre(), rt.TCloseness(_exact(t), distance_of(cells))),
    "tmondrian": lambda cells, t: (
        rt.Mondrian(cuts="median", fallback=False),
        rt.TCloseness(_exact(t), distance_of(cells)),
    ),
}


def _exact(value: float) -> Fraction:
    return Fraction(repr(float(value)))


@lru_cache(maxsize=64)
def make(method: str, cells: Any, parameter: float, seed: int = 1) -> Made:
    """Classes by a method, whose promise is measured again on the classes."""
    planner, promise = METHODS[method](cells, parameter)
    planned = rt.plan(job_for(cells, [promise], planner), cells=cells, seed=seed, merged=False)
    measure, asked = _asked(promise)
    reached = rt.measure(planned)[measure]
    assert reached is not None and (reached <= asked or isclose(reached, asked)), f"{promise} is broken: {reached}"
    return Made(planned)


def _asked(promise: Any) -> tuple[str, float]:
    """The measure that a promise bounds, and its bound."""
    if isinstance(promise, rt.BetaLikeness):
        return "beta-likeness-enhanced", float(promise.beta)
    if isinstance(promise, rt.DeltaDisclosure):
        return "delta-disclosure", float(promise.delta)
    return f"t-closeness-{promise.distance}", float(promise.t)


def search(
    method: str, cells: Any, fits: Callable[[Made], bool], low: float, high: float, seed: int, steps: int = 10
) -> tuple[float, Made] | None:
    """The greatest parameter found by bisection whose classes fit; None where not even the least does."""

    def good(parameter: float) -> bool:
        try:
            return bool(fits(make(method, cells, parameter, seed)))
        except rt.PromiseUnreachable:  # one class, which BUREL refuses: as private as can be, as lossy as can be
            return low < high

    if not good(low):
        return None
    best = low
    for _ in range(steps):
        middle = round((low + high) / 2, 6)
        if good(middle):
            best = low = middle
        else:
            high = middle
    return best, make(method, cells, best, seed)
