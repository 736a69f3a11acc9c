"""Numbers and dates that a steward declares of a column: its domain, its top and bottom, the step it is rounded to."""

from __future__ import annotations

from collections.abc import Sequence
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


def parse_values(domain: Any) -> tuple[Any, ...]:
    """What a sensitive column can hold: the least and the greatest number, or a list of values as texts."""
    try:
        return parse_domain(domain)
    except JobError:
        pass
    attempt = 'domain = [0, 49], or domain = ["none", "mild", "severe"].'
    if isinstance(domain, str | bytes) or not isinstance(domain, Sequence) or not domain:
        raise JobError("A sensitive column's domain is two numbers, or a list of values.", attempt=attempt)
    texts = tuple(map(value_text, domain))
    if len(set(texts)) < len(texts):
        raise JobError("A domain lists a value twice.", attempt="each value once.")
    if len(texts) < 2:
        raise JobError("A domain lists one value alone.", attempt=attempt)
    return texts


def is_range(domain: Sequence[Any]) -> bool:
    """Whether a declared domain is the least and the greatest number, and no list of values."""
    try:
        return len(domain) == 2 and float(domain[0]) <= float(domain[1])
    except (TypeError, ValueError):
        return False


def value_text(value: Any) -> str:
    """A value of a list as columns print it."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else str(value)


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
