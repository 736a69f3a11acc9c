"""The eligibility attack on a person: which value does somebody have whose record was withheld?

Who is known to be in the table and not in the release was withheld, and has a value v with the probability

    Pr(a withheld person has v | T_P, K) = the mean of (count of v in B - count of v in T_P) / |T_S| over the tables B behind T_P,

each weighed as for the question which value led (`attack`).  The two questions differ: a value that did not lead may
be most of what was withheld.  Values of one published count are alike, so of n of them none is above 1/n.  How it is
had, and said in `how`:

    safe       exact: all that is withheld is of the values at the highest level, which are alike
    unsafe     exact in the same way, but where values may have been cut to one below the level
    others     exact where the tables behind the release are few enough to list; else certain bounds, from the posterior of which value
               led (`_highest`, `_lowest`), and where that is sampled with its probability; calibrated, uniform prior: at most 1/l, by the
               proof in `methods/suppression/balanced.py`
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any

from reticent.attacks.eligibility.candidates import TWICE, cost, strata
from reticent.attacks.eligibility.counted import PublishedCounts
from reticent.attacks.eligibility.posteriors import Posterior, between, nobody, outward
from reticent.attacks.eligibility.priors import Prior, arrangements
from reticent.methods.suppression.kinds import Kind


def of_withheld(table: PublishedCounts, kind: Kind, prior: Prior, leading: Posterior, listed: int) -> Posterior:
    """The posterior of a withheld person's value, by its published count; `leading` is that of which value led."""
    if not leading.high:
        return nobody(table)
    twice = kind.name in TWICE and table.late and table.alike[table.level - 1] > 0
    if kind.name in ("safe", "unsafe") and not twice:
        share = Fraction(1, table.alike[table.level])
        return between({table.level: (share, share)})
    exact = by_listing(table, kind, prior, listed)
    if exact is not None:
        return between({count: (share, share) for count, share in exact.items()}) if exact else nobody(table)
    highest = _highest(table, leading, twice)
    if kind.name == "calibrated" and prior.name == "uniform":
        highest = {count: min(share, Fraction(1, table.l)) for count, share in highest.items()}
    high = max(highest.values())
    low = min(_lowest(table, leading, highest), high)
    if leading.how == "sampled":
        return Posterior(highest, *outward(low, high), "sampled")
    return Posterior(highest, low, high, "exact" if low == high else "bounds")


def by_listing(table: PublishedCounts, kind: Kind, prior: Prior, most: int) -> Mapping[int, Fraction] | None:
    """Exactly, for each published count, or nothing where more than `most` tables would have to be listed."""
    possible, number = list(strata(table, kind)), 0
    for stratum in possible:
        number += stratum.number
        if number * cost(table, kind, prior) > most:
            return None
    total = Fraction(0)
    taken: dict[Any, Fraction] = defaultdict(Fraction)
    for stratum in possible:
        for excess, parts in stratum.tables():
            weight = stratum.value(excess, parts, kind.likelihood, prior)
            if not weight:
                continue
            weight *= stratum.ways * table.alike[stratum.count] * arrangements(parts) / (1 + parts.count(excess))
            total += weight
            for before, after in zip(*(counts.tolist() for counts in stratum.table(excess, parts)), strict=True):
                taken[after] += weight * (before - after)
    return {after: some / (total * table.withheld * table.alike[after]) for after, some in taken.items() if some}


def _leading(table: PublishedCounts, leading: Posterior) -> Mapping[int, Fraction | float]:
    """For each published count what a value's posterior of having led does not exceed."""
    return dict.fromkeys(table.alike, leading.high) if leading.how == "sampled" else leading.by_count


def _least_lost(table: PublishedCounts, counts: Iterable[int]) -> Fraction:
    """What share of the withheld is of the value that led, at the least, if it has one of these published counts."""
    return Fraction(table.rows // table.l + 1 - max(counts), table.withheld)


def _highest(table: PublishedCounts, leading: Posterior, twice: bool) -> Mapping[int, Fraction]:
    """What the share of a value of each published count does not exceed, from how likely it led.

    A value below the highest level was withheld only where it led.  At the level, where another led: the n values there that did not
    are alike, and none lost more than the one that led, so their mean is at most 1 / (n + 1); and they share what that one did not
    lose.  A value one below the level, if values were cut there, lost at most one record more than the one that led: half of all."""
    led = {count: Fraction(share) for count, share in _leading(table, leading).items()}
    level, at_level, least = table.level, table.alike[table.level], _least_lost(table, led)
    others = at_level - 1 if at_level > 1 and level in led else at_level
    beside = {level: min(Fraction(1, others + 1), (1 - least) / others)}
    if twice:
        beside[level - 1] = Fraction(table.withheld + 1, 2 * table.withheld)
    none = Fraction(0)
    shares = {
        count: led.get(count, none) + (1 - led.get(count, none)) * beside.get(count, none) for count in {*led, *beside}
    }
    return {count: min(share, Fraction(1, table.alike[count])) for count, share in shares.items()}


def _lowest(table: PublishedCounts, leading: Posterior, counts: Collection[int]) -> Fraction:
    """What the greatest share is at the least: some value led that surely; and the shares of all that may have lost are 1 together."""
    by_lead = Fraction(leading.low) * _least_lost(table, _leading(table, leading))
    return max(by_lead, Fraction(1, sum(table.alike[count] for count in counts)))
