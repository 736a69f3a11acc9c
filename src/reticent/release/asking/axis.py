"""A column as a question sees it: the pieces into which its constants cut it, and what each published label covers of them.

Values for which all atoms of the question are alike are one piece.  Of every label and piece it is known whether the label covers
some of the piece, what share of it under uniformity, and the least, the greatest and the mean value there.  `*` covers any value
and none: also one that no other label shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
import polars as pl

from reticent.release.asking.condition import NULL, TESTS, Atom, Truth


@dataclass(frozen=True, eq=False)
class Axis:
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


def merged(name: str, code: np.ndarray, truths: dict[Atom, Truth], null: np.ndarray, label: np.ndarray, fine: np.ndarray,
           labels: int, weight: np.ndarray, ends: tuple[np.ndarray, np.ndarray, np.ndarray] | None) -> Axis:  # fmt: skip
    """From fine pieces to those that the question can tell apart; (label, fine piece, weight) list what labels cover."""
    signs = np.array([null, *(side for truth in truths.values() for side in truth)], bool).T.reshape(len(null), -1)
    _, first, piece = np.unique(signs, axis=0, return_index=True, return_inverse=True)
    piece = piece.reshape(-1)
    place = label * len(first) + piece[fine]
    size = labels * len(first)
    may = np.bincount(place, minlength=size).reshape(labels, -1) > 0
    total = np.bincount(place, weights=weight, minlength=size).reshape(labels, -1)
    whole = total.sum(axis=1, keepdims=True)
    spread = np.where(
        whole > 0, total / np.where(whole > 0, whole, 1), may / np.maximum(may.sum(axis=1, keepdims=True), 1)
    )
    kept = {atom: (true[first], false[first]) for atom, (true, false) in truths.items()}
    found: dict[str, Any] = {}
    if ends is not None:
        low = np.full(size, _most(ends[0]), ends[0].dtype)
        high = np.full(size, _least(ends[1]), ends[1].dtype)
        np.minimum.at(low, place, ends[0])
        np.maximum.at(high, place, ends[1])
        held = weight > 0
        mean = np.bincount(place[held], weights=(weight * ends[2])[held], minlength=size).reshape(labels, -1)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = np.where(total > 0, mean / np.where(total > 0, total, 1),
                              (low.astype(float) + high.astype(float)).reshape(labels, -1) / 2)  # fmt: skip
        found = {"low": low.reshape(labels, -1), "high": high.reshape(labels, -1), "mean": centre}
    return Axis(name, code, may, spread, null[first], kept, **found)


def _most(array: np.ndarray) -> Any:
    return np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max


def _least(array: np.ndarray) -> Any:
    return -np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).min


def of_values(name: str, code: np.ndarray, values: pl.Series, asked: Iterable[Atom],
              covered: tuple[np.ndarray, np.ndarray, int] | None = None) -> Axis:  # fmt: skip
    """A column of listed values: each its own label, or labels that cover (label, value) pairs; a null in the list is a value too."""
    null = values.is_null().to_numpy() if values.null_count() else np.zeros(len(values), bool)
    truths = {atom: _of_series(atom, values, null) for atom in asked}
    label, value, labels = (
        covered if covered is not None else (np.arange(len(values)), np.arange(len(values)), len(values))
    )
    ends = None
    if values.dtype.is_numeric():
        numbers = numbers_of(values)
        low, high = _around(numbers) if values.dtype.is_integer() else (numbers, numbers)
        ends = (low[value], high[value], numbers[value].astype(float))
    weight = np.ones(len(label))
    weight[null[value] & (np.bincount(label, minlength=labels)[label] > 1)] = 0
    return merged(name, code, truths, null, label, value, labels, weight, ends)


def numbers_of(values: pl.Series) -> np.ndarray:
    """Numbers as whole ones of 64 bits where all are, and as doubles; 0 stands for a missing one, which is never looked at."""
    numbers = values.cast(pl.Int64, strict=False) if values.dtype.is_integer() else None
    if numbers is None or numbers.null_count() > values.null_count():  # some are beyond 64 bits
        numbers = values.cast(pl.Float64)
    return (numbers.fill_null(0) if numbers.null_count() else numbers).to_numpy()


def _around(whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers between which whole ones lie: themselves, or, of doubles, which they were rounded to, the next ones."""
    return (whole, whole) if whole.dtype.kind == "i" else (np.nextafter(whole, -np.inf), np.nextafter(whole, np.inf))


def _of_series(atom: Atom, values: pl.Series, null: np.ndarray) -> Truth:
    if atom.test == NULL:
        return null, ~null
    met = TESTS[atom.test](pl.col("v"), pl.lit(atom.value)).fill_null(False)
    true = values.alias("v").to_frame().select(met).to_series().to_numpy().astype(bool)
    return true, ~true & ~null


@dataclass(frozen=True, eq=False)
class Stretches:
    """Labels on a line: both ends, included; `missing` the null alone, `anything` any number or none."""

    lower: np.ndarray
    upper: np.ndarray
    missing: np.ndarray
    anything: np.ndarray
    whole: bool  # the line has whole numbers only
    span: tuple[float, float] | None  # where anything is spread when it has to be


def of_stretches(name: str, code: np.ndarray, line: Stretches, asked: Sequence[Atom]) -> Axis:
    """A column of numbers or moments, published as ranges.  Fine pieces: each constant, each gap between two, and the null."""
    constants = sorted({atom.value for atom in asked if atom.test != NULL})
    rank = {value: 2 * at + 1 for at, value in enumerate(constants)}
    fine = 2 * len(constants) + 2  # the null last
    null = np.arange(fine) == fine - 1
    truths = {}
    for atom in asked:
        if atom.test == NULL:
            truths[atom] = (null, ~null)
            continue
        true = np.asarray(TESTS[atom.test](np.arange(fine), rank[atom.value])) & ~null
        truths[atom] = (true, ~true & ~null)
    lower, upper, weight, mean = _cut(line, constants)
    inside = np.concatenate([lower <= upper, (line.missing | line.anything)[:, None]], axis=1)
    inside[line.missing, :-1] = False
    label, piece = np.nonzero(inside)
    pad = [
        np.concatenate([array, np.zeros((len(lower), 1), array.dtype)], axis=1)[label, piece]
        for array in (lower, upper, mean)
    ]
    weights = np.concatenate([weight, line.missing[:, None].astype(float)], axis=1)[label, piece]
    return merged(name, code, truths, null, label, piece, len(lower), weights, (pad[0], pad[1], pad[2]))


def _cut(line: Stretches, constants: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(labels, pieces): the ends of each label within each piece, crossed where it has none of it; its measure and mean there."""
    begins, ends, opened = [], [], []
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
    low, high = _spread(line)
    for begin, end, open_ in zip(begins, ends, opened, strict=True):
        a, b = _within(line.lower, line.upper, begin, end, open_, line.whole)
        lower.append(a)
        upper.append(b)
        c, d = (np.asarray(side, float) for side in _within(low, high, begin, end, open_, line.whole))
        size = np.where(d >= c, d - c + (1 if line.whole else 0), 0)
        if not line.whole:
            size = np.where((low == high) & (c <= d), 1.0, size)
        measure.append(np.where(np.isfinite(size), size, 0))
        bounded = np.isfinite(c) & np.isfinite(d)  # a range that has none of the piece may have infinite ends, crossed
        mean.append(np.where(bounded, c, 0) / 2 + np.where(bounded, d, 0) / 2)
    a, b, c, d = (np.array(side).T.reshape(len(line.lower), -1) for side in (lower, upper, measure, mean))
    return a, b, c, d


def _spread(line: Stretches) -> tuple[np.ndarray, np.ndarray]:
    if line.span is None:
        return line.lower, line.upper
    return (np.where(line.anything, line.span[0], line.lower), np.where(line.anything, line.span[1], line.upper))


def _within(low: np.ndarray, high: np.ndarray, begin: Any, end: Any, opened: bool, whole: bool) -> tuple[Any, Any]:
    """The part of each range between two constants; without them, where the piece is open."""
    lower, upper = low, high
    if begin is not None:
        least = _held(floor(begin) + 1 if opened else ceil(begin)) if whole else float(begin)
        lower = np.maximum(low, least)
    if end is not None:
        most = _held(ceil(end) - 1 if opened else floor(end)) if whole else float(end)
        upper = np.minimum(high, most)
    if not whole and opened:  # an open piece that a range only touches at its end has none of it
        empty = np.zeros(len(low), bool)
        if begin is not None:
            empty |= high <= begin
        if end is not None:
            empty |= low >= end
        lower, upper = np.where(empty, np.inf, lower), np.where(empty, -np.inf, upper)
    return lower, upper


def _held(number: int) -> int:
    """The nearest number that 64 bits hold."""
    return min(max(number, -(1 << 63)), (1 << 63) - 1)
