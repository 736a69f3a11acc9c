"""The groups of a published table, its sensitive columns counted by group, and the evidence that a promise's judge is given.

A group is the rows whose labels are equal in every quasi-identifying column. Each column is numbered by its distinct
values (`number_values`), the numbers of a row are packed into one word (`pack_columns`), and one sort of the words gives
groups and counts at once (`group_rows`). Labels are compared as texts; nothing is known of what they mean.

`count_sensitive_column` and `count_joint_column` count the values of one or several sensitive columns by group. Values
are numbered in the order of their domain, a null last (`rank_values`).

A judge is a function (parameters, evidence, column) -> Judgement, in `audit/measure/`, named by the promise's row of the
catalogue. Its `Evidence` is what was recounted from the files and, where there is one, the source: never a model, a
method or a recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, Protocol, cast

import numpy as np
import polars as pl

from reticent.audit.measure.counts import GroupCounts, list_views
from reticent.data.hierarchy import Hierarchy
from reticent.errors import BundleDamaged, pluralize, quote_list
from reticent.format.manifest import ColumnEntry, ComponentEntry, build_cached_tree
from reticent.format.schema_checks import parse_fraction
from reticent.labels.scale import UnreadableLabel, parse_number

_MAX_WORD = 1 << 62
_MAX_MARKED_WORDS = 1 << 21  # words up to here are marked in an array, larger ones sorted
_LOOKUP_ROWS = 1 << 18  # rows looked up together: fresh memory for all of them costs more than looking up
RECOUNTED = "recounted"
NEEDS_SOURCE = "needs source"
FROM_PARAMETERS = "from parameters"


@dataclass(frozen=True, eq=False)
class NumberedColumn:
    """A column as numbers: `distinct[code]` is its value; a null is a value like any other."""

    codes: np.ndarray
    distinct: pl.Series

    def __len__(self) -> int:
        return len(self.distinct)

    def times(self, of_row: np.ndarray | None = None) -> np.ndarray:
        """Count the rows that have each value, where each row stands for `of_row` published ones."""
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
    row_of_key = np.full(top + 1, -1, np.int64)
    for start in range(0, len(raw), _LOOKUP_ROWS):
        piece = raw[start : start + _LOOKUP_ROWS]
        row_of_key[piece] = np.arange(start, start + len(piece))
    used = np.flatnonzero(row_of_key >= 0)
    rank = np.zeros(top + 1, np.int32)
    rank[used] = np.arange(len(used))
    return NumberedColumn(take_in_pieces(rank, raw), series.gather(row_of_key[used]))


def take_in_pieces(table: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Compute `table[index]`, a piece at a time."""
    taken_values = np.empty(len(index), table.dtype)
    for start in range(0, len(index), _LOOKUP_ROWS):
        taken_values[start : start + _LOOKUP_ROWS] = table[index[start : start + _LOOKUP_ROWS]]
    return taken_values


def pack_columns(columns: Sequence[NumberedColumn], rows: int, max_word: int = _MAX_WORD) -> np.ndarray:
    """Pack each row's combination of codes into one number, in the order of the columns' codes."""
    word = np.zeros(rows, np.int64)
    word_limit = 1
    for column in columns:
        if word_limit * len(column) > max_word:
            distinct, word = np.unique(word, return_inverse=True)
            word_limit = len(distinct)
        word *= len(column)
        word += column.codes
        word_limit *= len(column)
    return word


def enumerate_words(
    words: np.ndarray, word_limit: int, max_marked: int = _MAX_MARKED_WORDS
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct words (all below `word_limit`) in order, and the place of each word among them."""
    if word_limit > max_marked:
        distinct, place = np.unique(words, return_inverse=True)
        return distinct, place.reshape(-1)
    occurs = np.zeros(word_limit, bool)
    occurs[words] = True
    place = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), take_in_pieces(place, words)


def combine_columns(
    columns: Sequence[NumberedColumn], rows: int, max_word: int = _MAX_WORD, max_marked: int = _MAX_MARKED_WORDS
) -> tuple[int, np.ndarray]:
    """Return how many combinations occur, and each row's combination by number, in the order of the columns' codes."""
    word = np.zeros(rows, np.int64)
    word_limit = 1
    for column in columns:
        next_limit = word_limit * len(column)
        leaves_marked_range = word_limit <= max_marked < next_limit
        if next_limit > max_word or leaves_marked_range:  # words that do not occur are left out while that is cheap
            distinct, word = enumerate_words(word, word_limit, max_marked)
            word_limit = len(distinct)
        word *= len(column)
        word += column.codes
        word_limit *= len(column)
    distinct, word = enumerate_words(word, word_limit, max_marked)
    return len(distinct), word


def unpack_words(words: np.ndarray, columns: Sequence[NumberedColumn]) -> np.ndarray:
    """Unpack the codes of combinations, where all columns fitted one word."""
    codes = np.empty((len(words), len(columns)), np.int64)
    for column in reversed(range(len(columns))):
        words, codes[:, column] = np.divmod(words, len(columns[column]))
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
        pair = word * m
        pair += values.codes
        pair, count = _count_words(pair, self.times)
        group = np.cumsum(np.diff(pair // m, prepend=-1) != 0) - 1
        return GroupCounts(group, pair % m, count, values.times(self.times))


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
    """Count the values of a sensitive column by group."""
    values = number_values(series)
    rank, _ = rank_values(column, values.distinct)
    size = int(rank.max()) + 1
    value_of_rank = np.zeros(size, np.int64)  # a value of each rank
    value_of_rank[rank] = np.arange(len(rank))
    distinct = values.distinct.gather(value_of_rank)
    counts = groups.counts(NumberedColumn(rank.astype(np.int32)[values.codes], distinct))
    return make_sensitive_column(column, list_views(counts, distinct.is_null().to_numpy()), distinct)


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


def make_sensitive_column(column: ColumnEntry, counted: list[GroupCounts], ordered: pl.Series) -> SensitiveColumn:
    """Make a column from its counts; `ordered` are its values in the order in which they are numbered."""
    tree = rank_values(column, ordered)[1]
    paths = None if tree is None else find_paths(tree, ordered.cast(pl.String).to_list())
    return SensitiveColumn(column.name, counted, paths, positions=_find_positions(column, ordered))


def rank_values(column: ColumnEntry, distinct: pl.Series) -> tuple[np.ndarray, Hierarchy | None]:
    """Rank each value that occurs in the order of its domain, null last; also return the column's hierarchy.

    The order is that of an ordinal column, the pre-order of a hierarchy, the size of numbers and dates, and else that
    of characters. Two spellings of one number share a rank.
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
            keys = [None if text is None else parse_number(text) for text in texts]
        except UnreadableLabel:
            raise BundleDamaged(f"Column {column.name!r} is numeric and holds texts that are no numbers.") from None
    else:
        return rank_in_order(distinct), None
    place = {key: i for i, key in enumerate(sorted({key for key in keys if key is not None}))}
    return np.array([len(place) if key is None else place[key] for key in keys], np.int64), tree


def rank_in_order(distinct: pl.Series) -> np.ndarray:
    """Rank distinct values by size or, as texts, by their characters; null last."""
    order = distinct.arg_sort(nulls_last=True).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def find_paths(tree: Hierarchy, texts: Sequence[str | None]) -> np.ndarray:
    """Number the nodes above each value that occurs; a null is a child of the root, apart from all other values."""
    leaf = {text: i for i, text in enumerate(tree.leaves)}
    rows = [
        [-1] * tree.height + [int(tree.paths[0, -1])] if text is None else tree.paths[leaf[text]].tolist()
        for text in texts
    ]
    paths = np.array(rows, np.int64).reshape(len(rows), tree.height + 1)
    return np.column_stack([np.unique(level, return_inverse=True)[1] for level in paths.T])


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer.

    `kept` is None where the evidence cannot show it; `why` then states why no file could, and what was checked instead.
    `caveat` is a sentence for the headline: what the promise, kept as it is worded, leaves a stronger adversary.
    """

    achieved: Mapping[str, Any]
    kept: bool | None
    evidence: str = RECOUNTED
    why: str = ""
    caveat: str = ""


@dataclass(frozen=True, eq=False)
class Perturbation:
    """How sensitive values were redrawn: `matrix[i][v]` is the probability that values[i] was published as values[v].

    `distribution` is that of the published people, None where it is not known; `handed` if `publish` gave it and no
    file has it. `proven`: compared with the source, the values were redrawn so (True), were not (False), or neither can
    be shown (None).
    """

    values: Sequence[str]
    matrix: Sequence[Sequence[Fraction]]
    distribution: Sequence[Fraction] | None
    handed: bool = False
    proven: bool | None = None

    def with_distribution_of(self, counts: Sequence[int]) -> Perturbation:
        """Return the same with the distribution of these people, which is in no file."""
        total = sum(counts)
        if not total:
            return self
        return replace(self, distribution=[Fraction(count, total) for count in counts], handed=True)


@dataclass(frozen=True, slots=True)
class SamplingParameters:
    """Parameters of a release of perturbed tuples of each group: retention `p`, least group `k`, size of the `domain`.

    `counted_on` is the k that promises may count on: 1 where groups were made by looking at perturbed values. `proven`
    is as in `Perturbation`. `declared`: the domain is stated to be declared, whatever values occur. `fewest_holders`
    is, where the source is known, how many people have the rarest value that occurs. A person has at most
    `rows_per_person` rows.
    """

    p: Fraction
    k: int
    domain: int
    counted_on: int
    proven: bool | None = None
    declared: bool = True
    fewest_holders: int | None = None
    rows_per_person: int = 1


@dataclass(frozen=True, eq=False)
class TargetedGroups:
    """What groups publish of a hierarchy: `group` has `count` values at a `node`; node i has the parent `parent[i]`.

    `weights` are those of each different target, `target[g]` is the number of group g's target; `shares` are its
    probabilities by value. `rows` are those of each group, `values` the domain. `names` are those of groups where a
    promise names targets by group, and they can be determined.
    """

    group: np.ndarray
    node: np.ndarray
    count: np.ndarray
    parent: np.ndarray
    weights: Sequence[Sequence[int]]
    target: np.ndarray
    shares: Sequence[Sequence[Fraction]]
    rows: np.ndarray
    values: Sequence[str]
    names: Mapping[int, str] | None = None


class SourceRows:
    """The source, row by row or each distinct row with how many `times` it occurs; counted when first needed."""

    def __init__(self, counted: Callable[[], tuple[pl.DataFrame, np.ndarray | None]]):
        self._count = counted

    @cached_property
    def _counted(self) -> tuple[pl.DataFrame, np.ndarray | None]:
        return self._count()

    @property
    def frame(self) -> pl.DataFrame:
        return self._counted[0]

    @property
    def times(self) -> np.ndarray | None:
        return self._counted[1]


class GroupedRows:
    """Rows whose group is published beside exact quasi-identifiers, and the values that each group lists; read when first needed.

    `rows` has the quasi-identifiers and the group (`group_column`) of each distinct row, `times` how often it occurs;
    `values` has a row for each group and value with its count (`count_column`).
    """

    def __init__(
        self,
        read: Callable[[], tuple[pl.DataFrame, np.ndarray]],
        values: pl.DataFrame,
        group_column: str,
        count_column: str,
    ):
        self._read = read
        self.values = values
        self.group_column = group_column
        self.count_column = count_column

    @cached_property
    def _rows(self) -> tuple[pl.DataFrame, np.ndarray]:
        return self._read()

    @property
    def rows(self) -> pl.DataFrame:
        return self._rows[0]

    @property
    def times(self) -> np.ndarray:
        return self._rows[1]


class LabelledRows(Protocol):
    """The published rows, for judges that need the label of each and the groups they form."""

    @property
    def frame(self) -> pl.DataFrame: ...

    @property
    def times(self) -> np.ndarray | None: ...

    @property
    def labelled(self) -> bool: ...

    @property
    def foreign(self) -> bool: ...

    @property
    def labels(self) -> Mapping[str, NumberedColumn]: ...

    @property
    def groups(self) -> PublishedGroups: ...


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything a judge may look at.

    `class_sizes` counts the rows that agree in all quasi-identifiers, `sizes` those of each group; `withheld` are the
    rows that the method or a stage withheld.
    """

    class_sizes: np.ndarray
    sizes: np.ndarray
    sensitive: Sequence[SensitiveColumn]
    withheld: int = 0
    stages: Sequence[ComponentEntry] = ()
    rows_per_person: int = 1
    population: np.ndarray | None = None  # people of a population table under each group's labels
    perturbation: Perturbation | None = None
    columns: Sequence[ColumnEntry] = ()
    published: LabelledRows | None = None
    source: SourceRows | None = None
    sampling: SamplingParameters | None = None
    targeted: TargetedGroups | None = None
    target_files: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)  # weights, by the file's name
    grouped: GroupedRows | None = None  # of a release that publishes values by group

    def column(self, name: str | None) -> SensitiveColumn:
        """Return the column of a promise: the one it names, else the only one or the combination of all."""
        if name is None and self.sensitive and (len(self.sensitive) == 1 or self.sensitive[0].joint):
            return self.sensitive[0]
        for column in self.sensitive:
            if column.name == name:
                return column
        if self.perturbation is not None and not self.sensitive:
            raise BundleDamaged(
                "A promise about the values that groups hold cannot be judged: in this release every row's value was redrawn.",
                attempt=self.suggest_promise(),
            )
        if self.sampling is not None and not self.sensitive:
            raise BundleDamaged(
                "A promise about the values that groups hold cannot be judged: this release shows perturbed values of the few who were drawn.",
                attempt=self.suggest_promise(),
            )
        names = [column.name for column in self.sensitive]
        raise BundleDamaged(
            "A promise names no sensitive column of the table.",
            why=f"{pluralize(len(names), 'column', 'is', 'are')} sensitive.",
            attempt=f"column = one of {quote_list(names)}." if names else self.suggest_promise(),
        )

    def suggest_promise(self) -> str:
        """Return words for a promise that can be judged of a release that shows what this one does."""
        if self.perturbation is not None and not self.sensitive:
            return "a promise about redrawn values, such as beta-likeness."
        if self.sampling is not None and not self.sensitive:
            return "a promise against corruption, such as rho-guarantee."
        if not self.sensitive:
            return "a promise about the sizes of groups, such as k-anonymity."
        return "a promise about what groups show, such as beta-likeness."


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


def _count_words(words: np.ndarray, times: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct words in order, and how many rows have each."""
    if times is None:
        distinct, count = np.unique(words, return_counts=True)
        return distinct, count.astype(np.int64)
    distinct, code = np.unique(words, return_inverse=True)
    return distinct, np.bincount(code, weights=times, minlength=len(distinct)).astype(np.int64)


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


def _find_listed_ranks(
    column: ColumnEntry, rank_of_text: Mapping[str, int], texts: Sequence[str | None]
) -> list[int | None]:
    lacking = sum(text is not None and text not in rank_of_text for text in texts)
    if lacking:
        raise BundleDamaged(
            f"Column {column.name!r} holds {pluralize(lacking, 'value')} that its schema does not list."
        )
    return [None if text is None else rank_of_text[text] for text in texts]
