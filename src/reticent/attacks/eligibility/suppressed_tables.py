"""Tables that can lie behind a release with a suppression: counted in closed form, listed, or enumerated by brute force.

Counted (`compute_counted_weights`): R-suppression, uniform prior, exact for tables of any size.  Given the published
counts P with highest level L, a table B that may have led to them is fixed by few numbers: the value v that leads, with
count c in P; the excess of B over L, M for v and f_1 .. f_q for the values that D-suppression cut to L; and how many of
them (x) it then cut once more, to L - 1.  All other values are as published.  R-suppression publishes P from B by the
starts F:

    c < L    F = c alone
    c = L    F = L, and all F > L or none of them: their paths meet before level L, and eligibility at the start of levels and
             candidacy are monotone, so where one of them does not stop above L none does

Whether it stops there depends on the state before P alone, hence on P and on the number g of values above L
(`PublishedCounts.first`).  The probability of F depends on the interval of B's falling counts that F lies in: known
from P, but where its upper end is the least of the values above L.  So tables are counted by x, g and that least, and
each of the x is any of the values at L - 1 by symmetry.  The cost grows with the values and, at most linearly, with the
records withheld; beyond MAX_EXACT_TERMS there are bounds.

Compositions: how many tables there are in which a value leads, in closed form.  A table behind a release is the release
and what was withheld: some records of the value that led, some of values that were cut down to the highest published
level.  With the leading value's excess over that level M, the others' f_1 .. f_q, all of one sum S,

    led(q, S, low, least_excess)   vectors with f_i >= low, M >= f_i, M >= least_excess, where of t + 1 tied at the top each leads in 1 / (t + 1)

By symmetry that is one in q + 1 of the vectors of q + 1 parts >= low of sum S whose greatest is at least `least_excess`: no sum
over M is left (`count_led_tables`).  Vectors with parts at most some cap are counted by inclusion and exclusion
(`count_vectors`).  All in whole numbers.

Priors (`CountPrior`): what an adversary may believe, before seeing a release, about how often each sensitive value
occurs.  A prior weighs count vectors of |T| records in m named values, each occurring.  All of these know no value by
name: they weigh a vector and any renaming of it alike.  A prior that does know the leading value is beyond every
method.

    uniform     every vector alike
    shapes      every histogram up to names alike: skewed tables weigh more than under `uniform`
    records     every record's value drawn alike, independently: near-even tables weigh most
    plausible   every vector that could have led to the release alike, however improbable that was: the paper's "without further
                information, the adversary cannot tell which reconstruction is more likely" (example 5)

Listed (`compute_listed_weights`): the tables that can lie behind one release, up to renaming, for every kind and prior,
exactly.  A table B holds besides P the withheld records: of the value that leads, M above L, and of the values that
were cut to L or, x of them, to L - 1: excesses f_1 >= ... >= f_q over L, g of them positive (the same numbers as above,
where no list is needed).  Values of equal published count are alike, so the f are partitions, each standing for its
arrangements (`TableStratum`).  The suppression itself tells what each table publishes, with what probability.

Enumerated (`compute_joint_weights`): every violating table of so many records, up to renaming, and all that it may
publish. This is for small tables, and for checking the quicker ways.  The priors know no value by name and suppression
breaks ties at random, so tables are falling counts.  Exact, as fractions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from math import comb, factorial, lgamma, prod
from typing import Any

import numpy as np

from reticent.errors import JobError, suggest
from reticent.methods.suppression.kinds import SuppressionKind
from reticent.methods.suppression.stage import SUPPRESSION_KINDS

MAX_EXACT_TERMS = 3_000  # so many terms are summed exactly
MAX_TERM_BLOCKS = 2_000  # and so many blocks of them between bounds
TERM_BITS = 96  # binary digits kept of a term between bounds
# ruff: noqa: E741  `l` is the field's own letter


WeightBounds = tuple[Fraction, Fraction]
PRIORS = ("uniform", "shapes", "records", "plausible")
Likelihood = Callable[[np.ndarray, int, np.ndarray], Fraction]
MAX_RECURRENCE_RECORDS = 200  # so many records are split by recurrence
TWO_LEVEL_KINDS = ("unsafe", "randomized")  # kinds that cut some values to one below the level


@dataclass(frozen=True, slots=True)
class TermLimits:
    """How many terms of a sum are added up exactly, and in how many blocks the others are bounded."""

    exact_terms: int = MAX_EXACT_TERMS
    blocks: int = MAX_TERM_BLOCKS


DEFAULT_TERM_LIMITS = TermLimits()


def count_vectors(parts: int, total: int, cap: int | None = None) -> int:
    """Count vectors of so many whole numbers >= 0, at most `cap` each, with this sum."""
    if total < 0 or (cap is not None and cap < 0):
        return 0
    if not parts:
        return int(total == 0)
    if cap is None or cap >= total:
        return comb(total + parts - 1, parts - 1)
    count = 0
    sign = 1
    for exceeding in range(min(parts, total // (cap + 1)) + 1):
        count += sign * comb(parts, exceeding) * comb(total - exceeding * (cap + 1) + parts - 1, parts - 1)
        sign = -sign
    return count


def count_led_tables(others: int, total: int, low: int, least_excess: int) -> int:
    """Compute (q + 1) times the number of tables in which the value leads: (q + 1) led(q, S, low, least_excess)."""
    remaining = total - (others + 1) * low
    return (
        count_vectors(others + 1, remaining) - count_vectors(others + 1, remaining, least_excess - 1 - low)
        if remaining >= 0
        else 0
    )


def find_highest_low(others: int, total: int, least_excess: int) -> int:
    """Find the greatest `low` at which there is a vector at all."""
    return min(total // (others + 1), (total - least_excess) // others) if others else total


def sum_by_least_part(
    others: int, total: int, least_excess: int, offset: int, limits: TermLimits = DEFAULT_TERM_LIMITS
) -> tuple[Fraction, Fraction]:
    """Sum led / (least + offset) over the least positive part, M included: exactly, or between bounds where the sum is long."""
    last = find_highest_low(others, total, least_excess)
    if last < 1:
        return Fraction(0), Fraction(0)
    if last > limits.exact_terms and others:
        return _bound_sum_by_blocks(others, total, least_excess, offset, last, limits.blocks)
    if not others:
        exact = Fraction(count_led_tables(0, total, 1, least_excess), total + offset)
        return exact, exact
    counted = [count_led_tables(others, total, low, least_excess) for low in range(1, last + 2)]
    terms = [(counted[index] - counted[index + 1], index + 1 + offset) for index in range(last)]
    while len(terms) > 1:  # in pairs, without reducing: one common divisor at the end
        odd = terms[len(terms) & ~1 :]
        terms = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(terms[::2], terms[1::2], strict=False)] + odd
    exact = Fraction(*terms[0])
    return exact, exact


@dataclass(frozen=True)
class PublishedCounts:
    """Falling published counts of a table of `rows` records."""

    counts: tuple[int, ...]
    rows: int
    l: int

    @cached_property
    def withheld(self) -> int:
        return self.rows - sum(self.counts)

    @property
    def level(self) -> int:
        return self.counts[0]

    @cached_property
    def alike(self) -> Counter[int]:
        return Counter(self.counts)

    @property
    def least_excess(self) -> int:
        """The least by which a violating value exceeds the level."""
        return self.rows // self.l + 1 - self.level

    def count_above(self, count: int) -> int:
        return sum(other > count for other in self.counts)

    def find_next_lower(self, count: int) -> int:
        """Return the next lower count; 1 after the last (ERRATA 2.3)."""
        return max((other for other in self.counts if other < count), default=1)

    @cached_property
    def final(self) -> bool:
        """Whether P-eligibility and l-candidacy hold."""
        l, last = self.l, self.counts[self.l - 1]
        return l * self.level <= sum(self.counts) and l * (last + self.withheld) > self.rows

    @property
    def eligible(self) -> bool:
        return self.l * self.level <= sum(self.counts)

    @property
    def safe(self) -> bool:
        """Whether `safe` can have published it."""
        return self.alike[self.level] >= self.l and self.l * (self.level + self.withheld) > self.rows

    @property
    def barely_eligible(self) -> bool:
        """Whether `eligible` can have published it: one value at the level had all that is withheld, and the level above fails."""
        return self.eligible and self.l * (self.level + 1) > sum(self.counts) + 1

    @property
    def unsafe(self) -> bool:
        """Whether `unsafe` can have published it: some table was cut to it and not stopped before."""
        if not self.final:
            return False
        top = self.alike[self.level]
        lower = self.alike[self.level - 1] if self.late else 0
        return any(
            (extra or self.first(higher + 1)) and self.withheld - extra >= max(higher + 1, higher + self.least_excess)
            for extra in range(lower + 1)
            for higher in range(top + extra)
        )

    @cached_property
    def late(self) -> bool:
        """Whether P is the first candidate of its level, had its last record been of a value now at L - 1."""
        last = self.level if self.l <= self.alike[self.level] + 1 else self.counts[self.l - 1]
        return self.l * (last + self.withheld - 1) <= self.rows

    def first(self, higher: int) -> bool:
        """Tell whether D-suppression first stops at the start of level L, `higher` values having been above it."""
        if not higher:
            return True
        l, steps = self.l, sum(self.counts) + higher - self.l * (self.level + 1)  # eligible so far into level L + 1
        if steps < 0:
            return True
        steps = min(steps, higher - 1)
        last = self.level + 1 if l <= higher - steps else self.counts[l - 1]
        return l * (last + self.withheld - higher + steps) <= self.rows


def compute_counted_weights(
    published: PublishedCounts, limits: TermLimits = DEFAULT_TERM_LIMITS
) -> dict[int, WeightBounds]:
    """Compute for each published count the weight of all tables in which one value of that count led.

    The weights are between bounds that mostly meet.
    """
    if not published.final:
        return {}
    weights = {}
    for count in published.alike:
        low = high = Fraction(0)
        for part_low, part_high in _generate_weight_parts(published, count, limits):
            low = low + part_low
            high = high + part_high
        if high:
            weights[count] = (low, high)
    return weights


def bound_likelihood(published: PublishedCounts, count: int, extra: int, cut: int, higher: int, total: int) -> Fraction:
    """Compute the greatest Pr(P | B) among tables of one x and g: at the smallest or the largest least excess."""
    constant, shared, offset = _split_likelihood(published, count, extra, cut, higher)
    last = max(find_highest_low(higher, total, published.least_excess), 1)
    return max(constant + shared / (excess + offset) for excess in (1, last)) / published.l


def count_arrangements(counts: Sequence[Any]) -> int:
    """Count the ways to give these counts to as many names."""
    return factorial(len(counts)) // prod(factorial(times) for times in Counter(counts).values())


@dataclass(frozen=True, slots=True)
class CountPrior:
    name: str

    def __post_init__(self) -> None:
        if self.name not in PRIORS:
            raise JobError(f"Unknown prior {self.name!r}.", attempt=suggest(self.name, PRIORS))

    @property
    def plausible(self) -> bool:
        return self.name == "plausible"

    def weight(self, counts: Sequence[int]) -> Fraction:
        """Compute the weight of one vector."""
        if self.name == "shapes":
            return Fraction(1, count_arrangements(counts))
        if self.name == "records":
            return Fraction(factorial(sum(counts)), prod(factorial(count) for count in counts))
        return Fraction(1)

    def log_weight(self, counts: Sequence[int]) -> float:
        if self.name == "shapes":
            return -lgamma(len(counts) + 1) + sum(lgamma(times + 1) for times in Counter(counts).values())
        if self.name == "records":
            return lgamma(sum(counts) + 1) - sum(lgamma(count + 1) for count in counts)
        return 0.0


@dataclass(frozen=True)
class TableStratum:
    """Tables with one published count of the leading value, one x and one g."""

    published: PublishedCounts
    count: int
    extra: int
    higher: int

    @property
    def at_lower(self) -> int:
        """Values, but the leading one, that are published at L - 1."""
        return self.published.alike[self.published.level - 1] - (self.count == self.published.level - 1)

    @property
    def cut(self) -> int:
        return self.published.alike[self.published.level] - (self.count == self.published.level) + self.extra

    @property
    def total(self) -> int:
        return self.published.withheld - self.extra - self.published.level + self.count

    @property
    def ways(self) -> Fraction:
        """The number of choices of which values are above L, and which of them go first: each alike."""
        choices = Fraction(comb(self.at_lower, self.extra), comb(self.cut, self.extra))
        return choices * comb(self.cut, self.higher)

    @property
    def number(self) -> int:
        """About how many tables there are, up to renaming."""
        slack = self.total - self.published.least_excess - self.higher
        if slack > MAX_RECURRENCE_RECORDS:
            return comb(slack + self.higher, self.higher) // factorial(self.higher)
        return sum(count_partitions(remainder, self.higher) for remainder in range(slack + 1))

    def greatest(self, kind: SuppressionKind) -> Fraction:
        """Bound Pr(P | B) over all tables of the stratum."""
        if kind.name != "randomized":
            return Fraction(1)
        return bound_likelihood(self.published, self.count, self.extra, self.cut, self.higher, self.total)

    def tables(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield M and the positive excesses, falling."""
        for lead in range(self.published.least_excess, self.total - self.higher + 1):
            for parts in list_falling_parts(self.total - lead, self.higher, lead):
                yield lead, parts

    def table(self, lead: int, parts: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts of the table and of the release, S_1 first, then falling."""
        level = self.published.level
        counts = self.published.counts
        lower_counts = [count for count in counts if count < level]
        for cut_count in [level - 1] * self.extra + [self.count] * (self.count < level):
            lower_counts.remove(cut_count)
        at_level = self.cut - self.higher
        base = [level + lead, *(level + part for part in parts), *[level] * at_level, *lower_counts]
        published_counts = [self.count, *[level] * (self.cut - self.extra), *[level - 1] * self.extra, *lower_counts]
        return np.array(base), np.array(published_counts)

    def value(self, lead: int, parts: Sequence[int], likelihood: Likelihood, prior: CountPrior) -> Fraction:
        """Compute the weight of one named table, but for ties with the leading value and the choice of x."""
        base, published_counts = self.table(lead, parts)
        chance = likelihood(base, self.published.l, published_counts)
        if not prior.plausible or not chance:
            return chance and chance * prior.weight(base.tolist())
        excess = [*parts, *[0] * (self.cut - self.higher)]
        first = excess[: self.cut - self.extra]
        second = excess[self.cut - self.extra :]
        named_tables = Fraction(
            count_arrangements(first)
            * count_arrangements(second)
            * comb(self.cut, self.extra)
            * (1 + list(parts).count(lead)),
            count_arrangements(excess),
        )
        return named_tables / self._count_leaders(base, published_counts, likelihood)

    def _count_leaders(self, base: np.ndarray, published_counts: np.ndarray, likelihood: Likelihood) -> int:
        """Count how many of the values tied at the top may have led: of a table that counts once, each has an equal share."""
        counts = base.tolist()
        pairs = sorted(zip(base.tolist(), published_counts.tolist(), strict=True))
        leaders = 0
        for first in {published_count for count, published_count in pairs if count == counts[0]}:
            others = sorted(published_counts.tolist(), reverse=True)
            others.remove(first)
            fits = sorted(zip(counts, [first, *others], strict=True)) == pairs
            if fits and likelihood(base, self.published.l, np.array([first, *others])):
                leaders += pairs.count((counts[0], first))
        return leaders


def list_strata(published: PublishedCounts, kind: SuppressionKind) -> Iterator[TableStratum]:
    for count in published.alike:
        lower = published.alike[published.level - 1] - (count == published.level - 1)
        for extra in range(lower + 1 if kind.name in TWO_LEVEL_KINDS and published.late else 1):
            stratum = TableStratum(published, count, extra, 0)
            for higher in range(stratum.cut + 1):
                stratum = TableStratum(published, count, extra, higher)
                if stratum.total - higher < published.least_excess:
                    break
                yield stratum


def weigh_stratum(stratum: TableStratum, kind: SuppressionKind, prior: CountPrior) -> Fraction:
    """Compute the weight of the stratum's tables, by listing them."""
    total = Fraction(0)
    for lead, parts in stratum.tables():
        value = stratum.value(lead, parts, kind.likelihood, prior)
        if value:
            total += value * count_arrangements(parts) / (1 + parts.count(lead))
    return total * stratum.ways


def estimate_weighing_cost(published: PublishedCounts, kind: SuppressionKind, prior: CountPrior) -> int:
    """Estimate what the weight of a table costs.

    Where `safe` may have published it, all cuts of a calibrated suppression are computed; the prior `records` takes
    factorials.
    """
    cuts = 1 + 3 * published.level if kind.name == "calibrated" and published.safe else 1
    return cuts * (1 + published.rows // MAX_RECURRENCE_RECORDS if prior.name == "records" else 1)


def compute_listed_weights(
    published: PublishedCounts, kind: SuppressionKind, prior: CountPrior, max_tables: int
) -> dict[int, WeightBounds] | None:
    """Compute for each published count the weight of one of its values; nothing if more than `max_tables` tables would have to be listed."""
    strata = list(list_strata(published, kind))
    number = 0
    for stratum in strata:
        number += stratum.number
        if number * estimate_weighing_cost(published, kind, prior) > max_tables:
            return None
    weights: dict[int, WeightBounds] = {}
    for stratum in strata:
        weight = weigh_stratum(stratum, kind, prior)
        if weight:
            previous_weight = weights.get(stratum.count, (Fraction(0),))[0]
            weights[stratum.count] = (previous_weight + weight, previous_weight + weight)
    return weights


def list_falling_parts(total: int, parts: int, cap: int) -> Iterator[tuple[int, ...]]:
    """List falling positive numbers, at most `cap`, with this sum."""
    if not parts:
        if not total:
            yield ()
        return
    for first in range(min(total - parts + 1, cap), -(-total // parts) - 1, -1):
        for others in list_falling_parts(total - first, parts - 1, first):
            yield (first, *others)


@cache
def count_partitions(total: int, parts: int) -> int:
    """Count partitions into at most so many parts."""
    if total <= 0 or not parts:
        return int(total == 0)
    return count_partitions(total, parts - 1) + count_partitions(total - parts, parts)


def list_tables(rows: int, values: int, cap: int | None = None) -> Iterator[tuple[int, ...]]:
    """List falling counts of so many records in so many values, each occurring."""
    cap = rows if cap is None else cap
    if values == 1:
        if rows <= cap:
            yield (rows,)
        return
    for first in range(min(rows - values + 1, cap), -(-rows // values) - 1, -1):
        for others in list_tables(rows - first, values - 1, first):
            yield (first, *others)


@lru_cache(maxsize=32)
def compute_joint_weights(
    rows: int, values: int, l: int, kind: str, prior: str
) -> dict[tuple[int, ...], dict[int, Fraction]]:
    """Compute for every published table the weight of S_1 having each published count.

    Weights of one published table share a unit.
    """
    belief = CountPrior(prior)
    joint_weights: dict[tuple[int, ...], dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for counts in list_tables(rows, values):
        if l * counts[0] <= rows:
            continue
        outcomes = SUPPRESSION_KINDS[kind].outcomes(np.array(counts), l)
        if belief.plausible:
            for published, leading_count, share in _list_distinct_outcomes(counts, outcomes):
                joint_weights[published][leading_count] += share
            continue
        weight = belief.weight(counts) * count_arrangements(counts)
        for chance, outcome in outcomes:
            if chance:
                outcome_counts = outcome.tolist()
                joint_weights[tuple(sorted(outcome_counts, reverse=True))][outcome_counts[0]] += weight * chance
    return {published: dict(weights) for published, weights in joint_weights.items()}


def compute_worst_posterior(rows: int, values: int, l: int, kind: str, prior: str = "uniform") -> Fraction:
    """Compute the greatest posterior over every table that the suppression may publish of so many records in so many values."""
    return max(
        weight / sum(weights.values()) / Counter(table)[count]
        for table, weights in compute_joint_weights(rows, values, l, kind, prior).items()
        for count, weight in weights.items()
    )


def compute_worst_withheld_posterior(rows: int, values: int, l: int, kind: str, prior: str = "uniform") -> Fraction:
    """Compute the greatest posterior of a withheld person's value over every table that may be published.

    Not for the prior `plausible`.
    """
    total: dict[Any, Fraction] = defaultdict(Fraction)
    withheld: dict[Any, Counter[Any]] = defaultdict(Counter)
    for counts in list_tables(rows, values):
        if l * counts[0] <= rows:
            continue
        weight = CountPrior(prior).weight(counts) * count_arrangements(counts)
        for chance, published in SUPPRESSION_KINDS[kind].outcomes(np.array(counts), l):
            if chance:
                table = tuple(sorted(published.tolist(), reverse=True))
                total[table] += weight * chance
                for before, after in zip(counts, published.tolist(), strict=True):
                    withheld[table][after] += weight * chance * (before - after)
    return max(
        withheld_weight / (total[table] * (rows - sum(table)) * table.count(after))
        for table, by_count in withheld.items()
        for after, withheld_weight in by_count.items()
    )


def _bound_sum_by_blocks(
    others: int, total: int, least_excess: int, offset: int, last: int, blocks: int
) -> tuple[Fraction, Fraction]:
    """Bound the same sum with the terms in blocks: all of a block's tables at its greatest and at its least divisor, rounded outward."""
    ratio = (last + offset) / (1 + offset)
    edges = {round((1 + offset) * ratio ** (block / blocks)) - offset for block in range(blocks)}
    starts = [*sorted({1, *(edge for edge in edges if 1 < edge <= last)}), last + 1]
    low = high = 0
    counted = count_led_tables(others, total, 1, least_excess)
    for start, end in pairwise(starts):
        after = count_led_tables(others, total, end, least_excess)
        tables = (counted - after) << TERM_BITS
        low += tables // (end - 1 + offset)
        high += -(-tables // (start + offset))
        counted = after
    return Fraction(low, 1 << TERM_BITS), Fraction(high, 1 << TERM_BITS)


def _generate_weight_parts(published: PublishedCounts, count: int, limits: TermLimits) -> Iterator[WeightBounds]:
    """Yield the weight by x and g."""
    level, at_top = published.level, count == published.level
    lower = published.alike[level - 1] - (count == level - 1)
    for extra in range(lower + 1 if published.late else 1):
        cut = published.alike[level] - at_top + extra
        total = published.withheld - extra - level + count
        choices = Fraction(comb(lower, extra), comb(cut, extra))
        for higher in range(cut + 1):
            if total < max(higher + 1, published.least_excess):
                break
            constant, shared, offset = _split_likelihood(published, count, extra, cut, higher)
            share = choices * comb(cut, higher) / (published.l * (higher + 1))
            low = high = (
                constant * count_led_tables(higher, total, 1, published.least_excess) if constant else Fraction(0)
            )
            if shared:
                ends = sum_by_least_part(higher, total, published.least_excess, offset, limits)
                low = low + shared * min(ends, key=shared.__mul__)
                high = high + shared * max(ends, key=shared.__mul__)
            if high:
                yield share * low, share * high


def _split_likelihood(
    published: PublishedCounts, count: int, extra: int, cut: int, higher: int
) -> tuple[Fraction, Fraction, int]:
    """Split l Pr(P | B) = constant + shared / (least + offset), `least` the least positive excess over the level."""
    if count < published.level:
        return _split_likelihood_below(published, count, extra, cut, higher)
    level = published.level
    l = published.l
    tied = cut - higher
    lowest = (
        level - 1
        if published.alike[level - 1] > extra
        else published.find_next_lower(level - bool(published.alike[level - 1]))
    )
    offset = 1 if tied else level - lowest + 1
    constant = Fraction(0)
    shared = Fraction(0)
    if extra or published.first(higher):  # F = L
        constant += _sum_lower_intervals(level, lowest, higher + 1, tied, l)
        shared += higher < l
    if extra or published.first(higher + 1):  # F > L
        constant += min(higher, l) + (higher < l)
        shared -= offset * (higher < l)
    return constant, shared, offset


def _list_distinct_outcomes(counts: Sequence[int], outcomes: Any) -> Iterator[tuple[tuple[int, ...], int, Fraction]]:
    """List each published table, S_1's count in it, and how many tables with names lead there from these counts at all.

    A table of which several values may have been S_1 counts once, shared evenly among them.
    """
    leaders: dict[tuple[tuple[int, int], ...], set[tuple[int, int]]] = defaultdict(set)
    for chance, published in outcomes:
        if chance:
            count_pairs = list(zip(counts, published.tolist(), strict=True))
            leaders[tuple(sorted(count_pairs))].add(count_pairs[0])
    for pairs, possible in leaders.items():
        published_counts = Counter(count for _, count in pairs)
        number = prod(map(factorial, published_counts.values())) // prod(map(factorial, Counter(pairs).values()))
        tied = sum(pairs.count(pair) for pair in possible)
        for pair in possible:
            yield (
                tuple(sorted(published_counts.elements(), reverse=True)),
                pair[1],
                Fraction(number * pairs.count(pair), tied),
            )


def _split_likelihood_below(
    published: PublishedCounts, count: int, extra: int, cut: int, higher: int
) -> tuple[Fraction, Fraction, int]:
    """Split the same for F = c < L."""
    level = published.level
    l = published.l
    moved = extra if count == level - 1 else 0  # values of count c in P that were above
    above = published.count_above(count) + moved
    tied = published.alike[count] - 1 - moved
    if above >= l or not (extra or published.first(higher)):
        return Fraction(0), Fraction(0), 1
    lowest = published.find_next_lower(count)
    bottom = count if tied else lowest
    constant = _sum_lower_intervals(count, lowest, above + 1, tied, l)
    upper = min(other for other in published.counts if other > count)
    if upper == level - 1 and published.alike[upper] == extra:
        upper = level
    if upper < level or higher < cut:  # with a value left at the level itself
        return constant + Fraction(1, upper - bottom + 1), Fraction(0), 1
    return constant, Fraction(1), level - bottom + 1


def _sum_lower_intervals(start: int, lowest: int, first: int, tied: int, l: int) -> Fraction:
    """Sum l Pr(F = start) by the intervals after number `first`: [start, start] between tied values, and the one down to the next."""
    if not tied or first > l:
        return Fraction(0)
    total = Fraction(max(min(first + tied - 1, l) - first, 0))
    return total + Fraction(1, start - lowest + 1) if first + tied <= l else total
