"""Writers of generalized releases: a label for each quasi-identifier, sensitive values as the recipe has them.

`GeneralizedWriter` writes a recipe of all rows.  `PartitionedGeneralizedWriter` writes a table whose rows come from
partitions: there is no recipe of all rows, and the labels of all groups are never in memory together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import Column, Role
from reticent.data.domain import Domain
from reticent.data.parsing import parse_texts
from reticent.format.data_writer import BatchColumn, CodedColumn, FileRows, LookupColumn, RowBatch, RowBatches
from reticent.recipe.group_labels import (
    GroupLabels,
    build_passthrough_entry,
    build_quasi_entry,
    build_sensitive_entry,
    merge_equal_labels,
    name_label_column,
    name_value_column,
)
from reticent.recipe.planned_loss import measure_recipe_loss
from reticent.recipe.recipe import Recipe


@dataclass(frozen=True, eq=False)
class GeneralizedWriter:
    """Writer of a recipe whose equal labels are merged."""

    recipe: Recipe
    labels: GroupLabels
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "generalized"
    generalizes: ClassVar[bool] = True
    labelled: ClassVar[bool] = True
    several_sensitive: ClassVar[bool] = True
    place: ClassVar[None] = None

    @classmethod
    def from_recipe(cls, recipe: Recipe, columns: Mapping[str, Column]) -> GeneralizedWriter:
        recipe, labels = merge_equal_labels(recipe)
        return cls(recipe, labels, columns)

    @staticmethod
    def make_partitioned(*arguments: Any) -> Any:
        """Make the writer of this kind for a table without a recipe of all rows."""

        return PartitionedGeneralizedWriter(*arguments)

    def summarize_plan(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Summarize the planned groups: how many, the smallest, and their information loss (AIL)."""
        sizes = self.recipe.as_groups().sizes
        rows = self.recipe.cells.rows
        loss = measure_recipe_loss(self.recipe, self.labels, self.columns, weights)
        return {
            "groups": len(sizes),
            "smallest": int(sizes.min(initial=rows)),
            "ail": loss.ail,
            "ail_by_column": loss.by_column,
        }

    def frames(self, pieces: RowBatches) -> dict[str, FileRows]:
        """Build the data file, columns in the source's order."""
        recipe = self.recipe
        columns: dict[str, Any] = dict(pieces.beside)
        group = np.maximum(recipe.group, 0)
        entries = recipe.published_entries
        for index, domain in enumerate(recipe.cells.quasi):
            texts = pl.Series(domain.name, self.labels.texts[index], dtype=pl.String)
            columns[domain.name] = CodedColumn.from_entries(texts, self.labels.of_group[group, index], entries)
        for index, domain in enumerate(recipe.cells.sensitive):
            values = parse_texts([*domain.texts, *([None] if domain.null else [])], domain.dtype).alias(domain.name)
            columns[domain.name] = CodedColumn.from_entries(values, recipe.published_values[:, index], entries)
        published = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": FileRows({name: columns[name] for name in published}, pieces)}

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """Build the manifest's fields of this kind; `types` are those of passthrough columns."""
        cells = self.recipe.cells
        entries = build_column_entries(self.columns, cells.quasi, self.labels.texts, cells.sensitive, types)
        return {"kind": self.kind, "withheld": self.recipe.all_withheld, "columns": entries}


def build_column_entries(
    columns: Mapping[str, Column],
    quasi: Sequence[Domain],
    texts: Sequence[list[str | None]],
    sensitive: Sequence[Domain],
    types: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Build the manifest's entry of each column; `texts` are the labels of each quasi-identifier."""
    labelled = {domain.name: (domain, texts[index]) for index, domain in enumerate(quasi)}
    domains = {domain.name: domain for domain in sensitive}
    entries = []
    for name, column in columns.items():
        if column.role is Role.QUASI:
            entries.append(build_quasi_entry(*labelled[name], column))
        elif column.role is Role.SENSITIVE:
            entries.append(build_sensitive_entry(domains[name], column))
        elif column.role is Role.INSENSITIVE:
            entries.append(build_passthrough_entry(name, types[name], column))
    return entries


@dataclass(frozen=True, eq=False)
class PartitionedGeneralizedWriter:
    """Writer of a generalized table whose rows come from partitions.

    `telling` are labels of each quasi-identifier, as many as the manifest needs; `texts` looks up the labels of some
    numbers. `cells` are the whole table's, as far as sensitive values go.  Rows of a batch hold numbers of labels and
    of values.
    """

    columns: Mapping[str, Column]
    cells: Cells
    sensitive: int
    telling_labels: Sequence[list[str | None]]
    texts: Callable[[int, np.ndarray], pl.Series]
    carried: Mapping[str, pl.DataType]

    @cached_property
    def numbers(self) -> tuple[np.ndarray, ...]:
        """For each sensitive column, the number that stands for each code that occurs."""
        return tuple(
            (np.cumsum(self._find_used_codes(column_index)) - 1).astype(np.int32)
            for column_index in range(self.sensitive)
        )

    def _find_used_codes(self, column_index: int) -> np.ndarray:
        return self.cells.totals(column_index) > 0

    def fields(self) -> dict[str, Any]:
        """Build the manifest's fields of this kind; planning in regions withholds nothing."""
        types = {name: str(dtype) for name, dtype in self.carried.items()}
        sensitive = self.cells.sensitive[: self.sensitive]
        entries = build_column_entries(self.columns, self.cells.quasi, self.telling_labels, sensitive, types)
        return {"kind": GeneralizedWriter.kind, "withheld": self.cells.withheld_before.total, "columns": entries}

    def frames(self, rows: int, generate: Callable[[], Iterator[RowBatch]]) -> dict[str, FileRows]:
        """Build the data file, columns in the source's order."""
        batch_columns = {name: BatchColumn(dtype) for name, dtype in self.carried.items()}
        columns: dict[str, Any] = dict(batch_columns)
        for index, domain in enumerate(self.cells.quasi):
            columns[domain.name] = LookupColumn(
                partial(self.texts, index), name_label_column(index), None in self.telling_labels[index]
            )
        none = np.zeros(0, np.int32)
        for index, domain in enumerate(self.cells.sensitive[: self.sensitive]):
            values = parse_texts([*domain.texts, *([None] if domain.null else [])], domain.dtype).alias(domain.name)
            columns[domain.name] = CodedColumn(
                values.filter(pl.Series(self._find_used_codes(index))), none, beside=name_value_column(index)
            )
        published = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {
            "data": FileRows(
                {name: columns[name] for name in published}, _GeneratedBatches(rows, batch_columns, generate)
            )
        }


@dataclass(frozen=True, eq=False)
class _GeneratedBatches:
    rows: int
    beside: Mapping[str, BatchColumn]
    make_batches: Callable[[], Iterator[RowBatch]]

    def __iter__(self) -> Iterator[RowBatch]:
        return self.make_batches()


WRITER = GeneralizedWriter
