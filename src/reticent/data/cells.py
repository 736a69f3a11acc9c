"""Cells: the distinct combinations of quasi-identifier codes and sensitive codes, with the number of rows of each.

Rows of one cell are interchangeable as far as a promise goes, so a method never sees rows. Cells are sorted
lexicographically by their codes: the order of the source's rows does not change them.

`combine_sensitive` takes several sensitive columns together (`jointly = true`): it adds a derived column whose values
are the combinations that occur. A promise without a `column` is then about the combined values, a promise with a
`column` about that column alone. The cells and their order stay the same, because a combination is a function of its
parts: a recipe planned on the result is a recipe for the original cells, and only these are published.

A bound on each combination's frequency bounds the frequency of a single value only as far as the model's own sum
does: basic beta-likeness and t-closeness carry over to each column; l-diversity does not, since two combinations may
share a value.

`encode_cells` maps values to codes: it builds domains from columns' distinct values, and cells from counted
combinations.  It works on the distinct values and combinations that one group-by left, never on rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any

import numpy as np
import polars as pl

from reticent.data.columns import (
    Column,
    DeclaredBounds,
    Role,
    find_columns_with_role,
    is_numeric_range,
    recode_values,
    require_ordered,
)
from reticent.data.declared_hierarchy import is_built_from_values, read_declared_hierarchy
from reticent.data.declared_withholding import NONE_WITHHELD, EarlyWithholding
from reticent.data.domain import (
    Domain,
    RangeDomain,
    TreeDomain,
    build_band_domain,
    build_range_domain,
    build_tree_domain,
    sort_by_position,
)
from reticent.data.hierarchy import Hierarchy
from reticent.data.hierarchy_builders import BuiltHierarchy, build
from reticent.data.label_styles import apply_label_style, compute_lone_share
from reticent.data.parsing import (
    categories_to_texts,
    fold_spelling,
    guess_type,
    parse_dates,
    parse_numbers,
    require_within_calendar,
    to_comparable,
)
from reticent.errors import ColumnError, HierarchyError, InternalError, pluralize, quote_list, suggest
from reticent.exact_arithmetic import MAX_EXACT_INTEGER

COUNT_COLUMN = "\x00count"


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table: codes of the quasi-identifiers, codes of the sensitive columns, and counts of rows."""

    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    codes: np.ndarray  # (cells, quasi) int32
    values: np.ndarray  # (cells, sensitive) int32
    counts: np.ndarray  # (cells,) int64
    joint: int = -1  # index of the combined sensitive column, -1 if there is none
    rows_per_person: int = 1  # the most rows one person has, as declared and verified
    withheld_before: EarlyWithholding = NONE_WITHHELD  # rows of the source that are in no cell

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def rows(self) -> int:
        return int(self.counts.sum())

    @property
    def source_rows(self) -> int:
        """The number of rows of the source: those of cells, and those withheld before."""
        return self.rows + self.withheld_before.total

    @cached_property
    def point(self) -> np.ndarray:
        """Index of each cell's combination of quasi-identifiers among the distinct ones, in their order."""
        fresh = np.ones(len(self), bool)
        fresh[1:] = (self.codes[1:] != self.codes[:-1]).any(axis=1)
        return np.cumsum(fresh) - 1

    def find_sensitive(self, name: str | None) -> int:
        """Return the index of the sensitive column that a promise names.

        Without a name, it is the only one or the combined one.
        """
        if name is not None:
            names = [domain.name for domain in self.sensitive]
            if not isinstance(name, str) or name not in names:
                raise ColumnError("There is no sensitive column of that name.", attempt=suggest(str(name), names))
            return names.index(name)
        if self.joint < 0 and len(self.sensitive) != 1:
            raise InternalError(f"A promise names no sensitive column, and the cells have {len(self.sensitive)}.")
        return max(self.joint, 0)

    def totals(self, column: int) -> np.ndarray:
        """Count the rows that hold each value of a sensitive column."""
        size = self.sensitive[column].size
        return np.bincount(self.values[:, column], weights=self.counts, minlength=size).astype(np.int64)


def pack_codes(codes: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """Pack the columns of `codes` into as few 64-bit words as they need, the first column most significant."""
    words: list[np.ndarray] = []
    word = None
    word_size = 1
    for column in range(codes.shape[1]):
        size = max(int(sizes[column]), 1)
        if word is None or word_size * size > 1 << 63:
            if word is not None:
                words.append(word)
            word = codes[:, column].astype(np.uint64)
            word_size = size
        else:
            word = word * np.uint64(size) + codes[:, column].astype(np.uint64)
            word_size *= size
    if word is not None:
        words.append(word)
    return words


def sort_words(words: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Sort rows stably by their words; return the order and, in it, whether a row differs from the one before."""
    rows = len(words[0])
    bits = rows.bit_length()
    if len(words) == 1 and int(words[0].max(initial=0)) < 1 << 64 - bits:
        # The word and its row index fit one word: half the cost.
        keys = words[0] << np.uint64(bits)
        keys |= np.arange(rows, dtype=np.uint64)
        keys.sort()
        order = (keys & np.uint64((1 << bits) - 1)).astype(np.int64)
        keys >>= np.uint64(bits)
        return order, np.append(np.ones(min(rows, 1), bool), keys[1:] != keys[:-1])
    order = np.argsort(words[0], kind="stable") if len(words) == 1 else np.lexsort(words[::-1])
    fresh = np.ones(rows, bool)
    if rows:
        fresh[1:] = np.logical_or.reduce([word[order][1:] != word[order][:-1] for word in words])
    return order, fresh


def find_distinct_rows(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct rows of non-negative codes, and the index of each row's own.

    It is a faster `np.unique` of rows.
    """
    words = pack_codes(codes, codes.max(axis=0, initial=0) + 1)
    if len(words) != 1:
        unique, number = np.unique(codes, axis=0, return_inverse=True)
        return unique, number.reshape(-1)
    _, first, number = np.unique(words[0], return_index=True, return_inverse=True)
    return codes[first], number.reshape(-1)


def build_cells(
    quasi: tuple[Domain, ...], sensitive: tuple[Domain, ...], codes: np.ndarray, values: np.ndarray, counts: np.ndarray
) -> tuple[Cells, np.ndarray]:
    """Sort coded combinations and add up equal ones (two spellings of one number have one code).

    Returns the cells, and the cell of each combination.
    """
    combined_codes = np.hstack([codes, values])
    sizes = np.array([domain.size for domain in (*quasi, *sensitive)])
    words = pack_codes(combined_codes, sizes)
    if not words:
        only_cell = Cells(quasi, sensitive, codes[:1], values[:1], np.array([counts.sum()], np.int64))
        return only_cell, np.zeros(len(counts), np.int64)
    order, fresh = sort_words(words)
    starts = np.flatnonzero(fresh)
    merged = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
    first_rows = order[starts]
    cell = np.empty(len(order), np.int64)
    cell[order] = np.cumsum(fresh) - 1
    cells = Cells(
        quasi,
        sensitive,
        np.ascontiguousarray(codes[first_rows], np.int32),
        np.ascontiguousarray(values[first_rows], np.int32),
        merged.astype(np.int64),
    )
    return cells, cell


def combine_sensitive(cells: Cells) -> Cells:
    """Add a last sensitive column that combines all others.

    Cells with fewer than two sensitive columns are returned unchanged.
    """
    if len(cells.sensitive) < 2 or cells.joint >= 0:
        return cells
    lacking = [
        domain.name for position, domain in enumerate(cells.sensitive) if domain.null and cells.totals(position)[-1]
    ]
    if lacking:
        raise ColumnError(
            f"Sensitive columns are to be taken jointly, but {quote_list(lacking)} has missing values.",
            why="A combination with a part missing is neither a value nor missing.",
            attempt='jointly = false with a promise for each column, or missing = "withhold" for these columns.',
        )
    combinations, code = np.unique(_pack_values(cells), axis=0, return_inverse=True)
    name = " & ".join(domain.name for domain in cells.sensitive)
    # Values are numbers, not texts: the combined column is never published.
    domain = build_tree_domain(
        name,
        "String",
        Hierarchy.flat([str(number) for number in range(len(combinations))]),
        null=False,
        is_from_steward=False,
    )
    values = np.column_stack([cells.values, code.reshape(-1)]).astype(np.int32)
    return replace(cells, sensitive=(*cells.sensitive, domain), values=values, joint=len(cells.sensitive))


def combine_sensitive_like(cells: Cells, table_cells: Cells) -> Cells:
    """Combine the sensitive columns of a part of the table, with the numbers of the combined column of `table_cells`."""
    if table_cells.joint < 0:
        return cells
    plain = replace(
        table_cells,
        sensitive=table_cells.sensitive[: table_cells.joint],
        values=table_cells.values[:, : table_cells.joint],
    )
    packed_values = np.concatenate([_pack_values(plain), _pack_values(cells)])
    number = np.unique(packed_values, axis=0, return_inverse=True)[1].reshape(-1)[len(plain) :]
    values = np.column_stack([cells.values, number]).astype(np.int32)
    return replace(cells, sensitive=table_cells.sensitive, values=values, joint=table_cells.joint)


@dataclass(frozen=True, eq=False)
class Coding:
    """A domain with the raw values it was read from and their codes; it turns rows into codes."""

    domain: Domain
    raw: pl.Series
    codes: np.ndarray

    def encode(self, series: pl.Series) -> np.ndarray:
        """Return the code of each value; categories are looked up once each."""
        if isinstance(series.dtype, pl.Categorical):
            categories = series.unique().drop_nulls()
            number = categories.to_physical().to_numpy()
            code_of_number = np.full(number.max(initial=0) + 2, self.domain.null_code, np.int32)
            code_of_number[number] = self.encode(categories.cast(pl.String))
            return code_of_number[series.to_physical().fill_null(len(code_of_number) - 1).to_numpy()]
        if not len(self.raw):
            return np.full(len(series), max(self.domain.null_code, 0), np.int32)
        coded = series.replace_strict(
            self.raw, pl.Series(self.codes, dtype=pl.Int32), default=None, return_dtype=pl.Int32
        )
        return coded.fill_null(self.domain.null_code).to_numpy()


def encode_cells(counted: pl.DataFrame, columns: Mapping[str, Column]) -> tuple[Cells, np.ndarray]:
    """Turn counted combinations of raw values (counts in COUNT_COLUMN) into cells, with the cell of each combination."""
    quasi = find_columns_with_role(columns, Role.QUASI)
    sensitive = find_columns_with_role(columns, Role.SENSITIVE)
    counts = counted[COUNT_COLUMN].to_numpy().astype(np.int64)
    codings = build_codings(
        columns, {name: categories_to_texts(counted[name], counts) for name in (*quasi, *sensitive)}
    )

    def encode_columns(names: list[str]) -> np.ndarray:
        parts = [codings[name].encode(counted[name]) for name in names]
        return np.column_stack(parts).astype(np.int32, copy=False) if parts else np.zeros((len(counts), 0), np.int32)

    return build_cells(
        tuple(codings[name].domain for name in quasi),
        tuple(codings[name].domain for name in sensitive),
        encode_columns(quasi),
        encode_columns(sensitive),
        counts,
    )


def build_codings(
    columns: Mapping[str, Column], values: Mapping[str, tuple[pl.Series, np.ndarray]]
) -> dict[str, Coding]:
    """Build the coding of each column from its values and the number of rows of each; a value may be listed twice."""
    codings = {}
    errors = []
    rows_per_person = max((column.rows_per_person or 1 for column in columns.values()), default=1)
    for name, (series, counts) in values.items():
        try:
            codings[name] = build_coding(name, columns[name], series, counts, rows_per_person)
        except HierarchyError as error:
            errors.append(error)
    if errors:
        raise HierarchyError.join_errors(errors)
    return codings


def build_coding(name: str, column: Column, series: pl.Series, counts: np.ndarray, rows_per_person: int = 1) -> Coding:
    """Build the domain of one column from the values that occur in it, with the labels that the column declares."""
    series = to_comparable(name, series)
    raw = require_within_calendar(name, series.unique().drop_nulls())
    tree = _resolve_hierarchy(name, column, series, counts)
    coding = _code_column(name, column, series, raw, counts, tree)
    if column.role is Role.QUASI:
        alone = Fraction(0)
        if column.labels is None and coding.domain.kind == "numeric":
            alone = compute_lone_share(series, counts, rows_per_person)
        return replace(coding, domain=apply_label_style(coding.domain, column, alone, tree))
    if column.domain is None:
        return coding
    _require_listed(name, column.domain, coding.domain)
    return replace(coding, domain=replace(coding.domain, declared=column.domain))


def choose_origin(values: pl.Series) -> int:
    """Choose what is subtracted from sorted whole numbers before they become doubles.

    It is the least number if one is beyond 2^53, else 0.
    """
    if not len(values) or not values.dtype.is_integer():
        return 0
    return int(values[0]) if max(abs(int(values[0])), abs(int(values[-1]))) > MAX_EXACT_INTEGER else 0


def _pack_values(cells: Cells) -> np.ndarray:
    return np.column_stack(pack_codes(cells.values, np.array([domain.size for domain in cells.sensitive])))


def _resolve_hierarchy(name: str, column: Column, series: pl.Series, counts: np.ndarray) -> Hierarchy | None:
    """Return the column's hierarchy: a steward's, a builder's, or one to be built from the column's values."""
    declared = column.hierarchy
    if declared is None:
        return None
    if column.type == "ordinal":
        raise ColumnError(f"Column {name!r} has an order and a hierarchy.", attempt="one of them.")
    if is_built_from_values(declared):
        tree = _build_hierarchy(name, column, series, counts)
    else:
        tree = read_declared_hierarchy(declared, name)
    if column.role is Role.SENSITIVE and not _is_from_steward(tree):
        raise ColumnError(
            f"The hierarchy of the sensitive column {name!r} is built from the data.",
            why="It would be published, and with it values of withheld rows.",
            attempt="saving it, looking at it, and giving the file.",
        )
    return tree


def _code_column(
    name: str, column: Column, series: pl.Series, raw: pl.Series, counts: np.ndarray, tree: Hierarchy | None
) -> Coding:
    null = series.null_count() > 0
    if null and column.missing == "withhold":
        raise InternalError(f"Rows without a value in {name!r} were to be withheld, and were counted.")
    if null and column.role is Role.SENSITIVE and column.missing == "refuse":
        rows = int(counts[series.is_null().to_numpy()].sum())
        raise ColumnError(
            f"The sensitive column {name!r} is missing in {pluralize(rows, 'row')}.",
            why="A missing value would be published as if it were harmless.",
            attempt='missing = "category" for this column, or missing = "withhold" for this column, which withholds these rows.',
        )
    kind = column.type or (guess_type(raw) if tree is None else getattr(tree, "kind", "categorical"))
    if tree is not None and (kind == "numeric" or (kind == "date" and not _is_from_steward(tree))):
        return _code_banded(name, column, kind, raw, null, tree)
    if kind == "numeric":
        return _code_numbers(name, column, raw, null)
    if kind == "date" and tree is None:
        return _code_dates(name, column, raw, null)
    if kind == "ordinal":
        return _code_ordinal(name, column, raw, null)
    require_ordered(name, column)
    return _code_categories(name, raw, null, tree)


def _require_listed(name: str, declared: Sequence[Any], domain: Domain) -> None:
    """Refuse a declared list of a sensitive column's values that lacks a value which occurs in it."""
    if is_numeric_range(declared) or (isinstance(domain, TreeDomain) and domain.is_from_steward):
        return
    lacking = len(set(domain.texts) - set(declared))
    if lacking and domain.kind != "ordinal":
        raise ColumnError(
            f"Column {name!r}: {pluralize(lacking, 'distinct value', 'is', 'are')} not in the domain that it declares.",
            attempt="listing every value that can occur, or missing = [...] for those that stand for nothing.",
        )


def _build_hierarchy(name: str, column: Column, series: pl.Series, counts: np.ndarray) -> Hierarchy:
    """Build the declared hierarchy over the values that can be published: none beyond the column's top or bottom."""
    if column.top is not None or column.bottom is not None:
        is_present = series.is_not_null()
        series = series.filter(is_present)
        counts = counts[is_present.to_numpy()]
        bound = column.bottom if column.top is None else column.top
        parse = parse_dates if isinstance(bound, str) else parse_numbers
        series = recode_values(name, column, parse(name, series))
    return build(column.hierarchy, series, counts.tolist(), name)


def _is_from_steward(tree: Hierarchy) -> bool:
    """Tell whether the steward answers for every label of a hierarchy, so that it can be published as it is."""
    return not (isinstance(tree, BuiltHierarchy) and tree.is_from_data)


def _code_banded(name: str, column: Column, kind: str, raw: pl.Series, null: bool, tree: Hierarchy) -> Coding:
    """Code numbers (or dates of a built hierarchy) that are published by nodes.

    Leaves are matched by value, not by spelling.
    """
    parsed = recode_values(name, column, parse_numbers(name, raw) if kind == "numeric" else parse_dates(name, raw))
    if kind == "numeric" and choose_origin(parsed.sort()):
        raise _make_long_numbers_error(
            name, sum(abs(value) > MAX_EXACT_INTEGER for value in parsed.to_list()), len(parsed)
        )
    values = parsed.to_physical().cast(pl.Float64).to_numpy()
    leaves = pl.Series(tree.leaves, dtype=pl.String).str.strip_chars()
    if kind == "numeric":
        leaf_values = leaves.cast(pl.Float64, strict=False)
    else:
        leaf_values = leaves.str.slice(0, 10).str.to_date(strict=False)
    _require_finite_leaves(name, leaf_values)
    is_usable = leaf_values.is_not_null().to_numpy() & leaf_values.is_first_distinct().to_numpy()
    rows = [row for row, keep in zip(tree.rows(), is_usable, strict=True) if keep]
    positions = leaf_values.filter(pl.Series(is_usable)).to_physical().cast(pl.Float64).to_numpy()
    lacking = ~np.isin(values, positions)
    if lacking.any():
        texts = [text for text, bad in zip(raw.cast(pl.String).to_list(), lacking, strict=True) if bad]
        raise _make_missing_leaves_error(name, raw, texts, tree)
    sorted_tree, positions = sort_by_position(Hierarchy.from_rows(rows, name), positions)
    declared = _read_declared_span(column)
    span = declared or (0.0, 0.0)
    if declared is None and len(values):
        span = (float(values.min()), float(values.max()))
    domain = build_band_domain(
        name, kind, str(parsed.dtype), sorted_tree, positions, span, null=null, is_from_steward=_is_from_steward(tree)
    )
    return Coding(domain, raw, np.searchsorted(positions, values).astype(np.int32))


def _code_numbers(name: str, column: Column, raw: pl.Series, null: bool) -> Coding:
    numbers = recode_values(name, column, parse_numbers(name, raw))
    values = numbers.unique().sort()
    origin = choose_origin(values)
    if origin:
        return Coding(
            _build_offset_domain(name, column, numbers, values, null, origin), raw, _rank_values(numbers, values)
        )
    declared = _read_declared_span(column)
    if declared and len(values) and (float(values[0]) < declared[0] or float(values[-1]) > declared[1]):
        raise _make_outside_error(name, int(((values < declared[0]) | (values > declared[1])).sum()))
    domain = build_range_domain(
        name,
        "numeric",
        str(numbers.dtype),
        values.cast(pl.String).to_list(),
        values.cast(pl.Float64).to_numpy(),
        null=null,
        declared=declared,
        ends=DeclaredBounds(column.bottom, column.top),
    )
    return Coding(domain, raw, _rank_values(numbers, values))


def _code_dates(name: str, column: Column, raw: pl.Series, null: bool) -> Coding:
    parsed = recode_values(name, column, parse_dates(name, raw))
    values = parsed.unique().sort()
    texts = values.cast(pl.String).to_list() if values.dtype == pl.Date else values.dt.to_string("iso").to_list()
    origin = choose_origin(values.to_physical())
    positions = (values.to_physical() - origin).cast(pl.Float64).to_numpy()
    ends = DeclaredBounds(column.bottom, column.top)
    domain = build_range_domain(name, "date", str(parsed.dtype), texts, positions, null=null, ends=ends, origin=origin)
    return Coding(domain, raw, _rank_values(parsed, values))


def _code_ordinal(name: str, column: Column, raw: pl.Series, null: bool) -> Coding:
    order = [str(value) for value in column.order or ()]
    if len(set(order)) != len(order):
        raise ColumnError(f"The order of column {name!r} names a value twice.", attempt="each value once.")
    code_of_value = {value: code for code, value in enumerate(order)}
    texts = raw.cast(pl.String).to_list()
    lacking = sum(text not in code_of_value for text in texts)
    if lacking:
        raise ColumnError(
            f"Column {name!r} is ordinal, but {lacking} of its {len(texts)} distinct values are not in its order.",
            attempt="every value in order = [...].",
        )
    domain = build_range_domain(name, "ordinal", str(raw.dtype), order, np.arange(len(order)), null=null)
    return Coding(domain, raw, np.array([code_of_value[text] for text in texts], np.int32))


def _code_categories(name: str, raw: pl.Series, null: bool, tree: Hierarchy | None) -> Coding:
    texts = raw.cast(pl.String).to_list()
    is_from_steward = tree is not None and _is_from_steward(tree)
    if tree is None and not texts:  # nothing but nulls: no tree, and no value of the column's type to print
        empty_domain = build_range_domain(name, "categorical", str(raw.dtype), [], np.zeros(0), null=null)
        return Coding(empty_domain, raw, np.zeros(0, np.int32))
    if tree is None:
        tree = Hierarchy.flat(raw.sort().cast(pl.String).to_list())  # numbers in the order of numbers
    code_of_leaf = {leaf: code for code, leaf in enumerate(tree.leaves)}
    lacking = [text for text in texts if text not in code_of_leaf]
    if lacking:
        raise _make_missing_leaves_error(name, raw, lacking, tree)
    domain = build_tree_domain(name, str(raw.dtype), tree, null=null, is_from_steward=is_from_steward)
    return Coding(domain, raw, np.array([code_of_leaf[text] for text in texts], np.int32))


def _make_long_numbers_error(name: str, beyond: int, distinct: int) -> ColumnError:
    return ColumnError(
        f"Column {name!r} has a hierarchy of numbers, but {beyond:,} of its {distinct:,} distinct values are beyond 2^53.",
        why="Leaves are matched as numbers in double precision, where different ones could become one.",
        attempt='type = "categorical" with the hierarchy, or leaving the hierarchy out: ranges hold such numbers exactly.',
    )


def _require_finite_leaves(name: str, leaves: pl.Series) -> None:
    """Refuse leaves that have no place on the line: no label could cover them."""
    endless = 0 if leaves.dtype != pl.Float64 else int((~leaves.drop_nulls().is_finite()).sum())
    if endless:
        raise HierarchyError(
            f"The hierarchy of {name!r} is one of numbers, and of its {len(leaves):,} leaves {endless:,} lie nowhere on the line.",
            why="NaN and infinity lie in no range, and a number beyond all doubles is read as infinity.",
            attempt=f'leaving these rows out, or type = "categorical" for {name!r}.',
        )


def _make_missing_leaves_error(name: str, raw: pl.Series, lacking: list[str], tree: Hierarchy) -> HierarchyError:
    folded_leaves = {fold_spelling(leaf) for leaf in tree.leaves}
    nearly_equal = sum(fold_spelling(text) in folded_leaves for text in lacking)
    misspelled = f" {nearly_equal} of them are a leaf up to case, spaces or Unicode form." if nearly_equal else ""
    return HierarchyError(
        f"The hierarchy of {name!r} has no rule for {len(lacking)} of the column's {len(raw)} distinct values.",
        why=f"Each value of the data needs a row of its own in the hierarchy.{misspelled}",
        values=sorted(lacking),
        attempt="--show-values to see them, or missing = [...] if they stand for nothing.",
    )


def _read_declared_span(column: Column) -> tuple[float, float] | None:
    if column.domain is None or not is_numeric_range(column.domain):
        return None
    return float(column.domain[0]), float(column.domain[1])


def _build_offset_domain(
    name: str, column: Column, numbers: pl.Series, values: pl.Series, null: bool, origin: int
) -> RangeDomain:
    """Build the domain of whole numbers that doubles do not hold.

    They are compared exactly, and placed by their distance to the least.
    """
    declared = None
    if column.domain is not None and is_numeric_range(column.domain):
        declared = (floor(Fraction(column.domain[0])), ceil(Fraction(column.domain[1])))
    integers = values.to_list()
    if declared and (outside := sum(not declared[0] <= value <= declared[1] for value in integers)):
        raise _make_outside_error(name, outside)
    domain = build_range_domain(
        name,
        "numeric",
        str(numbers.dtype),
        values.cast(pl.String).to_list(),
        np.array([float(value - origin) for value in integers]),
        null=null,
        declared=None if declared is None else (float(declared[0] - origin), float(declared[1] - origin)),
        ends=DeclaredBounds(column.bottom, column.top),
        origin=origin,
    )
    return replace(domain, declared_ends=declared)


def _rank_values(values: pl.Series, ordered: pl.Series) -> np.ndarray:
    return ordered.search_sorted(values).to_numpy().astype(np.int32) if len(values) else np.zeros(0, np.int32)


def _make_outside_error(name: str, outside: int) -> ColumnError:
    return ColumnError(
        f"Column {name!r}: {pluralize(outside, 'distinct value', 'lies', 'lie')} outside the declared domain.",
        attempt="a wider domain, or top and bottom coding.",
    )
