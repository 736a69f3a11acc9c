"""Declares how a column's labels print, and so what the ends of its ranges may disclose.

labels = "tight"                                a range ends at its group's least and greatest value
labels = "snapped"                              ends lie on round numbers or calendar steps, chosen from the column's range
labels = { style = "snapped", step = 5 }        ends lie on multiples of 5; of dates, step = "month"
labels = { style = "padded", width = 2 }        each end is moved outwards by a secret amount of at most 2; of dates, 2 days
labels = { style = "padded", width = 2, share = 0.5 }   the same, and at most half of the range: narrow ranges move little
labels = "nodes", labels = "sets"               of categories: a hierarchy's nodes, or the exact set of a group's values
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from reticent.errors import JobError, suggest

LINE_STYLES = ("tight", "snapped", "padded")
TREE_STYLES = ("nodes", "sets")
CALENDAR_STEPS = ("day", "week", "month", "quarter", "year", "decade")


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """Style of a column's labels and its measures.

    `step` of snapped labels and `width` of padded ones are numbers, or of dates a calendar step and a number of days;
    `share` is the most that an end is moved by, as a share of its own range.
    """

    style: str
    step: Any = None
    width: Any = None
    share: Any = None

    @classmethod
    def parse(cls, given: Any) -> LabelOptions:
        """Parse a style's name, or a table with the style and its measure."""
        if isinstance(given, LabelOptions):
            return given
        table = {"style": given} if isinstance(given, str) else given
        if not isinstance(table, Mapping) or not isinstance(table.get("style"), str):
            raise JobError("labels is the name of a style, or a table that has one.", attempt=_STYLE_EXAMPLE)
        for name in table:
            if name not in _OPTION_NAMES:
                raise JobError(f"labels: {name!r} is not known.", attempt=suggest(str(name), _OPTION_NAMES))
        return cls(**table)

    def __post_init__(self) -> None:
        if self.style not in (*LINE_STYLES, *TREE_STYLES):
            raise JobError(
                f"There is no label style {self.style!r}.", attempt=suggest(self.style, (*LINE_STYLES, *TREE_STYLES))
            )
        for name, style in (("step", "snapped"), ("width", "padded"), ("share", "padded")):
            if getattr(self, name) is not None and self.style != style:
                raise JobError(f"labels: {name} is for {style} labels.", attempt=_STYLE_EXAMPLE)
        if self.style == "padded" and self.width is None:
            raise JobError("Padded labels need a width: the most that an end is moved by.", attempt=_STYLE_EXAMPLE)
        if not isinstance(self.step, str):
            object.__setattr__(self, "step", _parse_positive(self.step, "step"))
        elif self.step not in CALENDAR_STEPS:
            raise JobError(
                f"labels: there is no calendar step {self.step!r}.", attempt=suggest(self.step, CALENDAR_STEPS)
            )
        object.__setattr__(self, "width", _parse_positive(self.width, "width"))
        object.__setattr__(self, "share", _parse_positive(self.share, "share"))
        if self.share is not None and self.share > 1:
            raise JobError("labels: share is at most 1, the whole of a range.", attempt=_SHARE_EXAMPLE)

    def find_max_pad(self, span: int, max_pad: int) -> int:
        """Return the most units that an end of a range of `span` units is moved by; the width allows `max_pad`."""
        return max_pad if self.share is None else min(max_pad, int(Fraction(str(self.share)) * span))

    def to_plain(self) -> str | dict[str, Any]:
        """Return the options as a job file or a manifest holds them."""
        measures = {name: value for name in _OPTION_NAMES[1:] if (value := getattr(self, name)) is not None}
        return {"style": self.style, **measures} if measures else self.style


_OPTION_NAMES = ("style", "step", "width", "share")
_SHARE_EXAMPLE = 'labels = { style = "padded", width = 2, share = 0.5 }.'
_STYLE_EXAMPLE = 'labels = "snapped", or labels = { style = "padded", width = 2 }.'


def _parse_positive(value: Any, name: str) -> int | float | None:
    """Parse a number above 0, as an integer where it is whole."""
    if value is None:
        return None
    try:
        exact = Decimal(str(value))
        if isinstance(value, bool) or not exact.is_finite() or exact <= 0:
            raise ValueError
    except (ArithmeticError, ValueError):
        raise JobError(f"labels: {name} must be a number above 0.", attempt=_STYLE_EXAMPLE) from None
    return int(exact) if exact == int(exact) else float(exact)
