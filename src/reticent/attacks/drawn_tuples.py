"""What the tuples that were drawn of one group say of a victim in it: the posterior where a release draws several of each.

Of a group of N people n are drawn without replacement, and each shows a perturbed value y_i: the true one with
probability p, or one of m values drawn uniformly; u = (1 - p) / m. With r = n / N the probability that the victim is
drawn, A the chance that the others alone show all n values, and B_i that they show all but the i-th,

    P[shown | X = x] = (1 - r) A + r (u mean of B_i + p mean of 1[x = y_i] B_i)

The others are N - 1 people; o_v of them are known to have v, and the rest have any value equally likely. Each tuple that
somebody shows was redrawn (u, whoever it is), or kept by somebody who is known to have its value (p), or kept by somebody
unknown (p / m). So with a_v tuples at v, n of them in all, and (x)_s = x (x - 1) ... (x - s + 1),

    A = sum over s, l of  e_s p^s  C(n - s, l) (unknown)_l (p / m)^l  u^(n - s - l) (N - 1 - s - l)_(n - s - l)  / (N - 1)_n

e_s, in how many ways s tuples are kept by people who are known to have their values, is the coefficient of z^s in the
product over v of the sum of C(a_v, s) (o_v)_s z^s. B_i is the same with one tuple less at y_i.

`DrawnTuples` computes it in fractions; `compute_lifts` in floating point, for a search over many groups: of each value
that is shown by how much its likelihood exceeds that of a value that is not. `find_worst_belief` finds the worst prior and
predicate for such lifts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, perm, sqrt

import numpy as np


@dataclass(frozen=True)
class DrawnTuples:
    """The tuples of a group of `size` people: `shown` counts them by value, `known` the others whose value is known, by value.

    The others who are neither the victim nor `known` have any value equally likely.
    """

    p: Fraction
    domain: int
    size: int
    shown: Mapping[int, int]
    known: Mapping[int, int]

    @property
    def redrawn(self) -> Fraction:
        return (1 - self.p) / self.domain

    @property
    def drawn(self) -> int:
        """The number of tuples that were drawn of the group."""
        return sum(self.shown.values())

    @property
    def unknown(self) -> int:
        """The number of others whose value is not known."""
        return self.size - 1 - sum(self.known.values())

    @cached_property
    def without(self) -> dict[int, Fraction]:
        """Of each value that is shown, the chance B that the others show all tuples but one of it."""
        return {value: self.compute_chance({**self.shown, value: tuples - 1}) for value, tuples in self.shown.items()}

    @cached_property
    def unlifted(self) -> Fraction:
        """The likelihood of a value that no tuple shows."""
        rate = Fraction(self.drawn, self.size)
        redrawn = sum(tuples * self.without[value] for value, tuples in self.shown.items()) * self.redrawn
        alone = self.compute_chance(self.shown) if self.drawn < self.size else Fraction(0)
        return (1 - rate) * alone + redrawn / self.size

    def likelihood(self, value: int) -> Fraction:
        """Compute the chance of these tuples, in one order, if the victim has this value."""
        return self.unlifted + self.p * self.shown.get(value, 0) * self.without.get(value, Fraction(0)) / self.size

    def posterior(self, prior: Sequence[Fraction]) -> list[Fraction]:
        """Compute the posterior of every value of the domain."""
        joint = [belief * self.likelihood(value) for value, belief in enumerate(prior)]
        return [part / sum(joint) for part in joint]

    def list_lifts(self) -> dict[int, Fraction]:
        """List by how much the likelihood of each shown value exceeds that of one that is not shown, relative to it."""
        return {value: self.likelihood(value) / self.unlifted - 1 for value in self.shown}

    def compute_chance_of_draw(self, belief: Mapping[int, Fraction]) -> Fraction:
        """Compute the posterior probability that the victim was drawn; values that are not shown have the rest of the belief."""
        by_victim = Fraction(0)
        for value, tuples in self.shown.items():
            by_victim += tuples * self.without[value] * (self.redrawn + self.p * belief.get(value, Fraction(0)))
        lifted = sum((belief[value] * (self.likelihood(value) - self.unlifted) for value in belief), Fraction(0))
        return by_victim / self.size / (self.unlifted + lifted)

    def compute_chance(self, shown: Mapping[int, int]) -> Fraction:
        """Compute the chance that as many draws of the others show these tuples."""
        others = self.size - 1
        drawn = sum(shown.values())
        ways = [1]
        for value, tuples in shown.items():
            holders = self.known.get(value, 0)
            ways = _multiply(ways, [comb(tuples, s) * perm(holders, s) for s in range(min(tuples, holders) + 1)])
        total = Fraction(0)
        for kept, count in enumerate(ways):
            rest = drawn - kept
            inner = sum(
                comb(rest, extra)
                * perm(self.unknown, extra)
                * (self.p / self.domain) ** extra
                * self.redrawn ** (rest - extra)
                * perm(others - kept - extra, rest - extra)
                for extra in range(min(rest, self.unknown) + 1)
            )
            total += count * self.p**kept * inner
        return total / perm(others, drawn)


@dataclass(frozen=True, eq=False)
class WorstBelief:
    """The highest posterior from rho1 with what is believed of each lifted value there, and the highest growth."""

    posterior: Fraction | float
    belief: tuple[Fraction | float, ...]
    growth: float


def find_worst_belief(
    lifts: Sequence[Fraction | float], domain: int, lambda_: Fraction | float, rho1: Fraction | float
) -> WorstBelief:
    """Find the worst lambda-skewed prior and the worst predicate, for values with these lifts, greatest first.

    The predicate has the most lifted values, and what is believed beside it the least lifted ones. With the lift T that
    the predicate's values have together, a belief q becomes (q + T) / (1 + T). At rho1 each value has lambda as long as
    rho1 allows. For growth all but the last have lambda, and the last what makes it greatest: with 1 + T = y of all but a
    lift g of the last, (1 - 1/y) (C - y/g) is greatest at y = sqrt(C g).
    """
    if len(lifts) == domain:  # all values are shown: what counts is the lift above the least of them
        least = lifts[-1]
        lifts = [(lift - least) / (1 + least) for lift in lifts]
    remaining = rho1
    belief = []
    lifted: Fraction | float = 0
    for lift in lifts:
        share = min(lambda_, remaining)
        belief.append(share)
        lifted += share * lift
        remaining -= share
    posterior = (rho1 + lifted) / (1 + lifted)
    return WorstBelief(posterior, tuple(belief), _find_worst_growth([float(lift) for lift in lifts], domain, lambda_))


def compute_lifts(shown: np.ndarray, holders: np.ndarray, size: int, unknown: int, p: float, domain: int) -> np.ndarray:
    """Compute the lift of each shown value, in floating point: `shown[i]` tuples show a value that `holders[i]` others have."""
    drawn = int(shown.sum())
    redrawn = (1 - p) / domain
    logs = np.log(np.arange(1, size + 1))
    factorial_logs = np.append(0.0, np.cumsum(logs))
    alone = compute_log_chance(shown, holders, size, unknown, p, domain, factorial_logs) if drawn < size else -np.inf
    without = np.empty(len(shown))
    for place in range(len(shown)):
        fewer = shown.copy()
        fewer[place] -= 1
        without[place] = compute_log_chance(fewer, holders, size, unknown, p, domain, factorial_logs)
    # Chances are in units of u^drawn, those without one tuple of u^(drawn - 1).
    scale = max(alone, float(without.max()))
    tuple_parts = shown * np.exp(without - scale) / size
    base = (1 - drawn / size) * np.exp(alone - scale) + float(tuple_parts.sum())
    lifts: np.ndarray = p / redrawn * tuple_parts / base
    return lifts


def compute_log_chance(
    shown: np.ndarray, holders: np.ndarray, size: int, unknown: int, p: float, domain: int, factorial_logs: np.ndarray
) -> float:
    """Compute the logarithm of a chance, in units of u to the number of tuples."""
    others = size - 1
    drawn = int(shown.sum())
    ratio = np.log(p / ((1 - p) / domain))
    ways = np.ones(1)
    log_scale = 0.0
    for tuples, people in zip(shown.tolist(), holders.tolist(), strict=True):
        kept = np.arange(min(tuples, people) + 1)
        if len(kept) == 1:
            continue
        factor = (
            factorial_logs[tuples]
            - factorial_logs[kept]
            - factorial_logs[tuples - kept]
            + factorial_logs[people]
            - factorial_logs[people - kept]
            + kept * (ratio - np.log(others))
        )
        ways = np.convolve(ways, np.exp(factor - factor.max()))
        log_scale += float(factor.max()) + float(np.log(ways.max()))
        ways = ways / ways.max()
    kept = np.arange(len(ways))
    with np.errstate(divide="ignore"):
        terms = np.log(ways) + kept * np.log(others)
    falling = factorial_logs[others] - factorial_logs
    if not unknown:
        terms = terms - falling[others - kept]
        return log_scale + float(np.logaddexp.reduce(terms))
    rest = drawn - kept[:, None]
    extra = np.arange(min(drawn, unknown) + 1)[None, :]
    possible = extra <= rest
    rest = np.maximum(rest, extra)
    kept_or_extra = np.where(possible, kept[:, None] + extra, 0)
    inner = (
        factorial_logs[rest]
        - factorial_logs[extra]
        - factorial_logs[rest - extra]
        + factorial_logs[unknown]
        - factorial_logs[unknown - extra]
        + extra * (ratio - np.log(domain))
        - falling[others - kept_or_extra]
    )
    return log_scale + float(np.logaddexp.reduce((terms[:, None] + np.where(possible, inner, -np.inf)).ravel()))


def _find_worst_growth(lifts: Sequence[float], domain: int, lambda_: Fraction | float) -> float:
    greatest_prior = float(lambda_)
    least_prior = max(0.0, 1 - (domain - 1) * greatest_prior)
    worst = 0.0
    believed = 0.0
    lifted = 0.0
    for lift in lifts:
        if lift <= 0 or believed >= 1:
            break
        total = 1 - believed + (1 + lifted) / lift
        share = min(max((sqrt(total * lift) - 1 - lifted) / lift, least_prior), greatest_prior)
        grown = lifted + share * lift
        worst = max(worst, grown * (1 - believed - share) / (1 + grown))
        believed += greatest_prior
        lifted += greatest_prior * lift
    return worst


def _multiply(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Multiply two polynomials, given by their coefficients."""
    coefficients = [0] * (len(first) + len(second) - 1)
    for place, left in enumerate(first):
        for other, right in enumerate(second):
            coefficients[place + other] += left * right
    return coefficients
