"""Does the order of the published rows say anything about the order of the source, or about what was not published?

A row's content points to where its source row may stand: the mean position of the source rows it can stand for.  The statistic
is Spearman's rank correlation of that with the row's place in the published file.  If the rows were shuffled, its mean is 0
and its variance exactly 1/(n - 1), whatever the contents (a linear rank statistic over uniform permutations).

Where labels are so wide that every row may stand anywhere, what a row bears still says where it came from: the second statistic
counts the places at which a published row bears the values of the source's row.  If the rows were shuffled, the count X exceeds
its mean EX by t with a probability of at most exp(-t^2 / (4 EX + 2 t)) (Chatterjee 2007, proposition 1.1).

Both are sums over rows: of a table that is counted, over distinct rows and the places where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, exp, sqrt

import numpy as np
import polars as pl

from reticent.audit.compared import Rows

SIGNIFICANCE = 1e-6
"""A shuffled release is called unshuffled once in a million audits."""


@dataclass(frozen=True, slots=True)
class Order:
    """`canonical`: rows are sorted by all they show, which was checked, and so say nothing more."""

    correlation: float
    p_value: float
    significance: float = SIGNIFICANCE
    canonical: bool = False
    statistic: str = "rank correlation"

    @property
    def shuffled(self) -> bool:
        return self.canonical or self.p_value >= self.significance

    def to_dict(self) -> dict[str, float | bool]:
        if self.canonical:
            return {"canonical": True, "shuffled": True}
        return {"correlation": self.correlation, "p_value": self.p_value, "significance": self.significance,
                "shuffled": self.shuffled}  # fmt: skip

    def __str__(self) -> str:
        """A sentence without its full stop."""
        if self.canonical:
            return "Rows are sorted by all that they show, which tells nothing more"
        measured = f"{self.statistic} with the source {self.correlation:+.4f}, p = {self.p_value:.2g}"
        return f"Rows are {'in random order' if self.shuffled else 'NOT in random order'} ({measured})"


CANONICAL = Order(0.0, 1.0, canonical=True)


def order_of(*scores: np.ndarray | None, borne: tuple[np.ndarray, np.ndarray] | None = None) -> Order:
    """The most telling of these scores of the published rows, each in the order of the file; canonical where there is none.

    `borne` numbers what each published and each source row bears.
    """
    found = [rank_correlation(score) for score in scores if score is not None]
    found += [] if borne is None else [agreement(*borne)]
    return min(found, key=lambda order: order.p_value) if found else CANONICAL


def rank_correlation(score: np.ndarray, times: np.ndarray | None = None, places: np.ndarray | None = None) -> Order:
    """Of a score of each published row with the row's place; of equal rows, how many `times` and the sum of their `places`."""
    rank = np.unique(score, return_inverse=True)[1].astype(np.float64)  # any monotone score keeps the null distribution
    times = np.ones(len(rank)) if times is None else times.astype(np.float64)
    places = np.arange(len(rank), dtype=np.float64) if places is None else places.astype(np.float64)
    n = int(times.sum())
    if n < 3:
        return Order(0.0, 1.0)
    rank = rank - float(np.dot(rank, times)) / n
    spread = sqrt(float(np.dot(rank * times, rank)) * (n * (n * n - 1) / 12))
    if spread == 0:
        return Order(0.0, 1.0)
    correlation = float(np.dot(rank, places - times * ((n - 1) / 2))) / spread
    return Order(correlation, erfc(abs(correlation) * sqrt(n - 1) / sqrt(2)))


def agreement(ours: np.ndarray, theirs: np.ndarray) -> Order:
    """Of what published rows bear with what the source's rows bear at the same places."""
    places, n = min(len(ours), len(theirs)), len(ours)
    if not n:
        return Order(0.0, 1.0)
    agree = int((ours[:places] == theirs[:places]).sum())
    times = np.bincount(ours, minlength=int(theirs.max(initial=0)) + 1)
    return _agreement(agree, float(times[theirs[:places]].sum() / n), places)


def _agreement(agree: int, mean: float, places: int) -> Order:
    above = agree - mean
    if above <= 0:
        return Order(0.0, 1.0, statistic="agreement in place")
    bound = 2 * exp(-above * above / (4 * mean + 2 * above))
    return Order(above / (places - mean), min(bound, 1.0), statistic="agreement in place")


class Seen:
    """Scores and what rows bear, of one part of the tables after another."""

    def __init__(self) -> None:
        self._scores: list[tuple[tuple[np.ndarray, Rows], ...]] = []
        self._borne: list[tuple[np.ndarray, np.ndarray]] = []
        self._expected, self._published = 0, 0
        self._unknown = False

    def add(
        self, ours: Rows, theirs: Rows, scores: Sequence[np.ndarray], borne: tuple[np.ndarray, np.ndarray] | None
    ) -> None:
        """`borne` numbers what each published and each source row of this part bears; None: that is not known."""
        kept = tuple(_gathered(score, ours) for score in scores)
        self._scores.append(kept)
        self._published += ours.rows
        if borne is None:
            self._unknown = True
        elif theirs.early is None:
            self._borne.append(borne)
        else:
            size = int(max(borne[0].max(initial=0), borne[1].max(initial=0))) + 1
            early = np.bincount(borne[1], weights=theirs.early, minlength=size)
            self._expected += int(np.dot(ours.tally(borne[0], size), early))

    def order(self, agree: int | None, rows: int) -> Order:
        """The most telling statistic of all parts; both tables `agree` at so many places, and the source has so many rows."""
        found = []
        for each in zip(*self._scores, strict=True):
            score = np.concatenate([score for score, _ in each])
            if any(held.times is not None for _, held in each):
                times, places = (
                    np.concatenate(some) for some in zip(*((r.each, r.positions) for _, r in each), strict=True)
                )
                found.append(rank_correlation(score, times, places))
            else:
                found.append(rank_correlation(score))
        if not self._unknown:
            if agree is None:
                found += [agreement(*borne) for borne in self._borne]
            elif self._published:
                found.append(_agreement(agree, self._expected / self._published, min(self._published, rows)))
        return min(found, key=lambda order: order.p_value) if found else CANONICAL


def _gathered(score: np.ndarray, rows: Rows) -> tuple[np.ndarray, Rows]:
    """Equal scores of counted rows together."""
    if rows.times is None:
        return score, rows
    distinct, at = np.unique(score, return_inverse=True)
    times, places = (np.bincount(at, weights=each, minlength=len(distinct)) for each in (rows.times, rows.positions))
    return distinct, Rows(_NONE, times, places)


_NONE = pl.DataFrame()
