"""Gives a domain on a line its column's labels: tight, snapped to round ends, or padded by secret amounts.

A method plans on values as they are, so that cuts and promises are those of tight labels; snapped and padded labels
(`SnappedDomain`, `PaddedDomain`) print wider, so that they do not end at people's values. `mosaic` takes into account
what a snapped label will lose (`compute_planned_loss`). A group of one value prints that value: all of its rows have it, and
none of them stands out. Fractions and times are as good as a name: `coarse` ones are rounded whatever the group.

Without a declaration, dates and fractions are snapped (ADR 6), and so are whole numbers that single people out: if at
least one in ten of a column's distinct values belongs to one person alone, and its range has room for a round step.
Other whole numbers are tight. The counts are of the column's own values and rows, which are the same in every engine.

Round positions on a line are exact: numbers are decimals as they are printed, so that a label that is read back covers
the values that were rounded (`choose_round_step`, `find_number_steps`, `choose_date_step`, `find_date_steps`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.catalogue.job_fields import TREE_STYLES
from reticent.data.columns import Column, LabelOptions, Role
from reticent.data.domain import BandDomain, Domain, NodeEnds, RangeDomain, TreeDomain
from reticent.data.hierarchy import Hierarchy
from reticent.data.hierarchy_builders import parse_node_ends
from reticent.data.label_grammar import format_decimal, format_range_label
from reticent.data.parsing import parse_dtype, parse_texts
from reticent.errors import ColumnError
from reticent.exact_arithmetic import MAX_EXACT_INTEGER

MIN_PAD_UNITS = 20  # a pad of fractions is a multiple of a round unit of which its width has at least as many
_UNITS_PER_HOUR = {"ms": 3_600_000, "us": 3_600_000_000, "ns": 3_600_000_000_000}
LONE_ONE_IN = 10
MIN_LONE_SHARE = Fraction(1, LONE_ONE_IN)
"""From this share of its distinct values on that one person alone has, a column of whole numbers is snapped unless it asks for another style."""
MIN_STEPS_IN_RANGE = 100
"""A step is chosen so that a column's range has at least as many of it: rounding both ends outwards loses at most 1 % on average."""
_CALENDAR_INTERVALS = {"decade": "10y", "year": "1y", "quarter": "1q", "month": "1mo", "week": "1w", "day": "1d"}
_CLOCK_INTERVALS = {"hour": "1h", "minute": "1m", "second": "1s"}
_DECIMAL_CONTEXT = Context(prec=60)


@dataclass(frozen=True, eq=False, kw_only=True)
class WidenedDomain(RangeDomain):
    """A domain whose labels are wider than its groups."""

    label_options: LabelOptions
    column: Column
    coarse: bool

    @property
    def is_requested(self) -> bool:
        """Whether the column declares its labels, as opposed to having them by default."""
        return self.column.labels is not None

    @property
    def tight(self) -> RangeDomain:
        return RangeDomain(**copy_range_fields(self))

    def find_ranges(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Find spans that print as a range with other ends than their own.

        Nulls, `*` and values that are printed as they are do not.
        """
        return (upper != self.null_code) & ((lower != upper) | self.coarse)

    def compute_range_loss(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Compute the loss of ranges (equation 2 of paper 1)."""
        reach = self.span[1] - self.span[0]
        return (high - low) / reach if reach > 0 else np.zeros(len(low))


def copy_range_fields(domain: RangeDomain) -> dict[str, Any]:
    """Return the fields that every domain on a line has."""
    return {field.name: getattr(domain, field.name) for field in fields(RangeDomain)}


@dataclass(frozen=True, eq=False, kw_only=True)
class SnappedDomain(WidenedDomain):
    """A domain with snapped labels; `places` are the ends of the step that each code lies in."""

    places: StepEnds

    def labels(self, lower: np.ndarray, upper: np.ndarray) -> list[str | None]:
        formatted = RangeDomain.labels(self, lower, upper)
        for index in np.flatnonzero(self.find_ranges(lower, upper)).tolist():
            formatted[index] = format_range_label(self.places.lower[lower[index]], self.places.upper[upper[index]])
        return formatted

    def compute_printed_loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        is_range = self.find_ranges(lower, upper)
        losses = self.loss(lower, upper)
        losses[is_range] = self.compute_range_loss(self.places.low[lower[is_range]], self.places.high[upper[is_range]])
        return losses

    def compute_planned_loss(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the mean of the loss of spans and the loss of their labels.

        A method that saw labels alone would end groups on the grid, where few people are, and isolate them again (ADR
        6 has the figures).
        """
        return (self.loss(lower, upper) + self.compute_printed_loss(lower, upper)) / 2


@dataclass(frozen=True, eq=False, kw_only=True)
class PaddedDomain(WidenedDomain):
    """A domain with padded labels.

    Ends are whole multiples of `unit` (1, a day, an hour, a round fraction), moved by at most `max_pad`, by no more
    than the declared share of the span, and not past `limits`.
    """

    first: np.ndarray  # by code, the greatest multiple that is not above it
    last: np.ndarray  # by code, the least multiple that is not below it
    unit: Any
    max_pad: int
    limits: tuple[RangeEnd | None, RangeEnd | None]

    def find_max_pads(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the most that the ends of each span are moved by, in multiples of the unit.

        It is 0 where no range is printed.
        """
        pads = np.zeros(len(lower), np.int64)
        ranges = np.flatnonzero(self.find_ranges(lower, upper))
        spans = (self.last[upper[ranges]] - self.first[lower[ranges]]).tolist()
        pads[ranges] = [self.label_options.find_max_pad(max(span, 0), self.max_pad) for span in spans]
        return pads

    def format_moved_ends(
        self, lower: np.ndarray, upper: np.ndarray, pads: np.ndarray
    ) -> tuple[list[str | None], np.ndarray]:
        """Format labels of spans whose ends are moved outwards by `pads`, (spans, 2) multiples of the unit.

        Returns the labels and their loss.
        """
        formatted = RangeDomain.labels(self, lower, upper)
        losses = self.loss(lower, upper)
        ranges = np.flatnonzero(self.find_ranges(lower, upper))
        lower_texts, low = self._format_ends(self.first[lower[ranges]] - pads[ranges, 0], 0)
        upper_texts, high = self._format_ends(self.last[upper[ranges]] + pads[ranges, 1], 1)
        for index, lower_text, upper_text in zip(ranges.tolist(), lower_texts, upper_texts, strict=True):
            formatted[index] = format_range_label(lower_text, upper_text)
        losses[ranges] = self.compute_range_loss(low, high)
        return formatted, losses

    def format_unit(self, unit: int) -> RangeEnd:
        """Format one multiple of the unit as an end."""
        texts, places = self._format_ends(np.array([unit], object), 0)
        return RangeEnd(texts[0], float(places[0]))

    def _format_ends(self, units: np.ndarray, side: int) -> tuple[list[str], np.ndarray]:
        """Format ends, held within the limit of their side; also return their positions."""
        places = np.array([float(unit * self.unit - self.origin) for unit in units.tolist()], np.float64)
        if self.kind == "numeric":
            texts = [format_decimal(Decimal(unit) * self.unit) for unit in units.tolist()]
        else:
            texts = format_iso(
                pl.Series([unit * self.unit for unit in units.tolist()], dtype=pl.Int64).cast(parse_dtype(self.dtype))
            )
        limit = self.limits[side]
        if limit is None:
            return texts, places
        is_past = places > limit.position if side else places < limit.position
        held_texts = [limit.text if is_out else text for text, is_out in zip(texts, is_past.tolist(), strict=True)]
        return held_texts, np.where(is_past, limit.position, places)


def use_tight_labels(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Declare tight labels for quasi-identifiers that declare none.

    For a release whose labels must not be wider than its groups, or that has no labels.
    """
    tight = LabelOptions("tight")
    return {
        name: replace(column, labels=tight) if column.role is Role.QUASI and column.labels is None else column
        for name, column in columns.items()
    }


def apply_label_style(
    domain: Domain, column: Column, alone: Fraction = Fraction(0), tree: Hierarchy | None = None
) -> Domain:
    """Return the domain with its column's labels.

    `alone` is the share of the column's distinct values that one person alone has; `tree` is the hierarchy that the
    column declares.
    """
    style = column.labels.style if column.labels is not None else None
    if style == "tight" or not domain.texts:
        return domain
    if isinstance(domain, RangeDomain) and domain.kind in ("numeric", "date"):
        return _style_line(domain, column, alone=alone)
    if isinstance(domain, BandDomain) and not domain.is_from_steward and style in (None, "snapped"):
        return _snap_bands(domain, column, alone, tree)
    if style is None:
        return domain
    is_plain_tree = isinstance(domain, TreeDomain) and not isinstance(domain, BandDomain)
    if isinstance(domain, TreeDomain) and is_plain_tree and style in TREE_STYLES:
        return replace(domain, style=style)
    if is_plain_tree:
        subject = "categories"
        attempt = 'labels = "nodes" or "sets".'
    else:
        subject = "an order" if domain.kind == "ordinal" else "a hierarchy"
        attempt = "leaving labels out."
    raise ColumnError(f"Column {domain.name!r} has {subject}, and its labels cannot be {style}.", attempt=attempt)


def compute_lone_share(series: pl.Series, counts: np.ndarray, rows_per_person: int = 1) -> Fraction:
    """Compute the share of a column's distinct values that one person alone has, or may have.

    Those are the values of at most `rows_per_person` rows.
    """
    row_counts = (
        pl.DataFrame({"value": series, "rows": counts}).drop_nulls("value").group_by("value").agg(pl.col("rows").sum())
    )
    if not len(row_counts):
        return Fraction(0)
    max_rows = min(rows_per_person, int(counts.sum()))  # a declared number may have any number of digits
    return Fraction(int((row_counts["rows"] <= max_rows).sum()), len(row_counts))


def singles_out(domain: RangeDomain | BandDomain, alone: Fraction) -> bool:
    """Tell whether whole numbers are snapped by default.

    They are if many are one person's alone, and a round step of two or more fits their range.
    """
    if domain.kind != "numeric" or alone < MIN_LONE_SHARE:
        return False
    numbers = [Decimal(domain.texts[index]) for index in (0, -1)]
    if max(abs(number) for number in numbers) > MAX_EXACT_INTEGER:
        return False
    return choose_round_step(numbers[0], numbers[1]) > 1


def explain_snapping(quasi: Sequence[Domain]) -> list[str]:
    """Explain to the owner which columns of whole numbers are snapped by default, and why."""
    chosen = [
        domain.name
        for domain in quasi
        if isinstance(domain, SnappedDomain | BandDomain)
        and domain.kind == "numeric"
        and domain.label_options is not None
        and not domain.is_requested
        and not _has_fractions(domain)
    ]
    return [
        f"At least one in {LONE_ONE_IN} of the distinct values of {name!r} is one person's alone: a range that ended there would "
        'single that person out, so its ranges end on round numbers (labels = "snapped"). labels = "tight" ends them at values '
        "of people."
        for name in chosen
    ]


def narrow_labels(domain: WidenedDomain, first: int, last: int) -> RangeDomain:
    """Choose the same labels for the codes first .. last.

    Values that were withheld beyond these codes then leave no trace in a step or a limit.
    """
    # The style that was chosen for all values stays the same.
    alone = MIN_LONE_SHARE if isinstance(domain, SnappedDomain) else Fraction(0)
    return _style_line(domain.tight, domain.column, (first, last), alone)


@dataclass(frozen=True, eq=False)
class StepEnds:
    """The ends of the step that each value lies in: as printed, and their positions on the line."""

    lower: tuple[str, ...]
    upper: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, slots=True)
class RangeEnd:
    """One end: as it prints, and its position."""

    text: str
    position: float


def choose_round_step(low: Decimal, high: Decimal, steps: int = MIN_STEPS_IN_RANGE) -> Decimal:
    """Return the greatest of 1, 2, 5, 10, 20, ... (and their tenths) that the range holds `steps` times.

    For a single value, the step is that of its third digit.
    """
    with localcontext(_DECIMAL_CONTEXT):
        max_step = (high - low) / steps or max(abs(high), Decimal(1)) / 100
        power = Decimal(1).scaleb(max_step.adjusted())
        return next(power * factor for factor in (5, 2, 1) if power * factor <= max_step)


def find_number_steps(texts: Sequence[str], step: Decimal, *, are_whole: bool, origin: int = 0) -> StepEnds:
    """Find the step of each number.

    Steps of whole numbers are apart, [35, 39] and [40, 44]; those of others touch, and a multiple of the step is one
    by itself. Positions are relative to `origin`.
    """
    with localcontext(_DECIMAL_CONTEXT):
        values = [Decimal(text) for text in texts]
        lower = [(value / step).to_integral_value(ROUND_FLOOR) * step for value in values]
        if are_whole:
            upper = [low + step - 1 for low in lower]
        else:
            upper = [(value / step).to_integral_value(ROUND_CEILING) * step for value in values]
        return StepEnds(
            tuple(map(format_decimal, lower)),
            tuple(map(format_decimal, upper)),
            _to_floats([end - origin for end in lower]),
            _to_floats([end - origin for end in upper]),
        )


def choose_date_step(values: pl.Series) -> str:
    """Return the greatest calendar step that the range holds MIN_STEPS_IN_RANGE times; below a day for times."""
    steps = _CALENDAR_INTERVALS if values.dtype == pl.Date else {**_CALENDAR_INTERVALS, **_CLOCK_INTERVALS}
    ends = values.gather([0, -1])
    for name, every in steps.items():
        # Never as Python's own dates, which begin with the year 1.
        starts = ends.dt.truncate(every).alias("start").to_frame()
        steps_between = starts.select(pl.datetime_range(pl.col("start").first(), pl.col("start").last(), every))
        if len(steps_between.head(MIN_STEPS_IN_RANGE + 1)) > MIN_STEPS_IN_RANGE:
            return name
    return next(reversed(steps))


def find_date_steps(values: pl.Series, step: str, origin: int = 0) -> StepEnds:
    """Find the step of each value: for days, its first and last day; for times, its start and the start of the next."""
    every = {**_CALENDAR_INTERVALS, **_CLOCK_INTERVALS}[step]
    lower = values.dt.truncate(every)
    after = lower.dt.offset_by(every)
    if values.dtype == pl.Date:
        upper = after.dt.offset_by("-1d")
    else:
        upper = pl.select(pl.when(values == lower).then(values).otherwise(after)).to_series()
    return StepEnds(
        tuple(format_iso(lower)), tuple(format_iso(upper)), to_positions(lower, origin), to_positions(upper, origin)
    )


def to_positions(values: pl.Series, origin: int = 0) -> np.ndarray:
    """Return the positions of dates and times on a line that counts from an origin."""
    return (values.to_physical() - origin).cast(pl.Float64).to_numpy()


def format_iso(values: pl.Series) -> list[str]:
    """Format dates and times as labels print them."""
    return (values.cast(pl.String) if values.dtype == pl.Date else values.dt.to_string("iso")).to_list()


def _style_line(
    domain: RangeDomain, column: Column, code_span: tuple[int, int] | None = None, alone: Fraction = Fraction(0)
) -> RangeDomain:
    is_fine = _has_fractions(domain) or domain.dtype.startswith("Datetime")
    is_snapped = is_fine or domain.kind == "date" or singles_out(domain, alone)
    options = column.labels or LabelOptions("snapped" if is_snapped else "tight")
    if options.style in TREE_STYLES:
        raise ColumnError(
            f"Column {domain.name!r} has numbers or dates, and labels = {options.style!r} is for categories.",
            attempt='labels = "tight", "snapped" or "padded".',
        )
    if options.style == "tight":
        return domain
    make = _make_padded if options.style == "padded" else _make_snapped
    return make(domain, column, options, is_fine, code_span or (0, len(domain.texts) - 1))


def _snap_bands(domain: BandDomain, column: Column, alone: Fraction, tree: Hierarchy | None) -> BandDomain:
    """Give nodes of a built hierarchy ends of their own: calendar steps, the edges of bands, or round numbers."""
    declared = column.labels
    has_fractions = _has_fractions(domain)
    if declared is None and not (has_fractions or domain.kind == "date" or singles_out(domain, alone)):
        return domain
    if declared is not None and declared.step is not None:
        raise ColumnError(
            f"Column {domain.name!r} has a built hierarchy, whose nodes are its steps.",
            attempt='labels = "snapped" without a step, or no hierarchy.',
        )
    if domain.kind == "date" and domain.dtype != "Date":
        return domain
    if domain.kind == "numeric":
        step = choose_round_step(Decimal(domain.texts[0]), Decimal(domain.texts[-1]))
        if not has_fractions:
            step = max(step, Decimal(1))
        places = find_number_steps(domain.texts, step, are_whole=not has_fractions)
    else:
        values = parse_texts([text.strip()[:10] for text in domain.texts], domain.dtype)
        places = find_date_steps(values, choose_date_step(values))
    limits = _find_limits(domain, column)
    request = getattr(tree, "request", None) or {}
    node_ends = [parse_node_ends(str(request.get("build")), label) for label in domain.hierarchy.labels]
    lower = tuple(_limit_end(domain, ends, limits, 0) for ends in node_ends)
    upper = tuple(_limit_end(domain, ends, limits, 1) for ends in node_ends)
    return replace(
        domain,
        ends=NodeEnds(lower, upper, _clip_steps(places, limits)),
        label_options=declared or LabelOptions("snapped"),
        is_requested=declared is not None,
    )


def _has_fractions(domain: RangeDomain | BandDomain) -> bool:
    """Tell whether a column of type Float or Decimal holds a number that is not whole.

    It is False if a number is too large for round steps.
    """
    real = domain.kind == "numeric" and domain.dtype.startswith(("Float", "Decimal"))
    if not real or max(abs(Decimal(text)) for text in domain.texts) > MAX_EXACT_INTEGER:
        return False
    numbers = [Decimal(text) for text in domain.texts]
    return any(number != number.to_integral_value() for number in numbers)


def _to_floats(values: Sequence[Decimal]) -> np.ndarray:
    return np.array([float(value) for value in values], np.float64)


def _make_padded(
    domain: RangeDomain, column: Column, options: LabelOptions, coarse: bool, code_span: tuple[int, int]
) -> PaddedDomain:
    unit, max_pad, line_unit = _choose_pad_unit(domain, options.width)
    if options.share is not None and coarse:
        raise ColumnError(
            f"Column {domain.name!r} has fractions or times, which are as good as a name in narrow ranges too: share is for whole "
            "numbers and days.",
            attempt=f'labels = {{ style = "padded", width = {options.width} }}.',
        )
    values = [Decimal(text) for text in domain.texts] if domain.kind == "numeric" else _to_physical(domain)
    with localcontext(Context(prec=60)):
        first = np.array([int((value / unit).to_integral_value(ROUND_FLOOR)) for value in values], object)
        last = np.array([int((value / unit).to_integral_value(ROUND_CEILING)) for value in values], object)
        floor = int(first[code_span[0]]) // max_pad * max_pad
        ceiling = -(-int(last[code_span[1]]) // max_pad) * max_pad
    unlimited = PaddedDomain(
        **copy_range_fields(domain),
        label_options=options,
        column=column,
        coarse=coarse,
        first=first,
        last=last,
        unit=line_unit,
        max_pad=max_pad,
        limits=(None, None),
    )
    low, high = _find_limits(domain, column, (unlimited.format_unit(floor), unlimited.format_unit(ceiling)))
    assert low is not None and high is not None
    width = high.position - low.position if column.domain is not None else float(values[-1] - values[0])
    if max_pad * float(line_unit) > width and len(values) > 1:
        raise ColumnError(
            f"Column {domain.name!r}: its labels may be padded by more than its whole domain is wide.",
            why="Every end would be moved to the domain's own, and every range would read the same.",
            attempt="a smaller width, or a wider domain.",
        )
    return replace(
        unlimited, span=domain.span if column.domain is not None else (low.position, high.position), limits=(low, high)
    )


def _make_snapped(
    domain: RangeDomain, column: Column, options: LabelOptions, coarse: bool, code_span: tuple[int, int]
) -> SnappedDomain:
    first, last = code_span
    if domain.kind == "numeric":
        step = _choose_number_step(domain, options.step, code_span, are_whole=not coarse)
        places = find_number_steps(domain.texts, step, are_whole=not coarse, origin=domain.origin)
    else:
        if options.step is not None and not isinstance(options.step, str):
            raise _make_step_error(domain, "a calendar step", '"month"')
        values = parse_texts(domain.texts, domain.dtype)
        places = find_date_steps(values, options.step or choose_date_step(values[first : last + 1]), domain.origin)
    if options.step is not None and len(domain.texts) > 1 and len(set(places.lower)) == 1:
        raise ColumnError(
            f"Column {domain.name!r}: all of its {len(domain.texts):,} distinct values lie in one step of the grid.",
            why="Every range would read the same, and say nothing.",
            attempt='a smaller step, or labels = "snapped", which chooses one.',
        )
    places = _clip_steps(places, _find_limits(domain, column))
    span = domain.span if column.domain is not None else (float(places.low[first]), float(places.high[last]))
    return SnappedDomain(
        **copy_range_fields(domain) | {"span": span}, label_options=options, column=column, coarse=coarse, places=places
    )


def _find_limits(
    domain: RangeDomain | BandDomain, column: Column, otherwise: tuple[RangeEnd, RangeEnd] | None = None
) -> tuple[RangeEnd | None, RangeEnd | None]:
    """Return the positions that no label goes past.

    They come from the declared domain (or `otherwise`), top and bottom, and what the type can hold.
    """
    low: list[Any] = [column.bottom, *(column.domain or ())[:1]]
    high: list[Any] = [column.top, *(column.domain or ())[1:]]
    if domain.dtype.startswith(("Int", "UInt")):
        type_range = np.iinfo(domain.dtype.lower())
        low.append(int(type_range.min))
        high.append(int(type_range.max))
    elif domain.dtype == "Date":  # others read no year before 1 and none of five digits
        low.append("0001-01-01")
        high.append("9999-12-31")
    lower_ends = [_locate_end(domain, end) for end in low if end is not None]
    upper_ends = [_locate_end(domain, end) for end in high if end is not None]
    if otherwise is not None and column.domain is None:
        lower_ends.append(otherwise[0])
        upper_ends.append(otherwise[1])
    highest_lower = max(lower_ends, key=lambda end: end.position, default=None)
    lowest_upper = min(upper_ends, key=lambda end: end.position, default=None)
    return highest_lower, lowest_upper


def _limit_end(
    domain: BandDomain, ends: tuple[str, str] | None, limits: tuple[RangeEnd | None, RangeEnd | None], side: int
) -> str | None:
    """Return the lower (0) or upper (1) end of a node, or the limit that it goes past; None if it has no ends."""
    if ends is None:
        return None
    end = ends[side]
    limit = limits[side]
    if limit is None:
        return end
    position = _locate_end(domain, end).position
    is_past = position > limit.position if side else position < limit.position
    return limit.text if is_past else end


def _clip_steps(places: StepEnds, limits: tuple[RangeEnd | None, RangeEnd | None]) -> StepEnds:
    lower = places.lower
    upper = places.upper
    low = places.low
    high = places.high
    if (lowest := limits[0]) is not None:
        is_below = (low < lowest.position).tolist()
        lower = tuple(lowest.text if is_out else end for end, is_out in zip(lower, is_below, strict=True))
        low = np.maximum(low, lowest.position)
    if (highest := limits[1]) is not None:
        is_above = (high > highest.position).tolist()
        upper = tuple(highest.text if is_out else end for end, is_out in zip(upper, is_above, strict=True))
        high = np.minimum(high, highest.position)
    return StepEnds(lower, upper, low, high)


def _choose_pad_unit(domain: RangeDomain, width: Any) -> tuple[Decimal, int, Any]:
    """Return the unit that pads are multiples of, how many of it the width has, and the unit on the line's own scale."""
    exact = Decimal(str(width))
    if _has_fractions(domain):
        unit = choose_round_step(Decimal(0), exact, MIN_PAD_UNITS)
        return unit, int(exact / unit), unit
    if exact != int(exact):
        raise ColumnError(
            f"Column {domain.name!r} has values of the type {domain.dtype}: its pads are whole"
            f" {'days' if domain.kind == 'date' else 'numbers'}.",
            attempt=f'labels = {{ style = "padded", width = {max(round(exact), 1)} }}.',
        )
    if domain.kind == "numeric" or domain.dtype == "Date":
        return Decimal(1), int(exact), Decimal(1) if domain.kind == "numeric" else 1
    hour = _UNITS_PER_HOUR[getattr(parse_dtype(domain.dtype), "time_unit", "us")]
    return Decimal(hour), int(exact) * 24, hour


def _to_physical(domain: RangeDomain) -> list[Decimal]:
    return [Decimal(number) for number in parse_texts(domain.texts, domain.dtype).to_physical().to_list()]


def _choose_number_step(domain: RangeDomain, declared: Any, code_span: tuple[int, int], *, are_whole: bool) -> Decimal:
    if isinstance(declared, str):
        raise _make_step_error(domain, "a number", "5")
    if declared is None:
        step = choose_round_step(Decimal(domain.texts[code_span[0]]), Decimal(domain.texts[code_span[1]]))
        return max(step, Decimal(1)) if are_whole else step
    if are_whole and not isinstance(declared, int):
        raise _make_step_error(domain, "a whole number", str(max(round(declared), 1)))
    return Decimal(str(declared))


def _make_step_error(domain: RangeDomain, needed: str, example: str) -> ColumnError:
    return ColumnError(
        f"Column {domain.name!r} has values of the type {domain.dtype}: its step is {needed}.",
        attempt=f'labels = {{ style = "snapped", step = {example} }}.',
    )


def _locate_end(domain: RangeDomain | BandDomain, end: Any) -> RangeEnd:
    origin = domain.origin if isinstance(domain, RangeDomain) else 0
    if domain.kind == "numeric":
        return RangeEnd(format_decimal(Decimal(str(end))), float(Decimal(str(end)) - origin) if origin else float(end))
    bound = date.fromisoformat(end[:10]) if domain.dtype == "Date" else datetime.fromisoformat(end)
    series = pl.select(pl.lit(bound, parse_dtype(domain.dtype))).to_series()
    return RangeEnd(format_iso(series)[0], float(to_positions(series, origin)[0]))
