"""Conditions on the columns of a table, with SQL's three-valued logic, and what published labels cover of them.

A condition is made of atoms about one column each, joined and negated (`Atom`, `CompoundCondition`,
`NegatedCondition`).

`ColumnAxis` is a column as a question divides it: values for which all atoms of the question are alike are one piece.
For every label and piece it has whether the label covers some of the piece, what share of it under uniformity, and the
least, the greatest and the mean value there.  `*` covers any value and none: also one that no other label shows.

`ConditionPieces` is a condition over several axes: true or not at every combination of their pieces, and summed over
what labels cover.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil, floor, prod
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.estimate.density import RangeShares
from reticent.time_limit import check_deadline

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
IS_NULL = "is null"
IS_AMONG = "among"  # a list of values: one atom, however long the list is
IS_LIKE = "like"  # a text that is like a pattern of SQL
Truth = tuple[np.ndarray, np.ndarray]  # where it is true, and where it is false; elsewhere it is unknown
ENDLESS = (1 << 63) - 1  # where whole numbers end that may be anything
MAX_COUNTED_STEPS = 1e10  # steps from zero within which decimals are counted one by one
STEP_TOLERANCE = 1e-6  # of a step: how far off a decimal may be for its being a double
MAX_PIECE_COMBINATIONS = 1 << 20  # combinations of pieces
MAX_NUMBERS_AT_ONCE = 1 << 22  # numbers held at once


@dataclass(frozen=True, slots=True)
class Atom:
    """A column compared with one value, with a tuple of them (AMONG) or a pattern (LIKE), or tested for being missing."""

    column: str
    test: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class CompoundCondition:
    """All of the parts, or any of them."""

    all: bool
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class NegatedCondition:
    part: Condition


Condition = Atom | CompoundCondition | NegatedCondition


def join_conditions(*parts: Condition | None) -> Condition | None:
    """Join by AND those of the conditions that are not None."""
    present = tuple(part for part in parts if part is not None)
    if len(present) > 1:
        return CompoundCondition(True, present)
    return present[0] if present else None


def list_atoms(condition: Condition | None) -> Iterator[Atom]:
    if isinstance(condition, Atom):
        yield condition
    elif isinstance(condition, NegatedCondition):
        yield from list_atoms(condition.part)
    elif condition is not None:
        for part in condition.parts:
            yield from list_atoms(part)


def list_constants(atoms: Iterable[Atom]) -> list[Any]:
    """List the values that a column is compared with."""
    constants: list[Any] = []
    for atom in atoms:
        if atom.test == IS_AMONG:
            constants.extend(atom.value)
        elif atom.test not in (IS_NULL, IS_LIKE):
            constants.append(atom.value)
    return constants


def judge_condition(condition: Condition, judge_atom: Callable[[Atom], Truth]) -> Truth:
    """Compute where a condition is true and where it is false, from where its atoms are."""
    if isinstance(condition, Atom):
        return judge_atom(condition)
    if isinstance(condition, NegatedCondition):
        true, false = judge_condition(condition.part, judge_atom)
        return false, true
    parts = [judge_condition(part, judge_atom) for part in condition.parts]
    trues = [part[0] for part in parts]
    falses = [part[1] for part in parts]
    if condition.all:
        return reduce(np.logical_and, trues), reduce(np.logical_or, falses)
    return reduce(np.logical_or, trues), reduce(np.logical_and, falses)


@dataclass(frozen=True, eq=False)
class ColumnAxis:
    """A column as a question divides it into pieces, and what each published label covers of them."""

    name: str
    code: np.ndarray  # the label of each row
    may: np.ndarray  # (labels, pieces) bool
    share: np.ndarray  # (labels, pieces), adding up to 1 for each label
    null: np.ndarray  # (pieces,): the values of it are missing
    truth: dict[Atom, Truth]  # of each atom, (pieces,) twice
    low: np.ndarray | None = None  # (labels, pieces), where the column holds numbers
    high: np.ndarray | None = None
    mean: np.ndarray | None = None

    @property
    def pieces(self) -> int:
        return len(self.null)


def merge_pieces(
    name: str,
    code: np.ndarray,
    truths: dict[Atom, Truth],
    null: np.ndarray,
    label: np.ndarray,
    fine: np.ndarray,
    labels: int,
    weight: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
) -> ColumnAxis:
    """Merge fine pieces into those that the question can tell apart; (label, fine piece, weight) list what labels cover."""
    signs = np.array([null, *(side for truth in truths.values() for side in truth)], bool).T.reshape(len(null), -1)
    _, first, piece = np.unique(signs, axis=0, return_index=True, return_inverse=True)
    piece = piece.reshape(-1)
    cell = label * len(first) + piece[fine]
    size = labels * len(first)
    may = np.bincount(cell, minlength=size).reshape(labels, -1) > 0
    total = np.bincount(cell, weights=weight, minlength=size).reshape(labels, -1)
    label_weight = total.sum(axis=1, keepdims=True)
    spread = np.where(
        label_weight > 0,
        total / np.where(label_weight > 0, label_weight, 1),
        may / np.maximum(may.sum(axis=1, keepdims=True), 1),
    )
    merged_truths = {atom: (true[first], false[first]) for atom, (true, false) in truths.items()}
    number_ends: dict[str, Any] = {}
    if ends is not None:
        low = np.full(size, _get_greatest(ends[0]), ends[0].dtype)
        high = np.full(size, _get_least(ends[1]), ends[1].dtype)
        np.minimum.at(low, cell, ends[0])
        np.maximum.at(high, cell, ends[1])
        has_weight = weight > 0
        mean = np.bincount(cell[has_weight], weights=(weight * ends[2])[has_weight], minlength=size).reshape(labels, -1)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = np.where(
                total > 0,
                mean / np.where(total > 0, total, 1),
                (low.astype(float) + high.astype(float)).reshape(labels, -1) / 2,
            )
        number_ends = {"low": low.reshape(labels, -1), "high": high.reshape(labels, -1), "mean": centre}
    return ColumnAxis(name, code, may, spread, null[first], merged_truths, **number_ends)


def make_value_axis(
    name: str,
    code: np.ndarray,
    values: pl.Series,
    atoms: Iterable[Atom],
    covered: tuple[np.ndarray, np.ndarray, int] | None = None,
    weight: np.ndarray | None = None,
    endless: tuple[int | None, int | None] = (None, None),
    known_truths: Mapping[Atom, Truth] | None = None,
) -> ColumnAxis:
    """Make the axis of a column of listed values: each its own label, or labels that cover (label, value) pairs.

    A null in the list is a value too.  `weight` is how much of its label each pair has.  `endless` are the places of
    values that stand for all that lie below them, and above.  `known_truths` are of atoms that values do not decide.
    """
    null = values.is_null().to_numpy() if values.null_count() else np.zeros(len(values), bool)
    decided = known_truths or {}
    truths = {atom: decided[atom] if atom in decided else _judge_atom(atom, values, null) for atom in atoms}
    label, value, labels = (
        covered if covered is not None else (np.arange(len(values)), np.arange(len(values)), len(values))
    )
    ends = None
    if values.dtype.is_numeric() or has_dates(values.dtype):
        numbers = convert_to_numbers(values)
        widened = not values.dtype.is_float()
        low, high = _bracket_rounded(numbers) if widened else (numbers, numbers)
        low = _remove_end(low, endless[0], -1)
        high = _remove_end(high, endless[1], 1)
        means = numbers.astype(float)
        if endless[0] == 0 and endless[1] is not None:  # none of the values is known, nor where they lie
            means[: endless[1] + 1] = np.nan
        ends = (low[value], high[value], means[value])
    if weight is None:
        weight = np.ones(len(label))
        weight[null[value] & (np.bincount(label, minlength=labels)[label] > 1)] = 0
    return merge_pieces(name, code, truths, null, label, value, labels, weight, ends)


def has_dates(dtype: pl.DataType) -> bool:
    """Tell whether values are days or moments: they have places on a line, of which the least and the greatest is asked."""
    return dtype in (pl.Date, pl.Datetime)


def convert_to_numbers(values: pl.Series) -> np.ndarray:
    """Convert to 64-bit integers if all numbers are whole, otherwise to doubles; a missing one is 0 and is never used.

    Days and moments become their places on the line, counted from 1970.
    """
    values = values.to_physical() if has_dates(values.dtype) else values
    numbers = values.cast(pl.Int64, strict=False) if values.dtype.is_integer() else None
    if numbers is None or numbers.null_count() > values.null_count():  # some are beyond 64 bits
        numbers = values.cast(pl.Float64)
    return (numbers.fill_null(0) if numbers.null_count() else numbers).to_numpy()


@dataclass(frozen=True, eq=False)
class LineLabels:
    """Labels on a line: both ends, included; `missing` is the null alone, `covers_anything` any number between the ends, or none.

    A row is assumed to lie anywhere from `begin` to `end`, narrower than the ends if these are how far it may be: with
    equal probability, or as `shares` have it.
    """

    lower: np.ndarray
    upper: np.ndarray
    missing: np.ndarray
    covers_anything: np.ndarray
    whole: bool  # the line has whole numbers only
    begin: np.ndarray
    end: np.ndarray
    absent: float = 0.0  # of `covers_anything`, the share that is assumed missing
    step: float | None = None  # of numbers that are not whole, how far apart they are taken to be
    shares: RangeShares | None = None  # by places: whole numbers, or numbers of steps

    @classmethod
    def from_ends(cls, ends: tuple[Any, Any], *, whole: bool, null: bool) -> LineLabels:
        """Make one label that covers all numbers between two ends, each None if there is none, and a missing one if `null`."""
        infinity = ENDLESS if whole else np.inf
        low = -infinity if ends[0] is None else ends[0]
        high = infinity if ends[1] is None else ends[1]
        kind = np.int64 if whole else np.float64
        lower = np.array([low], kind)
        upper = np.array([high], kind)
        return cls(lower, upper, np.zeros(1, bool), np.array([null]), whole, lower, upper)


def make_range_axis(name: str, code: np.ndarray, line: LineLabels, atoms: Sequence[Atom]) -> ColumnAxis:
    """Make the axis of numbers or moments that are published as ranges.

    Fine pieces are each constant, each gap between two, and the null.
    """
    constants = sorted(set(list_constants(atoms)))
    rank = {value: 2 * position + 1 for position, value in enumerate(constants)}
    fine = 2 * len(constants) + 2  # the null last
    null = np.arange(fine) == fine - 1
    truths = {}
    for atom in atoms:
        if atom.test == IS_NULL:
            truths[atom] = (null, ~null)
            continue
        if atom.test == IS_AMONG:
            true = np.zeros(fine, bool)
            true[[rank[value] for value in atom.value]] = True
        else:
            true = np.asarray(COMPARISONS[atom.test](np.arange(fine), rank[atom.value])) & ~null
        truths[atom] = (true, ~true & ~null)
    lower, upper, weight, mean = _cut_ranges(line, constants)
    is_unbounded = line.covers_anything & ~(weight.sum(axis=1) > 0)
    mean[is_unbounded] = _middle(lower[is_unbounded], upper[is_unbounded])
    inside = np.concatenate([lower <= upper, (line.missing | line.covers_anything)[:, None]], axis=1)
    inside[line.missing, :-1] = False
    label, piece = np.nonzero(inside)
    padded_ends = [
        np.concatenate([array, np.zeros((len(lower), 1), array.dtype)], axis=1)[label, piece]
        for array in (lower, upper, mean)
    ]
    weight, absent = _weigh_missing(line, weight, inside)
    weights = np.concatenate([weight, absent[:, None]], axis=1)[label, piece]
    return merge_pieces(
        name, code, truths, null, label, piece, len(lower), weights, (padded_ends[0], padded_ends[1], padded_ends[2])
    )


def match_texts(texts: Sequence[str | None], pattern: str) -> np.ndarray:
    """Find which texts are like a pattern of SQL: `%` is any text, `_` any one character, and all else itself."""
    pieces = pattern.split("%")
    expressions = [
        re.compile("".join("." if mark == "_" else re.escape(mark) for mark in piece), re.DOTALL) for piece in pieces
    ]
    sizes = [len(piece) for piece in pieces]
    return np.array([text is not None and _match_pieces(text, expressions, sizes) for text in texts], bool)


def _match_pieces(text: str, expressions: Sequence[re.Pattern[str]], sizes: Sequence[int]) -> bool:
    """Tell whether a text has these pieces one after the other, the first at its beginning and the last at its end.

    Each piece is taken where it first occurs, so that no pattern takes longer than its pieces do.
    """
    check_deadline()
    if len(expressions) == 1:
        return expressions[0].fullmatch(text) is not None
    end = len(text) - sizes[-1]
    if end < sizes[0] or not expressions[0].match(text) or not expressions[-1].match(text, end):
        return False
    place = sizes[0]
    for expression in expressions[1:-1]:
        occurrence = expression.search(text, place, end)
        if occurrence is None:
            return False
        place = occurrence.end()
    return True


def convert_to_doubles(ends: np.ndarray) -> np.ndarray:
    """Convert whole numbers to doubles; those without an end are infinite."""
    if ends.dtype.kind == "f":
        return ends
    doubles = ends.astype(float)
    doubles[ends >= ENDLESS] = np.inf
    doubles[ends <= -ENDLESS] = -np.inf
    return doubles


@dataclass(frozen=True, eq=False)
class ConditionPieces:
    """A condition over several axes; `met`: whether it is true, by the pieces of each axis."""

    axes: tuple[ColumnAxis, ...]
    met: np.ndarray

    @classmethod
    def from_condition(cls, axes: Sequence[ColumnAxis], condition: Condition | None) -> ConditionPieces:
        shape = tuple(axis.pieces for axis in axes)
        if prod(shape) > MAX_PIECE_COMBINATIONS:
            raise RequestError(
                f"The condition cuts {len(axes)} columns into {prod(shape):,} pieces together; {MAX_PIECE_COMBINATIONS:,} are the most that are judged.",
                attempt="a question with fewer different constants.",
            )
        if condition is None:
            return cls(tuple(axes), np.ones(shape, bool))
        place = {axis.name: position for position, axis in enumerate(axes)}

        def judge_atom(atom: Atom) -> Truth:
            position = place[atom.column]
            shape_along_axis = [1] * len(axes)
            shape_along_axis[position] = -1
            true, false = axes[position].truth[atom]
            return true.reshape(shape_along_axis), false.reshape(shape_along_axis)

        return cls(tuple(axes), np.broadcast_to(judge_condition(condition, judge_atom)[0], shape).copy())

    def sum_weights(
        self,
        cells: Mapping[str, np.ndarray],
        weights: Mapping[str, np.ndarray],
        keep: str | None,
        *,
        unmet: bool = False,
    ) -> np.ndarray:
        """Sum the weights of the pieces at which the condition is met, multiplied over axes: (cells,), or (cells, pieces of the axis kept).

        `cells` has the label of each cell on every axis but the one kept, `weights` (labels, pieces) of each axis.
        """
        order = [axis.name for axis in self.axes if axis.name != keep]
        positions = {axis.name: position for position, axis in enumerate(self.axes)}
        met = ~self.met if unmet else self.met
        met = met.transpose(
            [positions[name] for name in order] + ([positions[keep]] if keep is not None else [])
        ).astype(np.float64)
        tail = met.shape[-1] if keep is not None else 1
        cell_count = len(next(iter(cells.values()))) if cells else 1
        sums = np.empty((cell_count, tail))
        step = max(MAX_NUMBERS_AT_ONCE // max(met.size, 1), 1)
        for start in range(0, cell_count, step):
            check_deadline()
            block = slice(start, start + step)
            partial = met.reshape(1, -1)
            for name in order:
                weight = weights[name][cells[name][block]]
                partial = np.einsum(
                    "cp,cpr->cr",
                    weight,
                    np.broadcast_to(
                        partial.reshape(len(partial), weight.shape[1], -1),
                        (len(weight), weight.shape[1], partial.shape[1] // weight.shape[1]),
                    ),
                )
            sums[block] = partial if order else np.broadcast_to(partial, sums[block].shape)
        return sums if keep is not None else sums[:, 0]


def _get_greatest(array: np.ndarray) -> Any:
    return np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max


def _get_least(array: np.ndarray) -> Any:
    return -np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).min


def _judge_atom(atom: Atom, values: pl.Series, null: np.ndarray) -> Truth:
    check_deadline()
    if atom.test == IS_NULL:
        return null, ~null
    if atom.test == IS_AMONG:
        listed = set(atom.value)
        true = np.array([value in listed for value in values.to_list()], bool) & ~null
        return true, ~true & ~null
    if atom.test == IS_LIKE:
        true = match_texts(values.to_list(), atom.value)
        return true, ~true & ~null
    comparison = COMPARISONS[atom.test](pl.col("v"), pl.lit(atom.value)).fill_null(False)
    true = values.alias("v").to_frame().select(comparison).to_series().to_numpy().astype(bool)
    return true, ~true & ~null


def _bracket_rounded(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers between which whole ones lie: themselves or, for doubles to which they were rounded, the next ones."""
    return (
        (numbers, numbers)
        if numbers.dtype.kind == "i"
        else (np.nextafter(numbers, -np.inf), np.nextafter(numbers, np.inf))
    )


def _remove_end(ends: np.ndarray, position: int | None, sign: int) -> np.ndarray:
    if position is None:
        return ends
    widened = ends.copy()
    widened[position] = sign * (np.inf if ends.dtype.kind == "f" else ENDLESS)
    return widened


def _cut_ranges(line: LineLabels, constants: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (labels, pieces): the ends of each label within each piece, crossed if it has none of it; its measure and mean there."""
    begins = []
    ends = []
    opened = []
    before: Any = None
    for value in [*constants, None]:
        begins.append(before)
        ends.append(value)
        opened.append(True)
        if value is not None:
            begins.append(value)
            ends.append(value)
            opened.append(False)
        before = value
    lower, upper, measure, mean = ([] for _ in range(4))
    for begin, end, open_ in zip(begins, ends, opened, strict=True):
        check_deadline()
        a, b = _clip_ranges(line.lower, line.upper, begin, end, open_, line.whole)
        lower.append(a)
        upper.append(b)
        c, d = _clip_ranges(line.begin, line.end, begin, end, open_, line.whole)
        if line.shares is not None:
            share, middle = _measure_shares(line, line.shares, (c, d), (begin, end), open_)
            measure.append(share)
            mean.append(middle)
            continue
        measure.append(_count_whole_numbers(c, d) if line.whole else _measure_decimals(line, c, d, begin, end, open_))
        c = np.asarray(c, float)
        d = np.asarray(d, float)
        bounded = np.isfinite(c) & np.isfinite(d)  # a range that has none of the piece may have infinite ends, crossed
        mean.append(np.where(bounded, c, 0) / 2 + np.where(bounded, d, 0) / 2)
    a, b, c, d = (np.array(side).T.reshape(len(line.lower), -1) for side in (lower, upper, measure, mean))
    return a, b, c, d


def _middle(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the middle of pieces; NaN if a piece has no end, because nothing tells where in it a value lies."""
    low, high = (convert_to_doubles(ends) for ends in (lower, upper))
    bounded = np.isfinite(low) & np.isfinite(high)
    return np.where(bounded, np.where(bounded, low, 0) / 2 + np.where(bounded, high, 0) / 2, np.nan)


def _weigh_missing(line: LineLabels, weight: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight of each piece of each label, and beside them that of a missing value."""
    total = weight.sum(axis=1)
    is_unbounded = line.covers_anything & ~(total > 0)  # the place is unknown: all pieces are equally likely
    weight = np.where(
        is_unbounded[:, None], inside[:, :-1] / np.maximum(inside[:, :-1].sum(axis=1, keepdims=True), 1), weight
    )
    total = weight.sum(axis=1)
    share = min(line.absent, 1 - 1e-9)
    return weight, np.where(line.missing, 1.0, np.where(line.covers_anything, total * share / (1 - share), 0.0))


def _clip_ranges(low: np.ndarray, high: np.ndarray, begin: Any, end: Any, opened: bool, whole: bool) -> tuple[Any, Any]:
    """Return the part of each range between two constants; if the piece is open, without them."""
    lower = low
    upper = high
    if begin is not None:
        lowest = _clamp_to_int64(floor(begin) + 1 if opened else ceil(begin)) if whole else float(begin)
        lower = np.maximum(low, lowest)
    if end is not None:
        highest = _clamp_to_int64(ceil(end) - 1 if opened else floor(end)) if whole else float(end)
        upper = np.minimum(high, highest)
    if not whole and opened:  # an open piece that a range only touches at its end has none of it
        empty = np.zeros(len(low), bool)
        if begin is not None:
            empty |= high <= begin
        if end is not None:
            empty |= low >= end
        lower = np.where(empty, np.inf, lower)
        upper = np.where(empty, -np.inf, upper)
    return lower, upper


def _count_whole_numbers(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Count the whole numbers between two ends; they are subtracted as integers, since doubles do not hold all large ones."""
    is_bounded = (low > -ENDLESS) & (high < ENDLESS) & (high >= low)
    return np.where(
        is_bounded,
        np.where(is_bounded, high, 0).astype(np.uint64) - np.where(is_bounded, low, 0).astype(np.uint64) + np.uint64(1),
        0,
    ).astype(float)


def _measure_decimals(line: LineLabels, low: Any, high: Any, begin: Any, end: Any, opened: bool) -> np.ndarray:
    """Measure how much of each label a piece has: numbers that are `step` apart are counted; without a step, its length.

    Beyond what doubles distinguish, a length in steps serves as well.
    """
    low = np.asarray(low, float)
    high = np.asarray(high, float)
    is_bounded = (high >= low) & np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore", over="ignore"):
        if line.step is None:
            size = np.where(line.begin == line.end, 1.0, high - low)
            return np.where(is_bounded & np.isfinite(size), size, 0.0)
        coarse = np.maximum(np.abs(low / line.step), np.abs(high / line.step)) > MAX_COUNTED_STEPS
        length = np.maximum(high / line.step - low / line.step, 0.0) + (0.0 if opened else 1.0)
        first, last = _count_piece_steps(low, high, begin, end, opened, line.step)
        size = np.where(coarse, length, np.maximum(last - first + 1, 0.0))
        size = np.where(line.begin == line.end, 1.0, size)
    return np.where(is_bounded & np.isfinite(size), size, 0.0)


def count_steps(low: np.ndarray, high: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last number between two ends that is a multiple of a step, as how many steps it is."""
    return np.ceil(low / step - STEP_TOLERANCE), np.floor(high / step + STEP_TOLERANCE)


def _count_piece_steps(
    low: np.ndarray, high: np.ndarray, begin: Any, end: Any, opened: bool, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """Count steps between two ends within a piece between two constants; if it is open, without them."""
    first, last = count_steps(low, high, step)
    if opened and begin is not None:
        first = np.maximum(first, np.floor(float(begin) / step + STEP_TOLERANCE) + 1)
    if opened and end is not None:
        last = np.minimum(last, np.ceil(float(end) / step - STEP_TOLERANCE) - 1)
    return first, last


def _measure_shares(
    line: LineLabels, shares: RangeShares, ends: tuple[Any, Any], constants: tuple[Any, Any], opened: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Measure what each label has of a piece, and its mean there, where rows are not spread evenly."""
    low, high = ends
    step = 1.0
    first, last = low, high
    if not line.whole:
        assert line.step is not None
        step = line.step
        with np.errstate(invalid="ignore"):
            first, last = _count_piece_steps(low, high, *constants, opened, step)
        is_bounded = np.isfinite(first) & np.isfinite(last)
        first = np.where(is_bounded, first, 0.0)
        last = np.where(is_bounded, last, -1.0)
    share, place = shares.measure(np.arange(len(line.lower)), first, last)
    is_present = share > 0
    mean = np.clip(place * step, np.where(is_present, low, 0), np.where(is_present, high, 0))
    return share, np.where(is_present, mean, 0.0)


def _clamp_to_int64(number: int) -> int:
    """Return the nearest number that 64 bits hold."""
    return min(max(number, -(1 << 63)), (1 << 63) - 1)
