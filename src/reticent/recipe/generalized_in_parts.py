"""A generalized table whose rows come from parts: there is no recipe of all rows, and nobody holds the labels of all groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent.recipe.generalized import Generalized, column_entries
from reticent.release.rows import Beside, Coded, Piece, Rows
from reticent.table.cells import Cells
from reticent.table.roles import Column, Role
from reticent.table.types import typed


@dataclass(frozen=True, eq=False)
class InParts:
    """`telling` are labels of each quasi-identifier, as many as the manifest needs; `cells` the whole table's, as far as sensitive values go.

    Rows of a piece have their labels as texts, and their sensitive values by number.
    """

    columns: Mapping[str, Column]
    cells: Cells
    sensitive: int
    telling: Sequence[list[str | None]]
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
        for domain, labels in zip(self.cells.quasi, self.telling, strict=True):
            beside[domain.name] = Beside(pl.String(), nulls=None in labels)
        found: dict[str, Any] = dict(beside)
        none = np.zeros(0, np.int32)
        for at, domain in enumerate(self.cells.sensitive[: self.sensitive]):
            values = typed([*domain.texts, *([None] if domain.null else [])], domain.dtype).alias(domain.name)
            found[domain.name] = Coded(values.filter(pl.Series(self._used(at))), none, beside=value_number(at))
        published = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": Rows({name: found[name] for name in published}, _Made(rows, beside, made))}


def value_number(at: int) -> str:
    """What the numbers of a sensitive column's values are called: as no column of a table is."""
    return f"\x00v{at}"


@dataclass(frozen=True, eq=False)
class _Made:
    rows: int
    beside: Mapping[str, Beside]
    made: Callable[[], Iterator[Piece]]

    def __iter__(self) -> Iterator[Piece]:
        return self.made()
