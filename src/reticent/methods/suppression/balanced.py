"""How likely calibrated suppression publishes a cut, so that nobody withheld is told more about than one in l either.

A cut takes W records: M of the leading value and x_v of each value v of J.  The leading value is any of at least l,
so a person who was withheld has it with a probability of at most 1/l.  But such a person has the value v of J with a
probability of x_v / W, and where l x_v > W (v is then *heavy*: it exceeds one in l of the table, up to rounding, as
S_1 does) that is more than one in l.

A family of tables with a heavy v is therefore published only as far as another family makes up for it that is light
in v.  Families that differ in x_v and M alone have the same cut P, the same J and the same H.  The partner of the
excess y is its mirror image

    y' = floor(2 W / l) - y,      so that  l y' < W  and  W - l y' >= l y - W

and the family f is published with the probability

    p(f) = min(capacity(f), min over heavy v of  p(f with y' for y) (W - l y') / (l y - W)),     0 where y' < 1.

The partner is light in v, so the recursion ends; it has a cut at the same level, since its leading value leads the
more.  No two families have the same partner, so summed over the families with given P and J, p(f) (l x_v - W) is at
most 0 for each v.  Hence the mean share of v among the withheld is at most 1/l.  Everything here is the same for all
tables of a family, so these publish P with one probability still.
"""

from __future__ import annotations

from fractions import Fraction

from reticent.methods.suppression.violating import Violating

MOST_HEAVY = 3  # a cut with more heavy values is not published: each doubles what its probability costs


def chance(table: Violating, start: int) -> Fraction:
    """The probability that the cut at an open level is published: the same for every table that has this cut."""
    published, cut = table.cut(start)
    withheld = table.rows - sum(published)
    excess = [count - level for count, level in zip(table.counts[1 : 1 + cut], published[1 : 1 + cut], strict=True)]
    heavy = [at for at, more in enumerate(excess) if table.l * more > withheld]
    partners = {at: 2 * withheld // table.l - excess[at] for at in heavy}
    if len(heavy) > MOST_HEAVY or any(light < 1 for light in partners.values()):
        return Fraction(0)
    likely = table.capacity(start)
    for at, light in partners.items():
        if likely:
            slack = Fraction(withheld - table.l * light, table.l * excess[at] - withheld)
            likely = min(likely, slack * chance(_lightened(table, at, excess[at] - light), start))
    return likely


def _lightened(table: Violating, at: int, by: int) -> Violating:
    """The table with so many records of a cut value moved to the leading one."""
    counts = list(table.counts)
    counts[0] += by
    counts[1 + at] -= by
    return Violating((counts[0], *sorted(counts[1:], reverse=True)), table.l)
