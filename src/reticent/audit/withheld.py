"""Can the declared suppression have withheld what is missing?  From the counts of a sensitive column in the source and
in the release.

Formulas of their own, by the definitions in `docs/methods/suppression.md`; nothing here knows the code that
withholds.  A table is judged by its values: `before` and `after` count the same value at the same place, rows without
a value left out.  Rows that something else withheld too are not told apart from those of the suppression: ask only
where suppression alone withheld.

    possible      whether the kind gives `after` with a probability above 0; None where l is no whole number, the kind is not known, or a
                  value has more than MOST_RECORDS records (`calibrated`)
    probability   how likely a draw of the kind is at least as sparing as this one: that it lowers the leading value to the level at
                  which it was published or to a higher one.  An honest draw has a probability of at most x in at most a share x of
                  releases, and one relabelled from a kind that withholds as little as it can has a small one.  For `calibrated` it is
                  exact where MOST_LEVELS levels or fewer have to be asked, and an upper bound beyond; for kinds that
                  draw nothing it is 0 or 1
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reticent.audit.withheld_by_cuts import Table, kept
from reticent.exact import is_whole

MOST_LEVELS = 64  # so many levels are asked how likely each is
MOST_RECORDS = 4_000_000  # of one value: its levels are asked one by one
Pairs = list[tuple[int, int]]  # (before, after), before falling


@dataclass(frozen=True, slots=True)
class Withholding:
    possible: bool | None
    probability: Fraction | None


IMPOSSIBLE, CERTAIN, UNTOLD = Withholding(False, Fraction(0)), Withholding(True, Fraction(1)), Withholding(None, None)


def possible(kind: str, l: Fraction, before: Sequence[int], after: Sequence[int]) -> bool | None:
    """Whether a kind of suppression can have left these counts of those."""
    return withholding(kind, l, before, after).possible


def withholding(kind: str, l: Fraction, before: Sequence[int], after: Sequence[int]) -> Withholding:
    """Whether a kind of suppression can have left these counts of those, and how likely."""
    judges = {"unsafe": _unsafe, "safe": _safe, "randomized": _randomized, "calibrated": _calibrated}
    if kind not in judges or not is_whole(Fraction(l)) or l < 2 or len(before) != len(after):
        return UNTOLD
    pairs = sorted(((int(b), int(a)) for b, a in zip(before, after, strict=True) if b or a), reverse=True)
    if any(not 0 <= a <= b for b, a in pairs):
        return IMPOSSIBLE
    rows = sum(b for b, _ in pairs)
    if not pairs or l * pairs[0][0] <= rows:  # eligible: nothing is withheld
        return CERTAIN if all(a == b for b, a in pairs) else IMPOSSIBLE
    if len(pairs) < l:
        return IMPOSSIBLE
    return judges[kind](pairs, int(l))


def _safe(pairs: Pairs, l: int) -> Withholding:
    level = pairs[l - 1][0]
    return CERTAIN if all(a == min(b, level) for b, a in pairs) else IMPOSSIBLE


def _unsafe(pairs: Pairs, l: int) -> Withholding:
    orders = _orders(pairs)
    return CERTAIN if any(_stopped(order, l, order[0][0]) for order in orders) else IMPOSSIBLE


def _randomized(pairs: Pairs, l: int) -> Withholding:
    """S_1 is lowered to a level of one of l intervals, then as `unsafe`.  From a level above where that stops, all stop alike."""
    ends = [*(b for b, _ in pairs[: l + 1]), 1][: l + 1]
    likely = Fraction(0)
    for order in _orders(pairs):
        first, level = order[0][1], max(a for _, a in order)
        starts = [(first, first)] if first < level else [(level, level), (level + 1, order[0][0])]
        reached = [low for low, high in starts if ends[-1] <= low <= high and _stopped(order, l, high)]
        if reached:
            least = min(reached)
            among = [
                Fraction(max(ends[h] - max(ends[h + 1], least) + 1, 0), ends[h] - ends[h + 1] + 1) for h in range(l)
            ]
            likely = max(likely, sum(among, Fraction(0)) / l)
    return Withholding(likely > 0, likely)


def _orders(pairs: Pairs) -> list[Pairs]:
    """The ranks that can have led there: one of the tied highest first; of others tied, the one of which more was taken goes last."""
    highest = pairs[0][0]
    leaders = sorted({pair for pair in pairs if pair[0] == highest})
    orders = []
    for leader in leaders:
        others = pairs.copy()
        others.remove(leader)
        orders.append([leader, *others])
    return orders


def _stopped(order: Pairs, l: int, start: int) -> bool:
    """Whether one record after another of the highest values is withheld, S_1 lowered to `start`, until these counts are left.

    It stops where no value exceeds one in l and l values may have led for the first time.  The second lasts once it holds; of the
    first only the start of a level can be the first time, or the time at which the second begins."""
    rows, left = sum(b for b, _ in order), [start, *(b for b, _ in order[1:])]
    after = [a for _, a in order]
    end = sum(left) - sum(after)
    if end < 0 or _state(left, end) != after or not (_eligible(after, l) and _candidate(after, rows, l)):
        return False
    begins = _first(lambda steps: _candidate(_state(left, steps), rows, l), end)
    if begins == end:
        return True
    if _eligible(_state(left, begins), l):
        return False
    level = max(_state(left, begins))
    earlier = _first(lambda down: _eligible([min(count, level - 1 - down) for count in left], l), level - 1)
    return end == sum(max(count - (level - 1 - earlier), 0) for count in left)


def _first(holds: Callable[[int], bool], most: int) -> int:
    """The least of 0 .. most from which on a condition holds; `most` where it does not before."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _state(left: list[int], steps: int) -> list[int]:
    """The counts after so many records of the highest value each time, the last in rank first."""
    highest = max(left)
    down = _first(lambda by: sum(max(count - (highest - by - 1), 0) for count in left) > steps, highest)
    level = highest - down
    more = steps - sum(max(count - level, 0) for count in left)
    counts = [min(count, level) for count in left]
    for place in [at for at, count in enumerate(counts) if count == level][len(counts) :: -1][:more]:
        counts[place] -= 1
    return counts


def _eligible(counts: list[int], l: int) -> bool:
    return l * max(counts) <= sum(counts)


def _candidate(counts: list[int], rows: int, l: int) -> bool:
    """Whether l values could have been the highest and exceeded one in l, had they all that is withheld."""
    return l * (sorted(counts, reverse=True)[l - 1] + rows - sum(counts)) > rows


def _calibrated(pairs: Pairs, l: int) -> Withholding:
    """By a cut at the level of the single highest value, if that is kept; else as `safe`, which no draw withholds more than."""
    if pairs[0][0] > MOST_RECORDS:
        return CERTAIN if _safe(pairs, l).possible else UNTOLD
    table = Table.of([b for b, _ in pairs], l)
    first, levels = pairs[0][1], table.levels()
    by_cut = first in levels and all(a == min(b, table.cut(first)) for b, a in pairs[1:]) and kept(table, first) > 0
    if _safe(pairs, l).possible:
        left = len(levels) > MOST_LEVELS or _together(table, levels) < 1
        return CERTAIN if by_cut or left else IMPOSSIBLE
    if not by_cut:
        return IMPOSSIBLE
    sparing = levels[levels >= first]
    exact = len(sparing) <= MOST_LEVELS
    return Withholding(True, _together(table, sparing) if exact else Fraction(len(sparing), len(levels)))


def _together(table: Table, levels: np.ndarray) -> Fraction:
    return sum((kept(table, level) for level in levels.tolist()), Fraction(0))
