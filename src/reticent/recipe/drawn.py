"""A recipe of which one tuple of each group is published, its sensitive value perturbed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction

from reticent.recipe.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Retention `p`, least group `k`, the `domain` that perturbed values are drawn from, and what `declared` it."""

    p: Fraction
    k: int
    domain: tuple[str, ...]
    declared: str


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledRecipe(Recipe):
    """One published entry for each group; its value is a place in the mechanism's domain."""

    mechanism: Mechanism

    @classmethod
    def of(cls, plain: Recipe, mechanism: Mechanism) -> SampledRecipe:
        return cls(**{field.name: getattr(plain, field.name) for field in fields(plain)}, mechanism=mechanism)
