"""A generalized table whose rows come from parts: there is no recipe of all rows, and nobody holds the labels of all groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from reticent.recipe.generalized import Generalized, column_entries
from reticent.release.rows import Beside, Coded, Looked, Piece, Rows
from reticent.table.cells import Cells
from reticent.table.roles import Column, Role
from reticent.table.types import typed


@dataclass(frozen=True, eq=False)
class InParts:
    """`telling` are labels of each quasi-identifier, as many as the manifest needs; `texts` looks up those of some numbers.

    `cells` are the whole table's, as far as sensitive values go.  Rows of a piece stand by the numbers of labels and of values.
    """

    columns: Mapping[str, Column]
    cells: Cells
    sensitive: int
    telling: Sequence[list[str | None]]
    texts: Callable[[int, np.ndarray], pl.Series]
    carried: Mapping[str, pl.DataType]

    @cached_property
    def numbers(self) -> tuple[np.ndarray, ...]:
        """For each sensitive column, the number that stands for each code that occurs."""
        return tuple((np.cumsum(self._used(at)) - 1).astype(np.int32) for at in range(self.sensitive))

    def _used(self, at: int) -> np.ndarray:
        return self.cells.totals(at) > 0

    def fields(self) -> dict[str, Any]:
        """What the manifest says of this kind; nothing is withheld."""
        types = {name: str(dtype) for name, dtype in self.carried.items()}
        sensitive = self.cells.sensitive[: self.sensitive]
        entries = column_entries(self.columns, self.cells.quasi, self.telling, sensitive, types)
        return {"kind": Generalized.kind, "withheld": 0, "columns": entries}

    def frames(self, rows: int, made: Callable[[], Iterator[Piece]]) -> dict[str, Rows]:
        """The data file, columns in the source's order."""
        beside = {name: Beside(dtype) for name, dtype in self.carried.items()}
        found: dict[str, Any] = dict(beside)
        for at, domain in enumerate(self.cells.quasi):
            found[domain.name] = Looked(partial(self.texts, at), label_number(at), None in self.telling[at])
        none = np.zeros(0, np.int32)
        for at, domain in enumerate(self.cells.sensitive[: self.sensitive]):
            values = typed([*domain.texts, *([None] if domain.null else [])], domain.dtype).alias(domain.name)
            found[domain.name] = Coded(values.filter(pl.Series(self._used(at))), none, beside=value_number(at))
        published = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": Rows({name: found[name] for name in published}, _Made(rows, beside, made))}


def label_number(at: int) -> str:
    """What the numbers of a quasi-identifier's labels are called: as no column of a table is."""
    return f"\x00l{at}"


def value_number(at: int) -> str:
    """The same of a sensitive column's values."""
    return f"\x00v{at}"


@dataclass(frozen=True, eq=False)
class _Made:
    rows: int
    beside: Mapping[str, Beside]
    made: Callable[[], Iterator[Piece]]

    def __iter__(self) -> Iterator[Piece]:
        return self.made()
