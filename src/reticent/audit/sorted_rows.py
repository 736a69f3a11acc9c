"""Rows with exact quasi-identifiers and a group, sorted by all they show: any other order could tell whose value is whose."""

from __future__ import annotations

from typing import Any

import polars as pl

from reticent.audit.grouping import number
from reticent.audit.sensitive import ranks
from reticent.audit.subject import Subject
from reticent.errors import BundleDamaged
from reticent.table.roles import Role

GROUP = "group"
NOTE = "quasi-identifiers are published as they are: k is 1 wherever a combination is unique, and that is no fault of this kind"


def refuse_disorder(subject: Subject, frame: pl.DataFrame) -> None:
    """Rows stand sorted by all they show: group, quasi-identifiers in the order of their domains, carried columns.

    Any other order could say which row of a group has which value.
    """
    keys: dict[str, Any] = {GROUP: frame[GROUP]}
    for column in subject.quasi:
        values = number(frame[column.name])
        keys[column.name] = pl.Series(ranks(column, values.distinct)[0][values.codes])
    keys |= {column.name: frame[column.name] for column in subject.named(Role.INSENSITIVE)}
    order = pl.DataFrame(keys).select(pl.arg_sort_by(list(keys), nulls_last=True, maintain_order=True)).to_series()
    if not (order.diff().drop_nulls() > 0).all():
        raise BundleDamaged(
            "The rows of the release are not sorted by all that they show.",
            why="Another order can say which row of a group has which value.",
            attempt="the publisher: somebody changed the release after it was published.",
        )
