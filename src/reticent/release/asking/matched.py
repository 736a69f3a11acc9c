"""Aggregates over groups whose rows are known and whose values are known, but not which row has which value.

A pair of a row type and a value type (a value, or a node that stands for one of several) is selected for certain, possibly or not, and
if it is, its number lies between two ends.  Bounds are over all matchings of each group and all values that nodes stand for: sums of
best matchings (`assignment`); AVG by Dinkelbach's steps (the mean is raised until no matching is worth more); MIN and MAX by the
least threshold that some matching keeps.  They are over the tables in which some row is selected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.release.asking.assignment import Groups, best, summed_best
from reticent.release.asking.axis import convert_to_doubles
from reticent.release.asking.independent import Uncertain, round_to_double

ROUNDING = 2.0**-50
HELD = 2.0**53  # doubles hold every whole number that is less


@dataclass(frozen=True, eq=False)
class Pairs:
    """(row types, value types): whether a pair may be selected, may be left out, and the ends of its number."""

    groups: Groups
    may: np.ndarray
    spare: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def turned(self) -> Pairs:
        """Least for greatest."""
        return replace(self, low=-self.high, high=-self.low)

    def count(self) -> tuple[int, int]:
        worths = self.may.astype(float), -(~self.spare).astype(float)
        most, least = (summed_best(self.groups, worth)[0] for worth in worths)
        return round(-least), round(most)

    def ends(self, aggregate: str, beside: Uncertain | None = None) -> tuple[Any, Any] | None:
        """The least and the greatest; None where no table selects a published row.  Infinite where a number has no end."""
        least, most = self.count()
        if not most:
            return None
        turned = self.turned()
        if aggregate == "max":
            found = self.least_max(), self.top()
        elif aggregate == "min":
            found = -turned.top(), -turned.least_max()
        elif aggregate == "sum":
            found = -turned.most_sum(), self.most_sum()
        else:
            return -turned.most_avg(Unpublished.of(beside, -1)), self.most_avg(Unpublished.of(beside, 1))
        return found if beside is None else join_ends(aggregate, found, beside, always=least > 0)

    def chosen(self, worth: np.ndarray, number: np.ndarray, *, eager: bool = False) -> tuple[float, int, float]:
        """The best worth, how many pairs it selects, and what their numbers sum to; a pair that need not be is selected where it pays."""
        pays = worth >= 0 if eager else worth > 0
        select = self.may & (pays | ~self.spare)
        value, rows, total = summed_best(
            self.groups, np.where(select, worth, 0.0), select.astype(float), np.where(select, number, 0.0)
        )
        return float(value), round(rows), float(total)

    def most_sum(self) -> float:
        if not np.isfinite(self.high[self.may]).all():
            return np.inf
        value, rows, _ = self.chosen(self.high.astype(float), self.high)
        return self.rounded(value if rows else self.one_at_least())

    def one_at_least(self) -> float:
        """Nothing selected would be best, and is NULL: the best with one pair selected, tried from the best pair on."""
        found = -np.inf
        worth = np.where(self.spare, np.where(self.may, np.maximum(self.high, 0.0), 0.0), self.high).astype(float)
        group, row, value = _met(self.groups)
        kept = self.may[row, value]
        group, row, value = group[kept], row[kept], value[kept]
        number = self.high[row, value].astype(float)
        for at in np.argsort(-number, kind="stable"):
            if number[at] <= found:
                break
            rest = _without(self.groups.only(group[at]), row[at], value[at])
            found = max(found, float(number[at]) + float(best(rest, worth)[0].sum()))
        return found

    def most_avg(self, unpublished: Unpublished | None = None) -> float:
        """From the mean of some table upwards; of unpublished rows all are taken that raise it, or none."""
        if not np.isfinite(self.high[self.may]).all() or (
            unpublished is not None and not np.isfinite(unpublished.high)
        ):
            return np.inf
        _, rows, total = self.chosen(np.ones(self.high.shape), self.high, eager=True)
        more = 0.0
        if unpublished is not None and unpublished.must:
            rows, more = rows + unpublished.rows, unpublished.total
        mean = (total + more) / rows
        while True:
            _, many, other = self.chosen(self.high - mean, self.high)
            added = 0.0
            if unpublished is not None and (unpublished.must or unpublished.high > mean):
                many, added = many + unpublished.rows, unpublished.total
            if not many or (other + added) / many <= mean:
                return round_mean_up(Fraction(self.rounded(total)) + _round_up(more), rows)
            mean, rows, total, more = (other + added) / many, many, other, added

    def top(self) -> float:
        row, value = self.groups.together
        kept = self.may[row, value]
        return _outwards(float(self.high[row, value][kept].max()), np.inf)

    def least_max(self) -> float:
        """The least threshold that every selected number of some table keeps."""
        row, value = self.groups.together
        steps = np.unique(self.low[row, value][self.may[row, value]])
        first, last = 0, len(steps) - 1
        while first < last:
            middle = (first + last) // 2
            if self.keeps(steps[middle]):
                last = middle
            else:
                first = middle + 1
        return _outwards(float(steps[first]), -np.inf)

    def keeps(self, most: float) -> bool:
        below = self.may & (self.low <= most)
        far = float(self.groups.rows[2].sum() + 1)
        return bool(summed_best(self.groups, np.where(below, 1.0, np.where(self.spare, 0.0, -far)))[0] >= 1)

    def rounded(self, value: float) -> float:
        """Outwards, where the numbers are no whole ones, or their sum may be one that no double is."""
        numbers, rows = self.high[self.may], float(self.groups.rows[2].sum())
        most = float(np.abs(numbers).max())
        if (numbers == np.rint(numbers)).all() and most * rows < HELD:
            return value
        return value + (rows + 4) * ROUNDING * most * (len(self.groups.rows[2]) + 1)


@dataclass(frozen=True, slots=True)
class Unpublished:
    """So many rows whose number is at most `high`; all of them are selected if they `must` be, else any number of them."""

    rows: int
    must: bool
    high: float

    @property
    def total(self) -> float:
        return self.rows * self.high

    @classmethod
    def of(cls, beside: Uncertain | None, sign: int) -> Unpublished | None:
        if beside is None or beside.low is None or beside.high is None:
            return None
        end = float(convert_to_doubles(beside.high if sign > 0 else beside.low)[0]) * sign
        return cls(int(beside.rows[0]), bool(beside.must[0]), _outwards(end, np.inf))


def join_ends(aggregate: str, found: tuple[Any, Any], beside: Uncertain, *, always: bool) -> tuple[Any, Any]:
    """SUM, MIN or MAX of published rows, whose ends are known where one of them is selected, and of rows beside them.

    `always`: a published row is selected in every table.
    """
    low, high = (Unpublished.of(beside, sign) for sign in (-1, 1))
    assert low is not None and high is not None
    if aggregate == "sum":
        return -_most_sum(-found[0], low, always), _most_sum(found[1], high, always)
    if aggregate == "max":
        return -_least_end(-found[0], low, always), max(found[1], high.high)
    return -max(-found[0], low.high), _least_end(found[1], high, always)


def _most_sum(most: float, unpublished: Unpublished, always: bool) -> float:
    if not (np.isfinite(most) and np.isfinite(unpublished.high)):
        return np.inf
    taken = unpublished.must or unpublished.high > 0
    more = _round_up(unpublished.total) if taken else Fraction(0)
    alone = more if taken else Fraction(unpublished.high)
    both = Fraction(most) + more
    return round_mean_up(both if always else max(both, alone))


def _round_up(total: float) -> Fraction:
    """A product of doubles, rounded up unless it is a whole number that doubles hold."""
    exact = abs(total) < HELD and total == round(total)
    return Fraction(total if exact else float(np.nextafter(total + abs(total) * ROUNDING, np.inf)))


def round_mean_up(value: Fraction, rows: int = 1) -> float:
    """The least double that is not less than a sum, or than a mean of so many rows."""
    return round_to_double(value / rows, 1)


def _least_end(end: float, unpublished: Unpublished, always: bool) -> float:
    """Of MIN the upper end (of MAX the lower, turned): where published rows are selected, others need not be, or lie as high."""
    if unpublished.must:
        return min(end, unpublished.high) if always else unpublished.high
    return end if always else max(end, unpublished.high)


def _outwards(end: float, beyond: float) -> float:
    """A number that may have been rounded when it became a double, as the next one in that direction."""
    return end if abs(end) < HELD else float(np.nextafter(end, beyond))


def _met(groups: Groups) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(group, row type, value type) of all pairs of each group."""
    rows = pl.DataFrame({"group": groups.rows[0], "row": groups.rows[1]}).unique()
    values = pl.DataFrame({"group": groups.values[0], "value": groups.values[1]}).unique()
    found = rows.join(values, on="group").unique(maintain_order=True)
    return found["group"].to_numpy(), found["row"].to_numpy(), found["value"].to_numpy()


def _without(groups: Groups, row: int, value: int) -> Groups:
    def less(side: tuple[np.ndarray, np.ndarray, np.ndarray], kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        number = side[2].copy()
        number[np.flatnonzero(side[1] == kind)[0]] -= 1
        return side[0][number > 0], side[1][number > 0], number[number > 0]

    return Groups(less(groups.rows, row), less(groups.values, value), 1)
