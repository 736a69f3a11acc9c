"""What must be said of a table that another tool made: nobody stated what was withheld, nor what the other columns are.

A column without a role is treated as carried: it is published as it is.  So is one that a job declares identifying and
that stands in the table all the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from reticent.audit.grouping import number
from reticent.audit.kind import Recounted
from reticent.audit.subject import Subject
from reticent.table.carried import NEAR_UNIQUE
from reticent.table.grammar import ANY


def with_withheld(subject: Subject, source: pl.DataFrame | pl.LazyFrame | None) -> Subject:
    """A table of another tool with the rows of its source that it does not have."""
    if subject.frame is None or not isinstance(source, pl.DataFrame):
        return subject
    return replace(subject, withheld=max(len(source) - len(subject.frame), 0))


def near_unique(subject: Subject) -> dict[str, int]:
    """Columns without a role in which too many rows have a value of their own, and how many."""
    found = {}
    for series in () if subject.undeclared is None else subject.undeclared:
        own = int((np.bincount(number(series).codes) == 1).sum())
        if own * 100 > NEAR_UNIQUE * len(series):
            found[series.name] = own
    return found


def sentences(found: Recounted) -> list[str]:
    """Columns that single people out though nobody gave them a role, and rows that show nothing."""
    subject = found.subject
    if subject.undeclared is None:
        return []
    said = [
        f"Column {name!r} has no role and is near-unique: {own:,} of {found.rows:,} rows have a value of their own. Who knows it "
        "knows the row, whatever is promised."
        for name, own in near_unique(subject).items()
    ]
    return [*said, *_all_hidden(found)]


def _all_hidden(found: Recounted) -> list[str]:
    stars = pl.all_horizontal((pl.col(entry.name) == ANY).fill_null(False) for entry in found.subject.quasi)
    rows = int(found.frame.select(stars.alias("x")).to_series().sum()) if found.subject.quasi else 0
    return (
        [f"{rows:,} rows show * in every quasi-identifier: they are withheld but for their other columns."]
        if rows
        else []
    )
