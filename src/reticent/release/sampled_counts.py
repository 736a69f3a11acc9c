"""Counts and sums behind a sampled release (Tao et al. 2008, sections II-C and IV): tuples weighted by G, values reconstructed.

Each published row stands for G people of whom one was drawn, and shows a value that was kept with probability p, or else drawn from
the m values of the domain.  Of a score s(x) of a person's value, (s(y) - (1 - p) mean of s) / p has the mean s(x), so that

    estimate    sum of G (s(y) - (1 - p) mean of s) / p        s: the share of the group's box that meets the condition, given x

is unbiased as far as that share is known.  The standard error has both draws, of the tuple and of its value.  One row tells nothing of
the spread within its own group, so every group is given the spread of all that are selected: what groups differ by is counted in, and
the error is not made smaller by it.  A handful of rows cannot tell that spread either, and may all show one value: the rows of the whole
release count as much as 30 of them, and among those every value of the domain as one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import polars as pl

from reticent.release.answer import Answer
from reticent.release.asking.redrawn import BORROWED, NOBODY, Scores, refuse_extremes
from reticent.release.manifest import Manifest
from reticent.table.types import typed

CUT = (
    "The condition selects parts of groups. Their people are taken to be spread evenly over what the labels cover; where they are not, "
    "the estimate is biased, and neither the standard error nor the interval knows it."
)


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

    def answer(self, scores: Scores, aggregate: str, *, by: str) -> Answer:
        """How many of the selected people there are, or what their numbers sum or average to."""
        refuse_extremes(aggregate)
        note = CUT if scores.cut else None
        selected = scores.selected[scores.of_row]
        score = selected if aggregate == "count" else scores.number[scores.of_row]
        weight = selected.max(axis=1)
        total, error = self.total(score, weight)
        if by == "em":
            total = self._maximised(scores, score)
        if aggregate != "avg":
            return Answer(total, std_error=error, note=note)
        people = self._maximised(scores, selected) if by == "em" else self.total(selected, weight)[0]
        if people < 0.5:
            return Answer(None, note=NOBODY)
        _, error = self.total(score - selected * (total / people), weight)
        return Answer(total / people, std_error=error / people, note=note)

    def total(self, score: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
        """The sum of a score of the true values, (rows, values), and its standard error."""
        shown = (score - (1 - self.p) * score.mean(axis=1, keepdims=True)) / self.p
        estimate = float(self.size @ shown[np.arange(len(shown)), self.value])
        if not (self.size @ weight):
            return estimate, 0.0
        chance = self._chance(weight)
        spread = np.maximum((shown**2) @ chance - (shown @ chance) ** 2, 0)
        return estimate, float(np.sqrt((self.size**2) @ spread))

    def _chance(self, weight: np.ndarray) -> np.ndarray:
        """How likely a selected row is to show each value: as the selected rows do, those of all the release, and any value alike."""
        own, rows = self._shown(weight)
        return (rows * own + BORROWED * self._overall) / (rows + BORROWED)

    @cached_property
    def _overall(self) -> np.ndarray:
        """How likely any row is to show each value: as the rows of all the release do, and any value alike."""
        everybody, rows = self._shown(np.ones(len(self.size)))
        return (everybody * rows + np.ones(len(self.domain))) / (rows + len(self.domain))

    def _shown(self, weight: np.ndarray) -> tuple[np.ndarray, float]:
        """The shares of shown values among rows of these weights, and how many rows of equal weight would tell as much."""
        held = self.size * weight
        seen = np.bincount(self.value, weights=held, minlength=len(self.domain))
        return seen / seen.sum(), float(held.sum() ** 2 / (held**2).sum())

    def _maximised(self, scores: Scores, score: np.ndarray) -> float:
        """By row types: of all people of the groups of a type, the most likely counts that are not negative."""
        wide = len(self.domain)
        seen = np.bincount(scores.of_row * wide + self.value, weights=self.size, minlength=len(scores.selected) * wide)
        total = 0.0
        first = np.unique(scores.of_row, return_index=True)[1]
        for line, at in zip(seen.reshape(-1, wide), first, strict=True):
            total += float(maximised(line, self.p, wide) @ score[at])
        return total


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
