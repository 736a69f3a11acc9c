"""A person with several rows in a sampled release as one victim: everybody else is known, and no row of the person is.

Rows of a person are drawn and perturbed apart, and what they show is weighed together.  With everybody else's values known,
what a group of N rows shows depends on the values x that the person's rows in it hold, and groups draw independently: the
likelihood of x is the product over the groups of

    P[shown | x] = sum over s of  e_s p^s u^(n - s) (N - s)_(n - s)  / (N)_n

n rows are drawn, u is the chance that a redrawn value is one particular value, and e_s, in how many ways s tuples are kept
by rows that hold what they show, is the coefficient of z^s in the product over v of the sum of C(a_v, s) (o_v)_s z^s, with
a_v tuples at v and o_v rows that hold v, those of the person among them (as in `drawn_tuples.py`).

The adversary believes in no value of any row with more than lambda.  Beliefs are put on sets of values, each of which takes
every row's best value, its second best, and so on: likelihoods are products over groups, so that no other way to pair the
rows' values lifts a condition more, if each row lies in a group of its own.  Rows of a person in one group hold the same
value, or each the next best: the better of the two is taken, which is a belief that one may have and not always the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, prod
from typing import Any

import numpy as np

from reticent.attacks.drawn_tuples import DrawnTuples, compute_log_chance, find_worst_belief

ValueCounts = Mapping[int, int]
UNSHOWN_VALUE = -1
"""Stands for any value that no tuple shows."""


@dataclass(frozen=True, eq=False)
class PersonRows:
    """The group and the true value of each row, sorted by person; `starts` is where each person's rows begin."""

    group: np.ndarray
    value: np.ndarray
    starts: np.ndarray

    @classmethod
    def sort(cls, person: np.ndarray, group: np.ndarray, value: np.ndarray) -> PersonRows:
        order = np.lexsort((value, group, person))
        starts = np.flatnonzero(np.diff(person[order], prepend=-1))
        return cls(group[order], value[order], starts)

    def list_of_person(self, number: int) -> dict[int, tuple[int, ...]]:
        """List the values of a person's rows in each group."""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.group)
        rows: dict[int, list[int]] = {}
        for row in range(int(self.starts[number]), int(end)):
            rows.setdefault(int(self.group[row]), []).append(int(self.value[row]))
        return {group: tuple(values) for group, values in rows.items()}

    def find_shared_groups(self) -> np.ndarray:
        """Tell which rows lie in a group with another row of their person."""
        person = np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.group))))
        is_same = (np.diff(person) == 0) & (np.diff(self.group) == 0)
        is_shared = np.zeros(len(self.group), bool)
        is_shared[1:] |= is_same
        is_shared[:-1] |= is_same
        return is_shared


@dataclass(frozen=True, eq=False)
class GroupTuples:
    """The groups of a release: their sizes, how many rows of each are drawn, what they show, and who holds what in them."""

    p: Fraction
    domain: int
    size: np.ndarray
    drawn: np.ndarray
    most_shown: np.ndarray
    list_shown: Callable[[int], dict[int, int]]
    list_holders: Callable[[int], dict[int, int]]
    known: dict[tuple[int, tuple[int, ...]], Any] = field(default_factory=dict)

    def list_ratios(self, group: int, own: tuple[int, ...]) -> tuple[list[float], ...]:
        """List how many times as likely the rows' best values are as values that are not shown, the second best, and so on.

        There is a list for each way in which rows of one person in one group are taken; `own` are the values that they have.
        """
        key = (group, own)
        if key not in self.known:
            self.known[key] = self._list_ratios(group, own, self._find_chance(group))
        ratios: tuple[list[float], ...] = self.known[key]
        return ratios

    def list_exact_ratios(self, group: int, own: tuple[int, ...]) -> tuple[list[Fraction], ...]:
        """List them in fractions."""
        shown = self.list_shown(group)
        size = int(self.size[group])

        def chance(holders: ValueCounts) -> Fraction:
            return DrawnTuples(self.p, self.domain, size + 1, shown, holders).compute_chance(shown)

        nothing = chance(self._count_others(group, own, [UNSHOWN_VALUE] * len(own)))
        return self._list_ratios(group, own, lambda holders: chance(holders) / nothing, exactly=True)

    def bound_lifts(self, rows: PersonRows) -> tuple[np.ndarray, np.ndarray]:
        """Bound by how much any values of each person's rows, and all of them together, are lifted."""
        p = float(self.p)
        redrawn = (1 - p) / self.domain
        rate = (self.drawn / self.size)[rows.group]
        share = (self.most_shown / self.drawn)[rows.group]
        together = rate * p / redrawn
        alone = together * share / (1 - rate + rate * share)
        best = np.where(rows.find_shared_groups(), together, alone)
        return (
            np.multiply.reduceat(1 + best, rows.starts) - 1,
            np.multiply.reduceat(1 + together, rows.starts) - 1,
        )

    def _find_chance(self, group: int) -> Callable[[ValueCounts], float]:
        shown = self.list_shown(group)
        tuples = np.array(list(shown.values()))
        size = int(self.size[group])
        factorial_logs = np.append(0.0, np.cumsum(np.log(np.arange(1, size + 2))))

        def log_chance(holders: ValueCounts) -> float:
            at_shown = np.array([holders.get(value, 0) for value in shown])
            return compute_log_chance(tuples, at_shown, size + 1, 0, float(self.p), self.domain, factorial_logs)

        return log_chance

    def _count_others(self, group: int, own: tuple[int, ...], assigned: Sequence[int]) -> dict[int, int]:
        """Count who holds each value if the person's rows, which hold `own`, held `assigned`."""
        holders = dict(self.list_holders(group))
        for value in own:
            holders[value] -= 1
        for value in assigned:
            holders[value] = holders.get(value, 0) + 1
        return holders

    def _list_ratios(
        self, group: int, own: tuple[int, ...], chance: Callable[[ValueCounts], Any], exactly: bool = False
    ) -> tuple[list[Any], ...]:
        rows = len(own)
        nothing = 0.0 if exactly else chance(self._count_others(group, own, [UNSHOWN_VALUE] * rows))

        def ratio(assigned: Sequence[int]) -> Any:
            reached = chance(self._count_others(group, own, assigned))
            return reached if exactly else exp(reached - nothing)

        alike = sorted(((ratio([value] * rows), -value) for value in self.list_shown(group)), reverse=True)
        ratios = [part for part, _ in alike]
        if rows == 1 or len(alike) < 2:
            return ratios, ratios
        values = [-value for _, value in alike]
        shifted = [ratio([values[(place + row) % len(values)] for row in range(rows)]) for place in range(len(values))]
        return ratios, sorted(shifted, reverse=True)


@dataclass(frozen=True, slots=True)
class WorstPerson:
    """The highest posterior from rho1 of a condition on a person's rows, and the highest growth."""

    posterior: float
    growth: float


def find_worst_person(tuples: GroupTuples, rows: PersonRows, lambda_: Fraction, rho1: Fraction) -> WorstPerson:
    """Find the worst person, each being the victim in turn, in the order of a bound on what they can reach."""
    best, together = tuples.bound_lifts(rows)
    posterior_bounds, growth_bounds = _bound_beliefs(best, together, float(lambda_), float(rho1))
    posterior = 0.0
    growth = 0.0
    worst: tuple[int, int] | None = None
    for number in np.lexsort((-growth_bounds, -posterior_bounds)).tolist():
        if posterior_bounds[number] <= posterior and growth_bounds[number] <= growth:
            continue
        own = rows.list_of_person(number)
        parts = [tuples.list_ratios(group, values) for group, values in own.items()]
        for way in (0, 1):
            lifts = _multiply_ratios([part[way] for part in parts])
            unshown = tuples.domain - max(len(part[way]) for part in parts)
            reached = find_worst_belief(lifts, tuples.domain, float(lambda_), float(rho1))
            # What is believed besides must find values that no tuple shows, in every row.
            if lambda_ * unshown >= 1 - rho1 and reached.posterior > posterior:
                posterior = float(reached.posterior)
                worst = number, way
            if lambda_ * unshown >= 1:
                growth = max(growth, reached.growth)
    if worst is None:
        return WorstPerson(0.0, growth)
    number, way = worst
    exact = _multiply_ratios(
        [tuples.list_exact_ratios(group, values)[way] for group, values in rows.list_of_person(number).items()]
    )
    return WorstPerson(float(find_worst_belief(exact, tuples.domain, lambda_, rho1).posterior), growth)


def _multiply_ratios(parts: Sequence[Sequence[Any]]) -> list[Any]:
    """Multiply what the rows' best values reach, their second best, and so on; return by how much that lifts."""
    places = range(max(len(part) for part in parts))
    return [prod(part[place] for part in parts if place < len(part)) - 1 for place in places]


def _bound_beliefs(
    best: np.ndarray, together: np.ndarray, lambda_: float, rho1: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the posterior from rho1 and the growth, of each person.

    A condition of prior q is lifted by at most min(q best, min(lambda, q) together).  What it grows by rises with q up to
    sqrt(a^2 + a) - a, a = 1 / best, as long as q best is the less, and falls from there on.
    """
    rounding = 1 + 1e-9
    lifted = np.minimum(rho1 * best, min(lambda_, rho1) * together)
    posterior = (rho1 + lifted) / (1 + lifted) * rounding
    a = 1 / best
    q = np.minimum(np.sqrt(a * a + a) - a, lambda_ * together / best)
    growth = q * best * (1 - q) / (1 + q * best) * rounding
    return posterior, growth
