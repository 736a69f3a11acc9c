"""Mosaic on random tables with two or three sensitive columns: every promise on every column passes the oracle."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from reticent.data.cells import Cells, build_cells, combine_sensitive
from reticent.data.domain import build_tree_domain
from reticent.errors import ColumnError, PromiseUnreachable
from reticent.methods.mosaic import Mosaic
from reticent.methods.recipe_planning import compose_recipe
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import WITHHELD_GROUP, Recipe
from tests.oracle import measures
from tests.support.mosaic_promises import ASKED
from tests.support.random_cells import random_domain, random_tree

TABLES = 150
KINDS = {
    "distinct values, with and without k": ["distinct", "distinct", "k"],
    "caps": ["alpha", "basic", "beta", "distinct", "probabilistic", "two-sided"],
    "any": sorted(ASKED),
}
Asked = tuple[str, dict, str | None]  # model, parameters, column


def several_columns(rng: np.random.Generator) -> Cells:
    """4 to 60 rows; now and then a value is missing, a column follows the first, a person has several rows."""
    rows = int(rng.integers(4, 60))
    quasi = tuple(random_domain(rng, f"q{i}", int(rng.integers(1, 6))) for i in range(int(rng.integers(1, 4))))
    codes = np.column_stack([rng.integers(0, domain.size, rows) for domain in quasi]).astype(np.int32)
    domains = []
    values = []
    for i in range(int(rng.integers(2, 4))):
        size = int(rng.integers(2, 6))
        null = bool(rng.random() < 0.25)
        domains.append(
            build_tree_domain(f"s{i}", "String", random_tree(rng, size, f"s{i}"), null=null, is_from_steward=True)
        )
        weights = rng.random(size + null) ** 2 + 0.05
        drawn = rng.choice(size + null, rows, p=weights / weights.sum())
        follows = rng.random(rows) < 0.6 if i and rng.random() < 0.3 else np.zeros(rows, bool)
        values.append(np.where(follows, values[0] % (size + null) if i else 0, drawn))
    drawn = np.column_stack(values).astype(np.int32)
    cells = build_cells(quasi, tuple(domains), codes, drawn, np.ones(rows, np.int64))[0]
    return replace(cells, rows_per_person=int(rng.choice([1, 1, 1, 2, 3])))


def asked_of(cells: Cells, kinds: list[str], rng: np.random.Generator) -> tuple[list[Asked], Promises]:
    """One to three promises, each on a column or, where columns are taken jointly, on all of them together."""
    names = [domain.name for at, domain in enumerate(cells.sensitive) if at != cells.joint]
    asked = []
    promises = []
    for _ in range(int(rng.integers(1, 4))):
        some = ASKED[kinds[int(rng.integers(len(kinds)))]]
        model, promise, parameters = some[int(rng.integers(len(some)))]
        together = cells.joint >= 0 and rng.random() < 0.5 and parameters.get("distance", "equal") == "equal"
        column = None if together else names[int(rng.integers(len(names)))]
        asked.append((model, parameters, column))
        promises.append(promise(**parameters, **({} if model == "k-anonymity" else {"column": column})))
    return asked, Promises.from_iterable(promises)


def holds(recipe: Recipe, asked: Asked) -> bool:
    """By the oracle; a group of k people has as many times the rows that one of them may have."""
    model, parameters, column = asked
    cells = recipe.cells
    at = 0 if model == "k-anonymity" else cells.find_sensitive(column)
    domain = cells.sensitive[at]
    texts = [*domain.texts, None]
    groups: dict[int, Counter] = {}
    for cell, group, quota in zip(recipe.cell.tolist(), recipe.group.tolist(), recipe.quota.tolist(), strict=True):
        if group != WITHHELD_GROUP:
            groups.setdefault(group, Counter())[texts[cells.values[cell, at]]] += quota
    extra = {"ordered": {"order": list(domain.texts)}, "hierarchical": {"tree": domain.hierarchy.rows()}}
    persons = {"k": parameters["k"] * cells.rows_per_person} if "k" in parameters else {}
    further = extra.get(parameters.get("distance"), {})
    return measures.holds(model, list(groups.values()), **{**parameters, **persons, **further})


@pytest.mark.parametrize("kinds", KINDS)
def test_every_promise_on_every_column_passes_the_oracle(kinds: str):
    kept = 0
    for number in range(TABLES):
        rng = np.random.default_rng([number, len(kinds)])
        cells = several_columns(rng)
        if number % 3 == 0:
            try:
                cells = combine_sensitive(cells)
            except ColumnError:  # a value is missing
                continue
        asked, promises = asked_of(cells, KINDS[kinds], rng)
        method = Mosaic(effort="quick", threads=1, weights={"q0": 3} if number % 4 == 0 else None)
        withheld = Fraction(1, 5) if number % 5 == 0 else Fraction(0)
        try:
            recipe = compose_recipe((), method, cells, promises, Random.from_seed(number), suppress_at_most=withheld)
        except PromiseUnreachable:
            # closed under union: where it is refused, all rows in one group must break it
            whole = Recipe.of_groups(cells, np.zeros(len(cells), np.int64))
            assert not all(holds(whole, one) for one in asked)
            continue
        recipe.require_conserved()
        published = merge_equal_labels(recipe)[0]
        assert all(holds(published, one) for one in asked), (number, asked)
        kept += 1
    assert kept > TABLES // 4
