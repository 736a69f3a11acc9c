"""beta-likeness by perturbation (Cao & Karras, VLDB 2012, definition 6), by Bayes' rule in fractions."""

from collections.abc import Sequence
from fractions import Fraction

from tests.oracle.likeness import gain_within_logarithm


def posterior(matrix: Sequence[Sequence[Fraction]], prior: Sequence[Fraction], i: int, v: int) -> Fraction | None:
    """Pr(the person has value i | v is published); None where v is never published."""
    shown = sum(p * row[v] for p, row in zip(prior, matrix, strict=True))
    return None if shown == 0 else prior[i] * matrix[i][v] / shown


def beta_holds(
    matrix: Sequence[Sequence[Fraction]],
    prior: Sequence[Fraction],
    beta: Fraction,
    *,
    enhanced: bool = True,
    two_sided: bool = False,
) -> bool:
    values = range(len(prior))
    for i in values:
        for v in values:
            belief = posterior(matrix, prior, i, v)
            if belief is None:
                continue
            if two_sided and belief == 0:
                return False
            found = [belief / prior[i] - 1, *([prior[i] / belief - 1] if two_sided else [])]
            if any(gain > beta for gain in found):
                return False
            if enhanced and not all(gain_within_logarithm(prior[i], gain) for gain in found):
                return False
    return True
