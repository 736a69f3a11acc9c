"""Publishing a recipe as a generalized table: a label for each quasi-identifier, sensitive values as the recipe has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.recipe.group_labels import Labels, coalesce
from reticent.recipe.losses import printed_loss
from reticent.recipe.recipe import Recipe
from reticent.recipe.schema import carried_schema, quasi_schema, sensitive_schema
from reticent.release.rows import Coded, Pieces, Rows
from reticent.table.domain import Domain
from reticent.table.roles import Column, Role
from reticent.table.types import typed


@dataclass(frozen=True, eq=False)
class Generalized:
    """A recipe whose equal labels are merged, ready to be written."""

    recipe: Recipe
    labels: Labels
    columns: Mapping[str, Column]
    kind: ClassVar[str] = "generalized"
    generalizes: ClassVar[bool] = True
    several_sensitive: ClassVar[bool] = True
    place: ClassVar[None] = None

    @classmethod
    def of(cls, recipe: Recipe, columns: Mapping[str, Column]) -> Generalized:
        recipe, labels = coalesce(recipe)
        return cls(recipe, labels, columns)

    @staticmethod
    def in_parts(*given: Any) -> Any:
        """What writes this kind where there is no recipe of all rows."""
        from reticent.recipe.generalized_in_parts import InParts

        return InParts(*given)

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the planned groups are like: how many, the smallest, and their information loss (AIL)."""
        sizes, rows = self.recipe.as_groups().sizes, self.recipe.cells.rows
        loss = printed_loss(self.recipe, weights)
        return {"groups": len(sizes), "smallest": int(sizes.min(initial=rows)), "ail": loss}

    def frames(self, pieces: Pieces) -> dict[str, Rows]:
        """The data file, columns in the source's order."""
        recipe = self.recipe
        found: dict[str, Any] = dict(pieces.beside)
        group, shown = np.maximum(recipe.group, 0), recipe.shown
        for at, domain in enumerate(recipe.cells.quasi):
            texts = pl.Series(domain.name, self.labels.texts[at], dtype=pl.String)
            found[domain.name] = Coded.of(texts, self.labels.of_group[group, at], shown)
        for at, domain in enumerate(recipe.cells.sensitive):
            values = typed([*domain.texts, *([None] if domain.null else [])], domain.dtype).alias(domain.name)
            found[domain.name] = Coded.of(values, recipe.published_values[:, at], shown)
        published = [name for name, column in self.columns.items() if column.role is not Role.IDENTIFYING]
        return {"data": Rows({name: found[name] for name in published}, pieces)}

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """What the manifest says of this kind; `types` are those of carried columns."""
        cells = self.recipe.cells
        entries = column_entries(self.columns, cells.quasi, self.labels.texts, cells.sensitive, types)
        return {"kind": self.kind, "withheld": self.recipe.withheld, "columns": entries}


def column_entries(
    columns: Mapping[str, Column], quasi: Sequence[Domain], texts: Sequence[list[str | None]],
    sensitive: Sequence[Domain], types: Mapping[str, str],
) -> list[dict[str, Any]]:  # fmt: skip
    """What the manifest says of each column; `texts` are the labels of each quasi-identifier."""
    labelled = {domain.name: (domain, texts[at]) for at, domain in enumerate(quasi)}
    domains = {domain.name: domain for domain in sensitive}
    entries = []
    for name, column in columns.items():
        if column.role is Role.QUASI:
            entries.append(quasi_schema(*labelled[name], column))
        elif column.role is Role.SENSITIVE:
            entries.append(sensitive_schema(domains[name], column))
        elif column.role is Role.INSENSITIVE:
            entries.append(carried_schema(name, types[name], column))
    return entries


WRITER = Generalized
