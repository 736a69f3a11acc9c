"""The eligibility attack on calibrated suppression: bounds for tables of any size, which mostly meet.  Priors uniform, plausible, shapes.

The tables that publish P by a cut come in families that publish it with one probability and differ in which value of H led
(`methods/suppression/calibrated.py`); those that publish it as `safe` does are alike in all values at the highest level.  With J of j
values at that level L, H is known from P: the values outside J with the l highest counts, and ties.  A family's tables weigh alike
beforehand, or, under `shapes`, as one over the number of values outside J with the leading one's published count.  So the posterior is

    a mixture, over j and `safe`, of distributions that P determines

and lies between the least and the greatest of them.  Where all agree on a value, and that is most often, it is exact.  Which j can occur
is judged by conditions that are necessary: one too many makes bounds wider, not wrong.  That families are as said is what the
proof in `calibrated` shows; `candidates` does not use it, and agrees.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from reticent.attacks.eligibility.counted import Between, PublishedCounts
from reticent.methods.suppression.balanced import chance
from reticent.methods.suppression.violating import Violating

Shares = dict[int, Fraction]  # by published count: the posterior of one of its values


PRIORS = ("uniform", "plausible", "shapes")


def posteriors(published: PublishedCounts, prior: str) -> dict[int, Between]:
    """For each published count, the least and the greatest posterior of one of its values."""
    listed = list(_mixed(published, prior == "shapes"))
    counts = {count for shares in listed for count in shares}
    none = Fraction(0)
    return {
        count: (min(shares.get(count, none) for shares in listed), max(shares.get(count, none) for shares in listed))
        for count in counts
    }


def _mixed(published: PublishedCounts, shapes: bool) -> Iterator[Shares]:
    """The distributions of which the posterior is a mixture."""
    level, at_top = published.level, published.alike[published.level]
    if published.safe:
        yield {level: Fraction(1, at_top)}
    for cut in range(min(at_top, len(published.counts) - published.l) + 1):
        if not _possible(published, cut):
            continue
        free = published.counts[cut:]
        chosen = Counter(count for count in free if count >= free[published.l - 1])
        weights = {count: Fraction(1, number) if shapes else Fraction(1) for count, number in chosen.items()}
        total = sum(weights[count] * number for count, number in chosen.items())
        shares = {count: weight / total for count, weight in weights.items()}
        if at_top > cut:  # any of the values at the level may be among those cut
            shares[level] *= Fraction(at_top - cut, at_top)
        yield shares


def _possible(published: PublishedCounts, cut: int) -> bool:
    """Whether some table may publish P by a cut to which J has `cut` values: with one record above the level each, if with any."""
    l, level, size = published.l, published.level, sum(published.counts)
    least, moved = published.counts[cut + l - 1], published.withheld - cut
    if (
        l * level > size
        or moved < 1
        or l * (least + moved) <= published.rows
        or (cut and size + cut >= l * (level + 1))
    ):
        return False
    if cut:
        return least + moved > level + 1
    others = list(published.counts)
    others.remove(least)  # without J there is one table for each value of H: ask it
    table = Violating((least + moved, *others), l)
    return any(low <= least <= high for low, high in table.open) and chance(table, least) > 0
