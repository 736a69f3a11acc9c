"""beta-likeness of families of values, by trying: nodes of a tree, and every window of a width."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from tests.oracle.groups import overall, views
from tests.oracle.likeness import beta_holds, gain_within_logarithm

Histogram = Mapping[Hashable, int]


def semantic_holds(
    groups: Sequence[Histogram],
    tree: Sequence[Sequence[str]],
    level: int,
    beta: Fraction,
    *,
    enhanced: bool = True,
    two_sided: bool = False,
) -> bool:
    """Each value renamed to its node (with its path, so that equal labels elsewhere stay apart)."""
    node = {row[0]: tuple(row[level:]) for row in tree} | {None: None}
    for view in views(groups):
        renamed = [_renamed(group, node) for group in view if group]
        reference = overall(renamed)
        if not all(beta_holds(group, reference, beta, enhanced=enhanced, two_sided=two_sided) for group in renamed):
            return False
    return True


def _renamed(group: Histogram, node: Mapping) -> Counter:
    found: Counter = Counter()
    for value, count in group.items():
        found[node[value]] += count
    return found


def proximity_holds(groups: Sequence[Histogram], beta: Fraction, width: Fraction, *, enhanced: bool = True) -> bool:
    """Values are numbers or None.  Windows begin everywhere on a grid finer than any gap between what can matter."""
    for view in views(groups):
        reference = overall(view)
        known = sorted(value for value in reference if value is not None)
        marks = sorted({*known, *(x - width for x in known)})
        starts = marks + [(a + b) / 2 for a, b in pairwise(marks)]
        sets = {frozenset(x for x in known if start <= x <= start + width) for start in starts}
        sets |= {frozenset([None])} if None in reference else set()
        for inside in sets - {frozenset()}:
            p = Fraction(sum(reference[x] for x in inside), sum(reference.values()))
            for group in view:
                if not group:
                    continue
                gain = Fraction(sum(group.get(x, 0) for x in inside), sum(group.values())) / p - 1
                if gain > beta or (enhanced and not gain_within_logarithm(p, gain)):
                    return False
    return True
