"""What a manifest tells about the values of a column in the source, if published ones are coarser or rows are withheld.

A value at a declared top or bottom stands for all beyond it, a rounded one for all that are rounded to it.  The value
of a row that is withheld, or labelled `*`, is limited by what the steward declared: a domain, an order, a hierarchy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from reticent.data.columns import Role
from reticent.data.parsing import FIRST_DAY, LAST_DAY, parse_dtype, parse_texts
from reticent.errors import RequestError
from reticent.estimate.condition import (
    ENDLESS,
    IS_AMONG,
    IS_LIKE,
    IS_NULL,
    Atom,
    ColumnAxis,
    LineLabels,
    Truth,
    has_dates,
    list_constants,
    make_range_axis,
    make_value_axis,
    match_texts,
)
from reticent.exact_arithmetic import MAX_EXACT_INTEGER
from reticent.format.manifest import ColumnEntry, build_cached_tree
from reticent.labels.scale import UnreadableLabel, parse_number

MAX_PATTERNS = 6  # of one column, where every combination of them is to be thought of
UNITS_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
AS_PUBLISHED_PREFIX = "\x00published "
"""Begins the name of a column whose published values are meant, not those they stand for."""


def is_coded(entry: ColumnEntry) -> bool:
    """Tell whether a published value may stand for others: beyond a top or bottom, or rounded to it."""
    return entry.top is not None or entry.bottom is not None or entry.round_to is not None


def is_closed(entry: ColumnEntry) -> bool:
    """Tell whether the steward listed all values that a column of categories or ordered values can have."""
    return entry.order is not None or (entry.hierarchy is not None and entry.built is None) or entry.dtype == "Boolean"


def has_whole_values(entry: ColumnEntry) -> bool:
    """Tell whether the source's values are whole numbers or moments; published values of rounded decimals may be whole too."""
    dtype = parse_dtype(entry.dtype)
    return dtype.is_temporal() or (dtype.is_integer() and entry.round_to is None)


def find_place(entry: ColumnEntry, value: Any) -> Any:
    """Find the place of a value on the line of a column that has an order."""
    dtype = parse_dtype(entry.dtype)
    if not dtype.is_temporal():
        return value
    try:
        if isinstance(value, str):
            return parse_texts([value], entry.dtype).to_physical()[0]
        return pl.Series([value], dtype=dtype).to_physical()[0]
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        raise RequestError(f"{entry.name!r} is compared with a text that is no date.", attempt="a date.") from None


def place_atom(entry: ColumnEntry, atom: Atom) -> Atom:
    """Return an atom with places on the line instead of values."""
    if atom.test == IS_NULL:
        return atom
    if atom.test == IS_AMONG:
        return replace(atom, value=tuple(find_place(entry, value) for value in atom.value))
    return replace(atom, value=find_place(entry, atom.value))


def find_coded_ends(entry: ColumnEntry) -> tuple[Any, Any]:
    """Return the declared bottom and top as places; None if there is none."""
    bottom, top = (None if end is None else _find_end(entry, end) for end in (entry.bottom, entry.top))
    return bottom, top


def find_limits(entry: ColumnEntry) -> tuple[Any, Any]:
    """Return the least and the greatest value that a person of the source can have on a line; None if nothing limits it."""
    low = high = None
    if entry.declared and entry.domain:
        low, high = (_widen_end(parse_number(str(end)), sign) for end, sign in zip(entry.domain, (-1, 1), strict=True))
    elif entry.hierarchy is not None and entry.built is None and entry.type == "numeric":
        try:
            leaves = [parse_number(leaf.strip()) for leaf in build_cached_tree(entry.hierarchy).leaves]
        except UnreadableLabel:
            return None, None
        low = _widen_end(min(leaves), -1)
        high = _widen_end(max(leaves), 1)
    if entry.round_to is not None:  # the domain limits rounded values
        half = float(entry.round_to) / 2
        low = None if low is None else float(_widen_rounded_end(np.array(float(low) - half), -1, half))
        high = None if high is None else float(_widen_rounded_end(np.array(float(high) + half), 1, half))
    return None if entry.bottom is not None else low, None if entry.top is not None else high


def make_coded_axis(entry: ColumnEntry, code: np.ndarray, values: pl.Series, atoms: Sequence[Atom]) -> ColumnAxis:
    """Make the axis of a column whose published values stand for more than themselves; each value is a label."""
    null = values.is_null().to_numpy()
    is_whole = has_whole_values(entry)
    if is_whole:
        numbers = values.to_physical().cast(pl.Int64, strict=False)
        if numbers.null_count() > values.null_count():
            raise RequestError(
                f"Column {entry.name!r} has whole numbers beyond 2^63, of which questions are not answered.",
                attempt="a question about other columns.",
            )
    else:
        numbers = values.cast(pl.Float64)
    begin = numbers.fill_null(0).to_numpy()
    end = begin
    step: float | None = None
    if entry.round_to is not None:
        half = float(entry.round_to) / 2
        begin = begin - half
        end = end + half
        step = 1.0 if isinstance(entry.round_to, int) and entry.round_to > 1 else float(entry.round_to) / 10
    lower, upper = widen_coded_ends(entry, begin, end)
    if entry.round_to is not None:  # the division and the product that round are doubles themselves
        lower, upper = (_widen_rounded_end(side, sign, half) for side, sign in ((lower, -1), (upper, 1)))
    line = LineLabels(lower, upper, null, np.zeros(len(values), bool), is_whole, begin, end, step=step)
    return make_line_axis(entry, entry.name, code, line, atoms)


def require_answerable_values(
    kind: str,
    entries: Iterable[ColumnEntry],
    asked: Collection[str],
    aggregated: Collection[str],
    *,
    shown: bool,
    counted: bool,
) -> None:
    """Refuse questions about a sensitive column's own values where it was recoded and values stand apart from rows.

    `asked` are the columns of conditions and groups, `aggregated` those that are added up or compared. Where every row
    shows its recoded value (`shown`), what that stands for is known; in kinds where only counts of values are, a top or
    bottom can be counted, and a rounded value or a sum cannot be told. `counted`: how many rows have each published
    value is known.
    """
    if shown:
        return
    for entry in entries:
        if entry.role != Role.SENSITIVE or not is_coded(entry):
            continue
        if (entry.round_to is not None and entry.name in asked) or entry.name in aggregated:
            how = "rounded" if entry.round_to is not None else "cut at its top or bottom"
            raise RequestError(
                f"Questions about the values of {entry.name!r} are not answered: they were {how} before publishing.",
                why=f"Values of {kind} releases stand apart from rows, and what the source had cannot be bounded.",
                attempt="a question about other columns"
                + (f", or value_counts({entry.name!r}), which counts published values." if counted else "."),
            )


def widen_coded_ends(entry: ColumnEntry, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of ranges, infinite if a declared bottom or top stands for all beyond it."""
    bottom, top = find_coded_ends(entry)
    infinity = ENDLESS if lower.dtype.kind == "i" else np.inf
    if bottom is not None:
        lower = np.where(lower <= bottom, -infinity, lower)
    if top is not None:
        upper = np.where(upper >= top, infinity, upper)
    return lower, upper


def _widen_rounded_end(ends: np.ndarray, sign: int, half: float) -> np.ndarray:
    """Move ends of what is rounded outwards by what doubles may be off; an infinite end stays."""
    finite_ends = np.where(np.isinf(ends), 0.0, ends)
    return np.where(np.isinf(ends), ends, finite_ends + sign * 4 * np.spacing(np.abs(finite_ends) + half))


def make_line_axis(
    entry: ColumnEntry, name: str, code: np.ndarray, line: LineLabels, atoms: Sequence[Atom]
) -> ColumnAxis:
    """Make the axis of labels on a line, for atoms that compare with values."""
    places = {atom: place_atom(entry, atom) for atom in atoms}
    axis = make_range_axis(name, code, line, list(dict.fromkeys(places.values())))
    return replace(axis, truth={atom: axis.truth[place] for atom, place in places.items()})


def make_unknown_axis(entry: ColumnEntry | None, name: str, atoms: Sequence[Atom]) -> ColumnAxis:
    """Make the axis of a column for rows of which nothing is published: one label, which covers all that the source may hold there.

    `entry` None is a column of yes and no that belongs to no column of the source.
    """
    code = np.zeros(1, np.int64)
    if entry is None:
        return _make_any_axis(name, code, pl.Series([True, False]), atoms)
    as_published = name.startswith(AS_PUBLISHED_PREFIX)
    null = entry.role != Role.SENSITIVE or entry.missing != "refuse"
    dtype = parse_dtype(entry.dtype)
    is_listed = entry.type in ("ordinal", "categorical") and is_closed(entry)
    if (dtype.is_numeric() or dtype.is_temporal()) and not is_listed:
        ends = (None, None) if as_published else find_limits(entry)
        return make_line_axis(
            entry, name, code, LineLabels.from_ends(ends, whole=has_whole_values(entry), null=null), atoms
        )
    if is_listed:
        values = list_declared_values(entry)
    elif dtype == pl.Boolean:
        values = pl.Series([True, False])
    else:
        values = pl.Series(list_other_values(pl.Series([], dtype=dtype), atoms), dtype=dtype, strict=False)
        if any(atom.test == IS_LIKE for atom in atoms):
            return _make_axis_of_any_text(entry, values, atoms, null=null)
    if null:
        values = pl.concat([values, pl.Series([None], dtype=values.dtype)])
    return _make_any_axis(name, code, values, atoms)


def _make_axis_of_any_text(entry: ColumnEntry, values: pl.Series, atoms: Sequence[Atom], *, null: bool) -> ColumnAxis:
    """Make the axis of any text: one that no question names may be like each pattern or not, in any combination."""
    texts, truths = expand_by_likeness(entry, values.to_list(), atoms)
    if null:
        texts.append(None)
        truths = {atom: (np.append(true, False), np.append(false, False)) for atom, (true, false) in truths.items()}
    pairs = (np.zeros(len(texts), np.int64), np.arange(len(texts)), 1)
    return make_value_axis(
        entry.name,
        np.zeros(1, np.int64),
        pl.Series(texts, dtype=pl.String),
        atoms,
        pairs,
        known_truths=truths,
    )


def expand_by_likeness(
    entry: ColumnEntry, values: Sequence[str], atoms: Sequence[Atom]
) -> tuple[list[str | None], dict[Atom, Truth]]:
    """List texts that stand for others once for each way in which those may be like the patterns of LIKE.

    Returned are also the truths of these patterns.  A text that the question names is like what it is like, and stays one.
    """
    patterns = [atom for atom in dict.fromkeys(atoms) if atom.test == IS_LIKE]
    if len(patterns) > MAX_PATTERNS:
        raise RequestError(
            f"{len(patterns)} patterns of LIKE on {entry.name!r} are more than are answered where values are not known.",
            why="Rows were withheld, or a label such as * covers values that nothing lists.",
            attempt=f"{MAX_PATTERNS} patterns at the most, or IN (...).",
        )
    constants = set(list_constants(atoms))
    texts: list[str | None] = []
    likeness: list[tuple[bool, ...]] = []
    for value in values:
        own = [tuple(bool(match_texts([value], atom.value)[0]) for atom in patterns)]
        combinations = own if value in constants else list(product((False, True), repeat=len(patterns)))
        texts.extend([value] * len(combinations))
        likeness.extend(combinations)
    truths = {}
    for position, atom in enumerate(patterns):
        is_like = np.array([combination[position] for combination in likeness], bool)
        truths[atom] = (is_like, ~is_like)
    return texts, truths


def list_declared_values(entry: ColumnEntry) -> pl.Series:
    """List all values that the steward declared for a column of categories or ordered values."""
    if entry.order is not None:
        return parse_texts(list(entry.order), entry.dtype)
    if entry.hierarchy is not None:
        return parse_texts(list(build_cached_tree(entry.hierarchy).leaves), entry.dtype)
    return pl.Series([True, False])


def list_other_values(known: pl.Series, atoms: Iterable[Atom]) -> list[Any]:
    """List values that no label shows and `*` may stand for: one for each way in which a constant can lie relative to it.

    Of numbers the first lies below all others and the last above: they stand for all that do.
    """
    constants = list_constants(atoms)
    shown = set(known.to_list())
    if known.dtype == pl.String:
        candidates = ["", "\U0010ffff", *constants, *(f"{value}\x01" for value in constants)]
    elif known.dtype == pl.Boolean:
        candidates = [True, False]
    elif known.dtype.is_integer():
        neighbours = [int(np.floor(value)) if isinstance(value, float) else value for value in constants]
        ends = [value for value in (*shown, *neighbours) if value is not None] or [0]
        candidates = [
            min(ends) - 2,
            *(number for value in neighbours for number in (value - 1, value, value + 1)),
            max(ends) + 2,
        ]
        lowest, highest = _find_integer_range(known.dtype)
        candidates = [number for number in candidates if lowest <= number <= highest]
    elif known.dtype.is_numeric():
        ends = [float(value) for value in (*shown, *constants) if value is not None] or [0.0]
        neighbours = [
            number
            for value in map(float, constants)
            for number in (np.nextafter(value, -np.inf), value, np.nextafter(value, np.inf))
        ]
        candidates = [min(ends) - 1 - abs(min(ends)), *map(float, neighbours), max(ends) + 1 + abs(max(ends))]
    elif has_dates(known.dtype):
        candidates = _list_other_dates(known, constants)
    else:
        candidates = constants
    return [value for value in dict.fromkeys(candidates) if value not in shown]


def _list_other_dates(known: pl.Series, constants: Sequence[Any]) -> list[Any]:
    """List days or moments before all others, beside each constant, and after all others, as far as the calendar goes."""
    places = pl.Series(constants, dtype=known.dtype, strict=False).to_physical().to_list()
    ends = [place for place in (*known.to_physical().to_list(), *places) if place is not None] or [0]
    listed = [
        min(ends) - 2,
        *(number for place in places for number in (place - 1, place, place + 1)),
        max(ends) + 2,
    ]
    units = 1 if known.dtype == pl.Date else UNITS_PER_DAY[getattr(known.dtype, "time_unit", "us")]
    within = [number for number in listed if FIRST_DAY * units <= number < (LAST_DAY + 1) * units]
    physical = pl.Series(within, dtype=pl.Int32 if known.dtype == pl.Date else pl.Int64)
    return physical.cast(known.dtype).to_list()


def covers_other_values(entry: ColumnEntry) -> bool:
    """Tell whether a label may cover values that are not listed: if the steward declared no list of them."""
    if entry.type in ("numeric", "date"):
        return None in find_limits(entry)
    return not is_closed(entry)


def _find_end(entry: ColumnEntry, end: Any) -> Any:
    return find_place(entry, str(end)) if parse_dtype(entry.dtype).is_temporal() else parse_number(str(end))


def _widen_end(end: int | float, sign: int) -> int | float | None:
    """Widen an end beyond what doubles hold: a domain is compared with values as doubles, so values next to its end pass."""
    if abs(end) < MAX_EXACT_INTEGER:
        return end
    widened = np.nextafter(np.nextafter(float(end), sign * np.inf), sign * np.inf)
    if not np.isfinite(widened) or abs(widened) >= ENDLESS:
        return None
    return int(widened) if isinstance(end, int) else float(widened)


def _make_any_axis(name: str, code: np.ndarray, values: pl.Series, atoms: Sequence[Atom]) -> ColumnAxis:
    pairs = (np.zeros(len(values), np.int64), np.arange(len(values)), 1)
    return make_value_axis(name, code, values, atoms, pairs)


def _find_integer_range(dtype: pl.DataType) -> tuple[int, int]:
    """Return the least and the greatest whole number of a type, as far as 64 bits hold them."""
    bits = int(str(dtype).lstrip("UInt"))
    if dtype.is_unsigned_integer():
        return 0, min((1 << bits) - 1, ENDLESS - 1)
    return max(-(1 << (bits - 1)), 1 - ENDLESS), min((1 << (bits - 1)) - 1, ENDLESS - 1)
