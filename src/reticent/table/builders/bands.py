"""Hierarchies over numbers: bands of a fixed width, between given edges, or of equally many rows.

Bands are computed on exact numbers: 0.3 in steps of 0.1 is where it says.  Over whole numbers a band prints with both ends
included, `[20, 29]`; over others it is half open, `[0.5, 1)`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

from reticent.errors import HierarchyError
from reticent.exact import is_whole, ratio_of
from reticent.table.builders.built import ROOT, BuiltHierarchy, Values, exactly, without_idle_levels


def intervals(values: Any, width: Any = 10, *, start: Any = 0, rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """Bands of one width, or of several: `width=[5, 10, 20]` nests tens in twenties."""
    found = Values.of(values, rows)
    widths = [exactly(one, "width") for one in (width if isinstance(width, Sequence) else [width])]
    origin = exactly(start, "start")
    if any(one <= 0 for one in widths):
        raise HierarchyError("A band needs a width above 0.", attempt="width = 10.")
    if any(wide % narrow or wide == narrow for narrow, wide in pairwise(widths)):
        raise HierarchyError("Each width must be a multiple of the one before it.", attempt="width = [5, 10, 20].")
    numbers = found.numbers()
    whole = _whole([*numbers, *widths, origin])

    def band(number: Fraction, wide: Fraction) -> str:
        low = origin + floor((number - origin) / wide) * wide
        return between(low, low + wide, whole)

    table = [
        [text, *(band(number, wide) for wide in widths), ROOT]
        for text, number in zip(found.texts, numbers, strict=True)
    ]
    return found.hierarchy(_in_order(table, numbers), "numeric")


def edges(values: Any, *levels: Sequence[Any], rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """Bands between given edges, open at both ends: `edges(ages, [18, 30, 45, 65], [18, 65])`, finest first."""
    found = Values.of(values, rows)
    cuts = [[exactly(edge, "an edge") for edge in level] for level in levels]
    if not cuts or not all(cuts) or any(low >= high for level in cuts for low, high in pairwise(level)):
        raise HierarchyError("Edges must be numbers in rising order.", attempt="edges = [18, 30, 45, 65].")
    if any(not set(coarse) <= set(fine) for fine, coarse in pairwise(cuts)):
        raise HierarchyError(
            "A coarser level may only use edges of the finer one.", attempt="edges = [[18, 30, 65], [18, 65]]."
        )
    numbers = found.numbers()
    whole = _whole([*numbers, *(edge for level in cuts for edge in level)])

    def band(number: Fraction, level: list[Fraction]) -> str:
        at = bisect_right(level, number)
        if at == 0:
            return f"< {_text(level[0])}"
        return f">= {_text(level[-1])}" if at == len(level) else between(level[at - 1], level[at], whole)

    table = [
        [text, *(band(number, level) for level in cuts), ROOT]
        for text, number in zip(found.texts, numbers, strict=True)
    ]
    return found.hierarchy(_in_order(table, numbers), "numeric")


def quantiles(values: Any, groups: Any = (16, 4), *, rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """Bands of about equally many rows: `groups=[16, 4]` makes quarters of four sixteenths each.

    A value is never divided, so that one held by many rows makes its band larger.
    """
    found = Values.of(values, rows)
    found = found.sorted_by(found.numbers())
    return found.hierarchy(without_idle_levels(shares(found, _counts(groups))), "numeric")


def shares(found: Values, groups: Sequence[int]) -> list[list[str]]:
    """Values in their order cut into shares of the rows, finest first."""
    columns = [found.texts]
    for count in groups:
        share = share_of(found.rows, count)
        ends: dict[int, tuple[str, str]] = {}
        for text, at in zip(found.texts, share, strict=True):
            ends[at] = (ends.get(at, (text, text))[0], text)
        columns.append([ends[at][0] if len(set(ends[at])) == 1 else "[{}, {}]".format(*ends[at]) for at in share])
    return [[*row, ROOT] for row in zip(*columns, strict=True)]


def share_of(weights: Sequence[int], count: int) -> list[int]:
    """Which of `count` equal shares of the whole the middle of each weight falls in: rising, and nested for multiples."""
    total = sum(weights)
    found, before = [], 0
    for weight in weights:
        found.append(count * (2 * before + weight) // (2 * total))
        before += weight
    return found


def between(low: Fraction, high: Fraction, whole: bool) -> str:
    """The band of numbers from low up to, not including, high."""
    if whole:
        return _text(low) if high - low == 1 else f"[{_text(low)}, {_text(high - 1)}]"
    return f"[{_text(low)}, {_text(high)})"


def _counts(groups: Any) -> list[int]:
    counts = [groups] if isinstance(groups, int) else list(groups)
    fine = all(isinstance(count, int) and not isinstance(count, bool) and count > 1 for count in counts)
    if not counts or not fine or any(many % few or many == few for many, few in pairwise(counts)):
        raise HierarchyError(
            "Quantile groups must be whole numbers above 1, each a divisor of the one before it.",
            attempt="groups = [16, 4].",
        )
    return counts


def _whole(numbers: Sequence[Fraction]) -> bool:
    return all(map(is_whole, numbers))


def _text(number: Fraction) -> str:
    """A decimal where there is one."""
    if is_whole(number):
        return str(number)
    rest = ratio_of(number)[1]
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    return f"{float(number):.15g}" if rest == 1 else str(number)


def _in_order(table: list[list[str]], numbers: Sequence[Fraction]) -> list[list[str]]:
    return [table[at] for at in sorted(range(len(table)), key=lambda at: numbers[at])]
