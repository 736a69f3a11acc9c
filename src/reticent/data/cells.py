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
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reticent.data.domain import Domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.errors import ColumnError, InternalError, quote_list, suggest


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

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def rows(self) -> int:
        return int(self.counts.sum())

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
            attempt="jointly = false with a promise for each column, or withholding these rows.",
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


def _pack_values(cells: Cells) -> np.ndarray:
    return np.column_stack(pack_codes(cells.values, np.array([domain.size for domain in cells.sensitive])))
