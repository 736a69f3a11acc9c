"""Do ranges end where the manifest says that they were snapped to?  Only a declared step can be checked: a chosen one is not said."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

from reticent.release.manifest import ColumnEntry
from reticent.table.grammar import ANY, parse
from reticent.table.labelling import Labelling

_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def off_the_grid(entry: ColumnEntry, labels: list[str | None]) -> int:
    """How many ranges of a column have an end that is neither on the declared step nor a declared bound."""
    how = None if entry.labels is None else Labelling.of(entry.labels)
    if how is None or how.step is None or entry.dtype.startswith("Datetime"):
        return 0
    bounds = {str(end) for end in (*(entry.domain or ()), entry.bottom, entry.top) if end is not None}
    bounds |= {"0001-01-01", "9999-12-31"}  # the first and the last day that there is
    found = 0
    for label in labels:
        form, ends = ("value", ()) if label in (None, ANY) else parse(str(label))
        if form == "range":
            on = (_starts(ends[0], how), _stops(ends[1], how))
            found += any(not fits and end not in bounds for end, fits in zip(ends, on, strict=True))
    return found


def _starts(end: str, how: Labelling) -> bool:
    if not isinstance(how.step, str):
        return Fraction(end) % Fraction(str(how.step)) == 0
    day = date.fromisoformat(end)
    if how.step in ("day", "week"):
        return how.step == "day" or day.weekday() == 0
    return day.day == 1 and (day.year * 12 + day.month - 1) % _MONTHS[how.step] == 0


def _stops(end: str, how: Labelling) -> bool:
    """Whole numbers and days end before the next step starts; fractions where it starts."""
    if isinstance(how.step, str):
        return _starts((date.fromisoformat(end) + timedelta(days=1)).isoformat(), how)
    step, value = Fraction(str(how.step)), Fraction(end)
    return value % step == 0 or (value + 1) % step == 0
