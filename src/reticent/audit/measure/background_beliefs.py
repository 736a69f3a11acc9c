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
`locate_bucketed_people` does the same where groups are published by number beside exact quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from math import exp, prod
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import Evidence, NumberedColumn, number_values, pack_columns
from reticent.audit.row_matching import cover_labels, format_texts, number_alike
from reticent.data.columns import Role
from reticent.exact_arithmetic import find_common_denominator
from reticent.format.manifest import ColumnEntry
from reticent.labels.cover import find_places, join_boxes, rebuild_hierarchy
from reticent.labels.scale import LineScale, make_scale

MAX_DOUBLES_AT_ONCE = 1 << 23  # doubles held at once
INFERENCE_ROUNDS = {"omega": 1, "balanced": 24}


@dataclass(frozen=True, eq=False)
class DistanceAxis:
    """A column's values that occur, by number, and the exact distance of every two: `levels[level[i, j]]`."""

    name: str
    level: np.ndarray
    levels: list[Fraction]

    def get_distance(self, i: int, j: int) -> Fraction:
        return self.levels[self.level[i, j]]


@dataclass(frozen=True, eq=False)
class GroupedPeople:
    """People by point and group: `value_counts[point, value]` people are at `codes[point]` and in `group[point]`.

    `published_counts[group, value]` is what is published.
    """

    axes: list[DistanceAxis]
    codes: np.ndarray
    value_counts: np.ndarray
    group: np.ndarray
    published_counts: np.ndarray
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
    covers = []
    places = []  # the place of each source row under an axis's labels, and the same numbered without gaps
    axes = []
    for entry in evidence.columns:
        if entry.role != Role.QUASI:
            continue
        values = number_values(source.frame[entry.name])
        full_entry = rebuild_hierarchy(entry, values.distinct, values.times(source.times).tolist())
        labels = published.labels[entry.name].distinct
        cover, coded = cover_labels(full_entry, labels, values, foreign=published.foreign)
        covers.append(cover)
        used, code = np.unique(coded.codes, return_inverse=True)
        code = code.reshape(-1)
        places.append((coded.codes, NumberedColumn(code, pl.Series(used))))
        if entry.name in compared:
            value_of_code = np.empty(len(used), np.int64)
            value_of_code[code[np.unique(values.codes, return_index=True)[1]]] = np.arange(len(values))
            value_per_code = values.distinct.gather(value_of_code)
            axes.append(compute_distances(full_entry, value_per_code, labels.to_list(), matrices, published.foreign))
        else:
            axes.append(DistanceAxis(entry.name, np.zeros((0, 0), np.int64), []))
    word = pack_columns([place for _, place in places], len(source.frame))
    points, row, point_of_row = np.unique(word, return_index=True, return_inverse=True)
    regions = join_boxes(covers, published.groups.labels, np.column_stack([codes[row] for codes, _ in places]))
    value, published_counts, names, sensitive = _count_sensitive_values(evidence, column)
    if (regions.covering() != 1).any():
        return None
    group = np.empty(len(points), np.int64)
    covered_point, box = regions.pairs()
    group[covered_point] = box
    times = np.ones(len(point_of_row), np.int64) if source.times is None else source.times
    value_counts = np.zeros((len(points), len(names)), np.int64)
    np.add.at(value_counts, (point_of_row.reshape(-1), value), times)
    people_per_group = np.bincount(group, weights=value_counts.sum(axis=1), minlength=len(published_counts))
    if (people_per_group != published_counts.sum(axis=1)).any():
        return None
    return GroupedPeople(
        axes=axes,
        codes=np.column_stack([place.codes[row] for _, place in places]),
        value_counts=value_counts,
        group=group,
        published_counts=published_counts,
        values=names,
        entry=sensitive,
    )


def locate_bucketed_people(
    evidence: Evidence, column: str | None, matrices: Mapping[str, Any], compared: Container[str]
) -> GroupedPeople | None:
    """Locate the source's people in groups that are published by number, with distances for the columns `compared` alone.

    People of one combination of quasi-identifiers may be in several groups, and who of them is in which is not known.
    A prior depends on all people of a combination together, and a group's posterior on how many of them it has: any
    division of the combination's values among its groups gives the same beliefs, so the first of them is made. Where
    some of these people have no value, how many known ones a group has would depend on the division: None. None, too,
    where the published rows are not those of the source's people.
    """
    grouped = evidence.grouped
    source = evidence.source
    assert grouped is not None and source is not None
    rows = len(grouped.rows)
    axes = []
    numbered = []
    for entry in evidence.columns:
        if entry.role != Role.QUASI:
            continue
        values = number_values(source.frame[entry.name])
        full_entry = rebuild_hierarchy(entry, values.distinct, values.times(source.times).tolist())
        places, value_of_place = _number_places(full_entry, grouped.rows[entry.name], values)
        if places is None:
            return None
        numbered.append(places)
        if entry.name in compared:
            axes.append(compute_distances(full_entry, values.distinct.gather(value_of_place), [], matrices))
        else:
            axes.append(DistanceAxis(entry.name, np.zeros((0, 0), np.int64), []))
    word = pack_columns(numbered, rows + len(source.frame))
    _, first_row, point = np.unique(word, return_index=True, return_inverse=True)
    point = point.reshape(-1)
    sensitive = next(entry for entry in evidence.columns if entry.role == Role.SENSITIVE)
    to_text = partial(format_texts, entry=sensitive)
    listed = number_alike(grouped.values[sensitive.name], source.frame[sensitive.name], to_text, to_text)
    groups, group_of_row = np.unique(grouped.rows[grouped.group_column].to_numpy(), return_inverse=True)
    group_of_row = group_of_row.reshape(-1)
    listed_group = np.searchsorted(groups, grouped.values[grouped.group_column].to_numpy())
    published_counts = np.zeros((len(groups), len(listed)), np.int64)
    counts = grouped.values[grouped.count_column].to_numpy()
    np.add.at(published_counts, (listed_group, listed.codes[: len(counts)]), counts)
    times = np.ones(len(source.frame), np.int64) if source.times is None else source.times
    point_counts = np.zeros((len(first_row), len(listed)), np.int64)
    np.add.at(point_counts, (point[rows:], listed.codes[len(counts) :]), times)
    entries, entry_of_row = np.unique(point[:rows] * len(groups) + group_of_row, return_inverse=True)
    sizes = np.bincount(entry_of_row.reshape(-1), weights=grouped.times, minlength=len(entries)).astype(np.int64)
    entry_point = entries // len(groups)
    entry_group = entries % len(groups)
    people_of_point = np.bincount(entry_point, weights=sizes, minlength=len(first_row))
    people_of_group = np.bincount(entry_group, weights=sizes, minlength=len(groups))
    if (people_of_point != point_counts.sum(axis=1)).any() or (people_of_group != published_counts.sum(axis=1)).any():
        return None
    names = listed.distinct.to_list()
    is_divided = np.bincount(entry_point, minlength=len(first_row)) > 1
    if None in names and point_counts[is_divided, names.index(None)].any():
        return None
    return GroupedPeople(
        axes=axes,
        codes=np.column_stack([places.codes[first_row] for places in numbered])[entry_point],
        value_counts=_divide_people(point_counts, entry_point, sizes),
        group=entry_group,
        published_counts=published_counts,
        values=names,
        entry=sensitive,
    )


def compute_distances(
    entry: ColumnEntry,
    values: pl.Series,
    labels: Sequence[str | None],
    matrices: Mapping[str, Any],
    foreign: bool = False,
) -> DistanceAxis:
    """Compute the distances of values by section II-C.

    They are by position over the range, by the level of the lowest common ancestor over the height, or as listed. A
    null is at distance 1 from all else.
    """
    texts = values.cast(pl.String).to_list()
    if entry.name in matrices:
        listed = matrices[entry.name]
        place: list[Any] = [None if text is None else listed["values"].index(text) for text in texts]
        rows = np.array([[Fraction(str(d)) for d in row] for row in listed["rows"]], object)
        position = [0 if index is None else index for index in place]
        return _make_distance_axis(entry.name, place, rows[np.ix_(position, position)], Fraction(1))
    column = make_scale(entry, labels, foreign=foreign)
    place = find_places(column, entry, values)
    if isinstance(column, LineScale):
        exact = [None if position is None else Fraction(str(position)) for position in place]
        known_positions = [position for position in exact if position is not None] or [Fraction(0)]
        low, high = (Fraction(str(end)) for end in column.span or (min(known_positions), max(known_positions)))
        denominator = find_common_denominator(known_positions)
        scaled = [0 if position is None else int(position * denominator) for position in exact]
        line = np.array(scaled, np.int64 if max(map(abs, scaled)) < 1 << 61 else object)
        reach = high - low if high > low else Fraction(1)
        return _make_distance_axis(entry.name, place, np.abs(line[:, None] - line[None, :]), reach * denominator)
    paths = column.hierarchy.paths[[0 if leaf is None else leaf for leaf in place]]
    levels = (paths[:, None, :] != paths[None, :, :]).sum(axis=2)
    return _make_distance_axis(entry.name, place, levels, Fraction(column.hierarchy.height))


def compute_kernel_weight(distance: Fraction, bandwidth: Any, kernel: str, is_same: bool) -> Any:
    """Compute the kernel at a distance, up to a constant: exact but for the Gaussian."""
    if is_same or bandwidth == "whole":
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
    level_weights = np.array([float(compute_kernel_weight(d, bandwidth, kernel, False)) for d in axis.levels])
    weights = level_weights[axis.level]
    np.fill_diagonal(weights, 1.0)
    return weights


@dataclass(frozen=True, eq=False)
class BeliefTable:
    """Points sorted by group: the people at each (`value_counts`), and each group's published counts (`published_counts`)."""

    codes: np.ndarray
    value_counts: np.ndarray
    starts: np.ndarray
    published_counts: np.ndarray

    @cached_property
    def people(self) -> np.ndarray:
        return self.value_counts.sum(axis=1)

    @cached_property
    def group(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.published_counts)), np.diff(np.append(self.starts, len(self.codes))))

    def pieces(self) -> Iterator[tuple[slice, slice]]:
        """Yield a few groups at a time, and their points."""
        width = max(MAX_DOUBLES_AT_ONCE // 8 // self.value_counts.shape[1], 1)
        cut = np.unique(np.searchsorted(self.starts, np.arange(0, len(self.codes), width)))
        ends = np.append(self.starts, len(self.codes))
        for first, last in pairwise(np.unique(np.append(cut, len(self.published_counts)))):
            yield slice(first, last), slice(ends[first], ends[last])


@dataclass(frozen=True, slots=True)
class PriorLimits:
    """What decides which way priors are computed, and how much is in memory at once."""

    doubles: int = MAX_DOUBLES_AT_ONCE
    block_pairs: int = 1 << 16  # pairs of points computed together: memory is reused and not allocated anew
    grid_products_per_pair: int = 16  # products of a grid that cost as much as a pair of points


DEFAULT_PRIOR_LIMITS = PriorLimits()


def compute_priors(
    table: BeliefTable, weights: list[np.ndarray | None], limits: PriorLimits = DEFAULT_PRIOR_LIMITS
) -> tuple[np.ndarray, int]:
    """Compute equation 2 at every point; also return how many terms a sum has."""
    sums, terms = sum_weights(table, weights, limits)
    return np.asarray(sums / sums.sum(axis=1, keepdims=True)), terms


def sum_weights(
    table: BeliefTable, weights: list[np.ndarray | None], limits: PriorLimits = DEFAULT_PRIOR_LIMITS
) -> tuple[np.ndarray, int]:
    """Compute the numerators of equation 2 at every point, separately for every combination of the axes without neighbours.

    It is computed on a grid over the other axes, or from point to point where that is less work or the grid is too
    large. Also return how many terms a sum has.
    """
    is_whole = [w is not None and bool((w == 1).all()) for w in weights]
    is_alone = [
        w is None or (not flat and np.count_nonzero(w) == len(w)) for w, flat in zip(weights, is_whole, strict=True)
    ]
    live = [axis for axis in range(len(weights)) if not is_whole[axis] and not is_alone[axis]]
    near = [w for axis in live if (w := weights[axis]) is not None]
    places = prod(len(w) for w in near)
    values = table.value_counts.shape[1]
    codes = table.codes[:, live]
    key = _number_combinations(table.codes[:, is_alone])
    points_per_key = np.bincount(key)
    entries_per_key = np.bincount(key, weights=np.count_nonzero(table.value_counts, axis=1))
    grid_products = len(points_per_key) * places * values * sum(map(len, near))
    if limits.grid_products_per_pair * (points_per_key @ entries_per_key) <= grid_products:
        return _compute_priors_by_point(table, near, codes, key, limits), int(points_per_key.max())
    if places > limits.doubles:
        return _compute_priors_by_pairs(table, near, codes, key, limits), int(points_per_key.max())
    terms = sum(len(w) + 4 for w in near)
    return _compute_priors_by_grid(table, near, codes, key, limits), terms


def compute_posteriors(table: BeliefTable, prior: np.ndarray, groups: slice, points: slice, rounds: int) -> np.ndarray:
    """Compute the belief in each value at each point of some groups after seeing their values.

    Where no value is possible it is the group's histogram.
    """
    p = prior[points]
    people = table.people[points]
    published = table.published_counts[groups]
    begin = table.starts[groups] - points.start
    group = table.group[points] - groups.start
    share = people.astype(float)
    for _ in range(rounds):
        column = np.add.reduceat(p * share[:, None], begin, axis=0)
        ratio = np.divide(published, column, out=np.zeros(column.shape), where=column > 0)
        scaled = p * ratio[group]
        row = scaled.sum(axis=1)
        share = np.divide(people, row, out=np.zeros(len(p)), where=row > 0)
    alone = published / np.maximum(published.sum(axis=1, keepdims=True), 1)
    return np.where(row[:, None] > 0, scaled / np.where(row > 0, row, 1)[:, None], alone[group])


def smooth_beliefs(belief: np.ndarray, matrix: np.ndarray | None) -> np.ndarray:
    if matrix is None:
        return belief
    smoothed = belief @ matrix.T
    return smoothed / smoothed.sum(axis=1, keepdims=True)


def compute_divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the Jensen-Shannon divergence, row by row."""
    total = np.zeros(len(p))
    for belief in (p, q):
        share = np.divide(2 * belief, p + q, out=np.ones_like(belief), where=belief > 0)
        total += (belief * np.log2(share)).sum(axis=1)
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


def _count_sensitive_values(
    evidence: Evidence, column: str | None
) -> tuple[np.ndarray, np.ndarray, list[str | None], ColumnEntry | None]:
    """Return (value of each source row, published counts, names of the values).

    Several columns together are numbered combinations.
    """
    sensitive = evidence.column(column)
    entries = [
        entry
        for entry in evidence.columns
        if entry.role == Role.SENSITIVE and (sensitive.joint or entry.name == sensitive.name)
    ]
    published = evidence.published
    source = evidence.source
    assert published is not None and source is not None
    columns = []
    for entry in entries:
        to_text = partial(format_texts, entry=entry)
        columns.append(number_alike(published.frame[entry.name], source.frame[entry.name], to_text, to_text))
    rows = len(published.frame)
    names, code = np.unique(pack_columns(columns, rows + len(source.frame)), return_inverse=True)
    groups = np.unique(published.groups.word, return_inverse=True)[1].reshape(-1)
    times = np.ones(rows, np.int64) if published.times is None else published.times
    published_counts = np.zeros((len(published.groups), len(names)), np.int64)
    np.add.at(published_counts, (groups, code.reshape(-1)[:rows]), times)
    is_single = len(entries) == 1
    texts = columns[0].distinct.gather(names).to_list() if is_single else [str(name) for name in names]
    return code.reshape(-1)[rows:], published_counts, texts, entries[0] if is_single else None


def _make_distance_axis(name: str, places: list[Any], parts: np.ndarray, unit: Fraction) -> DistanceAxis:
    """Make an axis whose distances are few different fractions; a column of one value has none."""
    null = np.array([place is None for place in places])
    distinct, level = np.unique(parts, return_inverse=True)
    levels = [Fraction(part) / unit for part in distinct.tolist()]
    level = np.where(null[:, None] | null[None, :], len(levels), level.reshape(parts.shape))
    diagonal = np.arange(len(places))
    level[diagonal, diagonal] = len(levels) + 1
    return DistanceAxis(name, level, [*levels, Fraction(1), Fraction(0)])


def _number_combinations(codes: np.ndarray) -> np.ndarray:
    """Number each combination of codes, in their order."""
    key = np.zeros(len(codes), np.int64)
    word_limit = 1
    for column in codes.T:
        size = int(column.max(initial=0)) + 1
        if word_limit * size > 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            word_limit = len(distinct)
        key = key * size + column
        word_limit = word_limit * size
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def _number_places(
    entry: ColumnEntry, published: pl.Series, source: NumberedColumn
) -> tuple[NumberedColumn | None, np.ndarray]:
    """Number published and source values alike by their place in the domain; published rows come first.

    Also return a distinct source value of each place. None where a published value is none of the source's.
    """
    scale = make_scale(entry)
    ours = number_values(published)
    places = find_places(scale, entry, source.distinct)
    number_of_place: dict[Any, int] = {}
    value_of_place = []
    for value, place in enumerate(places):
        if place not in number_of_place:
            number_of_place[place] = len(number_of_place)
            value_of_place.append(value)
    our_places = [number_of_place.get(place, -1) for place in find_places(scale, entry, ours.distinct)]
    if -1 in our_places:
        return None, np.zeros(0, np.int64)
    our_codes = np.array(our_places, np.int64)[ours.codes]
    their_codes = np.array([number_of_place[place] for place in places], np.int64)[source.codes]
    numbered = NumberedColumn(np.concatenate([our_codes, their_codes]), pl.Series(range(len(number_of_place))))
    return numbered, np.array(value_of_place, np.int64)


def _divide_people(point_counts: np.ndarray, entry_point: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Divide each point's people, in the order of their values, among the point's entries, as many as each has."""
    ends = np.cumsum(sizes)
    first_entry = np.searchsorted(entry_point, entry_point)
    begin = ends - sizes - (ends - sizes)[first_entry]
    value_ends = np.cumsum(point_counts, axis=1)[entry_point]
    value_begins = value_ends - point_counts[entry_point]
    lower = np.maximum(value_begins, begin[:, None])
    upper = np.minimum(value_ends, (begin + sizes)[:, None])
    return np.maximum(upper - lower, 0)


def _compute_priors_by_point(
    table: BeliefTable, weights: list[np.ndarray], codes: np.ndarray, key: np.ndarray, limits: PriorLimits
) -> np.ndarray:
    """Compute the priors from every point and each point of its key, a few points at a time."""
    values = table.value_counts.shape[1]
    priors = np.empty(table.value_counts.shape)
    order = np.argsort(key, kind="stable")
    codes = codes[order]
    value_counts = table.value_counts[order]
    key = key[order]
    holder, value = np.nonzero(value_counts)
    first = np.searchsorted(key[holder], np.arange(int(key[-1]) + 2))  # the entries of each key
    times = value_counts[holder, value].astype(float)
    length = np.diff(first)[key]
    until = np.cumsum(length)
    cuts = np.unique(np.searchsorted(until, np.arange(0, int(until[-1]), limits.block_pairs)))
    for begin, end in pairwise(np.unique(np.append(cuts, len(key)))):
        lengths = length[begin:end]
        point = np.repeat(np.arange(begin, end), lengths)
        entry = np.arange(int(lengths.sum())) + np.repeat(first[key[begin:end]] - np.cumsum(lengths) + lengths, lengths)
        weight = times[entry]
        for a, w in enumerate(weights):
            weight *= w.reshape(-1)[codes[point, a] * len(w) + codes[holder[entry], a]]
        cell = (point - begin) * values + value[entry]
        priors[order[begin:end]] = np.bincount(cell, weight, (end - begin) * values).reshape(-1, values)
    return priors


def _compute_priors_by_pairs(
    table: BeliefTable, weights: list[np.ndarray], codes: np.ndarray, key: np.ndarray, limits: PriorLimits
) -> np.ndarray:
    """Compute the priors by pairs, a block of points against all others."""
    priors = np.empty(table.value_counts.shape)
    block = max(limits.doubles // len(codes), 1)
    for begin in range(0, len(codes), block):
        rows = slice(begin, begin + block)
        weight = (key[rows, None] == key[None, :]).astype(float)
        for a, w in enumerate(weights):
            weight *= w[codes[rows, a]][:, codes[:, a]]
        priors[rows] = weight @ table.value_counts
    return priors


def _compute_priors_by_grid(
    table: BeliefTable, near: list[np.ndarray], codes: np.ndarray, key: np.ndarray, limits: PriorLimits
) -> np.ndarray:
    """Compute the priors by one matrix product for each axis, as many keys at once as fit."""
    grid = tuple(len(w) for w in near)
    places = prod(grid)
    values = table.value_counts.shape[1]
    place = np.zeros(len(key), np.int64)
    for a, w in enumerate(near):
        place = place * len(w) + codes[:, a]
    priors = np.zeros(table.value_counts.shape)
    order = np.argsort(key, kind="stable")
    keys = int(key.max()) + 1
    step = max(limits.doubles // (places * values), 1)
    wide = values if places * values <= limits.doubles else max(limits.doubles // places, 1)
    for begin in range(0, keys, step):
        rows = order[np.searchsorted(key[order], begin) : np.searchsorted(key[order], begin + step)]
        for low in range(0, values, wide):
            priors[rows, low : low + wide] = _multiply_on_grid(
                (key[rows] - begin) * places + place[rows],
                table.value_counts[rows, low : low + wide],
                near,
                (min(step, keys - begin), *grid),
            )
    return priors


def _multiply_on_grid(
    place: np.ndarray, value_counts: np.ndarray, weights: list[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    cell_count = prod(shape)
    columns = [np.bincount(place, weights=column, minlength=cell_count) for column in value_counts.T]
    cells = np.column_stack(columns).reshape(*shape, -1)
    for axis, w in enumerate(weights, 1):
        cells = np.moveaxis(np.tensordot(w, cells, axes=(1, axis)), 0, axis)
    return cells.reshape(-1, value_counts.shape[1])[place]
