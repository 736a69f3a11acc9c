"""Check against the source that rows were withheld as the manifest states.

The counts of a sensitive column in the source and in the release show whether the declared suppression can have
withheld what is missing (`check_stated_withholding`). Rows that something else withheld cannot be distinguished from
those of the suppression: the check applies only where suppression alone withheld. The formulas are the audit's own, by
the definitions in `docs/methods/suppression.md`; nothing here uses the code that withholds.

`assess_withholding` judges a table by its values: `before` and `after` count the same value at the same place, rows
without a value left out. A result (`WithholdingResult`) has two parts:

    possible      whether the kind gives `after` with a probability above 0; None where l is no whole number, the kind is
                  not known, or a value has more than MAX_RECORDS records (`calibrated`)
    probability   how likely a draw of the kind is at least as sparing as this one: that it lowers the leading value to the
                  level at which it was published or to a higher one. An honest draw has a probability of at most x in at
                  most a share x of releases, and one relabelled from a kind that withholds as little as it can has a small
                  one. For `calibrated` it is exact where the probability of MAX_LEVELS levels or fewer is needed, and an
                  upper bound beyond; for kinds that draw nothing it is 0 or 1

`CutTable` and `compute_cut_probability` compute the cuts of calibrated suppression by their definition: which levels
are open, and with what probability one is kept. All levels of a table are computed at once. At the level F of the
highest value, the others r are lowered to k, the greatest level with l k <= F + sum min(r, k); it is found by
bisection, since from the l-th of r on the difference of the sides only grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

from reticent.audit.groups import number_values, pack_columns
from reticent.audit.kind import RecomputedRelease, SourceFinding
from reticent.audit.measure.counts import parse_parameter
from reticent.audit.order import ORDER_SIGNIFICANCE
from reticent.audit.source_comparison import SourceComparison, convert_source
from reticent.data.columns import Role
from reticent.exact_arithmetic import is_whole
from reticent.format.data_files import ROW_COUNT_COLUMN
from reticent.release.kind import reader_for

# ruff: noqa: E741  `l` is the field's own letter


MAX_HEAVY_VALUES = 3  # a cut with more values above one in l of the withheld is not published
MAX_LEVELS = 64  # at most so many levels have their probability computed
MAX_RECORDS = 4_000_000  # records of one value: its levels are computed one by one
CountPairs = list[tuple[int, int]]  # (before, after), before falling


def check_stated_withholding(recount: RecomputedRelease, source: SourceComparison) -> tuple[SourceFinding, ...]:
    """Check whether the declared kind of suppression can have left what is published.

    Return nothing where no stage, or several, withheld.
    """
    stages = recount.subject.stages
    if len(stages) != 1 or stages[0].name != "suppression" or recount.perturbation is not None:
        return ()
    if recount.subject.withheld_surplus:  # the stage saw other rows than the source has
        return ()
    stage = stages[0]
    names = [entry.name for entry in recount.subject.find_columns_with_role(Role.SENSITIVE)]
    if stage.column:
        columns = [stage.column]
    else:
        columns = names if recount.subject.jointly else names[:1]
    before, after = _count_values(recount, source, columns)
    kind = stage.parameters.get("kind", "calibrated")
    result = assess_withholding(kind, parse_parameter(stage.parameters["l"]), before, after)
    if result.possible is None:
        return ()
    chance = 1.0 if result.probability is None else float(result.probability)
    fine = result.possible and chance >= ORDER_SIGNIFICANCE
    return (
        SourceFinding(
            "suppression",
            fine,
            {"suppression_possible": fine, "suppression_probability": chance},
            f"{kind} suppression for l = {stage.parameters['l']} withholds as little as here, or less, with a probability of "
            f"{chance:.2g}",
        ),
    )


@dataclass(frozen=True, slots=True)
class WithholdingResult:
    """Whether the declared suppression can have withheld what is missing, and how likely a draw at least as sparing is."""

    possible: bool | None
    probability: Fraction | None


IMPOSSIBLE_RESULT = WithholdingResult(False, Fraction(0))
CERTAIN_RESULT = WithholdingResult(True, Fraction(1))
UNDECIDED_RESULT = WithholdingResult(None, None)


def is_withholding_possible(kind: str, l: Fraction, before: Sequence[int], after: Sequence[int]) -> bool | None:
    """Whether a kind of suppression can have left the counts `after` of `before`."""
    return assess_withholding(kind, l, before, after).possible


def assess_withholding(kind: str, l: Fraction, before: Sequence[int], after: Sequence[int]) -> WithholdingResult:
    """Assess whether a kind of suppression can have left the counts `after` of `before`, and how likely."""
    judges = {
        "eligible": _assess_eligible,
        "unsafe": _assess_unsafe,
        "safe": _assess_safe,
        "randomized": _assess_randomized,
        "calibrated": _assess_calibrated,
    }
    if kind not in judges or not is_whole(Fraction(l)) or l < 2 or len(before) != len(after):
        return UNDECIDED_RESULT
    pairs = sorted(((int(b), int(a)) for b, a in zip(before, after, strict=True) if b or a), reverse=True)
    if any(not 0 <= a <= b for b, a in pairs):
        return IMPOSSIBLE_RESULT
    rows = sum(b for b, _ in pairs)
    if not pairs or l * pairs[0][0] <= rows:  # eligible: nothing is withheld
        return CERTAIN_RESULT if all(a == b for b, a in pairs) else IMPOSSIBLE_RESULT
    if len(pairs) < l:
        return IMPOSSIBLE_RESULT
    return judges[kind](pairs, int(l))


@dataclass(frozen=True, slots=True)
class CutTable:
    """Counts of values, falling, and l."""

    counts: tuple[int, ...]
    l: int

    @classmethod
    def from_counts(cls, counts: Iterable[int], l: int) -> CutTable:
        return cls(tuple(sorted(counts, reverse=True)), l)

    @property
    def safely_withheld(self) -> int:
        """How many records `safe` withholds."""
        return sum(self.counts[: self.l]) - self.l * self.counts[self.l - 1]

    def cut(self, first: int) -> int:
        """Compute the level of the other values where the highest value is lowered to `first`."""
        return int(_find_cut_levels(np.array(self.counts[1:]), self.l, np.array([first]))[0])

    def levels(self) -> np.ndarray:
        """Compute the open levels, rising."""
        highest = self.counts[0]
        rest = np.array(self.counts[1:])
        l = self.l
        if rest[0] == highest:
            return np.zeros(0, np.int64)
        first = np.arange(1, highest)
        level = _find_cut_levels(rest, l, first)
        lowered = np.searchsorted(-rest, -level, side="left")  # values above the level
        padded = np.append(rest, [0] * l)
        above = padded[lowered + l - 2]
        below = padded[lowered + l - 1]
        lowest_leader = np.maximum(np.minimum(first, above), below)  # the lowest count of a value that may have led
        would_lead = lowest_leader + highest - first
        opens = (first <= level) & (lowered + l <= len(self.counts)) & (first >= below)
        opens &= (l * would_lead > sum(self.counts)) & (would_lead > rest[0])
        return first[opens]


def compute_cut_probability(table: CutTable, first: int) -> Fraction:
    """Compute the probability with which a table is published by its cut at an open level.

    A value that makes up more than one in l of the withheld records (heavy) is balanced by the table that has as much
    less of it.
    """
    level = table.cut(first)
    l = table.l
    excess = [count - level for count in table.counts[1:] if count > level]
    moved = table.counts[0] - first
    withheld = moved + sum(excess)
    heavy = [surplus for surplus in excess if l * surplus > withheld]
    if len(heavy) > MAX_HEAVY_VALUES or any(l * (surplus + 1) > 2 * withheld for surplus in heavy):
        return Fraction(0)
    probability = _compute_shared_probability(table, first, level, moved)
    for surplus in heavy:
        if not probability:
            break
        light = (2 * withheld - l * surplus) // l
        lighter = list(table.counts)
        lighter[0] += surplus - light
        lighter[lighter.index(level + surplus, 1)] -= surplus - light
        balance = Fraction(withheld - l * light, l * surplus - withheld)
        probability = min(probability, balance * compute_cut_probability(CutTable.from_counts(lighter, l), first))
    return probability


def _count_values(
    recount: RecomputedRelease, source: SourceComparison, columns: list[str]
) -> tuple[list[int], list[int]]:
    """Count the rows of the source and of the release that have each value, or combination of several columns' values.

    The counts of a value are at the same place; rows without one are left out.
    """
    entries = [entry for entry in recount.subject.columns if entry.name in columns]
    rows = source.count_rows(columns)
    converted = convert_source(rows.frame, entries).frame.select(columns)
    source_values = converted.with_columns(pl.Series(ROW_COUNT_COLUMN, rows.multiplicities)).drop_nulls(columns)
    published_values = _count_published_values(recount, columns).drop_nulls(columns)
    numbered = [number_values(published_values[name].append(source_values[name])) for name in columns]
    word = pack_columns(numbered, len(published_values) + len(source_values))
    distinct, codes = np.unique(word, return_inverse=True)

    def sum_rows(code: np.ndarray, values: pl.DataFrame) -> list[int]:
        row_counts = values.to_series(-1).to_numpy()
        return np.bincount(code, weights=row_counts, minlength=len(distinct)).astype(np.int64).tolist()

    before = sum_rows(codes[len(published_values) :], source_values)
    after = sum_rows(codes[: len(published_values)], published_values)
    return before, after


def _assess_eligible(pairs: CountPairs, l: int) -> WithholdingResult:
    """Assess `eligible`: every value is lowered to the greatest level at which no value exceeds one in l."""
    counts = [b for b, _ in pairs]
    highest = _find_first(lambda level: l * (level + 1) > sum(min(count, level + 1) for count in counts), counts[0])
    return CERTAIN_RESULT if all(a == min(b, highest) for b, a in pairs) else IMPOSSIBLE_RESULT


def _assess_unsafe(pairs: CountPairs, l: int) -> WithholdingResult:
    orders = _list_orders(pairs)
    return CERTAIN_RESULT if any(_is_stopping_state(order, l, order[0][0]) for order in orders) else IMPOSSIBLE_RESULT


def _assess_safe(pairs: CountPairs, l: int) -> WithholdingResult:
    level = pairs[l - 1][0]
    return CERTAIN_RESULT if all(a == min(b, level) for b, a in pairs) else IMPOSSIBLE_RESULT


def _assess_randomized(pairs: CountPairs, l: int) -> WithholdingResult:
    """Assess `randomized`: S_1 is lowered to a level of one of l intervals, then as `unsafe`.

    From a level above where that stops, all stop alike.
    """
    ends = [*(b for b, _ in pairs[: l + 1]), 1][: l + 1]
    probability = Fraction(0)
    for order in _list_orders(pairs):
        first = order[0][1]
        level = max(a for _, a in order)
        starts = [(first, first)] if first < level else [(level, level), (level + 1, order[0][0])]
        reached = [low for low, high in starts if ends[-1] <= low <= high and _is_stopping_state(order, l, high)]
        if reached:
            lowest_start = min(reached)
            interval_shares = [
                Fraction(max(ends[h] - max(ends[h + 1], lowest_start) + 1, 0), ends[h] - ends[h + 1] + 1)
                for h in range(l)
            ]
            probability = max(probability, sum(interval_shares, Fraction(0)) / l)
    return WithholdingResult(probability > 0, probability)


def _assess_calibrated(pairs: CountPairs, l: int) -> WithholdingResult:
    """Assess `calibrated`: by a cut at the level of the single highest value, if that is published; else as `safe`.

    No draw withholds more than `safe`.
    """
    if pairs[0][0] > MAX_RECORDS:
        return CERTAIN_RESULT if _assess_safe(pairs, l).possible else UNDECIDED_RESULT
    table = CutTable.from_counts([b for b, _ in pairs], l)
    first = pairs[0][1]
    levels = table.levels()
    by_cut = (
        first in levels
        and all(a == min(b, table.cut(first)) for b, a in pairs[1:])
        and compute_cut_probability(table, first) > 0
    )
    if _assess_safe(pairs, l).possible:
        may_fall_back = len(levels) > MAX_LEVELS or _sum_cut_probabilities(table, levels) < 1
        return CERTAIN_RESULT if by_cut or may_fall_back else IMPOSSIBLE_RESULT
    if not by_cut:
        return IMPOSSIBLE_RESULT
    sparing = levels[levels >= first]
    if len(sparing) <= MAX_LEVELS:
        return WithholdingResult(True, _sum_cut_probabilities(table, sparing))
    return WithholdingResult(True, Fraction(len(sparing), len(levels)))


def _find_cut_levels(rest: np.ndarray, l: int, first: np.ndarray) -> np.ndarray:
    total = np.append(0, np.cumsum(rest[::-1]))  # of the lowest so many
    rising = -np.sort(-rest)[::-1]

    def fits(level: np.ndarray) -> np.ndarray:
        lower = np.searchsorted(rising, level, side="left")
        return l * level <= first + total[lower] + (len(rest) - lower) * level

    low = np.full(len(first), rest[l - 1] if l <= len(rest) else 0)
    high = np.full(len(first), int(first.max(initial=0)) + int(rest.sum()) + 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        holds = fits(middle)
        low = np.where(holds, middle, low)
        high = np.where(holds, high, middle)
    return low


def _compute_shared_probability(table: CutTable, first: int, level: int, moved: int) -> Fraction:
    """Compute the greatest probability that all tables with this cut can have in common, from the open levels of each."""
    l = table.l
    widest = 0
    lowered = [count for count in table.counts[1:] if count > level]
    free = [first, *(count for count in table.counts[1:] if count <= level)]
    withheld = moved + sum(count - level for count in lowered)
    for leader in set(_list_free_counts(table, first, level)):
        others = free.copy()
        others.remove(leader)
        other = CutTable.from_counts([leader + moved, *lowered, *others], l)
        if other.safely_withheld < withheld:
            return Fraction(0)
        widest = max(widest, len(other.levels()))
    return Fraction(1, widest)


def _count_published_values(recount: RecomputedRelease, columns: list[str]) -> pl.DataFrame:
    """Count the rows of each published value, in the last column.

    Combinations, and values of labelled rows, are from one file.
    """
    if len(columns) > 1 or recount.labelled:
        counted = recount.frame.select(columns).with_columns(pl.Series(ROW_COUNT_COLUMN, recount.multiplicities))
        return counted.group_by(columns).agg(pl.col(ROW_COUNT_COLUMN).sum())
    kind = reader_for(recount.subject.kind)
    manifest = recount.subject.manifest
    assert manifest is not None  # a table of another tool has no stages
    return kind.value_counts({kind.files[0]: recount.frame, **recount.other_tables}, manifest, columns[0])


def _list_orders(pairs: CountPairs) -> list[CountPairs]:
    """List the ranks that can have led there.

    One of the tied highest comes first; of others tied, the one of which more was withheld comes last.
    """
    highest = pairs[0][0]
    leaders = sorted({pair for pair in pairs if pair[0] == highest})
    orders = []
    for leader in leaders:
        others = pairs.copy()
        others.remove(leader)
        orders.append([leader, *others])
    return orders


def _is_stopping_state(order: CountPairs, l: int, start: int) -> bool:
    """Whether withholding records of the highest values, S_1 lowered to `start`, stops at these counts.

    It stops where no value exceeds one in l and l values may have led for the first time. The second condition lasts
    once it holds; the first can begin to hold only at the start of a level, or when the second does.
    """
    rows = sum(b for b, _ in order)
    counts = [start, *(b for b, _ in order[1:])]
    after = [a for _, a in order]
    end = sum(counts) - sum(after)
    if end < 0 or _count_after_steps(counts, end) != after:
        return False
    if not _is_eligible(after, l) or not _has_candidates(after, rows, l):
        return False
    begins = _find_first(lambda steps: _has_candidates(_count_after_steps(counts, steps), rows, l), end)
    if begins == end:
        return True
    if _is_eligible(_count_after_steps(counts, begins), l):
        return False
    level = max(_count_after_steps(counts, begins))
    earlier = _find_first(lambda down: _is_eligible([min(count, level - 1 - down) for count in counts], l), level - 1)
    return end == sum(max(count - (level - 1 - earlier), 0) for count in counts)


def _sum_cut_probabilities(table: CutTable, levels: np.ndarray) -> Fraction:
    return sum((compute_cut_probability(table, level) for level in levels.tolist()), Fraction(0))


def _list_free_counts(table: CutTable, first: int, level: int) -> list[int]:
    """List published counts of the values that may have led: the l highest that the level did not lower, and ties."""
    free = sorted([first, *(count for count in table.counts[1:] if count <= level)], reverse=True)
    return [count for count in free if count >= free[table.l - 1]]


def _count_after_steps(initial: list[int], steps: int) -> list[int]:
    """Return the counts after withholding one record of the highest value `steps` times, the last in rank first."""
    highest = max(initial)
    down = _find_first(lambda by: sum(max(count - (highest - by - 1), 0) for count in initial) > steps, highest)
    level = highest - down
    remainder = steps - sum(max(count - level, 0) for count in initial)
    counts = [min(count, level) for count in initial]
    at_level = [index for index, count in enumerate(counts) if count == level]
    for index in list(reversed(at_level))[:remainder]:
        counts[index] -= 1
    return counts


def _is_eligible(counts: list[int], l: int) -> bool:
    return l * max(counts) <= sum(counts)


def _has_candidates(counts: list[int], rows: int, l: int) -> bool:
    """Whether l values could have been the highest and exceeded one in l, had they all that is withheld."""
    return l * (sorted(counts, reverse=True)[l - 1] + rows - sum(counts)) > rows


def _find_first(holds: Callable[[int], bool], limit: int) -> int:
    """Find the least of 0 .. limit from which on a condition holds; `limit` where it does not before."""
    low = 0
    high = limit
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
