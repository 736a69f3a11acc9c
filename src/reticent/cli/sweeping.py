"""`beta=1..5`, `t=0.1..0.5..0.1` and `k=2,5,10` as the values that a parameter is swept over."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from reticent.errors import RequestError
from reticent.limits import refuse_immoderate

MOST = 1_000
_EXAMPLE = "--sweep beta=1..5, --sweep t=0.1..0.5..0.1, or --sweep k=2,5,10."


def swept(given: list[str] | None) -> dict[str, list[Any]]:
    """Each parameter with its values, in the order given."""
    found: dict[str, list[Any]] = {}
    for entry in given or []:
        name, mark, listed = entry.partition("=")
        if not mark or not name.strip() or not listed.strip():
            raise RequestError("A sweep names a parameter and its values.", attempt=_EXAMPLE)
        if name.strip() in found:
            raise RequestError(f"{name.strip()!r} is swept twice.", attempt="all of its values in one list.")
        found[name.strip().replace("-", "_")] = _values(listed.strip())
    return found


def _values(listed: str) -> list[Any]:
    if ".." not in listed:
        return [_value(part.strip()) for part in listed.split(",") if part.strip()]
    ends = [_number(part) for part in listed.split("..")]
    if len(ends) not in (2, 3) or None in ends:
        raise RequestError(
            "A range of a sweep has a first and a last number, and a step if it is not 1.", attempt=_EXAMPLE
        )
    first, last, step = (*ends, Fraction(1))[:3]
    assert first is not None and last is not None and step is not None
    if step <= 0 or last < first or (last - first) / step >= MOST:
        raise RequestError(f"A range of a sweep goes up, by {MOST:,} steps at the most.", attempt=_EXAMPLE)
    return [_plain(first + at * step) for at in range(int((last - first) / step) + 1)]


def _number(text: str) -> Fraction | None:
    refuse_immoderate(text, "A value of a sweep")
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return None


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    number = _number(text)
    return text if number is None else _plain(number)


def _plain(number: Fraction) -> Any:
    """A whole number, or one as a job file would say it."""
    return int(number) if number == int(number) else number
