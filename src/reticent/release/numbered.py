"""Group numbers and counts of a data file, looked at before anything is as long as the greatest of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import polars as pl

from reticent.errors import BundleDamaged, some
from reticent.release.shape import MOST


def refuse_wild(table: pl.DataFrame, name: str, least: int, most: int) -> None:
    """Refuse a column of whole numbers where one is missing, below `least` or above `most`."""
    series = table[name]
    present = series.drop_nulls()
    outside = len(present) and (cast("int", present.min()) < least or cast("int", present.max()) > most)
    if outside or len(present) < len(series):
        raise BundleDamaged(
            "The files of the release do not belong together.",
            why=f"Values of {name!r} are missing, or not from {least:,} to {most:,}.",
        )


def refuse_more(series: pl.Series) -> None:
    """Refuse counts that add up to more than is counted exactly."""
    if sum(series.to_list()) > MOST if _large(series) else False:
        raise BundleDamaged(
            "The files of the release do not belong together.", why=f"The counts in {series.name!r} are too large."
        )


def refuse_unlisted(table: pl.DataFrame, name: str, listed: Sequence[str]) -> None:
    """Refuse a column that shows values which the manifest does not list, or none."""
    unknown = len(set(table[name].cast(pl.String).unique()) - set(listed))
    if unknown:
        raise BundleDamaged(
            f"Column {name!r} shows {some(unknown, 'value', 'that is', 'that are')} not in the domain of the manifest."
        )


def _large(series: pl.Series) -> bool:
    return len(series) > 0 and cast("int", series.max()) * len(series) > MOST
