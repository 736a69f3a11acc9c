"""Numbers and dates that a steward declares of a column: its domain, its top and bottom, the step it is rounded to."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from reticent.errors import JobError

LEAST_STEP = 1e-15


def parse_domain(domain: Any) -> tuple[Any, Any]:
    """The least and the greatest number that a column can hold."""
    try:
        least, greatest = domain
        if float(least) <= float(greatest):
            return least, greatest
    except (TypeError, ValueError):
        pass
    raise JobError("A domain is two numbers, the least first.", attempt="domain = [0, 120].")


def parse_end(value: Any, side: str) -> int | float | str | None:
    """A bound as a job declares it: a number, or a date as text."""
    try:
        if value is None or isinstance(value, date):
            return None if value is None else value.isoformat()
        if isinstance(value, str):
            datetime.fromisoformat(value)
            return value
        return parse_number(value)
    except (TypeError, ValueError, OverflowError):
        raise JobError(
            f"{side} must be a number or a date.", attempt=f'{side} = 80, or {side} = "2001-12-31".'
        ) from None


def parse_step(value: Any) -> int | float:
    try:
        if LEAST_STEP <= (step := parse_number(value)) <= 1 / LEAST_STEP:
            return step
    except (TypeError, ValueError, OverflowError):
        pass
    raise JobError("round_to must be a number above 0, from 1e-15 to 1e15.", attempt="round_to = 10.")


def parse_number(value: Any) -> int | float:
    """A finite number, whole where it is."""
    if isinstance(value, bool | str):
        raise TypeError
    number = float(value)
    return int(value) if number == int(number) else number
