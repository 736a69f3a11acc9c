"""Perturbed generalization (Tao, Xiao, Li & Zhang, "On anti-corruption privacy preserving publication", ICDE 2008, section IV).

Cells and promises about corruption -> a recipe of disjoint groups of which one tuple each is published, its sensitive value
perturbed.  Phase 1 keeps a value with probability p and else draws one of the domain; phase 2 makes groups of at least k rows; phase
3 draws one tuple of each group and notes the group's size, G.

`grouping = "mondrian"` looks at quasi-identifiers alone, so only the values that are drawn need to be perturbed: that is distributed
exactly as perturbing all of them first.  `grouping = "specialization"`, the paper's choice, looks at perturbed classes; which cut was
made then tells of people who were not drawn, and theorems 2 and 3 do not cover it (ERRATA 5.9).  It is a function of perturbed rows,
so what k = 1 bounds is kept, and promises are calibrated with k = 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.methods.perturbed_generalization.calibration import (
    check_domain,
    group_size,
    largest_retention,
    require_one_row_per_person,
)
from reticent.methods.perturbed_generalization.domains import (
    SensitiveDomain,
    count_single_holders,
    require_declared_domain,
    sensitive_domain,
)
from reticent.methods.perturbed_generalization.grouping import strict_groups
from reticent.methods.perturbed_generalization.perturbation import perturb
from reticent.methods.perturbed_generalization.sampling import draw
from reticent.methods.perturbed_generalization.specialization import classes_of, specialized_groups
from reticent.methods.protocols import Method
from reticent.methods.weights import check_weights
from reticent.models.delta_growth import DeltaGrowth
from reticent.models.exact import Number
from reticent.models.promises import Promises
from reticent.models.rho_guarantee import RhoGuarantee
from reticent.randomness import Random
from reticent.recipe.drawn import Mechanism, SampledRecipe
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells
from reticent.table.roles import Column

DEFAULT_K = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedGeneralization(Method):
    """`p` left out is the largest that keeps every promise.  `k` is the least group, or `s` the share of rows to publish.

    `domain` lists the values that the sensitive column can hold where no hierarchy, order or domain of the column does.  `cuts` and `weights` are mondrian's;
    `categories` are the classes that specialization looks at: lists of sensitive values, one list for each class.
    """

    p: Fraction | None = None
    k: int | None = None
    s: Fraction | None = None
    grouping: str = "mondrian"
    cuts: str = "loss"
    categories: Sequence[Sequence[str]] | None = None
    domain: Sequence[str] | None = None
    weights: Mapping[str, float] | None = None
    name: ClassVar[str] = "perturbed-generalization"
    kind: ClassVar[str] = "sampled"
    labels: ClassVar[str] = "sets"
    keeps: ClassVar[tuple[type, ...]] = (RhoGuarantee, DeltaGrowth)

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            *,
            p: Number | None = None,
            k: int | None = None,
            s: Number | None = None,
            grouping: str = "mondrian",
            cuts: str = "loss",
            categories: Sequence[Sequence[str]] | None = None,
            domain: Sequence[str] | None = None,
            weights: Mapping[str, float] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.k is None and self.s is None:
            object.__setattr__(self, "k", DEFAULT_K)
        check_parameters(self, as_given=("weights",))
        check_weights(self.weights)

    def require_columns(self, columns: Mapping[str, Column]) -> None:
        """Refuses a sensitive column without a declared domain, and several rows of a person, before any row is read."""
        require_declared_domain(columns, self.domain is not None)
        require_one_row_per_person(max((column.rows_per_person or 1 for column in columns.values()), default=1))

    def warnings(self, cells: Cells) -> list[str]:
        """What the steward should know of the declared domain on these cells: whether it looks as if taken from them."""
        single = count_single_holders(cells, self.domain)
        if not single:
            return []
        return [
            f"Every value of the declared domain of {cells.sensitive[0].name!r} occurs in the table, and "
            f"{single:,} of them {'has' if single == 1 else 'have'} one holder: if the domain was taken from the table, who knows everybody "
            "else's value knows theirs. A domain that any such table could have says nothing."
        ]

    @property
    def least(self) -> int:
        """The least number of people in a group."""
        return group_size(self.k, self.s)

    @property
    def counted_on(self) -> int:
        """The k that promises are calibrated with: 1 where cuts follow perturbed classes (ERRATA 5.9)."""
        return self.least if self.grouping == "mondrian" else 1

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> SampledRecipe:
        require_one_row_per_person(cells.rows_per_person)
        domain = sensitive_domain(cells, self.domain)
        check_domain(promises, len(domain))
        p = self.p or largest_retention(promises, self.counted_on, len(domain))
        kept: list[RhoGuarantee | DeltaGrowth] = promises.only(RhoGuarantee, DeltaGrowth)
        for promise in kept:
            promise.verify({"p": p, "k": self.counted_on, "domain": len(domain)})
        if self.grouping == "mondrian":
            groups = strict_groups(cells, promises, self.least, self.cuts, self.weights)
            place, cell = draw(cells, groups, rng.stream("draw"))
            value = perturb(domain.code[cells.values[cell, 0]], p, len(domain), rng.stream("perturbation"))
        else:
            perturbed = self._all_perturbed(cells, domain, p, rng)
            groups = self._specialized(cells, promises, domain, perturbed)
            place, cell = draw(cells, groups, rng.stream("draw"))
            value = perturbed[place]
        return _recipe(cells, groups, cell, value, Mechanism(p, self.least, domain.texts, domain.declared))

    def _all_perturbed(self, cells: Cells, domain: SensitiveDomain, p: Fraction, rng: Random) -> np.ndarray:
        """A perturbed code for every row, in the order of the cells."""
        held = np.repeat(domain.code[cells.values[:, 0]], cells.counts)
        return perturb(held, p, len(domain), rng.stream("perturbation"))

    def _specialized(
        self, cells: Cells, promises: Promises, domain: SensitiveDomain, perturbed: np.ndarray
    ) -> np.ndarray:
        assert self.categories is not None
        of_value = classes_of(domain.texts, self.categories)
        classes, size = of_value[perturbed], len(self.categories)
        row_cell = np.repeat(np.arange(len(cells)), cells.counts)
        held = np.bincount(row_cell * size + classes, minlength=len(cells) * size).reshape(-1, size)
        return specialized_groups(cells, promises, self.least, held)


def _recipe(
    cells: Cells, groups: np.ndarray, drawn: np.ndarray, value: np.ndarray, mechanism: Mechanism
) -> SampledRecipe:
    """An entry for the rows of each cell that are not drawn, which keep their group, and one for each drawn row."""
    left = cells.counts - np.bincount(drawn, minlength=len(cells))
    kept = np.flatnonzero(left)
    published = np.zeros(len(kept) + len(drawn), bool)
    published[len(kept) :] = True
    plain = Recipe(
        cells,
        np.concatenate([kept, drawn]),
        groups[np.concatenate([kept, drawn])],
        np.concatenate([left[kept], np.ones(len(drawn), np.int64)]),
        int(groups.max(initial=-1)) + 1,
        np.concatenate([np.zeros(len(kept), np.int32), value.astype(np.int32)])[:, None],
        "sets",
        published=published,
    )
    return SampledRecipe.of(plain, mechanism)
