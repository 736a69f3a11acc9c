"""Perturbed generalization by enumeration: perturb, group, draw, in fractions, and what an adversary infers from each outcome.

Obvious and slow, for a handful of people; imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

Prior = Sequence[Fraction]
Grouping = Callable[[tuple[int, ...]], Sequence[tuple[int, ...]]]


def shift(p: Fraction, domain: int, x: int, y: int) -> Fraction:
    """The chance that x is published as y."""
    return (1 - p) / domain + (p if x == y else 0)


def joint(p: Fraction, domain: int, priors: Sequence[Prior], grouping: Grouping, victim: int):
    """{published outcome: [probability together with each value of the victim]}.

    `priors` are those of everybody (a known person's is certain); `grouping` sees the perturbed values and returns groups of people.
    An outcome is all that is published: for each group who is under its label, and the value it shows.
    """
    found: dict[tuple, list[Fraction]] = {}
    people = range(len(priors))
    for true in product(*([x for x in range(domain) if prior[x]] for prior in priors)):
        before = _times(priors[i][true[i]] for i in people)
        for perturbed in product(range(domain), repeat=len(priors)):
            chance = before * _times(shift(p, domain, true[i], perturbed[i]) for i in people)
            groups = [tuple(group) for group in grouping(perturbed)]
            for drawn in product(*groups):
                shown = tuple((group, perturbed[who]) for group, who in zip(groups, drawn, strict=True))
                here = found.setdefault(shown, [Fraction(0)] * domain)
                here[true[victim]] += chance * _times(Fraction(1, len(group)) for group in groups)
    return found


def posteriors(p: Fraction, domain: int, priors: Sequence[Prior], grouping: Grouping, victim: int):
    """{outcome: the victim's posterior over values}."""
    found = joint(p, domain, priors, grouping, victim)
    return {shown: [part / sum(parts) for part in parts] for shown, parts in found.items() if sum(parts)}


def worst_posterior(
    p: Fraction, domain: int, priors: Sequence[Prior], grouping: Grouping, victim: int, predicate
) -> Fraction:
    """The highest posterior of a predicate over all outcomes."""
    found = posteriors(p, domain, priors, grouping, victim)
    return max(sum(after[x] for x in predicate) for after in found.values())


def with_extraneous(
    p: Fraction, domain: int, y: int, prior: Prior, corrupted: Sequence[int], others: Sequence[Prior], size: int
) -> list[Fraction]:
    """The posterior where a group of `size` holds the victim, the corrupted, and an unknown choice among `others`, each being equally likely.

    All choices of the rest, all true values, all draws and perturbations are enumerated.
    """
    rest = size - 1 - len(corrupted)
    choices = list(combinations(range(len(others)), rest))
    found = [Fraction(0)] * domain
    for chosen in choices:
        for x in range(domain):
            for theirs in product(range(domain), repeat=rest):
                weight = prior[x] * _times(others[who][value] for who, value in zip(chosen, theirs, strict=True))
                members = [x, *corrupted, *theirs]
                for member in members:
                    found[x] += weight * shift(p, domain, member, y) / (size * len(choices))
    return [part / sum(found) for part in found]


def several_tuples(
    p: Fraction, domain: int, shown: tuple[int, ...], size: int, corrupted: Sequence[int], others: Sequence[Prior]
) -> list[Fraction]:
    """The chance that `len(shown)` draws without replacement show these values in this order, for each value of the victim.

    A group of `size` holds the victim, the corrupted, and an unknown choice among `others`, each being equally likely. All choices,
    all true values of the others, and all ordered draws are enumerated.
    """
    rest = size - 1 - len(corrupted)
    choices = list(combinations(range(len(others)), rest))
    draws = list(permutations(range(size), len(shown)))
    found = [Fraction(0)] * domain
    for x in range(domain):
        for chosen in choices:
            for theirs in product(range(domain), repeat=rest):
                weight = _times(others[who][value] for who, value in zip(chosen, theirs, strict=True))
                members = [x, *corrupted, *theirs]
                for drawn in draws:
                    chance = _times(shift(p, domain, members[who], y) for who, y in zip(drawn, shown, strict=True))
                    found[x] += weight * chance / (len(choices) * len(draws))
    return found


def rows_of_one_person(
    p: Fraction, domain: int, groups: Sequence[tuple[tuple[int, ...], int, Sequence[int]]]
) -> dict[tuple[int, ...], Fraction]:
    """{values of the victim's rows: the chance of what is shown}, everybody else being known.

    Each group is (what it shows in the order of the draw, how many rows of it are the victim's, the values of its other rows); the
    victim's rows are numbered group by group. All ordered draws without replacement are enumerated.
    """
    found = {}
    for values in product(range(domain), repeat=sum(rows for _, rows, _ in groups)):
        chance = Fraction(1)
        start = 0
        for shown, rows, others in groups:
            members = [*values[start : start + rows], *others]
            start += rows
            draws = list(permutations(range(len(members)), len(shown)))
            chance *= sum(
                _times(shift(p, domain, members[who], y) for who, y in zip(drawn, shown, strict=True))
                for drawn in draws
            ) / len(draws)
        found[values] = chance
    return found


def _times(factors) -> Fraction:
    product_ = Fraction(1)
    for factor in factors:
        product_ *= factor
    return product_
