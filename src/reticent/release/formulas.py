"""Texts that a spreadsheet takes for formulas: those that begin with = + - @, a tab or a carriage return, and are no number.

In a CSV they can be quoted: written with an apostrophe before them, which a spreadsheet takes for "this is text".  A text that
begins with apostrophes and then such a mark gets one more, so that what is read back is what was there.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

QUOTED, PRESENT = "quote", "present"
_LOOKS = r"^'*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_MARKED = r"^'+[=+\-@\t\r]"


def like_formulas(column: pl.Expr) -> pl.Expr:
    """Which texts begin as formulas do; a plain number, -5, is none."""
    return column.str.contains(_LOOKS) & column.str.contains(_NUMBER).not_()


def any_formula(series: Iterable[pl.Series]) -> bool:
    """Whether a text, or a column's name, looks like a formula."""
    held = list(series)
    names = pl.Series([one.name for one in held], dtype=pl.String)
    texts = [names, *(one for one in held if one.dtype == pl.String)]
    return any(bool(one.to_frame("text").select(like_formulas(pl.col("text")).any()).item()) for one in texts)


def quoted_name(name: str) -> str:
    return str(pl.select(_quoted(pl.lit(name))).item())


def quoted(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows as they are written: names and texts that look like formulas with an apostrophe before them."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(_quoted(pl.col(name)).alias(name) for name in texts).rename(
        {name: quoted_name(name) for name in frame.columns}
    )


def _quoted(text: pl.Expr) -> pl.Expr:
    return pl.when(like_formulas(text)).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)


def unquoted(text: pl.Expr) -> pl.Expr:
    """The text that was there before."""
    return pl.when(text.str.contains(_MARKED)).then(text.str.slice(1)).otherwise(text)
