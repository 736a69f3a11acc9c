"""Does the order of the published rows say anything about the order of the source, or about what was not published?

A row's content points to where its source row may stand: the mean position of the source rows it can stand for.  The statistic
is Spearman's rank correlation of that with the row's place in the published file.  If the rows were shuffled, its mean is 0
and its variance exactly 1/(n - 1), whatever the contents (a linear rank statistic over uniform permutations).

Where labels are so wide that every row may stand anywhere, what a row bears still says where it came from: the second statistic
counts the places at which a published row bears the values of the source's row.  If the rows were shuffled, the count X exceeds
its mean EX by t with a probability of at most exp(-t^2 / (4 EX + 2 t)) (Chatterjee 2007, proposition 1.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, exp, sqrt

import numpy as np

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


def rank_correlation(score: np.ndarray) -> Order:
    """Of a score of each published row with the row's place."""
    rank = np.unique(score, return_inverse=True)[1].astype(np.float64)  # any monotone score keeps the null distribution
    n = len(rank)
    place = np.arange(n) - (n - 1) / 2
    rank = rank - rank.mean()
    spread = sqrt(float(np.dot(rank, rank)) * float(np.dot(place, place)))
    if n < 3 or spread == 0:
        return Order(0.0, 1.0)
    correlation = float(np.dot(rank, place)) / spread
    return Order(correlation, erfc(abs(correlation) * sqrt(n - 1) / sqrt(2)))


def agreement(ours: np.ndarray, theirs: np.ndarray) -> Order:
    """Of what published rows bear with what the source's rows bear at the same places."""
    places, n = min(len(ours), len(theirs)), len(ours)
    if not n:
        return Order(0.0, 1.0)
    agree = int((ours[:places] == theirs[:places]).sum())
    times = np.bincount(ours, minlength=int(theirs.max(initial=0)) + 1)
    mean = float(times[theirs[:places]].sum() / n)
    above = agree - mean
    if above <= 0:
        return Order(0.0, 1.0, statistic="agreement in place")
    bound = 2 * exp(-above * above / (4 * mean + 2 * above))
    return Order(above / (places - mean), min(bound, 1.0), statistic="agreement in place")
