"""What a published label covers: an extent, on a line or in a tree."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any


class Unreadable(ValueError):
    """A label that the column's schema does not explain.  It holds the label: show a count of them, never the label."""


@dataclass(frozen=True, slots=True)
class Extent:
    """`null`: the missing value alone; `any`: everything; `range`: a stretch of a line; `leaves`: leaves of a tree, by number.

    A range such as `< 20` is `endless` on one side: it ends where the column does as far as loss goes, and covers what lies beyond.
    """

    form: str
    lower: Any = None
    upper: Any = None
    open_lower: bool = False
    open_upper: bool = False
    leaves: tuple[int, ...] | range = ()
    endless: str = ""  # "lower" or "upper"


NULL, EVERYTHING = Extent("null"), Extent("any")


def number(text: str) -> int | float:
    """A number that compares exactly with others: whole where it is written so."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(json.loads(text) if text.startswith('"') else text)
    except (ValueError, TypeError, RecursionError):
        raise Unreadable("a number") from None
    if not isfinite(value):
        raise Unreadable("a finite number")
    return value
