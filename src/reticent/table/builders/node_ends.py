"""The ends that a node of a built hierarchy has of itself: of a calendar's month its first and last day, of a band its edges."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation

from reticent.table.grids import plain

_CALENDAR = re.compile(r"(\d{4})(?:-(\d{2})|-Q([1-4])|(s))?")
_BAND = re.compile(r"\[([^,]+), ([^,\])]+)([\])])")
_LAST_YEAR = 9999


def node_ends(builder: str, label: str) -> tuple[str, str] | None:
    """Both ends of a node by its label, or None where the builder takes them from data or leaves one open."""
    if builder == "dates":
        return _calendar_ends(label)
    return _band_ends(label) if builder in ("intervals", "edges") else None


def _calendar_ends(label: str) -> tuple[str, str] | None:
    """The first and the last day of a month, quarter, year or decade."""
    found = _CALENDAR.fullmatch(label)
    if found is None:
        return None
    year, month, quarter, decade = int(found[1]), found[2], found[3], found[4]
    if month is not None:
        first, months = (year, int(month)), 1
    elif quarter is not None:
        first, months = (year, 3 * int(quarter) - 2), 3
    else:
        first, months = (year, 1), 120 if decade else 12
    past = first[0] * 12 + first[1] - 1 + months
    last = date(_LAST_YEAR, 12, 31)
    if past // 12 <= _LAST_YEAR:
        last = date(past // 12, past % 12 + 1, 1) - timedelta(days=1)
    return date(max(first[0], 1), first[1], 1).isoformat(), last.isoformat()


def _band_ends(label: str) -> tuple[str, str] | None:
    """The edges of `[20, 29]` or `[0.5, 1)`; a band that is open prints with both of its edges."""
    found = _BAND.fullmatch(label)
    if found is None:
        return None
    try:
        return plain(Decimal(found[1])), plain(Decimal(found[2]))
    except InvalidOperation:  # an edge that no decimal is, as a third
        return None
