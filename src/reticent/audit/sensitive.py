"""A sensitive column of a published table, its values numbered in the order of their domain, a null last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

from reticent.audit.grouping import Numbered, PublishedGroups, number, pack
from reticent.audit.measure.counts import Counts, views
from reticent.errors import BundleDamaged, some
from reticent.release.manifest import ColumnEntry
from reticent.release.numbers import fraction
from reticent.release.reading.extent import Unreadable
from reticent.release.reading.extent import number as as_number
from reticent.release.trees import tree_of
from reticent.table.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Sensitive:
    """`views` are the tables a promise must hold on; `paths` number each value's ancestors where there is a hierarchy."""

    name: str
    views: list[Counts]
    paths: np.ndarray | None
    joint: bool = False
    positions: Sequence[Fraction | None] | None = None  # where each value stands, in columns that have an order


def recount(column: ColumnEntry, series: pl.Series, groups: PublishedGroups) -> Sensitive:
    values = number(series)
    rank, _ = ranks(column, values.distinct)
    size = int(rank.max()) + 1
    one = np.zeros(size, np.int64)  # a value of each rank
    one[rank] = np.arange(len(rank))
    distinct = values.distinct.gather(one)
    counts = groups.counts(Numbered(rank.astype(np.int32)[values.codes], distinct))
    return of_counts(column, views(counts, distinct.is_null().to_numpy()), distinct)


def of_counts(column: ColumnEntry, counted: list[Counts], ordered: pl.Series) -> Sensitive:
    """A column from its counts; `ordered` are its values in the order in which they are numbered."""
    tree = ranks(column, ordered)[1]
    paths = None if tree is None else paths_of(tree, ordered.cast(pl.String).to_list())
    return Sensitive(column.name, counted, paths, positions=_positions(column, ordered))


def _positions(column: ColumnEntry, distinct: pl.Series) -> list[Fraction | None] | None:
    """Numbers as they are written, dates in their unit, ordered values by rank."""
    if column.type == "numeric":
        try:
            return [None if text is None else fraction(text) for text in distinct.cast(pl.String).to_list()]
        except (ValueError, ArithmeticError):
            raise BundleDamaged(
                f"Column {column.name!r} is numeric and holds what is no finite number, or one of too many digits."
            ) from None
    if column.type == "date":
        return [None if unit is None else Fraction(unit) for unit in distinct.to_physical().to_list()]
    if column.type == "ordinal":
        place = {text: Fraction(i) for i, text in enumerate(column.order or ())}
        return [None if text is None else place[text] for text in distinct.cast(pl.String).to_list()]
    return None


def ranks(column: ColumnEntry, distinct: pl.Series) -> tuple[np.ndarray, Hierarchy | None]:
    """The place of each value that occurs in the order of their domain, null last: an ordinal column's order, the hierarchy's
    pre-order, numbers and dates by size, other texts by their characters.  Two spellings of one number share a place."""
    texts = distinct.cast(pl.String).to_list()
    tree = None
    keys: Sequence[int | float | None]
    if column.type == "ordinal":
        keys = _listed(column, {text: i for i, text in enumerate(column.order or ())}, texts)
    elif column.hierarchy and column.type == "categorical":
        tree = tree_of(column.hierarchy)
        keys = _listed(column, {leaf: i for i, leaf in enumerate(tree.leaves)}, texts)
    elif column.type == "numeric" and distinct.dtype == pl.String:
        try:
            keys = [None if text is None else as_number(text) for text in texts]
        except Unreadable:
            raise BundleDamaged(f"Column {column.name!r} is numeric and holds texts that are no numbers.") from None
    else:
        order = distinct.arg_sort(nulls_last=True).to_numpy()
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank, None
    place = {key: i for i, key in enumerate(sorted({key for key in keys if key is not None}))}
    return np.array([len(place) if key is None else place[key] for key in keys], np.int64), tree


def _listed(column: ColumnEntry, known: Mapping[str, int], texts: Sequence[str | None]) -> list[int | None]:
    lacking = sum(text is not None and text not in known for text in texts)
    if lacking:
        raise BundleDamaged(f"Column {column.name!r} holds {some(lacking, 'value')} that its schema does not list.")
    return [None if text is None else known[text] for text in texts]


def paths_of(tree: Hierarchy, texts: Sequence[str | None]) -> np.ndarray:
    """The nodes above each value that occurs; a null stands directly under the root, apart from all others."""
    leaf = {text: i for i, text in enumerate(tree.leaves)}
    rows = [[-1] * tree.height + [int(tree.paths[0, -1])] if text is None else tree.paths[leaf[text]].tolist()
            for text in texts]  # fmt: skip
    paths = np.array(rows, np.int64).reshape(len(rows), tree.height + 1)
    return np.column_stack([np.unique(level, return_inverse=True)[1] for level in paths.T])


def jointly(columns: Sequence[ColumnEntry], frame: pl.DataFrame, groups: PublishedGroups) -> Sensitive:
    """Several sensitive columns as one: the combinations that occur.  A combination with a null in it is unknown."""
    numbered = [number(frame[column.name]) for column in columns]
    word = pack(numbered, len(frame))
    distinct, codes = np.unique(word, return_inverse=True)
    row = np.empty(len(distinct), np.int64)
    row[codes] = np.arange(len(frame))
    null = np.zeros(len(distinct), bool)
    for values in numbered:
        null |= values.distinct.is_null().to_numpy()[values.codes[row]]
    counts = groups.counts(Numbered(codes, pl.Series(distinct)))
    return Sensitive(", ".join(column.name for column in columns), views(counts, null), None, joint=True)
