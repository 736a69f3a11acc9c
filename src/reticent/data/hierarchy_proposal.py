"""Proposes a builder for a column, with the reason, for `reticent init` and `reticent hierarchy`.

    dates                                   a calendar: month, quarter, year, decade
    numbers over a wide range               bands of a round width, about thirty of them, and bands of twice and ten times that
    codes of one length that share prefixes redacted from the right
    anything else with many values          a balanced tree over the sorted values
    few values                              none: flat, a value or `*`

`format_hierarchy_command` writes the shell command that builds a hierarchy from the prefixes of a column's codes.
"""

from __future__ import annotations

import re
from shlex import quote
from typing import Any, cast

import polars as pl

from reticent.data.source import Source

MAX_FLAT_VALUES = 6  # values that need no levels between themselves and `*`
TARGET_BANDS = 30

_CODE_NAME_PATTERN = re.compile(r"zip|post(al)?|code|icd|nace|naics|fips", re.IGNORECASE)
_ZIP_NAME_PATTERN = re.compile(r"zip|post(al)?", re.IGNORECASE)
_ZIP_PATTERN = r"^\d{5}(-?\d{4})?$"
_NUMBER_PATTERN = r"^\s*[+-]?\d+(\.\d+)?\s*$"
_ZERO_PADDED_PATTERN = r"^\s*0\d"
_DATE_PATTERN = r"^\d{4}-\d{2}-\d{2}"


def propose_builder(series: pl.Series, name: str = "") -> tuple[dict[str, Any], str]:
    """Return the options of the proposed builder (empty for none), and the reason, in counts and never a value."""
    values = series.unique().drop_nulls()
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    value_count = f"{len(values):,} distinct values"
    if values.dtype in (pl.Date, pl.Datetime) or _all_match(values, _DATE_PATTERN):
        return {
            "build": "dates"
        }, f"dates ({value_count}): people are alike by month, quarter and year before they are by day"
    if len(values) <= MAX_FLAT_VALUES:
        return {}, f"{value_count}: a value or `*` is all there is to say"
    if _ZIP_NAME_PATTERN.search(name) and _all_match(values, _ZIP_PATTERN) and not _are_codes(values):
        return {"build": "prefixes", "keep": [5, 3, 1]}, (
            f"ZIP codes of five and of nine digits ({value_count}), by its name: areas of five, three and one digit"
        )
    if _CODE_NAME_PATTERN.search(name) and _are_codes(values.cast(pl.String)):
        return {
            "build": "prefixes"
        }, f"codes of one length ({value_count}), by its name: the longer the prefix, the nearer"
    if values.dtype.is_numeric() or (
        _all_match(values, _NUMBER_PATTERN) and not values.str.contains(_ZERO_PADDED_PATTERN).any()
    ):
        width = choose_round_width(values.cast(pl.Float64, strict=False).drop_nulls())
        return {"build": "intervals", "width": [width, 2 * width, 10 * width]}, (
            f"numbers ({value_count}): bands of {width}, {2 * width} and {10 * width}; leave it out and ranges are cut where the data is"
        )
    if _are_codes(values):
        return {
            "build": "prefixes"
        }, f"codes of one length ({value_count}) that share beginnings: the longer the prefix, the nearer"
    return {
        "build": "balanced",
        "fanout": 3,
    }, f"{value_count} without an order of meaning: better name groups of your own; a balanced tree for now"


def choose_round_width(numbers: pl.Series, bands: int = TARGET_BANDS) -> int | float:
    """Choose a round width (1, 2 or 5 times a power of ten) that divides the range into about `bands` bands."""
    reach = float(cast("float", numbers.max())) - float(cast("float", numbers.min()))
    are_whole = bool((numbers == numbers.floor()).all())
    exponent = -6
    while 10.0 ** (exponent + 1) * bands <= reach:
        exponent += 1
    base = next((step for step in (1, 2, 5) if step * 10.0**exponent * bands >= reach), 10)
    width = base * 10**exponent if exponent >= 0 else round(base * 10.0**exponent, -exponent)
    return max(int(width), 1) if are_whole else width


def format_hierarchy_command(column: str, source: Source | None = None) -> str:
    """Format the command with the reading options of the source; without a source, DATA stands for it."""
    return f"reticent hierarchy --data {format_source_options(source)} --column {quote(column)} --build prefixes -o {name_hierarchy_file(column)}"


def name_hierarchy_file(column: str) -> str:
    """Make a file name that needs no quoting in a shell or a job."""
    return f"{re.sub(r'[^0-9A-Za-z_]+', '-', column).strip('-') or 'codes'}.csv"


def format_source_options(source: Source | None) -> str:
    """Format the path and the reading options of a source as words of a shell command."""
    if source is None or source.path is None:
        return "DATA"
    words = [quote(str(source.path))]
    if source.delimiter is not None:
        words.append(f"--delimiter {quote(source.delimiter)}")
    if source.encoding != "utf-8":
        words.append(f"--encoding {quote(source.encoding)}")
    return " ".join([*words, *(f"--missing {quote(mark)}" for mark in source.missing)])


def _all_match(values: pl.Series, pattern: str) -> bool:
    return values.dtype == pl.String and len(values) > 0 and bool(values.str.contains(pattern).all())


def _are_codes(values: pl.Series) -> bool:
    """Tell whether texts have one length and a digit in them, and several share a prefix."""
    if values.dtype != pl.String or values.str.len_chars().n_unique() != 1:
        return False
    length = int(values.str.len_chars()[0])
    return (
        length > 1 and bool(values.str.contains(r"\d").all()) and values.str.head(length - 1).n_unique() < len(values)
    )
