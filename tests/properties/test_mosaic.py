"""Mosaic on thousands of random tables: every published group passes the oracle, every row has one place."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.errors import PromiseUnreachable
from reticent.methods.mosaic import Mosaic
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.delta_disclosure import DeltaDisclosure
from reticent.models.k_anonymity import AlphaKAnonymity, KAnonymity
from reticent.models.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    ProbabilisticLDiversity,
    RecursiveLDiversity,
)
from reticent.models.promise import Promises
from reticent.models.t_closeness import TCloseness
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe
from tests.methods.random_cells import histograms, random_cells
from tests.oracle import measures

ASKED = {
    "k": [("k-anonymity", KAnonymity, {"k": k}) for k in (2, 3, 5, 9)],
    "distinct": [("distinct-l-diversity", DistinctLDiversity, {"l": few}) for few in (2, 3, 4)],
    "probabilistic": [
        ("probabilistic-l-diversity", ProbabilisticLDiversity, {"l": Fraction(few)}) for few in ("3/2", "2", "5/2")
    ],
    "alpha": [
        ("alpha-k-anonymity", AlphaKAnonymity, {"alpha": Fraction(a), "k": k}) for a, k in (("1/2", 3), ("2/3", 2))
    ],
    "beta": [("beta-likeness", BetaLikeness, {"beta": Fraction(b)}) for b in ("1/2", "1", "2", "4")],
    "basic": [("beta-likeness", BetaLikeness, {"beta": Fraction(b), "enhanced": False}) for b in ("1/2", "1", "3")],
    "two-sided": [("beta-likeness", BetaLikeness, {"beta": Fraction(b), "two_sided": True}) for b in ("1", "2", "4")],
    "delta": [("delta-disclosure", DeltaDisclosure, {"delta": Fraction(d), "base": 2}) for d in ("1", "2", "3")],
    "delta-ignore": [
        ("delta-disclosure", DeltaDisclosure, {"delta": Fraction(d), "base": 2, "absent": "ignore"}) for d in ("1", "2")
    ],
    "entropy": [("entropy-l-diversity", EntropyLDiversity, {"l": Fraction(few)}) for few in ("3/2", "2", "3")],
    "recursive": [
        ("recursive-l-diversity", RecursiveLDiversity, {"c": Fraction(c), "l": few}) for c, few in ((2, 2), (3, 3))
    ],
    "equal": [("t-closeness", TCloseness, {"t": Fraction(t)}) for t in ("1/10", "1/4", "1/2")],
    "ordered": [("t-closeness", TCloseness, {"t": Fraction(t), "distance": "ordered"}) for t in ("1/10", "1/4")],
    "hierarchical": [
        ("t-closeness", TCloseness, {"t": Fraction(t), "distance": "hierarchical"}) for t in ("1/10", "1/4")
    ],
}
TABLES = 130  # of each kind of promise; 14 kinds


def published(recipe: Recipe) -> list:
    """The groups as a recipient sees them: equal labels are one."""
    return histograms(merge_equal_labels(recipe)[0])


def holds(model: str, asked: dict, groups: list, recipe: Recipe) -> bool:
    domain = recipe.cells.sensitive[0]
    extra = {"ordered": {"order": list(domain.texts)}, "hierarchical": {"tree": domain.hierarchy.rows()}}
    return measures.holds(model, groups, **asked, **extra.get(asked.get("distance"), {}))


@pytest.mark.parametrize("kind", ASKED)
def test_every_published_group_passes_the_oracle_and_rows_are_conserved(kind: str):
    kept = 0
    for number in range(TABLES):
        cells = random_cells(number, most_rows=60)
        model, promise, asked = ASKED[kind][number % len(ASKED[kind])]
        try:
            recipe = Mosaic(effort="quick", threads=1).plan(
                cells, Promises.from_iterable([promise(**asked)]), Random.from_seed(number)
            )
        except PromiseUnreachable:
            # closed under union: where it is refused, all rows in one group must break it
            whole = histograms(Recipe.of_groups(cells, np.zeros(len(cells), np.int64)))
            assert not holds(model, asked, whole, Recipe.of_groups(cells, np.zeros(len(cells), np.int64)))
            continue
        recipe.require_conserved()
        assert holds(model, asked, published(recipe), recipe), number
        kept += 1
    assert kept > TABLES // 4


def test_conjunctions_pass_the_oracle():
    kinds = sorted(ASKED)
    kept = 0
    for number in range(300):
        cells = random_cells(number, most_rows=80)
        draw = np.random.default_rng(number)
        chosen = [ASKED[kinds[i]] for i in draw.choice(len(kinds), 2 + number % 2, replace=False)]
        asked = [some[int(draw.integers(len(some)))] for some in chosen]
        promises = Promises.from_iterable([promise(**parameters) for _, promise, parameters in asked])
        try:
            recipe = Mosaic(effort="quick", threads=1).plan(cells, promises, Random.from_seed(number))
        except PromiseUnreachable:
            continue
        recipe.require_conserved()
        groups = published(recipe)
        for model, _, parameters in asked:
            assert holds(model, parameters, groups, recipe), (number, model)
        kept += 1
    assert kept > 60
