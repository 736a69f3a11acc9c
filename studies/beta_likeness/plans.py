"""The methods compared, and what is measured of the classes they make."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log

import numpy as np

from reticent.errors import PromiseUnreachable
from reticent.methods.burel import Burel
from reticent.methods.mondrian import Mondrian
from reticent.methods.sabre import Sabre
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.delta_disclosure import DeltaDisclosure
from reticent.models.promises import Promises
from reticent.models.t_closeness import TCloseness
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.release.reading.boxes import Boxes
from reticent.table.cells import Cells
from reticent.table.domain import TreeDomain


@dataclass(frozen=True, eq=False)
class Made:
    """Classes and the CPU seconds that planning them took."""

    recipe: Recipe
    cpu: float

    @property
    def ail(self) -> float:
        """Equation 5."""
        lower, upper = self.recipe.spans()
        quasi = self.recipe.cells.quasi
        loss = sum(domain.loss(lower[:, at], upper[:, at]) for at, domain in enumerate(quasi)) / len(quasi)
        return float((loss * self.sizes).sum() / self.sizes.sum())

    @property
    def sizes(self) -> np.ndarray:
        return self.recipe.as_groups().sizes

    @property
    def histogram(self) -> np.ndarray:
        return self.recipe.as_groups().histogram(0)

    @property
    def frequencies(self) -> tuple[np.ndarray, np.ndarray]:
        """(overall, classes x values) over the values that occur."""
        counts = self.histogram
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
        if isinstance(self.recipe.cells.sensitive[0], TreeDomain):
            return np.abs(q - p).sum(axis=1) / 2
        return np.abs(np.cumsum(q - p, axis=1)).sum(axis=1) / max(len(p) - 1, 1)

    @property
    def diversity(self) -> np.ndarray:
        """Each class's probabilistic l: 1 over its greatest frequency."""
        return 1 / self.frequencies[1].max(axis=1)

    @property
    def boxes(self) -> Boxes:
        """The classes as their labels show them: a node covers all its leaves."""
        lower, upper = self.recipe.spans()
        first, last = lower.T.astype(np.int32).copy(), upper.T.astype(np.int32).copy()
        for at, domain in enumerate(self.recipe.cells.quasi):
            if isinstance(domain, TreeDomain) and not domain.null:
                node = domain.nodes(lower[:, at], upper[:, at])
                first[at], last[at] = domain.hierarchy.first[node], domain.hierarchy.last[node]
        until = np.pad(np.cumsum(self.histogram, axis=1), ((0, 0), (1, 0)))
        return Boxes.of_spans(first, last, np.ascontiguousarray(until))


def distance_of(cells: Cells) -> str:
    return "equal" if isinstance(cells.sensitive[0], TreeDomain) else "ordered"


def delta_for(cells: Cells, beta: float) -> Fraction:
    """Section 6.2: delta = ln(1 + min(beta, -ln max p)), rounded down."""
    greatest = cells.totals(0).max() / cells.rows
    return Fraction(int(log(1 + min(beta, -log(greatest))) * 10**9), 10**9)


METHODS = {
    "burel": lambda cells, beta: (Burel(), BetaLikeness(_exact(beta))),
    "burel, nearest": lambda cells, beta: (Burel(fill="nearest"), BetaLikeness(_exact(beta))),
    "burel, steps": lambda cells, beta: (Burel(axes="steps"), BetaLikeness(_exact(beta))),
    "burel, share .9": lambda cells, beta: (Burel(share="0.9"), BetaLikeness(_exact(beta))),
    "lmondrian": lambda cells, beta: (Mondrian(cuts="median", fallback=False), BetaLikeness(_exact(beta))),
    "lmondrian, fallback": lambda cells, beta: (Mondrian(cuts="median"), BetaLikeness(_exact(beta))),
    "dmondrian": lambda cells, beta: (Mondrian(cuts="median", fallback=False), DeltaDisclosure(delta_for(cells, beta))),
    "mondrian, loss cuts": lambda cells, beta: (Mondrian(), BetaLikeness(_exact(beta))),
    "mosaic, quick": lambda cells, beta: (_mosaic("quick"), BetaLikeness(_exact(beta))),
    "mosaic, 12 s": lambda cells, beta: (_mosaic(12), BetaLikeness(_exact(beta))),
    "sabre": lambda cells, t: (Sabre(), TCloseness(_exact(t), distance_of(cells))),
    "tmondrian": lambda cells, t: (Mondrian(cuts="median", fallback=False), TCloseness(_exact(t), distance_of(cells))),
}


def _mosaic(effort: str | int):
    from reticent.methods.mosaic import Mosaic

    return Mosaic(effort=effort)


def _exact(value: float) -> Fraction:
    return Fraction(repr(float(value)))


@lru_cache(maxsize=64)
def make(method: str, cells: Cells, parameter: float, seed: int = 1) -> Made:
    """Classes by a method, whose promise is checked again on the classes."""
    planner, promise = METHODS[method](cells, parameter)
    promises = Promises.of([promise])
    started = time.process_time()
    recipe = planner.plan(cells, promises, Random.from_seed(seed))
    cpu = time.process_time() - started
    assert promises.bind(cells).allow(recipe.as_groups()).all(), "a promise is broken"
    return Made(recipe, cpu)


def search(method: str, cells: Cells, fits, low: float, high: float, steps: int = 10) -> tuple[float, Made] | None:
    """The greatest parameter found by bisection whose classes fit; None where not even the least does."""

    def good(parameter: float) -> bool:
        try:
            return bool(fits(make(method, cells, parameter)))
        except PromiseUnreachable:  # one class, which BUREL refuses: as private as can be, as lossy as can be
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
    return best, make(method, cells, best)
