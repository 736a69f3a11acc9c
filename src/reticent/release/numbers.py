"""Exact numbers that a stranger may have written: their length is looked at before they are computed.

`Fraction("1e999999999")` is a whole number of a thousand million digits, and adding fractions multiplies their denominators:
so a number has at most 330 digits, before and after the point together with what its exponent makes of them.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

DIGITS = 420
_BITS = 1400  # 420 digits; the least double is 5e-324
_EXPONENT = re.compile(r"[eE]([-+]?\d+)\s*$")


def fraction(value: Any) -> Fraction:
    """A number as it was written, 0.1 as one tenth; raises ValueError or TypeError for what is none, or is too long."""
    if isinstance(value, bool):
        raise ValueError("a truth value is no number")
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError("no finite number")
        return Fraction(repr(float(value)))
    if isinstance(value, Decimal):
        value = str(value)
    if isinstance(value, str):
        _refuse_long(value)
    found = Fraction(value)
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > _BITS:
        raise ValueError(f"a number has more than {DIGITS} digits")
    return found


def _refuse_long(text: str) -> None:
    written = _EXPONENT.search(text)
    if len(text) > 2 * DIGITS + 1 or (written and (len(written[1]) > 4 or abs(int(written[1])) > DIGITS)):
        raise ValueError(f"a number has more than {DIGITS} digits")
