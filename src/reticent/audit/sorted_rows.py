"""Rows with exact quasi-identifiers and a group, sorted by all they show: any other order could tell whose value is whose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from reticent.audit.compared import looked_up
from reticent.audit.grouping import number
from reticent.audit.sensitive import ranks
from reticent.audit.subject import Subject
from reticent.errors import BundleDamaged
from reticent.release.data import data_pieces
from reticent.release.parts import DataFile
from reticent.table.roles import Role

GROUP = "group"
PIECE = 1 << 20  # rows that are looked at together
NOTE = "quasi-identifiers are published as they are: k is 1 wherever a combination is unique, and that is no fault of this kind"


def refuse_disorder(subject: Subject, pieces: Iterable[pl.DataFrame], known: pl.DataFrame) -> None:
    """Rows stand sorted by all they show: group, quasi-identifiers in the order of their domains, carried columns.

    Any other order could say which row of a group has which value.  Each piece of rows is looked at with the last row before it;
    `known` has all values of the quasi-identifiers.
    """
    places = {}
    for column in subject.quasi:
        distinct = number(known[column.name]).distinct
        places[column.name] = distinct, ranks(column, distinct)[0]
    last: pl.DataFrame | None = None
    for piece in pieces:
        keys: dict[str, Any] = {GROUP: piece[GROUP]}
        for name, (distinct, rank) in places.items():
            keys[name] = pl.Series(rank[looked_up(piece[name], distinct)])
        keys |= {column.name: piece[column.name] for column in subject.named(Role.INSENSITIVE)}
        rows = pl.DataFrame(keys) if last is None else pl.concat([last, pl.DataFrame(keys)])
        order = rows.select(pl.arg_sort_by(list(keys), nulls_last=True, maintain_order=True)).to_series()
        if not (order.diff().drop_nulls() > 0).all():
            raise BundleDamaged(
                "The rows of the release are not sorted by all that they show.",
                why="Another order can say which row of a group has which value.",
                attempt="the publisher: somebody changed the release after it was published.",
            )
        last = rows.tail(1)


def read_pieces(file: DataFile, schema: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    """The rows of a file, so many at a time."""
    return data_pieces(file, schema, PIECE)
