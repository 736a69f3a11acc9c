"""Values published as they are: what kinds with exact quasi-identifiers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from reticent.recipe.recipe import Recipe
from reticent.recipe.schema import carried_schema, quasi_schema, sensitive_schema
from reticent.table.domain import Domain
from reticent.table.grammar import value_label
from reticent.table.roles import Column, Role
from reticent.table.types import typed


def values_of(domain: Domain) -> pl.Series:
    """The values of a domain in code order, null last, in the column's own type.

    A hierarchy may list numbers that the type does not have, and no row holds these: they are null here.
    """
    texts = [*domain.texts, *([None] if domain.null else [])]
    return typed(texts, domain.dtype, strict=False).alias(domain.name)


def published_cells(recipe: Recipe) -> np.ndarray:
    """The cells of which a row is published."""
    shown = np.zeros(len(recipe.cells), bool)
    shown[recipe.cell if recipe.whole else recipe.cell[recipe.shown]] = True
    return np.flatnonzero(shown)


def published_labels(recipe: Recipe, at: int, published: np.ndarray) -> list[str | None]:
    """The labels of the values that published cells show in a quasi-identifier: each as itself, none of a withheld row."""
    domain = recipe.cells.quasi[at]
    codes = np.unique(recipe.cells.codes[published, at])
    return [None if code == domain.null_code else value_label(domain.texts[code]) for code in codes.tolist()]


def schema_of(recipe: Recipe, columns: Mapping[str, Column], types: Mapping[str, str]) -> list[dict[str, Any]]:
    """The manifest's entry for each published column; `types` are those of carried columns."""
    cells, entries, published = recipe.cells, [], published_cells(recipe)
    place = {domain.name: at for at, domain in enumerate(cells.quasi)}
    for name, column in columns.items():
        if column.role is Role.QUASI:
            labels = published_labels(recipe, place[name], published)
            entries.append(quasi_schema(cells.quasi[place[name]].tight, labels, column))
        elif column.role is Role.SENSITIVE:
            entries.append(sensitive_schema(cells.sensitive[0], column))
        elif column.role is Role.INSENSITIVE:
            entries.append(carried_schema(name, types[name], column))
    return entries
