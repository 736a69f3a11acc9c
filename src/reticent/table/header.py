"""A CSV's first line: names of columns, or a record of a file without a header, which no message may show.

It is taken for a record where a quarter of the names or more are numbers, dates, addresses or empty, where two are
equal, or where a name is one of the values in its own column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

import polars as pl

from reticent.errors import SourceError

_ODD = re.compile(r"\s*([+-]?[\d.,]+|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\S+@\S+\.\S+|\S+\s\S+\s\S+\s\S+\s\S+.*)?\s*")
LOOKED_AT = 1000  # rows


def oddities(names: Sequence[str]) -> tuple[int, int]:
    """How many names are none, and how many repeat another."""
    return sum(_ODD.fullmatch(name) is not None for name in names), len(names) - len(set(names))


def is_record(names: Sequence[str], lazy: pl.LazyFrame | None = None) -> bool:
    """Whether these names are rather a record's values; `lazy` holds the rows below them."""
    odd, repeated = oddities(names)
    return bool(names) and (odd * 4 >= len(names) or repeated > 0 or (lazy is not None and _is_held(lazy)))


def _is_held(lazy: pl.LazyFrame) -> bool:
    """Whether a column holds its own name among its first values."""
    texts = [name for name, dtype in lazy.collect_schema().items() if dtype == pl.String]
    if not texts:
        return False
    try:
        first = lazy.select(texts).head(LOOKED_AT).collect()
    except Exception:  # rows that cannot be read are another's message
        return False
    return any(first[name].str.strip_chars().eq(name.strip()).any() for name in texts)


def known(word: str, names: Sequence[str], lazy: pl.LazyFrame | None = None) -> str:
    """What to try instead of a column that is not there: a name that is nearly the same, and no other.

    Half of a first line may be names and the other half a record's values: what nobody has typed is not shown.
    """
    if is_record(names, lazy):
        return f"a header line: the {len(names)} names of the first line look like a record and are not shown."
    close = get_close_matches(str(word)[:80], [name for name in names if len(name) <= 80], n=1)
    if close:
        return f"{close[0]!r} instead."
    return (
        f"one of the {len(names)} names in the first line of the data, which are not shown: in a file whose header is missing or cut "
        "off they are a record's values."
    )


def refuse_record(names: Sequence[str], lazy: pl.LazyFrame | None = None) -> None:
    """A file without a header would show its first record."""
    if is_record(names, lazy):
        odd, repeated = oddities(names)
        raise SourceError(
            "The first line does not look like a header.",
            why=f"It has {len(names)} names: numbers, dates or empty {odd}, repeated {repeated}"
            + ("." if odd or repeated else ", and a column holds its own name as a value."),
            attempt="a header line with a different name for each column.",
        )
