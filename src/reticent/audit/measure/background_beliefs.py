"""Prior and posterior beliefs and their distance (Li, Li & Zhang, ICDE 2009, II to IV).

They are recomputed from people and groups:

    prior       equation 2, on a grid of the values that occur: one matrix product for each axis; or from point to point
    posterior   equation 5 (Omega), or several rounds of it (balanced)
    risk        equation 6 in bits, on smoothed and renormalised beliefs

All sums are of numbers >= 0: a risk in doubles is within `bound_error` of the true one. What that does not decide is
recomputed with more digits (`background.py`).

`locate_people` finds who is in which published group, and who holds what: the source's people as points under the
published labels. The adversary of the paper (section III-A) knows who is in the table and in which group. That is so
where no label covers a person of another group and every group has as many people under its label as it publishes rows.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import exp, prod
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.evidence import Evidence
from reticent.audit.groups import NumberedColumn, number_values, pack_columns
from reticent.audit.row_matching import cover_labels, format_texts
from reticent.data.columns import Role
from reticent.exact_arithmetic import find_common_denominator
from reticent.format.manifest import ColumnEntry
from reticent.labels.cover import find_places, join_boxes, rebuild_hierarchy
from reticent.labels.scale import LineScale, make_scale


@dataclass(frozen=True, eq=False)
class DistanceAxis:
    """A column's values that occur, by number, and the exact distance of every two: `levels[which[i, j]]`."""

    name: str
    which: np.ndarray
    levels: list[Fraction]

    def get_distance(self, i: int, j: int) -> Fraction:
        return self.levels[self.which[i, j]]


@dataclass(frozen=True, eq=False)
class GroupedPeople:
    """People by point and group: `held[point, value]` people are at `codes[point]` and in `group[point]`.

    `shown[group, value]` is what is published.
    """

    axes: list[DistanceAxis]
    codes: np.ndarray
    held: np.ndarray
    group: np.ndarray
    shown: np.ndarray
    values: Sequence[str | None]
    entry: ColumnEntry | None  # of the sensitive column; None: several together

    @property
    def null(self) -> int:
        return self.values.index(None) if None in self.values else -1


def locate_people(
    evidence: Evidence, column: str | None, matrices: Mapping[str, Any], compared: Container[str]
) -> GroupedPeople | None:
    """Locate the source's people under the published labels, with distances for the columns `compared` alone.

    Return None where labels do not determine who is in which group.
    """
    published = evidence.published
    source = evidence.source
    assert published is not None and source is not None
    quasi = [entry for entry in evidence.columns if entry.role == Role.QUASI]
    covers = []
    places = []
    axes = []
    for entry in quasi:
        values = number_values(source.frame[entry.name])
        whole = rebuild_hierarchy(entry, values.distinct)
        labels = published.labels[entry.name].distinct
        covered, coded = cover_labels(whole, labels, values, foreign=published.foreign)
        covers.append(covered)
        used, code = np.unique(coded.codes, return_inverse=True)
        places.append((coded.codes, NumberedColumn(code.reshape(-1), pl.Series(used))))
        one = np.empty(len(used), np.int64)
        one[code.reshape(-1)[np.unique(values.codes, return_index=True)[1]]] = np.arange(len(values))
        one_each = values.distinct.gather(one)
        alone = DistanceAxis(entry.name, np.zeros((0, 0), np.int64), [])
        asked = entry.name in compared
        axes.append(
            compute_distances(whole, one_each, labels.to_list(), matrices, published.foreign) if asked else alone
        )
    word = pack_columns([place for _, place in places], len(source.frame))
    points, row, at = np.unique(word, return_index=True, return_inverse=True)
    regions = join_boxes(covers, published.groups.labels, np.column_stack([codes[row] for codes, _ in places]))
    value, shown, names, sensitive = _count_sensitive_values(evidence, column)
    times = np.ones(len(at), np.int64) if source.times is None else source.times
    held = np.zeros((len(points), len(names)), np.int64)
    np.add.at(held, (at.reshape(-1), value), times)
    if (regions.covering() != 1).any():
        return None
    group = np.empty(len(points), np.int64)
    sizes = regions.stop - regions.start
    order = np.repeat(regions.start - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
    group[regions.order[order]] = np.repeat(regions.box, sizes)
    if (np.bincount(group, weights=held.sum(axis=1), minlength=len(shown)) != shown.sum(axis=1)).any():
        return None
    return GroupedPeople(
        axes, np.column_stack([place.codes[row] for _, place in places]), held, group, shown, names, sensitive
    )


def _count_sensitive_values(
    evidence: Evidence, column: str | None
) -> tuple[np.ndarray, np.ndarray, list[str | None], ColumnEntry | None]:
    """Return (value of each source row, published counts, names of the values).

    Several columns together are numbered combinations.
    """
    found = evidence.column(column)
    entries = [
        entry
        for entry in evidence.columns
        if entry.role == Role.SENSITIVE and (found.joint or entry.name == found.name)
    ]
    published = evidence.published
    source = evidence.source
    assert published is not None and source is not None
    ours = []
    theirs = []
    for entry in entries:
        one = number_values(published.frame[entry.name])
        other = number_values(source.frame[entry.name])
        both = number_values(format_texts(one.distinct, entry).append(format_texts(other.distinct, entry)))
        ours.append(NumberedColumn(both.codes[: len(one)][one.codes], both.distinct))
        theirs.append(NumberedColumn(both.codes[len(one) :][other.codes], both.distinct))
    word = np.concatenate([pack_columns(ours, len(published.frame)), pack_columns(theirs, len(source.frame))])
    names, code = np.unique(word, return_inverse=True)
    rows = len(published.frame)
    groups = np.unique(published.groups.word, return_inverse=True)[1].reshape(-1)
    times = np.ones(rows, np.int64) if published.times is None else published.times
    shown = np.zeros((len(published.groups), len(names)), np.int64)
    np.add.at(shown, (groups, code.reshape(-1)[:rows]), times)
    alone = len(entries) == 1
    texts = ours[0].distinct.gather(names).to_list() if alone else [str(name) for name in names]
    return code.reshape(-1)[rows:], shown, texts, entries[0] if alone else None


def compute_distances(
    entry: ColumnEntry,
    values: pl.Series,
    labels: Sequence[str | None],
    matrices: Mapping[str, Any],
    foreign: bool = False,
) -> DistanceAxis:
    """Compute distances by section II-C: by position over the range, by the level of the lowest common ancestor over
    the height, or as listed.

    A null is at distance 1 from all else.
    """
    texts = values.cast(pl.String).to_list()
    if entry.name in matrices:
        listed = matrices[entry.name]
        place: list[Any] = [None if text is None else listed["values"].index(text) for text in texts]
        rows = np.array([[Fraction(str(d)) for d in row] for row in listed["rows"]], object)
        at = [0 if one is None else one for one in place]
        return _make_distance_axis(entry.name, place, rows[np.ix_(at, at)], Fraction(1))
    column = make_scale(entry, labels, foreign=foreign)
    place = find_places(column, entry, values)
    if isinstance(column, LineScale):
        exact = [None if at is None else Fraction(str(at)) for at in place]
        known = [at for at in exact if at is not None] or [Fraction(0)]
        low, high = (Fraction(str(end)) for end in column.span or (min(known), max(known)))
        whole = find_common_denominator(known)
        scaled = [0 if at is None else int(at * whole) for at in exact]
        line = np.array(scaled, np.int64 if max(map(abs, scaled)) < 1 << 61 else object)
        reach = high - low if high > low else Fraction(1)
        return _make_distance_axis(entry.name, place, np.abs(line[:, None] - line[None, :]), reach * whole)
    paths = column.hierarchy.paths[[0 if leaf is None else leaf for leaf in place]]
    levels = (paths[:, None, :] != paths[None, :, :]).sum(axis=2)
    return _make_distance_axis(entry.name, place, levels, Fraction(column.hierarchy.height))


def _make_distance_axis(name: str, places: list[Any], parts: np.ndarray, unit: Fraction) -> DistanceAxis:
    """Make an axis whose distances are few different fractions; a column of one value has none."""
    null = np.array([place is None for place in places])
    distinct, which = np.unique(parts, return_inverse=True)
    levels = [Fraction(part) / unit for part in distinct.tolist()]
    which = np.where(null[:, None] | null[None, :], len(levels), which.reshape(parts.shape))
    where = np.arange(len(places))
    which[where, where] = len(levels) + 1
    return DistanceAxis(name, which, [*levels, Fraction(1), Fraction(0)])


MAX_DOUBLES_AT_ONCE = 1 << 23  # doubles held at once
BLOCK_PAIRS = 1 << 16  # pairs of points computed together: memory is reused and not allocated anew
GRID_PRODUCTS_PER_PAIR = 16  # products of a grid that cost as much as a pair of points
INFERENCE_ROUNDS = {"omega": 1, "balanced": 24}


def compute_kernel_weight(distance: Fraction, bandwidth: Any, kernel: str, same: bool) -> Any:
    """Compute the kernel at a distance, up to a constant: exact but for the Gaussian."""
    if same or bandwidth == "whole":
        return Fraction(1)
    if bandwidth == 0 or distance >= bandwidth:
        return Fraction(0)
    share = distance / bandwidth
    if kernel == "gaussian":
        return exp(-4.5 * float(share) ** 2)
    return {"uniform": Fraction(1), "triangular": 1 - share, "epanechnikov": 1 - share * share}[kernel]


def compute_kernel_weights(axis: DistanceAxis, bandwidth: Any, kernel: str) -> np.ndarray | None:
    """Compute the weights (values, values): every value has weight 1 for itself; None where only equal values have any."""
    if bandwidth == "whole":
        return np.ones((1, 1))
    if bandwidth == 0:
        return None
    each = np.array([float(compute_kernel_weight(d, bandwidth, kernel, False)) for d in axis.levels])
    found = each[axis.which]
    np.fill_diagonal(found, 1.0)
    return found


@dataclass(frozen=True, eq=False)
class BeliefTable:
    """Points sorted by group: the people at each (`held`), and each group's published counts (`shown`)."""

    codes: np.ndarray
    held: np.ndarray
    starts: np.ndarray
    shown: np.ndarray

    @cached_property
    def people(self) -> np.ndarray:
        return self.held.sum(axis=1)

    @cached_property
    def group(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.shown)), np.diff(np.append(self.starts, len(self.codes))))

    def pieces(self) -> Iterator[tuple[slice, slice]]:
        """Yield a few groups at a time, and their points."""
        width = max(MAX_DOUBLES_AT_ONCE // 8 // self.held.shape[1], 1)
        cut = np.unique(np.searchsorted(self.starts, np.arange(0, len(self.codes), width)))
        ends = np.append(self.starts, len(self.codes))
        for first, last in pairwise(np.unique(np.append(cut, len(self.shown)))):
            yield slice(first, last), slice(ends[first], ends[last])


def compute_priors(table: BeliefTable, each: list[np.ndarray | None]) -> tuple[np.ndarray, int]:
    """Compute equation 2 at every point, separately for every combination of the axes without neighbours.

    Also return how many terms a sum has.

    It is computed on a grid over the other axes, or from point to point where that is less work or the grid is too
    large.
    """
    whole = [w is not None and bool((w == 1).all()) for w in each]
    alone = [w is None or (not flat and np.count_nonzero(w) == len(w)) for w, flat in zip(each, whole, strict=True)]
    live = [a for a in range(len(each)) if not whole[a] and not alone[a]]
    near = [w for a in live if (w := each[a]) is not None]
    places = prod(len(w) for w in near)
    key = _number_combinations(table.codes[:, alone])
    held, values = np.bincount(key), table.held.shape[1]
    entries = np.bincount(key, weights=np.count_nonzero(table.held, axis=1))
    if GRID_PRODUCTS_PER_PAIR * (held @ entries) <= len(held) * places * values * sum(map(len, near)):
        return _normalize_rows(_compute_priors_by_point(table, near, table.codes[:, live], key)), int(held.max())
    if places > MAX_DOUBLES_AT_ONCE:
        return _normalize_rows(_compute_priors_by_pairs(table, near, table.codes[:, live], key)), int(held.max())
    return _normalize_rows(_compute_priors_by_grid(table, near, table.codes[:, live], key)), sum(
        len(w) + 4 for w in near
    )


def _number_combinations(codes: np.ndarray) -> np.ndarray:
    """Number each combination of codes, in their order."""
    key = np.zeros(len(codes), np.int64)
    room = 1
    for column in codes.T:
        size = int(column.max(initial=0)) + 1
        if room * size > 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            room = len(distinct)
        key = key * size + column
        room = room * size
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def _normalize_rows(found: np.ndarray) -> np.ndarray:
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _compute_priors_by_point(
    table: BeliefTable, each: list[np.ndarray], codes: np.ndarray, key: np.ndarray
) -> np.ndarray:
    """Compute the priors from every point and each point of its key, a few points at a time."""
    values = table.held.shape[1]
    found = np.empty(table.held.shape)
    order = np.argsort(key, kind="stable")
    codes = codes[order]
    held = table.held[order]
    key = key[order]
    holder, value = np.nonzero(held)
    first = np.searchsorted(key[holder], np.arange(int(key[-1]) + 2))  # the entries of each key
    times = held[holder, value].astype(float)
    length = np.diff(first)[key]
    until = np.cumsum(length)
    cuts = np.unique(np.searchsorted(until, np.arange(0, int(until[-1]), BLOCK_PAIRS)))
    for begin, end in pairwise(np.unique(np.append(cuts, len(key)))):
        many = length[begin:end]
        point = np.repeat(np.arange(begin, end), many)
        entry = np.arange(int(many.sum())) + np.repeat(first[key[begin:end]] - np.cumsum(many) + many, many)
        weight = times[entry]
        for a, w in enumerate(each):
            weight *= w.reshape(-1)[codes[point, a] * len(w) + codes[holder[entry], a]]
        at = (point - begin) * values + value[entry]
        found[order[begin:end]] = np.bincount(at, weight, (end - begin) * values).reshape(-1, values)
    return found


def _compute_priors_by_grid(
    table: BeliefTable, near: list[np.ndarray], codes: np.ndarray, key: np.ndarray
) -> np.ndarray:
    """Compute the priors by one matrix product for each axis, as many keys at once as fit."""
    grid = tuple(len(w) for w in near)
    places = prod(grid)
    values = table.held.shape[1]
    place = np.zeros(len(key), np.int64)
    for a, w in enumerate(near):
        place = place * len(w) + codes[:, a]
    found = np.zeros(table.held.shape)
    order = np.argsort(key, kind="stable")
    many = int(key.max()) + 1
    step = max(MAX_DOUBLES_AT_ONCE // (places * values), 1)
    wide = values if places * values <= MAX_DOUBLES_AT_ONCE else max(MAX_DOUBLES_AT_ONCE // places, 1)
    for begin in range(0, many, step):
        rows = order[np.searchsorted(key[order], begin) : np.searchsorted(key[order], begin + step)]
        for low in range(0, values, wide):
            found[rows, low : low + wide] = _multiply_on_grid(
                (key[rows] - begin) * places + place[rows],
                table.held[rows, low : low + wide],
                near,
                (min(step, many - begin), *grid),
            )
    return found


def _multiply_on_grid(
    place: np.ndarray, held: np.ndarray, each: list[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    many = prod(shape)
    columns = [np.bincount(place, weights=column, minlength=many) for column in held.T]
    cells = np.column_stack(columns).reshape(*shape, -1)
    for axis, w in enumerate(each, 1):
        cells = np.moveaxis(np.tensordot(w, cells, axes=(1, axis)), 0, axis)
    return cells.reshape(-1, held.shape[1])[place]


def _compute_priors_by_pairs(
    table: BeliefTable, each: list[np.ndarray], codes: np.ndarray, key: np.ndarray
) -> np.ndarray:
    """Compute the priors by pairs, a block of points against all others."""
    found = np.empty(table.held.shape)
    block = max(MAX_DOUBLES_AT_ONCE // len(codes), 1)
    for begin in range(0, len(codes), block):
        here = slice(begin, begin + block)
        weight = (key[here, None] == key[None, :]).astype(float)
        for a, w in enumerate(each):
            weight *= w[codes[here, a]][:, codes[:, a]]
        found[here] = weight @ table.held
    return found


def compute_posteriors(table: BeliefTable, prior: np.ndarray, groups: slice, points: slice, rounds: int) -> np.ndarray:
    """Compute the belief in each value at each point of some groups after seeing their values; the group's histogram
    where no value is possible.
    """
    p = prior[points]
    people = table.people[points]
    shown = table.shown[groups]
    begin = table.starts[groups] - points.start
    group = table.group[points] - groups.start
    share = people.astype(float)
    for _ in range(rounds):
        column = np.add.reduceat(p * share[:, None], begin, axis=0)
        ratio = np.divide(shown, column, out=np.zeros(column.shape), where=column > 0)
        scaled = p * ratio[group]
        row = scaled.sum(axis=1)
        share = np.divide(people, row, out=np.zeros(len(p)), where=row > 0)
    alone = shown / np.maximum(shown.sum(axis=1, keepdims=True), 1)
    return np.where(row[:, None] > 0, scaled / np.where(row > 0, row, 1)[:, None], alone[group])


def smooth_beliefs(belief: np.ndarray, matrix: np.ndarray | None) -> np.ndarray:
    if matrix is None:
        return belief
    found = belief @ matrix.T
    return found / found.sum(axis=1, keepdims=True)


def compute_divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the Jensen-Shannon divergence, row by row."""
    total = np.zeros(len(p))
    for one in (p, q):
        share = np.divide(2 * one, p + q, out=np.ones_like(one), where=one > 0)
        total += (one * np.log2(share)).sum(axis=1)
    return total / 2


def count_roundings(terms: int, points: Any, values: int, rounds: int) -> Any:
    """Bound the error of a group's risk in units of rounding, by its points; smoothed or not.

    Nothing subtracts on the way to a belief: its relative error is the number of roundings, to first order. The
    divergence moves by no more than the beliefs do. The bound is four times that: for numerator and denominator of a
    smoothed belief, and for all that is not of first order.
    """
    prior = 2 * terms + 3 * values + 80
    factor = rounds * (2 * prior + points + 2 * values + 16)
    return 4 * (2 * (prior + factor) + 16 * values + 256)


def bound_error(terms: int, points: np.ndarray, values: int, rounds: int) -> np.ndarray:
    """Return the same bound in doubles; see the test of it."""
    return np.asarray(count_roundings(terms, points, values, rounds) * 2.0**-53)
