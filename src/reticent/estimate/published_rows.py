"""Published rows as axes of a question: exact columns by the values they show, labels by what they cover.

`PublishedRows` makes a `ColumnAxis` of each column that a question names.  `make_row_types` applies a question to the
rows: it takes the axes that the question uses, and counts the rows that are alike on all of them (`RowTypes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl

from reticent.data.label_grammar import ANY_LABEL
from reticent.data.parsing import parse_texts
from reticent.errors import BundleDamaged, RequestError
from reticent.estimate.condition import (
    ENDLESS,
    IS_LIKE,
    Atom,
    ColumnAxis,
    Condition,
    LineLabels,
    Truth,
    count_steps,
    has_dates,
    list_atoms,
    list_constants,
    make_value_axis,
    match_texts,
)
from reticent.estimate.density import LabelGroups, RangeShares, fit_range_shares, fit_value_weights
from reticent.estimate.source_values import (
    AS_PUBLISHED_PREFIX,
    expand_by_likeness,
    find_limits,
    is_closed,
    list_other_values,
    make_coded_axis,
    make_line_axis,
    widen_coded_ends,
)
from reticent.format.manifest import ColumnEntry
from reticent.kernels.group_order import order_by_group
from reticent.labels.scale import Extent, LineScale, TreeScale, make_scale

MAX_COUNTED_SPAN = 1 << 23  # how far apart numbers lie that are counted without sorting
MAX_LISTED_TEXTS = 1 << 16  # texts that are numbered by a list of them
MAX_CACHED_AXES = 16  # axes that are kept for the next question
Key = TypeVar("Key")
Cached = TypeVar("Cached")
LABEL_ERRORS = (ValueError, IndexError, OverflowError, RecursionError, pl.exceptions.PolarsError)
"""What reading a forged label may raise."""
_DECIMALS_PATTERN = re.compile(r"\.(\d+)(?:[eE]([-+]?\d{1,3}))?")
MAX_CACHED_COMBINATIONS = 8  # sets of columns whose combinations are kept for the next question


def get_or_make(cache: dict[Key, Cached], key: Key, max_entries: int, make: Callable[[], Cached]) -> Cached:
    """Return what was made for a key before, or make it; a cache of `most` entries drops those that were made first."""
    entry = cache.get(key)
    if entry is None:
        entry = make()
        while len(cache) >= max_entries:
            cache.pop(next(iter(cache)), None)
        cache[key] = entry
    return entry


@dataclass(frozen=True, eq=False)
class LabelCombinations:
    """The combination of labels of each row, and a row that has each; `tallies` are counts by combination, by name."""

    of_row: np.ndarray
    first: np.ndarray
    tallies: dict[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def counts(self) -> np.ndarray:
        return np.bincount(self.of_row, minlength=len(self.first)).astype(np.int64)

    @cached_property
    def listed(self) -> PlaceIndex:
        return PlaceIndex.from_numbers(self.of_row, len(self.first))


@dataclass(frozen=True, eq=False)
class PlaceIndex:
    """An index of places by their number: those of number n are order[until[n]] .. order[until[n + 1]]."""

    order: np.ndarray
    until: np.ndarray

    @classmethod
    def from_numbers(cls, number: np.ndarray, number_count: int) -> PlaceIndex:
        until = np.append(0, np.cumsum(np.bincount(number, minlength=number_count)))
        order = np.empty(len(number), np.int64)
        order_by_group(np.arange(len(number)), np.require(number, np.int64, ["C", "W"]), until[:-1].copy(), order)
        return cls(order, until)

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """Return all places that have one of these numbers, one number after the other."""
        size = self.until[numbers + 1] - self.until[numbers]
        before = np.cumsum(size) - size
        return self.order[np.arange(int(size.sum())) + np.repeat(self.until[numbers] - before, size)]


@dataclass(eq=False)
class PublishedRows:
    """The rows of a release: columns in `labels` are published as labels, the others are exact.  Codes are computed once a column.

    `coded` are the columns of which a published value may stand for others of the source; without it, values are taken
    as they are published.  `combined` are the combinations of labels, by columns.  `people` is the number of rows of
    the source for which each row stands.
    """

    frame: pl.DataFrame
    labels: dict[str, ColumnEntry]
    numbered: dict[str, tuple[np.ndarray, pl.Series]] = field(default_factory=dict)
    combined: dict[tuple[str, ...], LabelCombinations] = field(default_factory=dict)
    axes: dict[tuple[str, tuple[Atom, ...]], ColumnAxis] = field(default_factory=dict)
    coded: dict[str, ColumnEntry] = field(default_factory=dict)
    people: np.ndarray | None = None
    absent: dict[str, float] = field(default_factory=dict)
    """Of columns of ranges, the share of `*` that is taken to be missing."""
    density: str = "even"
    """How rows are taken to lie within their labels: "even", or as all labels together make likely: "likelihood"."""
    range_shares: dict[str, RangeShares | None] = field(default_factory=dict)
    value_weights: dict[str, np.ndarray] = field(default_factory=dict)
    """What was fitted of columns of labels, by their names."""

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def as_published(self) -> PublishedRows:
        """The same rows, with values taken as they are published."""
        if not self.coded:
            return self
        return PublishedRows(
            self.frame,
            self.labels,
            self.numbered,
            self.combined,
            people=self.people,
            density=self.density,
            range_shares=self.range_shares,
            value_weights=self.value_weights,
        )

    def codes(self, name: str) -> tuple[np.ndarray, pl.Series]:
        """Return the number of each row's label or value, and the distinct ones."""
        if name not in self.numbered:
            column = self.frame[name]
            self.numbered[name] = _encode_integers(column) if _is_narrow(column) else _encode_texts(column)
        return self.numbered[name]

    def axis(self, name: str, atoms: Sequence[Atom]) -> ColumnAxis:
        return self.get_cached_axis(name, atoms, lambda: self._make_axis(name, atoms))

    def get_cached_axis(self, name: str, atoms: Sequence[Atom], make: Callable[[], ColumnAxis]) -> ColumnAxis:
        """Return an axis from the cache if the question before needed it too; GROUP BY repeats the same for most columns."""
        return get_or_make(self.axes, (name, tuple(atoms)), MAX_CACHED_AXES, make)

    def _make_axis(self, name: str, atoms: Sequence[Atom]) -> ColumnAxis:
        column_name = name.removeprefix(AS_PUBLISHED_PREFIX)
        code, distinct = self.codes(column_name)
        if column_name not in self.labels:
            if name in self.coded:
                return make_coded_axis(self.coded[name], code, distinct, atoms)
            return make_value_axis(name, code, distinct, atoms)
        entry = self.labels[name]
        texts = distinct.to_list()
        try:
            column = make_scale(entry, texts)
            extents = column.read(texts)
            absent = self._get_missing_share(entry) if isinstance(column, LineScale) else 0.0
            if isinstance(column, LineScale) and column.kind != "ordinal":
                reading = _LineReading(name in self.coded, absent, _find_step(texts), self._share_ranges)
                return _make_axis_of_line(entry, code, column, extents, atoms, reading)
            return _make_axis_of_members(
                entry, code, column, extents, atoms, _MemberReading(absent, self._weigh_members)
            )
        except LABEL_ERRORS:  # their words may quote a label
            raise BundleDamaged(f"A label of column {name!r} cannot be read by the manifest.") from None

    def _get_missing_share(self, entry: ColumnEntry) -> float:
        """Return the share of rows labelled `*` that are assumed missing: one of each group, for only then a range prints so.

        A hierarchy prints `*` for other reasons too: there a missing value counts only if a label is missing.
        """
        if entry.name not in self.absent:
            self.absent[entry.name] = self._count_missing_share(entry)
        return self.absent[entry.name]

    def _share_ranges(
        self, entry: ColumnEntry, first: np.ndarray, last: np.ndarray, is_range: np.ndarray
    ) -> RangeShares | None:
        """Share the rows of each label on a line out by the density; None if they are spread evenly."""
        if self.density == "even":
            return None
        if entry.name not in self.range_shares:
            has_known_ends = entry.labels is None and entry.hierarchy is None
            self.range_shares[entry.name] = fit_range_shares(
                first, last, is_range, self._count_groups(entry.name), has_known_ends=has_known_ends
            )
        return self.range_shares[entry.name]

    def _weigh_members(
        self, entry: ColumnEntry, extents: Sequence[Extent], pairs: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Weigh (label, value, weight) by the density: known values of nodes and sets, or ordered ones of ranges; `*` stays even."""
        label, _, weight = pairs
        if self.density == "even" or not len(label):
            return weight
        if entry.name not in self.value_weights:
            self.value_weights[entry.name] = self._fit_member_weights(entry, extents, pairs)
        return self.value_weights[entry.name]

    def _fit_member_weights(
        self, entry: ColumnEntry, extents: Sequence[Extent], pairs: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> np.ndarray:
        label, value, weight = pairs
        code, distinct = self.codes(entry.name)
        rows = np.bincount(code, weights=self.people, minlength=len(distinct))
        is_range = np.array([extent.form == "range" for extent in extents], bool)
        if not is_range.any():
            is_named = np.zeros(len(extents), bool)
            is_named[label] = True
            return fit_value_weights(label, value, weight, rows * is_named, int(value.max()) + 1)
        ends = [(extent.lower, extent.upper) if extent.form == "range" else (0, 0) for extent in extents]
        first, last = (np.array(side, np.int64) for side in zip(*ends, strict=True))
        shares = self._share_ranges(entry, first, last, is_range)
        return weight if shares is None else shares.measure(label, value, value)[0]

    def _count_groups(self, name: str) -> LabelGroups:
        """Count the groups of rows, which read the same in all labels, by their label in one column and their rows."""
        code, _ = self.codes(name)
        row_of_group, size = self._groups
        groups = pl.DataFrame({"label": code[row_of_group], "size": size})
        counted = groups.group_by("label", "size").len("times").sort("label", "size")
        label, size, times = (counted[column].cast(pl.Int64).to_numpy() for column in ("label", "size", "times"))
        return LabelGroups(label, size, times)

    @cached_property
    def _groups(self) -> tuple[np.ndarray, np.ndarray]:
        """A row of each distinct combination of all labels, and how many rows have it; combinations are told apart by a hash."""
        labels = self.frame.select(list(self.labels))
        people = np.ones(len(labels), np.int64) if self.people is None else self.people
        rows = pl.DataFrame({"hash": labels.hash_rows(), "row": np.arange(len(labels)), "people": people})
        groups = rows.group_by("hash").agg(pl.col("row").min(), pl.col("people").sum())
        return groups["row"].to_numpy(), groups["people"].cast(pl.Int64).to_numpy()

    def _count_missing_share(self, entry: ColumnEntry) -> float:
        if entry.hierarchy is not None and not entry.null:
            return 0.0
        anything = (self.frame[entry.name] == ANY_LABEL).fill_null(False)
        rows = int(anything.sum()) if self.people is None else int(self.people[anything.to_numpy()].sum())
        if not rows:
            return 0.0
        return min(self.frame.filter(anything).select(list(self.labels)).n_unique() / rows, 1.0)


@dataclass(frozen=True, eq=False)
class RowTypes:
    """Row types of a question: `cells` are the labels of each distinct combination, by axis; `of_row` is the combination of each row."""

    axes: tuple[ColumnAxis, ...]
    cells: dict[str, np.ndarray]
    combined: LabelCombinations

    @property
    def of_row(self) -> np.ndarray:
        return self.combined.of_row

    @property
    def many(self) -> int:
        return len(self.combined.first)

    def count_rows(self, weight: np.ndarray | None = None) -> np.ndarray:
        if weight is None:
            return self.combined.counts
        counts = np.bincount(self.of_row, weights=weight, minlength=self.many)
        return counts.astype(np.int64) if weight.dtype.kind == "i" else counts


def group_atoms_by_column(condition: Condition | None) -> dict[str, list[Atom]]:
    atoms_by_column: dict[str, list[Atom]] = {}
    for atom in dict.fromkeys(list_atoms(condition)):
        atoms_by_column.setdefault(atom.column, []).append(atom)
    return atoms_by_column


def make_row_types(rows: PublishedRows, condition: Condition | None, names: Sequence[str]) -> RowTypes:
    """Make the row types of the columns in `names`."""
    atoms_by_column = group_atoms_by_column(condition)
    axes = tuple(rows.axis(name, atoms_by_column.get(name, [])) for name in names)
    combined = get_or_make(
        rows.combined, tuple(names), MAX_CACHED_COMBINATIONS, lambda: _combine_labels(axes, len(rows))
    )
    return RowTypes(axes, {axis.name: axis.code[combined.first] for axis in axes}, combined)


def compact_codes(codes: np.ndarray, code_limit: int) -> tuple[np.ndarray, int]:
    """Replace numbers below `room` by their places among the distinct ones; return these and their number.

    The distinct numbers are found by counting if `room` is small enough, otherwise by sorting.
    """
    if code_limit > MAX_COUNTED_SPAN:
        distinct, place = np.unique(codes, return_inverse=True)
        return place.reshape(-1), len(distinct)
    is_present = np.zeros(max(code_limit, 1), bool)
    is_present[codes] = True
    place = np.cumsum(is_present) - 1
    return place[codes], int(is_present.sum())


def _encode_integers(values: pl.Series) -> tuple[np.ndarray, pl.Series]:
    number = values.cast(pl.Int64).to_numpy()
    lowest = int(number.min())
    is_present = np.zeros(int(number.max()) - lowest + 1, bool)
    is_present[number - lowest] = True
    distinct = pl.Series(values.name, np.flatnonzero(is_present) + lowest).cast(values.dtype)
    return (np.cumsum(is_present) - 1)[number - lowest], distinct


def _is_narrow(values: pl.Series) -> bool:
    """Tell whether values are whole numbers, none missing, close enough together to be counted."""
    if (
        not values.dtype.is_integer()
        or values.dtype in (pl.UInt64, pl.Int128)
        or values.null_count()
        or not len(values)
    ):
        return False
    return int(cast("int", values.max())) - int(cast("int", values.min())) < MAX_COUNTED_SPAN


def _encode_texts(values: pl.Series) -> tuple[np.ndarray, pl.Series]:
    """Encode texts, if there are few, by their places in a list, which is half the work of looking each one up."""
    distinct = values.unique(maintain_order=True)
    if values.dtype != pl.String or len(distinct) > MAX_LISTED_TEXTS:
        return _encode_by_join(values, distinct)
    texts = distinct.drop_nulls()
    number = values.cast(pl.Enum(texts)).to_physical().cast(pl.Int64)
    return number.fill_null(len(texts)).to_numpy(), pl.concat([texts, distinct.filter(distinct.is_null())])


@dataclass(frozen=True, slots=True)
class _LineReading:
    """How labels on a line are read.

    `coded`: values at a top or bottom stand for those beyond; `absent`: the share of `*` that is missing; `step`: the
    assumed distance of decimals; `share_ranges`: how rows are shared out within their labels.
    """

    coded: bool
    absent: float
    step: float
    share_ranges: Callable[[ColumnEntry, np.ndarray, np.ndarray, np.ndarray], RangeShares | None]


@dataclass(frozen=True, slots=True)
class _MemberReading:
    """How labels that list values are read: the share of `*` that is missing, and how the others' values are weighed."""

    absent: float
    weigh: Callable[[ColumnEntry, Sequence[Extent], tuple[np.ndarray, np.ndarray, np.ndarray]], np.ndarray]


def _find_step(labels: Iterable[str | None]) -> float:
    """Find the assumed distance of decimals: one unit of the last digit that any label shows."""
    digits = 0
    for label in labels:
        for decimals, power in _DECIMALS_PATTERN.findall(label or ""):
            digits = max(digits, len(decimals) - int(power or 0))
    return float(10.0 ** -min(digits, 15))


def _make_axis_of_line(
    entry: ColumnEntry,
    code: np.ndarray,
    line: LineScale,
    extents: Sequence[Extent],
    atoms: Sequence[Atom],
    reading: _LineReading,
) -> ColumnAxis:
    name = entry.name
    is_whole = line.kind == "date" or line.dtype.startswith(("Int", "UInt"))
    if line.dtype == "UInt64" and any(e.form == "range" and 1 << 63 <= e.upper < 1 << 64 for e in extents):
        raise RequestError(
            f"Column {name!r} has ranges of whole numbers beyond 2^63, of which questions are not answered.",
            attempt="a question about other columns.",
        )
    infinity = ENDLESS if is_whole else np.inf
    limits = find_limits(entry if reading.coded else entry.with_changes(top=None, bottom=None))
    lowest = -infinity if limits[0] is None else limits[0]
    highest = infinity if limits[1] is None else limits[1]
    kind = np.int64 if is_whole else np.float64
    ends = [(e.lower, e.upper) if e.form == "range" else (lowest, highest) for e in extents]
    lower, upper = (np.array(side, kind) for side in zip(*ends, strict=True)) if ends else (np.empty(0, kind),) * 2
    spread = line.span or (lowest, highest)
    begins = [(e.lower, e.upper) if e.form == "range" else spread for e in extents]
    begin, end = (np.array(side, kind) for side in zip(*begins, strict=True)) if begins else (np.empty(0, kind),) * 2
    if line.dtype == "Float32":  # an end that prints as 0.3 is the number of this type that does
        lower, upper = (side.astype(np.float32).astype(np.float64) for side in (lower, upper))
    if line.dtype.startswith("Decimal"):
        lower = np.nextafter(lower, -np.inf)
        upper = np.nextafter(upper, np.inf)
    if reading.coded:
        lower, upper = widen_coded_ends(entry, lower, upper)
    first, last = (begin, end) if is_whole else count_steps(begin, end, reading.step)
    is_range = np.array([e.form == "range" for e in extents], bool)
    stretches = LineLabels(
        lower,
        upper,
        np.array([e.form == "null" for e in extents], bool),
        np.array([e.form == "any" for e in extents], bool),
        is_whole,
        begin,
        end,
        reading.absent,
        None if is_whole else reading.step,
        reading.share_ranges(entry, first, np.maximum(first, last), is_range) if is_range.any() else None,
    )
    return make_line_axis(entry, name, code, stretches, atoms)


def _make_axis_of_members(
    entry: ColumnEntry,
    code: np.ndarray,
    column: LineScale | TreeScale,
    extents: Sequence[Extent],
    atoms: Sequence[Atom],
    reading: _MemberReading,
) -> ColumnAxis:
    known_values = parse_texts(
        list(entry.order or ()) if isinstance(column, LineScale) else column.values(extents), entry.dtype
    )
    others = [] if isinstance(column, LineScale) or is_closed(entry) else list_other_values(known_values, atoms)
    likeness_of_others: dict[Atom, Truth] = {}
    if others and any(atom.test == IS_LIKE for atom in atoms):
        others, likeness_of_others = expand_by_likeness(entry, others, atoms)
    values = pl.concat([known_values, pl.Series([*others, None], dtype=known_values.dtype, strict=False)])
    is_built_from_data = entry.built is not None
    any_weights = _weigh_any_label(
        entry, len(known_values), others, atoms, reading.absent if isinstance(column, LineScale) else None
    )
    everything = np.arange(len(values))
    members = [_list_members(extent, everything, is_built_from_data) for extent in extents]
    label = np.repeat(np.arange(len(members)), [len(member_values) for member_values in members])
    value = np.fromiter(chain.from_iterable(members), np.int64, len(label))
    weight = np.ones(len(label))
    start = 0
    for extent, member_values in zip(extents, members, strict=True):
        if extent.form == "any":
            weight[start : start + len(member_values)] = any_weights
        elif is_built_from_data and extent.form == "leaves" and len(extent.leaves) > 1:
            weight[start : start + len(member_values)] = np.isin(member_values, np.array(extent.leaves, np.int64))
        start += len(member_values)
    names_values = np.array([extent.form in ("leaves", "range") for extent in extents], bool)
    is_weighed = (value < len(known_values)) & (names_values[label] if len(extents) else False)
    weight[is_weighed] = reading.weigh(entry, extents, (label[is_weighed], value[is_weighed], weight[is_weighed]))
    endless: tuple[int | None, int | None] = (None, None)
    if others and (known_values.dtype.is_numeric() or has_dates(known_values.dtype)):
        endless = (len(known_values), len(known_values) + len(others) - 1)
    known_truths = {
        atom: _judge_likeness(atom, known_values, truth_of_others)
        for atom, truth_of_others in likeness_of_others.items()
    }
    return make_value_axis(
        entry.name, code, values, atoms, (label, value, len(members)), weight, endless, known_truths=known_truths
    )


def _judge_likeness(atom: Atom, known_values: pl.Series, truth_of_others: Truth) -> Truth:
    """Return where a pattern of LIKE is true and false of the known values, of the others, and of a missing one."""
    is_like = match_texts(known_values.to_list(), atom.value)
    true, false = truth_of_others
    return np.concatenate([is_like, true, [False]]), np.concatenate([~is_like, false, [False]])


def _combine_labels(axes: Sequence[ColumnAxis], rows: int) -> LabelCombinations:
    code = np.zeros(rows, np.int64)
    code_limit = 1
    for axis in axes:
        if code_limit * len(axis.may) > MAX_COUNTED_SPAN:
            code, code_limit = compact_codes(code, code_limit)
        code = code * len(axis.may) + axis.code
        code_limit = code_limit * len(axis.may)
    of_row, combination_count = compact_codes(code, code_limit)
    first = np.zeros(combination_count, np.int64)
    first[of_row] = np.arange(rows)
    return LabelCombinations(of_row, first)


def _encode_by_join(values: pl.Series, distinct: pl.Series) -> tuple[np.ndarray, pl.Series]:
    number = pl.DataFrame({"shown": distinct, "number": np.arange(len(distinct), dtype=np.int64)})
    rows = pl.DataFrame({"shown": values}).join(number, on="shown", how="left", nulls_equal=True, maintain_order="left")
    return rows["number"].to_numpy(), distinct


def _weigh_any_label(
    entry: ColumnEntry, known_count: int, others: Sequence[Any], atoms: Sequence[Atom], absent: float | None
) -> np.ndarray:
    """Spread `*` evenly over the known values; what no label shows counts as half a value, and a missing one as half too.

    A missing one counts as a whole value if a label is missing, and not at all if all values are declared and no label
    is missing. For ordered values `absent` is its share: they print `*` only if somebody's value is missing.
    """
    weights = np.ones(known_count + len(others) + 1)
    constants = set(list_constants(atoms))
    is_unnamed = np.array([value not in constants for value in others], bool)
    weights[known_count:-1] = np.where(is_unnamed, 0.5 / max(int(is_unnamed.sum()), 1), 0.0)
    if absent is not None:
        weights[-1] = known_count * min(absent, 1 - 1e-9) / (1 - min(absent, 1 - 1e-9))
    elif entry.null:
        weights[-1] = 1.0
    else:
        weights[-1] = 0.0 if is_closed(entry) else 0.5
    return weights


def _list_members(extent: Extent, everything: np.ndarray, is_built_from_data: bool) -> np.ndarray:
    if extent.form == "null":
        return everything[-1:]
    if extent.form == "any":
        return everything
    if extent.form == "range":
        return everything[int(extent.lower) : int(extent.upper) + 1]
    if (
        is_built_from_data and len(extent.leaves) > 1
    ):  # the manifest lists only the published leaves of a hierarchy built from data
        return everything[:-1]
    return np.array(extent.leaves, np.int64)
