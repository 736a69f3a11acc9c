"""Writer of sampled releases: the drawn rows of each group, its labels, their perturbed values, and the group's size as G."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import PUBLISHED_ROLES, Column, Role
from reticent.data.label_grammar import format_value_label
from reticent.data.parsing import parse_texts
from reticent.errors import InternalError
from reticent.format.data_writer import CodedColumn, FileRows, RowBatches
from reticent.recipe.group_labels import (
    GroupLabels,
    build_quasi_entry,
    build_sensitive_entry,
    merge_equal_labels,
    to_json_number,
)
from reticent.recipe.planned_loss import expect_count_error, measure_label_loss
from reticent.recipe.recipe import SampledRecipe

SIZE_COLUMN = "G"


@dataclass(frozen=True, eq=False)
class SampledWriter:
    """Writer of a recipe of disjoint groups.

    Their labels differ: equal ones would have to be merged before the draw.
    """

    recipe: SampledRecipe
    labels: GroupLabels
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "sampled"
    generalizes: ClassVar[bool] = False  # withholding rows to lose less would depend on who is sensitive
    labelled: ClassVar[bool] = True
    lists_values: ClassVar[bool] = True
    redraws_values: ClassVar[bool] = True
    several_sensitive: ClassVar[bool] = False
    draws_rows: ClassVar[bool] = False
    hides_presence: ClassVar[bool] = True
    place: ClassVar[None] = None
    apart: ClassVar[bool] = True  # no two labels cover one person
    carries: ClassVar[bool] = False
    prepared: ClassVar[bool] = False
    reserved: ClassVar[Mapping[str, tuple[Role, ...]]] = {SIZE_COLUMN: PUBLISHED_ROLES}

    @classmethod
    def from_recipe(cls, recipe: SampledRecipe, columns: Mapping[str, Column]) -> SampledWriter:
        tight = replace(recipe.cells, quasi=tuple(domain.tight for domain in recipe.cells.quasi))
        recipe = replace(recipe, cells=tight, padded={})  # labels that overlap would count a person twice
        merged, labels = merge_equal_labels(recipe)
        if merged.groups != recipe.groups:
            raise InternalError("Two groups would read the same, and a tuple of each was drawn.")
        return cls(recipe, labels, columns)

    def summarize_plan(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        sizes = self.recipe.as_groups().sizes
        rows = self.recipe.cells.rows
        loss = measure_label_loss(
            self._quasi_entries.values(), self.labels, sizes, self.recipe.cells.withheld_before.total, weights
        )
        entries = self.recipe.published_entries
        drawn = np.bincount(self.recipe.group[entries], minlength=len(sizes))
        mechanism = self.recipe.mechanism
        squares = float((sizes.astype(np.float64) ** 2 / np.maximum(drawn, 1)).sum())
        error = expect_count_error(float(mechanism.p), len(mechanism.domain), rows, squares)
        return {
            "groups": len(sizes),
            "smallest": int(sizes.min(initial=rows)),
            "ail": loss.ail,
            "ail_by_column": loss.by_column,
            "drawn": {
                "p": float(mechanism.p),
                "k": mechanism.k,
                "rows": len(entries),
                "std_error": error,
                "std_error_share": error / max(rows, 1),
            },
        }

    @cached_property
    def _quasi_entries(self) -> dict[str, dict[str, Any]]:
        """The manifest's entry of each quasi-identifier, in the order of the cells' columns."""
        cells = self.recipe.cells
        return {
            domain.name: build_quasi_entry(domain, _list_value_labels(cells, column_index), self.columns[domain.name])
            for column_index, domain in enumerate(cells.quasi)
        }

    def frames(self, pieces: RowBatches) -> dict[str, FileRows]:
        recipe = self.recipe
        entries = self.recipe.published_entries
        columns: dict[str, Any] = {}
        for column_index, domain in enumerate(recipe.cells.quasi):
            texts = pl.Series(domain.name, self.labels.texts[column_index], dtype=pl.String)
            columns[domain.name] = CodedColumn.from_entries(
                texts, self.labels.of_group[recipe.group, column_index], entries
            )
        sensitive = recipe.cells.sensitive[0]
        values = parse_texts(list(recipe.mechanism.domain), sensitive.dtype).alias(sensitive.name)
        columns[sensitive.name] = CodedColumn.from_entries(values, recipe.published_values[:, 0], entries)
        sizes = recipe.as_groups().sizes
        columns[SIZE_COLUMN] = CodedColumn.from_entries(
            pl.Series(SIZE_COLUMN, np.arange(int(sizes.max()) + 1)), sizes[recipe.group], entries
        )
        published = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": FileRows({name: columns[name] for name in (*published, SIZE_COLUMN)}, pieces)}

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """Build schema, p, k and the domain; never the overall distribution."""
        cells = self.recipe.cells
        mechanism = self.recipe.mechanism
        entries = []
        for name, column in self.columns.items():
            if column.role is Role.QUASI:
                entries.append(self._quasi_entries[name])
            elif column.role is Role.SENSITIVE:
                entries.append(build_sensitive_entry(cells.sensitive[0], column))
        return {
            "kind": self.kind,
            "withheld": self.recipe.all_withheld,
            "columns": entries,
            "p": to_json_number(mechanism.p),
            "k": mechanism.k,
            "domain": list(mechanism.domain),
            "declared": mechanism.declared,
        }


def _list_value_labels(cells: Cells, column_index: int) -> list[str | None]:
    """List each value of a quasi-identifier as its own label: together the exact labels of all groups name just these."""
    domain = cells.quasi[column_index]
    codes = np.flatnonzero(np.bincount(cells.codes[:, column_index], minlength=domain.size)).tolist()
    return [None if code == domain.null_code else format_value_label(domain.texts[code]) for code in codes]


WRITER = SampledWriter
