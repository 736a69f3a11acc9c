"""The local engine: rows in memory, by Polars.

One pass counts the rows into cells.  Without passthrough columns, the release is expanded from cells in shuffled order
(or in a recipe's own, if that is a function of what is published) and rows are not read twice; otherwise each row finds
its cell by a join and its outcome by its rank in the cell, the order of PRF(key, source position).

`count_combinations` packs a row into one number.  Texts are numbered by their categories, whole numbers and dates by
their distance from the least.  If all possible combinations are few relative to the rows, a row's numbers are packed
into one, and rows are tallied in an array that has a place for every number: a third of the cost of a group-by.  Rows
come a batch at a time; if a batch has numbers beyond those so far, the array is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from reticent.data import passthrough
from reticent.data import source as sources
from reticent.data.cells import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.data.declared_withholding import drop_missing_rows, drop_surplus_rows
from reticent.data.passthrough import PassthroughCounts, cast_columns, count_passthrough
from reticent.data.source import Source, SourceScan, collect_frame, is_text, iterate_batches
from reticent.engines.cell_lookup import CellRecount, find_cells, translate_reread_errors
from reticent.engines.engine import DEFAULT_CONTEXT, CountedTable, EngineContext, PassProgress
from reticent.engines.external_sort import find_ties, group_entries_by_cell, order_by_word
from reticent.errors import SourceError
from reticent.format.data_writer import InMemoryRows
from reticent.kernels.cell_tallies import tally_numbers
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe

MAX_ARRAY_COMBINATIONS = 1 << 24  # possible combinations that are tallied in an array, 8 bytes each
MAX_COMBINATIONS_PER_ROW = 32  # possible combinations for each row so far: a small table needs no large array


class LocalEngine:
    """All rows in memory, by Polars."""

    name: ClassVar[str] = "local"
    distributed: ClassVar[bool] = False
    regions: ClassVar[None] = None

    def map(self, function: Callable[..., Any], argument_lists: Iterable[tuple[Any, ...]]) -> list[Any]:
        return [function(*arguments) for arguments in argument_lists]

    def scan(self, source: Source, frame: Any = None) -> SourceScan:
        return sources.open_source(source, frame)

    def cache(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return collect_frame(rows, "Reading the rows").lazy()

    def cast(self, rows: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
        return cast_columns(rows, columns)

    def drop_missing(self, rows: pl.LazyFrame, names: list[str]) -> tuple[pl.LazyFrame, int]:
        return drop_missing_rows(rows, names)

    def drop_surplus(self, rows: pl.LazyFrame, limits: Mapping[str, int], rng: Random) -> tuple[pl.LazyFrame, int]:
        return drop_surplus_rows(rows, limits, rng)

    def count_passthrough(self, rows: pl.LazyFrame, columns: Mapping[str, Column]) -> PassthroughCounts:
        return count_passthrough(rows, columns)

    def profile_columns(
        self, rows: pl.LazyFrame, columns: Mapping[str, Column], context: EngineContext = DEFAULT_CONTEXT
    ) -> passthrough.PassthroughProfile:
        return passthrough.profile_columns(rows, columns)

    def count(
        self,
        rows: pl.LazyFrame,
        columns: Mapping[str, Column],
        rows_per_person: int = 1,
        context: EngineContext = DEFAULT_CONTEXT,
    ) -> CountedTable:
        return count_rows(rows, columns, rows_per_person, context)

    def count_distinct_rows(self, rows: pl.LazyFrame, names: list[str]) -> pl.DataFrame:
        return count_distinct_rows(rows, names)

    def filter_equal(self, rows: pl.LazyFrame, by: str, value: pl.Series, names: list[str]) -> pl.LazyFrame:
        return filter_equal(rows, by, value, names)

    def apply(
        self,
        counted: CountedTable,
        recipe: Recipe,
        rng: Random,
        rows: pl.LazyFrame,
        place: np.ndarray | None = None,
        context: EngineContext = DEFAULT_CONTEXT,
    ) -> InMemoryRows:
        return apply_recipe(counted, recipe, rng, rows, place)


def count_rows(
    lazy: pl.LazyFrame,
    columns: Mapping[str, Column],
    rows_per_person: int = 1,
    context: EngineContext = DEFAULT_CONTEXT,
) -> CountedTable:
    """Count rows into cells in one pass over them; how many were counted is reported now and then."""
    keys = [*find_columns_with_role(columns, Role.QUASI), *find_columns_with_role(columns, Role.SENSITIVE)]
    progress = PassProgress("counting", None, context.progress)
    keyed_rows = cast_texts_to_categories(lazy.select(keys), keys)
    counted = count_combinations(keyed_rows, COUNT_COLUMN, "Counting the rows", report_rows=progress.add)
    return build_counted_table(counted, lazy.collect_schema(), columns, rows_per_person)


def build_counted_table(
    counted: pl.DataFrame, schema: pl.Schema, columns: Mapping[str, Column], rows_per_person: int = 1
) -> CountedTable:
    """Build cells from counted combinations of rows with this schema."""
    if not len(counted):
        raise SourceError("The source has a header and no rows.", attempt="a file with at least k rows.")
    keys = [*find_columns_with_role(columns, Role.QUASI), *find_columns_with_role(columns, Role.SENSITIVE)]
    texts = [pl.col(name).cast(pl.String) for name in keys if is_text(schema[name]) and schema[name] != pl.String]
    cells, cell = encode_cells(counted.with_columns(texts), columns)
    passthrough_types = {
        name: "String" if is_text(schema[name]) else str(schema[name])
        for name in find_columns_with_role(columns, Role.INSENSITIVE)
    }
    multiplicity = counted[COUNT_COLUMN].to_numpy().astype(np.int64)
    return CountedTable(
        replace(cells, rows_per_person=rows_per_person),
        columns,
        counted.drop(COUNT_COLUMN),
        cell,
        multiplicity,
        passthrough_types,
    )


def cast_texts_to_categories(lazy: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Cast texts to categories: grouping them costs half of grouping strings."""
    texts = [name for name, dtype in lazy.collect_schema().items() if name in keys and dtype == pl.String]
    return lazy.with_columns(pl.col(texts).cast(pl.Categorical)) if texts else lazy


def count_distinct_rows(lazy: pl.LazyFrame, names: list[str]) -> pl.DataFrame:
    """Return the distinct combinations of some columns, and the number of rows of each."""
    counted = lazy.select(names).group_by(names).len(name=COUNT_COLUMN)
    return collect_frame(counted, "Counting the rows", engine="streaming")


def filter_equal(lazy: pl.LazyFrame, by: str, value: pl.Series, names: list[str]) -> pl.LazyFrame:
    """Return some columns of the rows with that value.

    Python's moments and time spans have no nanoseconds: they are compared as numbers.
    """
    if value.dtype.is_temporal():
        return lazy.filter(pl.col(by).to_physical() == value.to_physical().item()).select(names)
    return lazy.filter(pl.col(by) == value.item()).select(names)


def apply_recipe(
    counted: CountedTable, recipe: Recipe, rng: Random, lazy: pl.LazyFrame, place: np.ndarray | None = None
) -> InMemoryRows:
    """Return the recipe's entry of each published row in shuffled order, with the passthrough columns.

    An arranged recipe gives its entries in their own order: a slice of them if each is of one row.  With a `place` for
    each entry, rows are sorted by it and by their passthrough values.
    """
    carried = find_columns_with_role(counted.columns, Role.INSENSITIVE)
    if carried:
        return _apply_to_passthrough(counted, recipe, rng, lazy, carried, place)
    if recipe.arranged and recipe.has_single_rows and recipe.is_complete:
        return InMemoryRows(slice(None), len(recipe.group))
    published = recipe.published_entries.astype(np.int32)
    entry = np.repeat(published, recipe.quota[published])
    if not recipe.arranged:
        rng.stream("shuffle").shuffle(entry)
    return InMemoryRows(entry, len(entry))


def order_by_place(place: np.ndarray, carried: pl.DataFrame) -> np.ndarray:
    """Return the order of rows by their place and by their passthrough values: rows that tie are equal."""
    order = np.argsort(place)
    ties = find_ties(place[order])
    rows = order[ties]
    keys = carried[rows].with_columns(pl.Series("\x00place", place[rows]))
    tie_order = keys.select(pl.arg_sort_by(["\x00place", *carried.columns], nulls_last=True)).to_series().to_numpy()
    order[ties] = rows[tie_order]
    return order


def assign_outcomes(recipe: Recipe, cell: np.ndarray, rng: Random, start: int = 0) -> np.ndarray:
    """Return each row's entry: its rank in its cell, in the order of PRF(key, position), looked up in the cumulative quotas."""
    entries, by_cell = group_entries_by_cell(recipe)
    first = np.append(0, np.cumsum(entries))[:-1]
    place = first[cell]
    shared = np.flatnonzero(entries[cell] > 1)
    if len(shared):
        words = rng.words("rank", start, len(cell))[shared]
        order = shared[order_by_word(cell[shared], words)]
        cell_of_row = cell[order]
        starts = np.flatnonzero(np.diff(cell_of_row, prepend=-1))
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        quota_ends = np.cumsum(recipe.quota[by_cell])
        before = (quota_ends - recipe.quota[by_cell])[first[cell_of_row]]
        place[order] = np.searchsorted(quota_ends, before + rank, side="right")
    return by_cell[place]


@dataclass(frozen=True, slots=True)
class CombinationLimits:
    """How many combinations are tallied in an array, and how many rows are worked on at once."""

    combinations: int = MAX_ARRAY_COMBINATIONS
    combinations_per_row: int = MAX_COMBINATIONS_PER_ROW
    batch_rows: int = 1 << 19  # rows that are read together
    block_rows: int = 1 << 16  # rows of a batch that are packed together: their arrays are used again
    held_rows: int = 1 << 21  # rows that cannot be tallied and are held in memory; beyond it, all rows are grouped


DEFAULT_COMBINATION_LIMITS = CombinationLimits()


def count_combinations(
    lazy: pl.LazyFrame,
    name: str,
    doing: str,
    limits: CombinationLimits = DEFAULT_COMBINATION_LIMITS,
    report_rows: Callable[[int], None] = lambda rows: None,
) -> pl.DataFrame:
    """Return every combination of the frame's columns, with the number of its rows in a column `name`.

    `report_rows` is called with the number of rows of each batch that was read.
    """
    counter = CombinationCounter(limits)
    uncounted = list[pl.DataFrame]()
    for batch in iterate_batches(lazy, doing, limits.batch_rows):
        report_rows(len(batch))
        if counter.add(batch):
            continue
        if sum(map(len, uncounted)) + len(batch) > limits.held_rows:
            return _group_rows(lazy, name, doing)
        uncounted.append(batch)
    uncounted = [batch for batch in uncounted if not counter.add(batch, came_before=True)]  # more rows came since
    rest = _group_rows(pl.concat(uncounted).lazy(), name, doing) if uncounted else None
    if not counter.examples:
        return _group_rows(lazy, name, doing) if rest is None else rest
    combinations = counter.get_result(name)
    if rest is None:
        return combinations
    keys = [key for key in combinations.columns if key != name]
    summed = pl.concat([combinations, rest]).lazy().group_by(keys).agg(pl.col(name).sum())
    return collect_frame(summed, doing)


class CodeSpan(NamedTuple):
    """The numbers of a column: from `low` to `high`, and one more if values are missing."""

    low: int
    high: int
    missing: bool

    @property
    def size(self) -> int:
        return self.high - self.low + 1 + self.missing

    def union(self, other: CodeSpan) -> CodeSpan:
        """Return the span of both and of what lies between."""
        if self.high < self.low or other.high < other.low:  # every value of one is missing
            return (other if self.high < self.low else self)._replace(missing=True)
        return CodeSpan(min(self.low, other.low), max(self.high, other.high), self.missing or other.missing)


class CombinationCounter:
    """Counts rows batch by batch: how often each packed number occurs, and a row that has it."""

    def __init__(self, limits: CombinationLimits = DEFAULT_COMBINATION_LIMITS) -> None:
        self.limits = limits
        self.spans: list[CodeSpan] = []
        self.rows = 0  # that came, counted or not
        self.multiplicity = np.zeros(0, np.int64)
        self.examples: list[pl.DataFrame] = []
        self.places: list[np.ndarray] = []

    def add(self, batch: pl.DataFrame, *, came_before: bool = False) -> bool:
        """Count some rows; False if combinations may be too many, or a column cannot be numbered.

        `came_before`: the rows came before, and were not counted.
        """
        self.rows += 0 if came_before else len(batch)
        numbers = [_to_numbers(series) for series in batch.get_columns()]
        if not len(batch) or not all(_has_numbers(column) for column in numbers):
            return False
        spans = [_find_span(column) for column in numbers]
        if self.spans:
            spans = [before.union(span) for before, span in zip(self.spans, spans, strict=True)]
        word_count = prod(span.size for span in spans)
        if word_count > min(self.limits.combinations, self.limits.combinations_per_row * self.rows):
            return False
        if any(max(abs(span.low), abs(span.high)) >= 1 << 62 for span in spans):
            return False
        if spans != self.spans:
            self._grow(spans, word_count)
        first_rows = np.empty(min(word_count, len(batch)), np.int64)
        fresh = 0
        columns = [_to_array(column, span) for column, span in zip(numbers, spans, strict=True)]
        block_rows = self.limits.block_rows
        words = np.empty(min(block_rows, len(batch)), np.int64)
        block_words = []
        for start in range(0, len(batch), block_rows):
            block = words[: min(block_rows, len(batch) - start)]
            self._pack([column[start : start + block_rows] for column in columns], block)
            before = fresh
            fresh = tally_numbers(block, start, self.multiplicity, first_rows, fresh)
            block_words.append(block[first_rows[before:fresh] - start])
        if fresh:
            self.examples.append(batch[first_rows[:fresh]])
            self.places.append(np.concatenate(block_words))
        return True

    def get_result(self, name: str) -> pl.DataFrame:
        """Return the combinations, with the number of rows of each in a column `name`."""
        row_counts = self.multiplicity[np.concatenate(self.places)]
        return pl.concat(self.examples).with_columns(pl.Series(name, row_counts).cast(pl.get_index_type()))

    def _grow(self, spans: list[CodeSpan], word_count: int) -> None:
        """Move the counts to an array for other spans."""
        row_counts = self.multiplicity[np.concatenate(self.places)] if self.places else None
        self.spans = spans
        self.multiplicity = np.zeros(word_count, np.int64)
        if row_counts is None:
            return
        combinations = pl.concat(self.examples)
        columns = [
            _to_array(_to_numbers(series), span) for series, span in zip(combinations.get_columns(), spans, strict=True)
        ]
        words = np.empty(len(combinations), np.int64)
        self._pack(columns, words)
        self.multiplicity[words] = row_counts
        self.examples = [combinations]
        self.places = [words]

    def _pack(self, columns: list[np.ndarray], words: np.ndarray) -> None:
        """Compute one number for each row from its number in each column."""
        words[:] = 0
        for column, span in zip(columns, self.spans, strict=True):
            words *= span.size
            words += column
            words -= span.low


def _apply_to_passthrough(
    counted: CountedTable, recipe: Recipe, rng: Random, lazy: pl.LazyFrame, carried: list[str], place: np.ndarray | None
) -> InMemoryRows:
    """Return each row's entry of the recipe and its passthrough columns, in shuffled order or sorted, without withheld rows."""
    keys = counted.combinations.columns
    with translate_reread_errors():
        rows = collect_frame(
            cast_texts_to_categories(lazy, keys).select(*keys, *carried), "Reading the carried columns"
        )
    cell = find_cells(rows.select(keys), counted.combinations, counted.cell)
    recount = CellRecount(counted.cells)
    recount.add(cell)
    recount.finish()
    entry = assign_outcomes(recipe, cell, rng)
    order = None if place is not None else rng.stream("shuffle").permutation(len(entry)).astype(np.uint32)
    if not recipe.is_complete:
        is_published = np.zeros(len(recipe.group), bool)
        is_published[recipe.published_entries] = True
        if order is None:
            order = np.flatnonzero(is_published[entry]).astype(np.uint32)
        else:
            order = order[is_published[entry[order]]]
    moved = rows.select(carried)
    if order is not None:
        moved = moved.select(pl.col(carried).gather(pl.Series(order)))
        entry = entry[order]
    # Categories become plain text only after they were moved: moving numbers costs a tenth of moving strings.
    moved = moved.with_columns(pl.col(name).cast(pl.String) for name in carried if is_text(moved[name].dtype))
    if place is not None:
        sorted_order = order_by_place(place[entry], moved)
        entry = entry[sorted_order]
        moved = moved[sorted_order]
    return InMemoryRows(entry, len(entry), moved)


def _group_rows(lazy: pl.LazyFrame, name: str, doing: str) -> pl.DataFrame:
    return collect_frame(lazy.group_by(lazy.collect_schema().names()).len(name=name), doing, engine="streaming")


def _to_numbers(series: pl.Series) -> pl.Series:
    """Return the numbers behind a column, also of categories, dates and booleans."""
    return series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()


def _has_numbers(numbers: pl.Series) -> bool:
    return numbers.dtype.is_integer() and numbers.dtype not in (pl.Int128, pl.UInt128)


def _find_span(numbers: pl.Series) -> CodeSpan:
    low: Any = numbers.min()  # whole numbers, or None where all are missing
    high: Any = numbers.max()
    return CodeSpan(0, -1, True) if low is None else CodeSpan(low, high, numbers.null_count() > 0)


def _to_array(numbers: pl.Series, span: CodeSpan) -> np.ndarray:
    """Return every row's number; a missing value has the one after the greatest."""
    if numbers.null_count() or numbers.dtype == pl.UInt64:
        numbers = numbers.cast(pl.Int64).fill_null(span.high + 1)
    return numbers.to_numpy()


ENGINE = LocalEngine()
