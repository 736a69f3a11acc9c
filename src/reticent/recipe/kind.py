"""What the writer of a release kind supplies: `recipe/<kind>.py` holds one class, WRITER, that turns a recipe into files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import polars as pl

from reticent.recipe.recipe import Recipe
from reticent.release.rows import Pieces, Rows
from reticent.table.roles import Column


class Writer(Protocol):
    """A recipe ready to be written; `of` makes it, merging groups that would read the same where the kind has labels."""

    kind: ClassVar[str]
    generalizes: ClassVar[bool]  # whether quasi-identifiers become labels, so that withholding rows can lower the loss
    several_sensitive: ClassVar[bool]  # whether the kind takes more than one sensitive column
    # A kind whose manifest lists the sensitive values has `lists_values`: True.
    # A kind whose values stand apart from rows, and are the rows' own, has `record_values(pieces)`: pieces that record them.
    # A kind that adds columns of its own has `reserved`: their names, and the roles of columns that cannot have them.
    recipe: Recipe

    @classmethod
    def of(cls, recipe: Any, columns: Mapping[str, Column]) -> Self: ...

    def outlook(self, weights: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What is known before anything is written: groups, the smallest of them, the expected loss; what the kind has of these."""

    @property
    def place(self) -> np.ndarray | None:
        """Where each entry of the recipe stands among the published rows, which are sorted by it and then by what is carried
        beside; None: rows are shuffled, or expanded from a recipe that is arranged already."""

    def frames(self, pieces: Pieces) -> Mapping[str, Rows | pl.DataFrame]:
        """The data files by name; the first has the published rows, as an engine hands them over."""

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        """The manifest's fields that depend on the kind; `types` are those of carried columns."""
