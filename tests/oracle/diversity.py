"""k-anonymity, (alpha,k)-anonymity and the four l-diversities, on one group's histogram.

Sources: Samarati & Sweeney 1998; Wong et al. 2006; Machanavajjhala et al. 2006.  All inequalities are `<=` or `>=`
(ERRATA 5.6 for the recursive one).
"""

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction

Histogram = Mapping[Hashable, int]


def greatest_frequency(group: Histogram) -> Fraction:
    """max c / s: (alpha,k)-anonymity asks that it be <= alpha; 0 for an empty group."""
    return Fraction(max(group.values()), sum(group.values())) if group else Fraction(0)


def distinct(group: Histogram) -> int:
    """The number of values that occur: >= l."""
    return sum(1 for count in group.values() if count > 0)


def probabilistic(group: Histogram) -> Fraction:
    """The greatest l with max c / s <= 1 / l, that is s / max c; 0 for an empty group."""
    return 1 / greatest_frequency(group) if group else Fraction(0)


def entropy(group: Histogram) -> float:
    """exp(-sum (c/s) ln (c/s)), for display; `entropy_holds` decides."""
    s = sum(group.values())
    return math.exp(-math.fsum(c / s * math.log(c / s) for c in group.values())) if group else 0.0


def entropy_holds(group: Histogram, l: Fraction) -> bool:  # noqa: E741 - the field's own letter
    """-sum (c/s) ln (c/s) >= ln l  <=>  s^s >= l^s * prod c^c, in integers."""
    if not group:
        return False
    s = sum(group.values())
    product = math.prod(c**c for c in group.values())
    return s**s * l.denominator**s >= l.numerator**s * product


def recursive(group: Histogram, l: int) -> Fraction | None:  # noqa: E741 - the field's own letter
    """The least c with r_1 <= c (r_l + ... + r_m), counts falling; None where fewer than l values occur."""
    counts = sorted((count for count in group.values() if count > 0), reverse=True)
    tail = sum(counts[l - 1 :])
    return Fraction(counts[0], tail) if tail else None
