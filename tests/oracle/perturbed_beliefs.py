"""What is to be believed of people whose values were redrawn, by writing down every table they may have had."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product


def posteriors(
    priors: Sequence[Sequence[Fraction]], matrix: Sequence[Sequence[Fraction]], shown: Sequence[int]
) -> list[list[Fraction]]:
    """Of people who look alike, `priors[person][value]`; their rows show `shown`, in an order that says nothing.

    Every table of true values and every way in which rows may be theirs is weighed; the answer is [person][value].
    """
    people = len(priors)
    values = len(matrix)
    found = [[Fraction(0)] * values for _ in range(people)]
    total = Fraction(0)
    for table in product(range(values), repeat=people):
        believed = Fraction(1)
        for person, value in enumerate(table):
            believed *= priors[person][value]
        for order in permutations(range(people)):
            weight = believed
            for person, value in enumerate(table):
                weight *= matrix[value][shown[order[person]]]
            total += weight
            for person, value in enumerate(table):
                found[person][value] += weight
    return [[part / total for part in line] for line in found]
