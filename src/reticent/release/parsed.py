"""JSON that a stranger may have written, read within limits: sizes first, then keys, numbers and texts, then depth.

Whatever is beyond a limit, said twice or no value of ours is refused with a sentence before anything is computed with it.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from reticent.limits import MANIFEST_VALUES
from reticent.release.numbers import DIGITS
from reticent.release.shape import Misshapen

BYTES = 64 << 20
"""The longest manifest.  One with a matrix of 1,400 values is shorter."""
VALUES = MANIFEST_VALUES
"""The most values, keys, lists and tables in a manifest."""
KEYS = 1 << 16
"""The most keys of one table."""


def parsed(raw: bytes) -> Any:
    """What the JSON says; raises `Misshapen`, which never quotes it."""
    refuse_large(raw)
    try:
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_once,
            parse_int=_whole,
            parse_float=_float,
            parse_constant=_constant,
        )
    except RecursionError:
        raise Misshapen("its lists and tables are nested too deep", inside=True) from None
    except Misshapen:
        raise
    except ValueError:  # no JSON, or no UTF-8
        raise Misshapen("it is no JSON", inside=True) from None


def refuse_large(raw: bytes) -> None:
    if len(raw) > BYTES:
        raise Misshapen(f"it has {len(raw):,} bytes, and {BYTES:,} are the most", inside=True)
    values = sum(raw.count(mark) for mark in (b",", b"[", b"{"))
    if values > VALUES:
        raise Misshapen(f"it has about {values:,} values, and {VALUES:,} are the most", inside=True)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > KEYS:
        raise Misshapen(f"a table has {len(pairs):,} keys, and {KEYS:,} are the most", inside=True)
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Misshapen("it says something twice", inside=True)
    return found


def _whole(text: str) -> int:
    if len(text) > DIGITS:
        raise Misshapen(f"a number has more than {DIGITS} digits", inside=True)
    return int(text)


def _float(text: str) -> float:
    if len(text) > DIGITS or not isfinite(number := float(text)):
        raise Misshapen(f"a number has more than {DIGITS} digits, or is too large", inside=True)
    return number


def _constant(text: str) -> Any:
    raise Misshapen("a number is not finite", inside=True)
