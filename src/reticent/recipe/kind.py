"""What the writer of a release kind supplies: `recipe/<kind>.py` holds one class, WRITER, that turns a recipe into files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

import polars as pl

from reticent.recipe.recipe import Recipe
from reticent.release.rows import Rows
from reticent.table.roles import Column


class Writer(Protocol):
    """A recipe ready to be written; `of` makes it, merging groups that would read the same where the kind has labels."""

    kind: ClassVar[str]
    generalizes: ClassVar[bool]  # whether quasi-identifiers become labels, so that withholding rows can lower the loss
    several_sensitive: ClassVar[bool]  # whether the kind takes more than one sensitive column
    recipe: Recipe

    @classmethod
    def of(cls, recipe: Any, columns: Mapping[str, Column]) -> Self: ...

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What is known before anything is written: groups, the smallest of them, the expected loss; what the kind has of these."""

    def frames(self, entry: Any, carried: pl.DataFrame | None) -> Mapping[str, Rows | pl.DataFrame]:
        """The data files by name, from each published row's entry of the recipe and the carried columns beside it."""

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """The manifest's fields that depend on the kind; `types` are those of carried columns."""
