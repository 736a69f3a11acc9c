"""Counts and sums behind a sampled release (Tao et al. 2008, sections II-C and IV): tuples weighted by G, values reconstructed.

Each published row stands for G people of whom one was drawn, and shows a value that was kept with probability p.  With m values in
the domain and V a set of them, (1[y in V] - (1 - p) |V| / m) / p has the mean 1[x in V] for a drawn person with value x, and so

    estimate    sum of G f (1[y in V] - (1 - p) |V| / m) / p        f: the share of the group that meets the condition

is unbiased as far as f is known.  The standard error has both draws, of the tuple and of its value: the variance of a row is
(G f / p)^2 t (1 - t), t being the chance that it shows a value of V.  One row tells nothing of its own t, so the overall share is
taken, which does not make it smaller.  Where only quasi-identifiers are asked about, nothing is random: G is exact, and what is
not known is who of a group meets the condition: none or all of them are the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.release.answer import Answer
from reticent.release.manifest import Manifest
from reticent.table.types import typed

AGGREGATES = ("count", "sum", "avg")


@dataclass(frozen=True, eq=False)
class Selected:
    """What part of each published row's group meets a condition: expected, at the least and at the most, from 0 to 1."""

    share: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @classmethod
    def rows(cls, chosen: np.ndarray) -> Selected:
        """Whole groups."""
        share = chosen.astype(np.float64)
        return cls(share, share, share)


@dataclass(frozen=True, eq=False)
class SampledCounts:
    """The published rows as numbers: group sizes, and the place of each value in the domain."""

    size: np.ndarray
    value: np.ndarray
    domain: pl.Series
    p: float

    @classmethod
    def of(cls, frame: pl.DataFrame, manifest: Manifest) -> SampledCounts:
        column = manifest.sensitive
        domain = typed(list(manifest.own["domain"]), column.dtype).alias(column.name)
        place = pl.DataFrame({column.name: domain, "place": np.arange(len(domain))})
        value = frame.select(column.name).join(place, on=column.name, how="left", maintain_order="left")["place"]
        size = frame["G"].to_numpy().astype(np.float64)
        return cls(size, value.to_numpy(), domain, float(Fraction(str(manifest.own["p"]))))

    def answer(self, selected: Selected, values: Iterable[Any] | None = None, aggregate: str = "count") -> Answer:
        """How many of the selected people hold one of the values, or what their sensitive numbers sum or average to."""
        if aggregate not in AGGREGATES:
            raise RequestError(
                f"A sampled release cannot answer {aggregate!r}.", attempt=f"one of {', '.join(AGGREGATES)}."
            )
        if aggregate == "count" and values is None:
            return self._people(selected)
        among = (
            np.ones(len(self.domain)) if values is None else self.domain.is_in(list(values)).to_numpy().astype(float)
        )
        score = among if aggregate == "count" else among * self._numbers()
        estimate, error = self._total(selected.share, score)
        if aggregate != "avg":
            return Answer(estimate, std_error=error)
        people = self._total(selected.share, among)[0] if values is not None else self._people(selected).estimate
        assert people is not None
        if people <= 0:
            raise RequestError("Nobody is estimated to be in the selection: there is no average.")
        # The error of a ratio, to the first order: that of the sum of what lies off the mean.
        off = self._total(selected.share, score - among * (estimate / people))[1]
        return Answer(estimate / people, std_error=off / people)

    def _people(self, selected: Selected) -> Answer:
        expected, least, most = (float(self.size @ share) for share in (selected.share, selected.least, selected.most))
        return Answer(expected, least, most)

    def _numbers(self) -> np.ndarray:
        if not self.domain.dtype.is_numeric():
            raise RequestError("SUM and AVG need a sensitive column of numbers.", attempt="COUNT.")
        return self.domain.to_numpy().astype(np.float64)

    def _total(self, share: np.ndarray, score: np.ndarray) -> tuple[float, float]:
        """The sum of a score of the true values, and its standard error."""
        weight = self.size * share
        shown = (score[self.value] - (1 - self.p) * score.mean()) / self.p
        whole = float(weight.sum())
        mean = float(weight @ shown) / whole if whole else 0.0
        spread = float(weight @ (shown - mean) ** 2) / whole if whole else 0.0
        return float(weight @ shown), float(np.sqrt((weight**2).sum() * spread))

    def histogram(self, chosen: np.ndarray | None = None, *, by: str = "inversion") -> np.ndarray:
        """The reconstructed number of people with each value: unbiased, or by expectation-maximisation not negative."""
        weight = self.size if chosen is None else self.size * chosen
        seen = np.bincount(self.value, weights=weight, minlength=len(self.domain))
        noise = (1 - self.p) / len(self.domain)
        if by == "inversion":
            return (seen - noise * seen.sum()) / self.p
        if by != "em":
            raise RequestError(f"Reconstruction by {by!r} is not known.", attempt='by = "inversion" or "em".')
        return maximised(seen, self.p, len(self.domain))


def maximised(seen: np.ndarray, p: float, domain: int, steps: int = 2000) -> np.ndarray:
    """Expectation-maximisation for a retained or uniformly redrawn value: never negative (ERRATA 5.8)."""
    total, noise = seen.sum(), (1 - p) / domain
    found = np.full(len(seen), total / max(domain, 1))
    for _ in range(steps):
        expected = p * found + noise * found.sum()
        ratio = np.divide(seen, expected, out=np.zeros_like(seen, dtype=float), where=expected > 0)
        better = found * (p * ratio + noise * ratio.sum())
        moved, found = np.abs(better - found).sum(), better
        if moved <= 1e-9 * max(total, 1):
            break
    return found
