"""Recoded values, by the definition and with exact numbers: rounded to the nearest multiple, ties to the even one, then cut."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def recoded(value: Any, *, round_to: Any = None, bottom: Any = None, top: Any = None) -> Any:
    if value is None:
        return None
    if round_to is not None:
        value = round(Fraction(str(value)) / Fraction(str(round_to))) * Fraction(str(round_to))
    if bottom is not None and value < bottom:
        value = bottom
    if top is not None and value > top:
        value = top
    return value
