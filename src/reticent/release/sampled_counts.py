"""Counts and sums behind a sampled release (Tao et al. 2008, sections II-C and IV): tuples weighted by G, values reconstructed.

Each published row stands for G people of whom one was drawn, and shows a value that was kept with probability p, or else drawn from
the m values of the domain.  Of a score s(x) of a person's value, (s(y) - (1 - p) mean of s) / p has the mean s(x), so that

    estimate    sum of G (s(y) - (1 - p) mean of s) / p        s: the share of the group's box that meets the condition, given x

is unbiased as far as that share is known.  What a score has in common for all values is added by G alone and is exact.  The standard error
has both draws, of the tuple and of its value.  One row tells nothing of the spread within its own group, so every group is given the
spread of all that are selected, less what means of G people differ by if they are put together at random: sigma^2 / G.  What groups
differ by beyond that is counted in, and the error is not made smaller by it.  A handful of rows cannot tell that spread either, and may
all show one value: the rows of the whole release count as much as 30 of them, and among those every value of the domain as one row.

An interval asks each possible truth how far from it the estimate would lie (`spread`).  For a count of values with the share v of the
domain, of which a group's people have f, a row shows one with t = p f + (1 - p) v, and the variance is the sum of

    G^2 t (1 - t) / p^2 - G f (1 - f)

a quadratic in f: Wilson's interval, and the same for a set of values and for all others.  For sums the mean square of what is shown is
taken to grow with its mean as it does over the values.  A mean's interval is Fieller's.  Where labels are cut, each person of the group
is taken to lie in the selected part with the share's probability, independently: that adds G s (1 - s).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import polars as pl

from reticent.release.answer import Answer
from reticent.release.asking.redrawn import (
    BORROWED,
    NOBODY,
    SEEN,
    Scores,
    covariances,
    fieller,
    refuse_extremes,
    slope_of,
)
from reticent.release.manifest import Manifest
from reticent.release.spread import Spread
from reticent.table.types import typed

SQUARES = "squares"
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

    def answer(self, scores: Scores, aggregate: str, *, by: str, bounds: Answer | None = None) -> Answer:
        """How many of the selected people there are, or what their numbers sum or average to."""
        refuse_extremes(aggregate)
        note = CUT if scores.cut else None
        tallies = self._tallied(scores)
        selected = scores.selected
        score = selected if aggregate == "count" else scores.number
        total = self._total(tallies, score)
        if by == "em":
            total = self._maximised(tallies, score)
        placed = self._placed(scores, score)
        if aggregate != "avg":
            error = float(np.sqrt(self._variance(tallies, score, placed)))
            return Answer(total, std_error=error, note=note, spread=self._spread(tallies, score, placed))
        people = self._maximised(tallies, selected) if by == "em" else self._total(tallies, selected)
        if people < 0.5:
            return Answer(None, note=NOBODY)
        mean = total / people
        off = scores.number - selected * mean
        variances = covariances(lambda one: self._variance(tallies, one, self._placed(scores, one)), off, selected)
        error = float(np.sqrt(variances[0])) / people
        return Answer(mean, std_error=error, note=note, spread=fieller(mean, people, variances, bounds))

    def _tallied(self, scores: Scores) -> Tallied:
        """People, squares of group sizes, and people by the value that their group shows, of each row type."""
        known, types, wide = scores.combined.tallies, len(scores.selected), len(self.domain)
        if SEEN not in known:
            word = scores.of_row * wide + self.value
            known[SEEN] = np.bincount(word, weights=self.size, minlength=types * wide).reshape(types, wide)
            known[SQUARES] = np.bincount(scores.of_row, weights=self.size**2, minlength=types)
        return Tallied(known[SEEN].sum(axis=1), known[SQUARES], known[SEEN])

    def _total(self, tallies: Tallied, score: np.ndarray) -> float:
        """What every value alike gives is certain; only what values differ by is reconstructed."""
        least = score[:, :1]
        apart = self._shown_score(score - least)
        return float(tallies.people @ least[:, 0]) + float((tallies.seen * apart).sum())

    def _shown_score(self, score: np.ndarray) -> np.ndarray:
        """What a shown value adds to the estimate: its mean over the draw is the score of the true one."""
        found: np.ndarray = (score - (1 - self.p) * score.mean(axis=1, keepdims=True)) / self.p
        return found

    def _moments(self, tallies: Tallied, score: np.ndarray) -> Moments:
        chance = self._chance(tallies)
        true = np.maximum(chance - (1 - self.p) / len(chance), 0.0)
        true = true / true.sum() if true.sum() > 0 else np.full(len(chance), 1 / len(chance))
        shown = self._shown_score(score)
        return Moments(chance, true, shown)

    def _variance(self, tallies: Tallied, score: np.ndarray, placed: np.ndarray) -> float:
        """Of a sum of scores: of which person is drawn, how their value is redrawn, and where in their labels people lie."""
        varying = (np.ptp(score, axis=1) > 0) | placed.any(axis=1)
        if not varying.any():
            return 0.0
        tallies, score, placed = tallies.only(varying), score[varying], placed[varying]
        return float(self._variances(tallies, score, placed, self._moments(tallies, score)).sum())

    def _variances(self, tallies: Tallied, score: np.ndarray, placed: np.ndarray, at: Moments) -> np.ndarray:
        drawn = at.shown**2 @ at.chance - (at.shown @ at.chance) ** 2
        within = score**2 @ at.true - (score @ at.true) ** 2
        found: np.ndarray = tallies.squares * drawn - tallies.people * within + tallies.people * (placed @ at.true)
        return np.maximum(found, 0.0)

    def _spread(self, tallies: Tallied, score: np.ndarray, placed: np.ndarray) -> Spread | None:
        """Of a sum: the variance that it would have at other truths, more of which comes to the row types that are less certain."""
        center = self._total(tallies, score)
        varying = ((np.ptp(score, axis=1) > 0) | placed.any(axis=1)) & (tallies.people > 0)
        if not varying.any():
            return None
        tallies, score, placed = tallies.only(varying), score[varying], placed[varying]
        tallies, score, placed = merge_alike(tallies, score, placed)
        at = self._moments(tallies, score)
        variance = self._variances(tallies, score, placed, at)
        if variance.sum() <= 0:
            return None
        people, squares = tallies.people, tallies.squares
        found = self._means(tallies, at.shown)
        # the mean square of what is shown and of what is true, as functions of the mean
        shown_lift = slope_of(at.shown**2, at.shown, at.chance)
        true_lift = slope_of(score**2, score, at.true)
        shown_square = at.shown**2 @ at.chance + shown_lift * (found - at.shown @ at.chance)
        true_square = score**2 @ at.true + true_lift * (found - score @ at.true)
        constant = squares * (shown_square - found**2) - people * (true_square - found**2) + people * (placed @ at.true)
        part = variance / variance.sum() / people
        slope = part * (squares * (shown_lift - 2 * found) - people * (true_lift - 2 * found))
        curvature = -(part**2) * (squares - people)
        return Spread(center, float(constant.sum()), float(slope.sum()), float(curvature.sum()))

    def _means(self, tallies: Tallied, shown: np.ndarray) -> np.ndarray:
        """The mean that each row type shows; types of few rows take most of it from what all of them show together."""
        own = (tallies.seen * shown).sum(axis=1) / tallies.people
        together = tallies.seen.sum(axis=0) / tallies.people.sum()
        rows = tallies.people**2 / tallies.squares
        found = (rows * own + BORROWED * (shown @ together)) / (rows + BORROWED)
        shift = (tallies.people @ (own - found)) / tallies.people.sum()
        return found + shift

    def _placed(self, scores: Scores, score: np.ndarray) -> np.ndarray:
        """The variance of one person's score where labels are cut: each lies in the part that is selected, or does not."""
        selected = scores.selected
        cut = (selected > 0) & (selected < 1)
        worth = np.divide(score, selected, out=np.zeros_like(score, dtype=float), where=cut)
        found: np.ndarray = np.where(cut, selected * (1 - selected) * worth**2, 0.0)
        return found

    def _chance(self, tallies: Tallied) -> np.ndarray:
        """How likely a selected row is to show each value: as the selected rows do, those of all the release, and any value alike."""
        seen = tallies.seen.sum(axis=0)
        if not seen.sum():
            return self._overall
        rows = float(seen.sum() ** 2 / tallies.squares.sum())
        return (rows * seen / seen.sum() + BORROWED * self._overall) / (rows + BORROWED)

    @cached_property
    def _overall(self) -> np.ndarray:
        """How likely any row is to show each value: as the rows of all the release do, and any value alike."""
        seen = np.bincount(self.value, weights=self.size, minlength=len(self.domain))
        rows = float(self.size.sum() ** 2 / (self.size**2).sum())
        return (seen / seen.sum() * rows + np.ones(len(self.domain))) / (rows + len(self.domain))

    def _maximised(self, tallies: Tallied, score: np.ndarray) -> float:
        """By row types: of all people of the groups of a type, the most likely counts that are not negative."""
        wide = len(self.domain)
        return float(sum(maximised(line, self.p, wide) @ one for line, one in zip(tallies.seen, score, strict=True)))


@dataclass(frozen=True, eq=False)
class Tallied:
    """Of each row type: people, the sum of squared group sizes, and people by the value that their group shows."""

    people: np.ndarray
    squares: np.ndarray
    seen: np.ndarray

    def only(self, kept: np.ndarray) -> Tallied:
        return Tallied(self.people[kept], self.squares[kept], self.seen[kept])


def merge_alike(tallies: Tallied, score: np.ndarray, placed: np.ndarray) -> tuple[Tallied, np.ndarray, np.ndarray]:
    """Row types of which the same is asked, as one."""
    _, first, kind = np.unique(np.column_stack([score, placed]), axis=0, return_index=True, return_inverse=True)
    kind = kind.reshape(-1)
    seen = np.zeros((len(first), score.shape[1]))
    np.add.at(seen, kind, tallies.seen)
    merged = Tallied(
        np.bincount(kind, weights=tallies.people, minlength=len(first)),
        np.bincount(kind, weights=tallies.squares, minlength=len(first)),
        seen,
    )
    return merged, score[first], placed[first]


@dataclass(frozen=True, eq=False)
class Moments:
    """How likely each value is to be shown and to be true, and what each shown value adds, by row type."""

    chance: np.ndarray
    true: np.ndarray
    shown: np.ndarray


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
