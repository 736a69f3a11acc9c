"""How likely calibrated suppression publishes a cut, so that nobody withheld is told more about than one in l either.

A cut takes W records: M of the leading value and x_v of each value v of J.  The leading value is any of at least l, so a person who
was withheld has it with a probability of at most 1/l.  But who was withheld has the value v of J with a probability of x_v / W, and where
l x_v > W (v is then *heavy*: it exceeds one in l of the table, up to rounding, as S_1 does) that is more than one in l.

A family of tables with a heavy v is therefore published only as far as families that are light in v make up for it.  Families that
differ in x_v and M alone have the same cut P, the same J and the same H.  With s = floor(W / l), the greatest excess that is light,
the heavy excess y is charged to the light one

    y' = 1 + (y - s - 1) mod s,      and q = the number of heavy excesses that are charged to y'

and the family is published with the probability

    p(f) = min(capacity(f), min over heavy v of  p(f with y' for y) (W - l y') / (q (l y - W))).

The partner is light in v, so the recursion ends; it has a cut at the same level, since its leading value leads the more.  Summed over the
families with given P and J, p(f) (l x_v - W) is then at most 0 for each v: the heavy ones charged to a light family use at most its slack.
So the mean share of v among the withheld is at most 1/l.  Everything here is the same for all tables of a family, so these publish P with
one probability still.
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from fractions import Fraction

from reticent.methods.suppression.violating import Violating

MOST_HEAVY = 3  # a cut with more heavy values is not published: its probability would be small, and dear to compute


def chance(table: Violating, start: int) -> Fraction:
    """The probability that the cut at an open level is published: the same for every table that has this cut."""
    published, cut = table.cut(start)
    withheld = table.rows - sum(published)
    level = published[1] if cut else 0
    excess = tuple(count - level for count in table.counts[1 : 1 + cut])
    heavy = [at for at, more in enumerate(excess) if table.l * more > withheld]
    if not heavy:
        return table.capacity(start)
    if withheld < table.l or len(heavy) > MOST_HEAVY:
        return Fraction(0)
    least_leading = sorted([start, *published[1 + cut :]], reverse=True)[table.l - 1]
    found = table.capacity(start)
    for at in heavy:
        if not found:
            break
        share, light = _share(table, excess, at, withheld, least_leading - level)
        if share:
            share *= chance(_lightened(table, at, excess[at] - light), start)
        found = min(found, share)
    return found


def _share(
    table: Violating, excess: tuple[int, ...], at: int, withheld: int, least_leading: int
) -> tuple[Fraction, int]:
    """How much of its partner's probability a heavy family may have, and the partner's excess.

    `least_leading` is the lowest published count of a value that may lead, above the level (0 or less)."""
    l, light = table.l, withheld // table.l
    others = sum(excess) - excess[at]
    partner = 1 + (excess[at] - light - 1) % light
    single = (withheld - others + least_leading - 1) // 2  # beyond it the leading value would not be the single highest
    level = table.counts[1 + at] - excess[at]
    violating = withheld - others + least_leading + level - table.rows // l - 1  # beyond it, not violating
    charged = (min(single, violating) - partner) // light
    return Fraction(withheld - l * partner, charged * (l * excess[at] - withheld)), partner


def _lightened(table: Violating, at: int, by: int) -> Violating:
    """The table with so many records of a cut value moved to the leading one."""
    counts = list(table.counts)
    counts[0] += by
    counts[1 + at] -= by
    return Violating((counts[0], *sorted(counts[1:], reverse=True)), table.l)
