"""A line with the labels that its column asks for.

Unasked, dates and fractions are snapped (ADR 6), and so are whole numbers that single people out: where at least one in ten of a
column's distinct values is that of one person alone, and its range has room for a round step.  Other whole numbers are tight.  What
is counted are the column's own values and rows, which every engine has alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import ColumnError
from reticent.table.banded import BandDomain, NodeEnds
from reticent.table.builders.node_ends import node_ends
from reticent.table.domain import Domain, RangeDomain, TreeDomain
from reticent.table.grids import Place, Places, date_places, date_step, iso, number_places, plain, round_step, standing
from reticent.table.hierarchy import Hierarchy
from reticent.table.labelling import ON_TREES, Labelling
from reticent.table.printed import PaddedDomain, PrintedDomain, SnappedDomain, given
from reticent.table.roles import Column, Role
from reticent.table.types import dtype_named, typed

FINE = 20  # a pad of fractions is a multiple of a round unit of which its width has at least as many
_HOURS = {"ms": 3_600_000, "us": 3_600_000_000, "ns": 3_600_000_000_000}


ONE_IN = 10
ALONE = Fraction(1, ONE_IN)
"""From this share of its distinct values on that one person alone has, a column of whole numbers is snapped unless it asks for another style."""
EXACT = 2**53  # doubles beyond this lie further apart than 1: a round number near one of them may be no double


def tightened(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns of a release whose labels must not be wider than its groups, or that has none."""
    tight = Labelling("tight")
    return {
        name: replace(column, labels=tight) if column.role is Role.QUASI and column.labels is None else column
        for name, column in columns.items()
    }


def styled(domain: Domain, column: Column, alone: Fraction = Fraction(0), tree: Hierarchy | None = None) -> Domain:
    """The domain as its column's labels are printed.

    `alone` is the share of the column's distinct values that one person alone has; `tree` is the hierarchy that it asks for.
    """
    style = column.labels.style if column.labels is not None else None
    if style == "tight" or not domain.texts:
        return domain
    if isinstance(domain, RangeDomain) and domain.kind in ("numeric", "date"):
        return _line(domain, column, alone=alone)
    if isinstance(domain, BandDomain) and not domain.given and style in (None, "snapped"):
        return _bands(domain, column, alone, tree)
    plain_tree = isinstance(domain, TreeDomain) and not isinstance(domain, BandDomain)
    if style is None or (plain_tree and style in ON_TREES):
        return replace(domain, style=style) if isinstance(domain, TreeDomain) and style is not None else domain
    what = "categories" if plain_tree else "an order" if domain.kind == "ordinal" else "a hierarchy"
    raise ColumnError(
        f"Column {domain.name!r} has {what}, and its labels cannot be {style}.",
        attempt='labels = "nodes" or "sets".'
        if plain_tree
        else "leaving labels out, or giving a step and nothing else.",
    )


def share_alone(series: pl.Series, counts: np.ndarray, rows_per_person: int = 1) -> Fraction:
    """The share of a column's distinct values that one person alone has, or may have where people have several rows."""
    held = (
        pl.DataFrame({"value": series, "rows": counts}).drop_nulls("value").group_by("value").agg(pl.col("rows").sum())
    )
    if not len(held):
        return Fraction(0)
    return Fraction(int((held["rows"] <= rows_per_person).sum()), len(held))


def singles_out(domain: RangeDomain | BandDomain, alone: Fraction) -> bool:
    """Whether whole numbers are snapped unasked: many are one person's alone, and a round step of two or more fits their range."""
    if domain.kind != "numeric" or alone < ALONE:
        return False
    numbers = [Decimal(domain.texts[at]) for at in (0, -1)]
    if max(abs(number) for number in numbers) > EXACT:
        return False
    return round_step(numbers[0], numbers[1]) > 1


def explain_choice(quasi: Sequence[Domain]) -> list[str]:
    """For the owner: which columns of whole numbers are snapped though nobody asked for it, and why."""
    chosen = [
        domain.name
        for domain in quasi
        if isinstance(domain, SnappedDomain | BandDomain)
        and domain.kind == "numeric"
        and domain.labelling is not None
        and not domain.asked
        and not _fractional(domain)
    ]
    return [
        f"At least one in {ONE_IN} of the distinct values of {name!r} is one person's alone: a range that ended there would "
        'single that person out, so its ranges end on round numbers (labels = "snapped"). labels = "tight" ends them at values '
        "of people."
        for name in chosen
    ]


def _bands(domain: BandDomain, column: Column, alone: Fraction, tree: Hierarchy | None) -> BandDomain:
    """A built hierarchy whose nodes print with ends of their own: calendar steps, the edges of bands, or round numbers."""
    asked = column.labels
    fine = _fractional(domain)
    if asked is None and not (fine or domain.kind == "date" or singles_out(domain, alone)):
        return domain
    if asked is not None and asked.step is not None:
        raise ColumnError(
            f"Column {domain.name!r} has a built hierarchy, whose nodes are its steps.",
            attempt='labels = "snapped" without a step, or no hierarchy.',
        )
    if domain.kind == "date" and domain.dtype != "Date":
        return domain
    if domain.kind == "numeric":
        step = round_step(Decimal(domain.texts[0]), Decimal(domain.texts[-1]))
        places = number_places(domain.texts, step if fine else max(step, Decimal(1)), whole=not fine)
    else:
        values = typed([text.strip()[:10] for text in domain.texts], domain.dtype)
        places = date_places(values, date_step(values))
    limits = _limits(domain, column)
    built = getattr(tree, "asked", None) or {}
    found = [node_ends(str(built.get("build")), label) for label in domain.hierarchy.labels]
    lower, upper = (
        tuple(None if ends is None else _held(domain, ends[side], limits, side) for ends in found) for side in (0, 1)
    )
    how = asked or Labelling("snapped")
    return replace(domain, ends=NodeEnds(lower, upper, _within(places, limits)), labelling=how, asked=asked is not None)


def _held(domain: BandDomain, end: str, limits: tuple[Place | None, Place | None], side: int) -> str:
    """An end of a node, or the limit that it goes past."""
    limit = limits[side]
    if limit is None:
        return end
    at = _place(domain, end).at
    return limit.text if (at < limit.at, at > limit.at)[side] else end


def _fractional(domain: RangeDomain | BandDomain) -> bool:
    """Whether a column of numbers holds any that is not whole, however its type is named; none too large for round steps."""
    real = domain.kind == "numeric" and domain.dtype.startswith(("Float", "Decimal"))
    if not real or max(abs(Decimal(text)) for text in domain.texts) > EXACT:
        return False
    return any(not _whole(Decimal(text)) for text in domain.texts)


def _whole(number: Decimal) -> bool:
    return number == number.to_integral_value()


def _line(
    domain: RangeDomain, column: Column, within: tuple[int, int] | None = None, alone: Fraction = Fraction(0)
) -> RangeDomain:
    fine = _fractional(domain) or domain.dtype.startswith("Datetime")
    snapped = fine or domain.kind == "date" or singles_out(domain, alone)
    asked = column.labels or Labelling("snapped" if snapped else "tight")
    if asked.style in ON_TREES:
        raise ColumnError(
            f"Column {domain.name!r} has numbers or dates, and labels = {asked.style!r} is for categories.",
            attempt='labels = "tight", "snapped" or "padded".',
        )
    if asked.style == "tight":
        return domain
    make = _padded if asked.style == "padded" else _snapped
    return make(domain, column, asked, fine, within or (0, len(domain.texts) - 1))


def narrowed(domain: PrintedDomain, first: int, last: int) -> RangeDomain:
    """The same labels, chosen for the codes first .. last: what was withheld beyond them leaves no trace in a step or a limit."""
    alone = ALONE if isinstance(domain, SnappedDomain) else Fraction(0)  # what was chosen for all values is kept
    return _line(domain.tight, domain.column, (first, last), alone)


def _snapped(
    domain: RangeDomain, column: Column, asked: Labelling, coarse: bool, within: tuple[int, int]
) -> SnappedDomain:
    first, last = within
    if domain.kind == "numeric":
        step = _number_step(domain, asked.step, within, whole=not coarse)
        places = number_places(domain.texts, step, whole=not coarse, origin=domain.origin)
    else:
        if asked.step is not None and not isinstance(asked.step, str):
            raise _not_a_step(domain, "a calendar step", '"month"')
        values = typed(domain.texts, domain.dtype)
        places = date_places(values, asked.step or date_step(values[first : last + 1]), domain.origin)
    if asked.step is not None and len(domain.texts) > 1 and len(set(places.lower)) == 1:
        raise ColumnError(
            f"Column {domain.name!r}: all of its {len(domain.texts):,} distinct values lie in one step of the grid.",
            why="Every range would read the same, and say nothing.",
            attempt='a smaller step, or labels = "snapped", which chooses one.',
        )
    places = _within(places, _limits(domain, column))
    span = domain.span if column.domain is not None else (float(places.low[first]), float(places.high[last]))
    return SnappedDomain(**given(domain) | {"span": span}, labelling=asked, column=column, coarse=coarse, places=places)


def _number_step(domain: RangeDomain, asked: Any, within: tuple[int, int], *, whole: bool) -> Decimal:
    if isinstance(asked, str):
        raise _not_a_step(domain, "a number", "5")
    if asked is None:
        step = round_step(Decimal(domain.texts[within[0]]), Decimal(domain.texts[within[1]]))
        return max(step, Decimal(1)) if whole else step
    if whole and not isinstance(asked, int):
        raise _not_a_step(domain, "a whole number", str(max(round(asked), 1)))
    return Decimal(str(asked))


def _padded(
    domain: RangeDomain, column: Column, asked: Labelling, coarse: bool, within: tuple[int, int]
) -> PaddedDomain:
    unit, most, per = _unit(domain, asked.width)
    if asked.share is not None and coarse:
        raise ColumnError(
            f"Column {domain.name!r} has fractions or times, which are as good as a name in narrow ranges too: share is for whole "
            "numbers and days.",
            attempt=f'labels = {{ style = "padded", width = {asked.width} }}.',
        )
    stands = [Decimal(text) for text in domain.texts] if domain.kind == "numeric" else _physical(domain)
    with localcontext(Context(prec=60)):
        first, last = (
            np.array([int((value / unit).to_integral_value(way)) for value in stands], object)
            for way in (ROUND_FLOOR, ROUND_CEILING)
        )
        floor, ceiling = int(first[within[0]]) // most * most, -(-int(last[within[1]]) // most) * most
    free = PaddedDomain(**given(domain), labelling=asked, column=column, coarse=coarse, first=first, last=last, unit=per, most=most,
                        limits=(None, None))  # fmt: skip
    low, high = _limits(domain, column, (free.place(floor), free.place(ceiling)))
    assert low is not None and high is not None
    room = high.at - low.at if column.domain is not None else float(stands[-1] - stands[0])
    if most * float(per) > room and len(stands) > 1:
        raise ColumnError(
            f"Column {domain.name!r}: its labels may be padded by more than its whole domain is wide.",
            why="Every end would be moved to the domain's own, and every range would read the same.",
            attempt="a smaller width, or a wider domain.",
        )
    return replace(free, span=domain.span if column.domain is not None else (low.at, high.at), limits=(low, high))


def _physical(domain: RangeDomain) -> list[Decimal]:
    return [Decimal(at) for at in typed(domain.texts, domain.dtype).to_physical().to_list()]


def _unit(domain: RangeDomain, width: Any) -> tuple[Decimal, int, Any]:
    """What a pad is a multiple of, how many of it the width has, and the same unit as the line counts."""
    exact = Decimal(str(width))
    if _fractional(domain):
        unit = round_step(Decimal(0), exact, FINE)
        return unit, int(exact / unit), unit
    if exact != int(exact):
        raise ColumnError(
            f"Column {domain.name!r} has values of the type {domain.dtype}: its pads are whole"
            f" {'days' if domain.kind == 'date' else 'numbers'}.",
            attempt=f'labels = {{ style = "padded", width = {max(round(exact), 1)} }}.',
        )
    if domain.kind == "numeric" or domain.dtype == "Date":
        return Decimal(1), int(exact), Decimal(1) if domain.kind == "numeric" else 1
    hour = _HOURS[getattr(dtype_named(domain.dtype), "time_unit", "us")]
    return Decimal(hour), int(exact) * 24, hour


def _limits(
    domain: RangeDomain | BandDomain, column: Column, otherwise: tuple[Place, Place] | None = None
) -> tuple[Place | None, Place | None]:
    """The places that no label goes past: the declared domain (or `otherwise`), top and bottom, and what the type can hold."""
    low: list[Any] = [column.bottom, *(column.domain or ())[:1]]
    high: list[Any] = [column.top, *(column.domain or ())[1:]]
    if domain.dtype.startswith(("Int", "UInt")):
        room = np.iinfo(domain.dtype.lower())
        low.append(int(room.min))
        high.append(int(room.max))
    elif domain.dtype == "Date":  # others read no year before 1 and none of five digits
        low.append("0001-01-01")
        high.append("9999-12-31")
    least = [_place(domain, end) for end in low if end is not None]
    most = [_place(domain, end) for end in high if end is not None]
    if otherwise is not None and column.domain is None:
        least.append(otherwise[0])
        most.append(otherwise[1])
    return max(least, key=lambda end: end.at, default=None), min(most, key=lambda end: end.at, default=None)


def _place(domain: RangeDomain | BandDomain, end: Any) -> Place:
    origin = domain.origin if isinstance(domain, RangeDomain) else 0
    if domain.kind == "numeric":
        return Place(plain(Decimal(str(end))), float(Decimal(str(end)) - origin) if origin else float(end))
    bound = date.fromisoformat(end[:10]) if domain.dtype == "Date" else datetime.fromisoformat(end)
    series = pl.select(pl.lit(bound, dtype_named(domain.dtype))).to_series()
    return Place(iso(series)[0], float(standing(series, origin)[0]))


def _within(places: Places, limits: tuple[Place | None, Place | None]) -> Places:
    lower, upper, low, high = places.lower, places.upper, places.low, places.high
    if (least := limits[0]) is not None:
        lower = tuple(least.text if out else end for end, out in zip(lower, (low < least.at).tolist(), strict=True))
        low = np.maximum(low, least.at)
    if (most := limits[1]) is not None:
        upper = tuple(most.text if out else end for end, out in zip(upper, (high > most.at).tolist(), strict=True))
        high = np.minimum(high, most.at)
    return Places(lower, upper, low, high)


def _not_a_step(domain: RangeDomain, wanted: str, example: str) -> ColumnError:
    return ColumnError(
        f"Column {domain.name!r} has values of the type {domain.dtype}: its step is {wanted}.",
        attempt=f'labels = {{ style = "snapped", step = {example} }}.',
    )
