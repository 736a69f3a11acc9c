"""The groups of a published table, and its sensitive columns counted by group.

A group is the rows whose labels are equal in every quasi-identifying column. Each column is numbered by its distinct
values, the numbers of a row are packed into one word, and one sort of the words gives groups and counts at once. Labels
are compared as texts; nothing is known of what they mean.

The values of a sensitive column (`SensitiveColumn`) are numbered in the order of their domain, a null last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import cast

import numpy as np
import polars as pl

from reticent.audit.measure.counts import GroupCounts, list_views
from reticent.data.hierarchy import Hierarchy
from reticent.errors import BundleDamaged, pluralize
from reticent.format.manifest import ColumnEntry, build_cached_tree
from reticent.format.schema_checks import parse_fraction
from reticent.labels.scale import UnreadableLabel
from reticent.labels.scale import parse_number as as_number

_MAX_WORD = 1 << 62
_MAX_MARKED_WORDS = 1 << 21  # words up to here are marked in an array, larger ones sorted
_LOOKUP_ROWS = 1 << 18  # rows looked up together: fresh memory for all of them costs more than looking up


@dataclass(frozen=True, eq=False)
class NumberedColumn:
    """A column as numbers: `distinct[code]` is its value; a null is a value like any other."""

    codes: np.ndarray
    distinct: pl.Series

    def __len__(self) -> int:
        return len(self.distinct)

    def times(self, of_row: np.ndarray | None = None) -> np.ndarray:
        """Count the rows that hold each value, where each row stands for `of_row` published ones."""
        return np.bincount(self.codes, weights=of_row, minlength=len(self)).astype(np.int64)


def number_values(series: pl.Series) -> NumberedColumn:
    """Number the distinct values of a column."""
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    keys = series.cast(pl.Categorical).to_physical() if series.dtype == pl.String else _convert_to_integers(series)
    top = cast("int", keys.max() or 0)
    if keys.null_count():
        top += 1
        keys = keys.fill_null(top)
    raw = keys.to_numpy()
    if top > 8 * len(raw) + 1024:
        _, first, codes = np.unique(raw, return_index=True, return_inverse=True)
        return NumberedColumn(codes.astype(np.int32), series.gather(first))
    where = np.full(top + 1, -1, np.int64)
    for start in range(0, len(raw), _LOOKUP_ROWS):
        piece = raw[start : start + _LOOKUP_ROWS]
        where[piece] = np.arange(start, start + len(piece))
    used = np.flatnonzero(where >= 0)
    rank = np.zeros(top + 1, np.int32)
    rank[used] = np.arange(len(used))
    return NumberedColumn(take_in_pieces(rank, raw), series.gather(where[used]))


def take_in_pieces(table: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Compute `table[index]`, a piece at a time."""
    found = np.empty(len(index), table.dtype)
    for start in range(0, len(index), _LOOKUP_ROWS):
        found[start : start + _LOOKUP_ROWS] = table[index[start : start + _LOOKUP_ROWS]]
    return found


def _convert_to_integers(series: pl.Series) -> pl.Series:
    """Convert values to non-negative integers that are equal where the values are."""
    if series.dtype == pl.Null:
        return pl.Series(series.name, [None] * len(series), dtype=pl.UInt32)
    physical = series.to_physical()
    if physical.dtype == pl.Boolean:
        return physical.cast(pl.UInt32)
    if physical.dtype.is_integer():
        low, high = cast("tuple[int | None, int | None]", (physical.min(), physical.max()))
        if low is None or high is None:
            return pl.Series(series.name, [None] * len(series), dtype=pl.UInt32)
        if low >= 0 and high < len(series):
            return physical.cast(pl.UInt32)
        if low > -_MAX_WORD and high < _MAX_WORD:
            return physical.cast(pl.Int64) - low
    return series.rank("dense").cast(pl.Int64)


def pack_columns(columns: Sequence[NumberedColumn], rows: int, max_word: int = _MAX_WORD) -> np.ndarray:
    """Pack each row's combination of codes into one number, in the order of the columns' codes."""
    word = np.zeros(rows, np.int64)
    room = 1
    for column in columns:
        if room * len(column) > max_word:
            distinct, word = np.unique(word, return_inverse=True)
            room = len(distinct)
        word *= len(column)
        word += column.codes
        room *= len(column)
    return word


def enumerate_words(words: np.ndarray, room: int, max_marked: int = _MAX_MARKED_WORDS) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct words (all below `room`) in order, and the place of each word among them."""
    if room > max_marked:
        distinct, place = np.unique(words, return_inverse=True)
        return distinct, place.reshape(-1)
    occurs = np.zeros(room, bool)
    occurs[words] = True
    place = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), take_in_pieces(place, words)


def combine_columns(
    columns: Sequence[NumberedColumn], rows: int, max_word: int = _MAX_WORD, max_marked: int = _MAX_MARKED_WORDS
) -> tuple[int, np.ndarray]:
    """Return how many combinations occur, and the number of each row's combination, in the order of the columns' codes."""
    word = np.zeros(rows, np.int64)
    room = 1
    for column in columns:
        wide = room * len(column)
        if wide > max_word or room <= max_marked < wide:  # those that do not occur are left out while that is cheap
            distinct, word = enumerate_words(word, room, max_marked)
            room = len(distinct)
        word *= len(column)
        word += column.codes
        room *= len(column)
    distinct, word = enumerate_words(word, room, max_marked)
    return len(distinct), word


def unpack_words(words: np.ndarray, columns: Sequence[NumberedColumn]) -> np.ndarray:
    """Unpack the codes of combinations, where all columns fitted one word."""
    codes = np.empty((len(words), len(columns)), np.int64)
    for at in reversed(range(len(columns))):
        words, codes[:, at] = np.divmod(words, len(columns[at]))
    return codes


@dataclass(frozen=True, eq=False)
class PublishedGroups:
    """Groups in the order of their words: `labels[group, column]` is the number of its label."""

    word: np.ndarray  # of each row
    sizes: np.ndarray
    labels: np.ndarray
    times: np.ndarray | None = None  # how many published rows each row stands for; one where None

    def __len__(self) -> int:
        return len(self.sizes)

    def counts(self, values: NumberedColumn, max_word: int = _MAX_WORD) -> GroupCounts:
        """Count how many rows of each group hold each value."""
        word = self.word
        m = len(values)
        if len(word) and (int(word.max()) + 1) * m > max_word:
            word = np.unique(word, return_inverse=True)[1]
        both = word * m
        both += values.codes
        both, count = _count_words(both, self.times)
        group = np.cumsum(np.diff(both // m, prepend=-1) != 0) - 1
        return GroupCounts(group, both % m, count, values.times(self.times))


def _count_words(words: np.ndarray, times: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct words in order, and how many rows have each."""
    if times is None:
        distinct, count = np.unique(words, return_counts=True)
        return distinct, count.astype(np.int64)
    distinct, which = np.unique(words, return_inverse=True)
    return distinct, np.bincount(which, weights=times, minlength=len(distinct)).astype(np.int64)


def group_rows(
    columns: Sequence[NumberedColumn], rows: int, times: np.ndarray | None = None, max_word: int = _MAX_WORD
) -> PublishedGroups:
    """Group rows by the combination of these columns; each row stands for `times` published ones."""
    word = pack_columns(columns, rows, max_word)
    distinct, sizes = _count_words(word, times)
    if prod(len(column) for column in columns) <= max_word:
        labels = unpack_words(distinct, columns)
    else:
        row = np.empty(len(distinct), np.int64)
        row[np.searchsorted(distinct, word)] = np.arange(rows)
        labels = np.column_stack([column.codes[row] for column in columns])
    return PublishedGroups(word, sizes, labels, times)


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column counted by group: `views` are the tables a promise must hold on.

    `paths` number each value's ancestors where there is a hierarchy.
    """

    name: str
    views: list[GroupCounts]
    paths: np.ndarray | None
    joint: bool = False
    positions: Sequence[Fraction | None] | None = None  # the position of each value, in columns that have an order


def count_sensitive_column(column: ColumnEntry, series: pl.Series, groups: PublishedGroups) -> SensitiveColumn:
    values = number_values(series)
    rank, _ = rank_values(column, values.distinct)
    size = int(rank.max()) + 1
    one = np.zeros(size, np.int64)  # a value of each rank
    one[rank] = np.arange(len(rank))
    distinct = values.distinct.gather(one)
    counts = groups.counts(NumberedColumn(rank.astype(np.int32)[values.codes], distinct))
    return make_sensitive_column(column, list_views(counts, distinct.is_null().to_numpy()), distinct)


def make_sensitive_column(column: ColumnEntry, counted: list[GroupCounts], ordered: pl.Series) -> SensitiveColumn:
    """Make a column from its counts; `ordered` are its values in the order in which they are numbered."""
    tree = rank_values(column, ordered)[1]
    paths = None if tree is None else find_paths(tree, ordered.cast(pl.String).to_list())
    return SensitiveColumn(column.name, counted, paths, positions=_find_positions(column, ordered))


def _find_positions(column: ColumnEntry, distinct: pl.Series) -> list[Fraction | None] | None:
    """Find the position of each value: numbers as they are written, dates in their unit, ordered values by rank."""
    if column.type == "numeric":
        try:
            return [None if text is None else parse_fraction(text) for text in distinct.cast(pl.String).to_list()]
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


def rank_values(column: ColumnEntry, distinct: pl.Series) -> tuple[np.ndarray, Hierarchy | None]:
    """Rank each value that occurs in the order of its domain, null last: an ordinal column's order, the hierarchy's
    pre-order, numbers and dates by size, other texts by their characters. Two spellings of one number share a rank.
    """
    texts = distinct.cast(pl.String).to_list()
    tree = None
    keys: Sequence[int | float | None]
    if column.type == "ordinal":
        keys = _find_listed_ranks(column, {text: i for i, text in enumerate(column.order or ())}, texts)
    elif column.hierarchy and column.type == "categorical":
        tree = build_cached_tree(column.hierarchy)
        keys = _find_listed_ranks(column, {leaf: i for i, leaf in enumerate(tree.leaves)}, texts)
    elif column.type == "numeric" and distinct.dtype == pl.String:
        try:
            keys = [None if text is None else as_number(text) for text in texts]
        except UnreadableLabel:
            raise BundleDamaged(f"Column {column.name!r} is numeric and holds texts that are no numbers.") from None
    else:
        order = distinct.arg_sort(nulls_last=True).to_numpy()
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank, None
    place = {key: i for i, key in enumerate(sorted({key for key in keys if key is not None}))}
    return np.array([len(place) if key is None else place[key] for key in keys], np.int64), tree


def _find_listed_ranks(column: ColumnEntry, known: Mapping[str, int], texts: Sequence[str | None]) -> list[int | None]:
    lacking = sum(text is not None and text not in known for text in texts)
    if lacking:
        raise BundleDamaged(
            f"Column {column.name!r} holds {pluralize(lacking, 'value')} that its schema does not list."
        )
    return [None if text is None else known[text] for text in texts]


def find_paths(tree: Hierarchy, texts: Sequence[str | None]) -> np.ndarray:
    """Number the nodes above each value that occurs; a null is a child of the root, apart from all other values."""
    leaf = {text: i for i, text in enumerate(tree.leaves)}
    rows = [
        [-1] * tree.height + [int(tree.paths[0, -1])] if text is None else tree.paths[leaf[text]].tolist()
        for text in texts
    ]
    paths = np.array(rows, np.int64).reshape(len(rows), tree.height + 1)
    return np.column_stack([np.unique(level, return_inverse=True)[1] for level in paths.T])


def count_joint_column(columns: Sequence[ColumnEntry], frame: pl.DataFrame, groups: PublishedGroups) -> SensitiveColumn:
    """Count several sensitive columns as one: the combinations that occur. A combination with a null in it is unknown."""
    numbered = [number_values(frame[column.name]) for column in columns]
    word = pack_columns(numbered, len(frame))
    distinct, codes = np.unique(word, return_inverse=True)
    row = np.empty(len(distinct), np.int64)
    row[codes] = np.arange(len(frame))
    null = np.zeros(len(distinct), bool)
    for values in numbered:
        null |= values.distinct.is_null().to_numpy()[values.codes[row]]
    counts = groups.counts(NumberedColumn(codes, pl.Series(distinct)))
    return SensitiveColumn(", ".join(column.name for column in columns), list_views(counts, null), None, joint=True)
