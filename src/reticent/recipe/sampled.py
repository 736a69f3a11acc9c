"""Publishing a recipe as a sampled table: one row of each group, its labels, its perturbed value, and the group's size as G."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.errors import InternalError, JobError
from reticent.recipe.drawn import SampledRecipe
from reticent.recipe.group_labels import Labels, coalesce
from reticent.recipe.losses import total_loss
from reticent.recipe.schema import number, quasi_schema, sensitive_schema
from reticent.release.rows import Coded, Pieces, Rows
from reticent.table.cells import Cells
from reticent.table.grammar import value_label
from reticent.table.roles import PUBLISHED, Column, Role
from reticent.table.types import typed

SIZE = "G"


@dataclass(frozen=True, eq=False)
class Sampled:
    """A recipe of disjoint groups, ready to be written.  Their labels differ: equal ones would have to be merged before the draw."""

    recipe: SampledRecipe
    labels: Labels
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "sampled"
    generalizes: ClassVar[bool] = False  # withholding rows to lose less would depend on who is sensitive
    lists_values: ClassVar[bool] = True
    several_sensitive: ClassVar[bool] = False
    place: ClassVar[None] = None
    apart: ClassVar[bool] = True  # no two labels cover one person
    carries: ClassVar[bool] = False
    prepared: ClassVar[bool] = False
    reserved: ClassVar[Mapping[str, tuple[Role, ...]]] = {SIZE: PUBLISHED}

    @classmethod
    def of(cls, recipe: SampledRecipe, columns: Mapping[str, Column]) -> Sampled:
        if SIZE in columns and columns[SIZE].role is not Role.IDENTIFYING:
            raise JobError(
                f"A sampled release has a column {SIZE!r} of its own.", attempt="renaming the source's column."
            )
        tight = replace(recipe.cells, quasi=tuple(domain.tight for domain in recipe.cells.quasi))
        recipe = replace(recipe, cells=tight, padded={})  # labels that overlap would count a person twice
        merged, labels = coalesce(recipe)
        if merged.groups != recipe.groups:
            raise InternalError("Two groups would read the same, and a tuple of each was drawn.")
        return cls(recipe, labels, columns)

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        sizes, rows = self.recipe.as_groups().sizes, self.recipe.cells.rows
        loss = total_loss(self.recipe, weights) / max(rows, 1)
        return {"groups": len(sizes), "smallest": int(sizes.min(initial=rows)), "ail": loss}

    def frames(self, pieces: Pieces) -> dict[str, Rows]:
        recipe, shown = self.recipe, self.recipe.shown
        found: dict[str, Any] = {}
        for at, domain in enumerate(recipe.cells.quasi):
            texts = pl.Series(domain.name, self.labels.texts[at], dtype=pl.String)
            found[domain.name] = Coded.of(texts, self.labels.of_group[recipe.group, at], shown)
        sensitive = recipe.cells.sensitive[0]
        values = typed(list(recipe.mechanism.domain), sensitive.dtype).alias(sensitive.name)
        found[sensitive.name] = Coded.of(values, recipe.published_values[:, 0], shown)
        sizes = recipe.as_groups().sizes
        found[SIZE] = Coded.of(pl.Series(SIZE, np.arange(int(sizes.max()) + 1)), sizes[recipe.group], shown)
        published = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": Rows({name: found[name] for name in (*published, SIZE)}, pieces)}

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """Schema, p, k and the domain; never the overall distribution."""
        cells, mechanism = self.recipe.cells, self.recipe.mechanism
        quasi = {domain.name: (domain, _values(cells, at)) for at, domain in enumerate(cells.quasi)}
        entries = []
        for name, column in self.columns.items():
            if column.role is Role.QUASI:
                entries.append(quasi_schema(*quasi[name], column))
            elif column.role is Role.SENSITIVE:
                entries.append(sensitive_schema(cells.sensitive[0], column))
        return {
            "kind": self.kind,
            "withheld": self.recipe.withheld,
            "columns": entries,
            "p": number(mechanism.p),
            "k": mechanism.k,
            "domain": list(mechanism.domain),
            "declared": mechanism.declared,
        }


def _values(cells: Cells, at: int) -> list[str | None]:
    """Each value of a quasi-identifier as its own label: together the exact labels of all groups name just these."""
    domain = cells.quasi[at]
    held = np.flatnonzero(np.bincount(cells.codes[:, at], minlength=domain.size)).tolist()
    return [None if code == domain.null_code else value_label(domain.texts[code]) for code in held]


WRITER = Sampled
