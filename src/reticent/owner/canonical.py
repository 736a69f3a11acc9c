"""One text for each value, however a source writes it: 1, "1", " 1.0" and 1.00 agree, and so do a date, its ISO text
and its midnight.

The texts are hashed and compared, never shown.  Where the rules read too much into a text ("007" is taken for 7),
two values become one, which makes two tables no less alike.
"""

from __future__ import annotations

import re

import polars as pl

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})(:\d{2})?(\.\d+)?")
_EXACT = 2.0**53  # whole numbers up to here are exact in double precision


def canonical(values: pl.Series) -> list[str]:
    """The canonical text of each of some values, none of them missing."""
    if values.dtype.is_integer():
        return list(map(str, values.to_list()))
    if isinstance(values.dtype, pl.Datetime):
        if values.dtype.time_zone is not None:
            values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        values = values.dt.strftime("%Y-%m-%dT%H:%M:%S%.f")
    return list(map(plain, values.cast(pl.String).to_list()))


def plain(text: str) -> str:
    text = text.strip()
    if text[:1] in "+-.0123456789":
        if _NUMBER.fullmatch(text):
            return _number(text)
        if moment := _MOMENT.fullmatch(text):
            day, minute, second, fraction = moment.groups()
            time = minute + (second or ":00") + (fraction or "").rstrip("0").rstrip(".")
            return day if time == "00:00:00" else f"{day}T{time}"
    elif text.lower() in ("true", "false"):
        return text.lower()
    return text


def _number(text: str) -> str:
    if text.lstrip("+-").isdecimal():
        return str(int(text)) if len(text) < 1000 else text
    number = float(text)
    return str(int(number)) if abs(number) < _EXACT and number == int(number) else repr(number)
