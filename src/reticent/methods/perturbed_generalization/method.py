"""Perturbed generalization (Tao, Xiao, Li & Zhang, "On anti-corruption privacy preserving publication", ICDE 2008, section IV).

Cells and promises about corruption -> a recipe of disjoint groups of which a few tuples each are published, their
sensitive values perturbed.  Phase 1 (`perturb_codes`) keeps a value with probability p and else draws one of the domain;
phase 2 (`grouping`) makes groups of at least k rows; phase 3 draws tuples of each group and notes the group's size, G:
one of them as the paper does (`draw_row_of_each`), or G / k of them, rounded down (`draw_share_of_rows`).  A person is
drawn with a probability of at most 1 / k either way, and the bounds of `corruption_guarantees` hold for both: the proof
stands there.

`grouping = "mondrian"` looks at quasi-identifiers alone, so only the values that are drawn need to be perturbed: that
is distributed exactly as perturbing all of them first.  `grouping = "specialization"`, the paper's choice, looks at
perturbed classes; which cut was made then reveals something of people who were not drawn, and theorems 2 and 3 do not
cover it (ERRATA 5.9).  It is a function of perturbed rows, so what k = 1 bounds is kept, and promises are calibrated
with k = 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent import validation
from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.data.columns import Column
from reticent.data.source import Source
from reticent.exact_arithmetic import as_ratio
from reticent.methods.base import Method
from reticent.methods.perturbed_generalization.calibration import (
    choose_group_size,
    find_largest_retention,
    require_few_rows_per_person,
    require_usable_domain,
    resolve_group_size,
)
from reticent.methods.perturbed_generalization.declared_domain import (
    SensitiveDomain,
    count_single_holders,
    declare_types_by_domain,
    find_sensitive_domain,
    require_declared_domain,
    require_no_missing_values,
)
from reticent.methods.perturbed_generalization.grouping import (
    classify_values,
    group_by_cuts,
    group_by_gain,
    group_by_specialization,
)
from reticent.methods.perturbed_generalization.reference_rows import (
    locate_reference,
    read_reference,
    require_another_table,
)
from reticent.models.corruption_guarantees import DeltaGrowth, RhoGuarantee
from reticent.models.promise import Promises, order_rows_by_group
from reticent.models.rational_bounds import Number
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe, SampledRecipe, SamplingMechanism
from reticent.validation import check_parameters, document_parameters


def perturb_codes(codes: np.ndarray, p: Fraction, domain: int, rng: np.random.Generator) -> np.ndarray:
    """Perturb each code independently (phase 1, steps P1 and P2): keep it with probability p, else draw from the domain uniformly.

    A whole number below d m is drawn uniformly, p = n / d: below n m the value is kept, else the number modulo m is its
    new code. The (d - n) m numbers that remain hold every code equally often, so the probabilities are exactly those
    that are published.
    """
    numerator, denominator = as_ratio(p)
    draws = rng.integers(0, denominator * domain, len(codes), dtype=np.int64)
    return np.where(draws < numerator * domain, codes, draws % domain).astype(np.int32)


def draw_row_of_each(
    cells: Cells, group_of_cell: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw one row of each group, uniformly (phase 3, stratified sampling, steps S1 to S4).

    Return for each group the place of its drawn row among all rows, in the order of their cells, and that row's cell.
    """
    order, offsets = order_rows_by_group(group_of_cell, int(group_of_cell.max(initial=-1)) + 1)
    until = np.cumsum(cells.counts[order])
    size = np.diff(np.append(0, until)[offsets])
    place = np.cumsum(size) - size + rng.integers(0, size)
    entry = np.searchsorted(until, place, side="right")
    cell = order[entry]
    first = np.cumsum(cells.counts) - cells.counts
    return first[cell] + (place - (until[entry] - cells.counts[cell])), cell


def draw_share_of_rows(
    cells: Cells, group_of_cell: np.ndarray, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw floor(G / k) rows of each group of G, without replacement: every choice of so many rows is equally likely.

    All rows are put in random order, and each group's first ones are drawn. Return their places among all rows, in the
    order of their cells, and their cells; groups in order.
    """
    cell_of_row = np.repeat(np.arange(len(cells)), cells.counts)
    group_of_row = group_of_cell[cell_of_row]
    shuffled = rng.permutation(len(group_of_row))
    by_group = shuffled[np.argsort(group_of_row[shuffled], kind="stable")]
    sizes = np.bincount(group_of_row)
    turn = np.arange(len(by_group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = by_group[turn < np.repeat(sizes // k, sizes)]
    return place, cell_of_row[place]


@document_parameters(METHODS["perturbed-generalization"])
@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedGeneralization(Method):
    """A few rows of each group, their labels the group's and their sensitive values perturbed."""

    p: Fraction | None = None
    k: int | None = None
    s: Fraction | None = None
    draw: str | None = None
    grouping: str = "mondrian"
    cuts: str = "loss"
    reference: Any = field(default=None, compare=False)
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
            draw: str | None = None,
            grouping: str = "mondrian",
            cuts: str = "loss",
            reference: Any = None,
            categories: Sequence[Sequence[str]] | None = None,
            domain: Sequence[str] | None = None,
            weights: Mapping[str, float] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("weights",))
        if self.reference is not None:
            validation.path_or_table(self.reference, "reference")
            if isinstance(self.reference, str):
                object.__setattr__(self, "reference", Path(self.reference))
        if self.k is None and self.s is None and not self.chooses_group_size:
            object.__setattr__(self, "k", METHODS[self.name].fields["k"].implied)

    def load_reference(self, source: Source, columns: Mapping[str, Column], cells: Cells) -> PerturbedGeneralization:
        """Return the method with the rows of its reference table, read as the job's own source is."""
        require_another_table(source, self.reference)
        return replace(self, reference=read_reference(source, self.reference, columns, cells))

    def declare_types(self, columns: Mapping[str, Column], schema: Mapping[str, Any]) -> dict[str, Column]:
        """Declare the type of the sensitive column by its domain where the values that occur would decide it."""
        return declare_types_by_domain(columns, schema, self.domain)

    def require_columns(self, columns: Mapping[str, Column]) -> None:
        """Refuse, before any row is read, a sensitive column without a declared domain, and too many rows of a person."""
        require_declared_domain(columns, self.domain is not None)
        require_few_rows_per_person(max((column.rows_per_person or 1 for column in columns.values()), default=1))

    def require_cells(self, cells: Cells) -> None:
        """Refuse missing sensitive values as soon as they are counted."""
        require_no_missing_values(cells)

    def warnings(self, cells: Cells) -> list[str]:
        """Warn the steward if the declared domain looks as if it was taken from these cells, and of what a reference may say."""
        sentences = []
        single = count_single_holders(cells, self.domain)
        if single:
            sentences.append(
                f"Every value of the declared domain of {cells.sensitive[0].name!r} occurs in the table, and "
                f"{single:,} of them {'has' if single == 1 else 'have'} one holder: if the domain was taken from the table, who knows everybody "
                "else's value knows theirs. A domain that any such table could have says nothing."
            )
        if self.reference is not None:
            sentences.append(
                "Groups follow the reference table: what it says of the people who are published, and is not public, they may tell. "
                "Other people's rows say nothing of them."
            )
        return sentences

    @property
    def chooses_group_size(self) -> bool:
        """Whether k is chosen by the promises if it is left out: not for the paper's one row, nor where p does not follow k."""
        return self.draws_many and self.grouping == "mondrian"

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> SampledRecipe:
        rows = cells.rows_per_person
        require_few_rows_per_person(rows)
        domain = find_sensitive_domain(cells, self.domain)
        require_usable_domain(promises, len(domain))
        k = self._resolve_group_size(cells, promises, len(domain))
        counted_on = k if self.grouping == "mondrian" else 1  # cuts that follow perturbed classes: ERRATA 5.9
        p = self.p or find_largest_retention(promises, counted_on, len(domain), self._k_origin, rows)
        models: list[RhoGuarantee | DeltaGrowth] = promises.require_models(RhoGuarantee, DeltaGrowth)
        for promise in models:
            promise.verify({"p": p, "k": counted_on, "domain": len(domain), "rows": rows})
        if self.grouping == "mondrian":
            groups = self._group_by_cuts(cells, promises, k, domain)
            place, cell = self._draw_rows(cells, groups, k, rng)
            value = perturb_codes(domain.code[cells.values[cell, 0]], p, len(domain), rng.stream("perturbation"))
        else:
            perturbed = self._perturb_rows(cells, domain, p, rng)
            groups = self._group_specialized(cells, promises, k, domain, perturbed)
            place, cell = self._draw_rows(cells, groups, k, rng)
            value = perturbed[place]
        recipe = _build_recipe(cells, groups, cell, value, SamplingMechanism(p, k, domain.texts, domain.declared))
        # A manifest without the word is of the paper's one row, as all were before there was a choice.
        chosen: dict[str, Any] = {"draw": "many" if self.draws_many else None}
        if self.k is None and self.s is None:
            chosen["k"] = k
        return replace(recipe, chosen=chosen)

    def _group_by_cuts(self, cells: Cells, promises: Promises, k: int, domain: SensitiveDomain) -> np.ndarray:
        if self.cuts == "gain":
            return group_by_gain(cells, promises, k, locate_reference(self.reference, cells, domain), self.weights)
        return group_by_cuts(cells, promises, k, self.cuts, self.weights)

    def _resolve_group_size(self, cells: Cells, promises: Promises, domain: int) -> int:
        """Return the least group: as it is set, or as the promises make counts most certain, and never more than all rows."""
        if self.k is not None or self.s is not None:
            return resolve_group_size(self.k, self.s)
        rows = cells.rows_per_person
        return max(1, min(choose_group_size(promises, domain, rows), cells.rows // rows))

    @property
    def _k_origin(self) -> str:
        """Where the k that promises count on is from: it is set, chosen, or 1 as cuts follow perturbed classes."""
        if self.grouping != "mondrian":
            return self.grouping
        return "chosen" if self.k is None and self.s is None else "set"

    @property
    def draws_many(self) -> bool:
        """Whether a group of G rows publishes floor(G / k) of them, not one."""
        return (self.draw or METHODS[self.name].fields["draw"].implied) == "many"

    def _draw_rows(self, cells: Cells, groups: np.ndarray, k: int, rng: Random) -> tuple[np.ndarray, np.ndarray]:
        """Draw the rows to publish (phase 3): their places among all rows, and their cells."""
        stream = rng.stream("draw")
        if self.draws_many:
            return draw_share_of_rows(cells, groups, k * cells.rows_per_person, stream)
        return draw_row_of_each(cells, groups, stream)

    def _perturb_rows(self, cells: Cells, domain: SensitiveDomain, p: Fraction, rng: Random) -> np.ndarray:
        """Perturb the code of every row, in the order of the cells."""
        row_codes = np.repeat(domain.code[cells.values[:, 0]], cells.counts)
        return perturb_codes(row_codes, p, len(domain), rng.stream("perturbation"))

    def _group_specialized(
        self, cells: Cells, promises: Promises, k: int, domain: SensitiveDomain, perturbed: np.ndarray
    ) -> np.ndarray:
        assert self.categories is not None
        of_value = classify_values(domain.texts, self.categories)
        classes = of_value[perturbed]
        size = len(self.categories)
        row_cell = np.repeat(np.arange(len(cells)), cells.counts)
        class_rows = np.bincount(row_cell * size + classes, minlength=len(cells) * size).reshape(-1, size)
        return group_by_specialization(cells, promises, k, class_rows)


def _build_recipe(
    cells: Cells, groups: np.ndarray, drawn_cells: np.ndarray, value: np.ndarray, mechanism: SamplingMechanism
) -> SampledRecipe:
    """Build an entry for the rows of each cell that are not drawn, which keep their group, and one for each drawn row."""
    undrawn_rows = cells.counts - np.bincount(drawn_cells, minlength=len(cells))
    undrawn_cells = np.flatnonzero(undrawn_rows)
    published = np.zeros(len(undrawn_cells) + len(drawn_cells), bool)
    published[len(undrawn_cells) :] = True
    plain = Recipe(
        cells,
        np.concatenate([undrawn_cells, drawn_cells]),
        groups[np.concatenate([undrawn_cells, drawn_cells])],
        np.concatenate([undrawn_rows[undrawn_cells], np.ones(len(drawn_cells), np.int64)]),
        int(groups.max(initial=-1)) + 1,
        np.concatenate([np.zeros(len(undrawn_cells), np.int32), value.astype(np.int32)])[:, None],
        "sets",
        published=published,
    )
    return SampledRecipe.from_recipe(plain, mechanism)
