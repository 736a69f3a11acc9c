"""What redrawing can do to a few rows, by going through everything it can do: exact, slow, obvious."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product


def outcomes(held: Sequence[int], matrix: Sequence[Sequence[Fraction]]) -> Iterable[tuple[tuple[int, ...], Fraction]]:
    """Every way in which the rows that held these values can be redrawn, with its probability."""
    for shown in product(range(len(matrix)), repeat=len(held)):
        chance = Fraction(1)
        for i, v in zip(held, shown, strict=True):
            chance *= matrix[i][v]
        if chance:
            yield shown, chance


def distribution(
    held: Sequence[int], matrix: Sequence[Sequence[Fraction]], of: Callable[[Sequence[int]], Fraction]
) -> dict[Fraction, Fraction]:
    """The probability of each value of a statistic of the shown values."""
    found: Counter = Counter()
    for shown, chance in outcomes(held, matrix):
        found[of(shown)] += chance
    return dict(found)


def moments(found: dict[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    """Mean and variance."""
    mean = sum((x * chance for x, chance in found.items()), Fraction(0))
    return mean, sum(((x - mean) ** 2 * chance for x, chance in found.items()), Fraction(0))


def tail(found: dict[Fraction, Fraction], x: Fraction) -> Fraction:
    """The probability of being as far out as x on its side of the mean."""
    mean, _ = moments(found)
    return sum((chance for y, chance in found.items() if (y >= x if x > mean else y <= x)), Fraction(0))


def likeness(held: Sequence[int], shown: Sequence[int]) -> Fraction:
    """Over the rows shown, the share of the rows held that have the value."""
    return sum((Fraction(list(held).count(v), len(held)) for v in shown), Fraction(0))


def unchanged(held: Sequence[int], shown: Sequence[int]) -> bool:
    return Counter(held) == Counter(shown)
