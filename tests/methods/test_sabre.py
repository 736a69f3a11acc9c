import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from reticent.data.domain import build_tree_domain
from reticent.errors import ColumnError, JobError, PromiseUnreachable
from reticent.methods.sabre import Sabre, bucketize, make_ground_distance
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promise import Promises
from reticent.models.t_closeness import TCloseness
from reticent.randomness import Random
from tests.oracle import closeness
from tests.support.random_cells import line, random_cells, random_tree


def distance(name: str, group: Counter, reference: dict, domain) -> Fraction:
    if name == "equal":
        return closeness.equal(group, reference)
    if name == "ordered":
        return closeness.ordered(group, reference, list(domain.texts))
    return closeness.hierarchical(group, reference, domain.hierarchy.rows())


def worst_by_trying(name: str, buckets: list[list[int]], drawn: list[int], totals: np.ndarray, domain) -> Fraction:
    """Over every way to draw so many rows of each bucket."""
    reference = {domain.texts[v]: int(n) for v, n in enumerate(totals) if n}
    draws = [itertools.combinations_with_replacement(bucket, n) for bucket, n in zip(buckets, drawn, strict=True)]
    found = Fraction(0)
    for draw in itertools.product(*draws):
        group = Counter(domain.texts[v] for part in draw for v in part)
        found = max(found, distance(name, group, reference, domain))
    return found


@pytest.mark.parametrize("name", ["equal", "ordered", "hierarchical"])
def test_the_worst_case_is_the_greatest_distance_of_any_draw(name: str):
    for number in range(60):
        rng = np.random.default_rng(number)
        domain = build_tree_domain(
            "s", "String", random_tree(rng, int(rng.integers(3, 6)), "s"), null=False, is_from_steward=True
        )
        totals = rng.integers(0, 6, domain.size)
        totals[rng.choice(domain.size, 2, replace=False)] += 1
        buckets = bucketize(TCloseness("0.9", name), domain, totals, Fraction(int(rng.integers(5, 80)), 100))
        drawn = rng.integers(0, 4, len(buckets))
        drawn[rng.integers(len(buckets))] += 1
        space = make_ground_distance(name, domain, totals)
        outer, inner = space.work(buckets, drawn[None, :])
        worst = Fraction(int(outer[0] + inner.sum()), space.scale * int(totals.sum()) * int(drawn.sum()))
        assert worst == worst_by_trying(name, buckets, drawn.tolist(), totals, domain)


@pytest.mark.parametrize("name", ["equal", "ordered", "hierarchical"])
def test_buckets_hold_every_value_once(name: str):
    for number in range(30):
        rng = np.random.default_rng(number)
        domain = build_tree_domain("s", "String", random_tree(rng, 6, "s"), null=False, is_from_steward=True)
        totals = rng.integers(0, 9, 6) + (np.arange(6) < 2)
        buckets = bucketize(TCloseness("0.9", name), domain, totals, Fraction(number, 40))
        assert sorted(v for bucket in buckets for v in bucket) == np.flatnonzero(totals).tolist()


def test_a_smaller_t_needs_more_buckets():
    domain = build_tree_domain(
        "s", "String", random_tree(np.random.default_rng(1), 6, "s"), null=False, is_from_steward=True
    )
    totals = np.array([5, 9, 2, 7, 7, 3])
    counts = [len(bucketize(TCloseness("0.9"), domain, totals, Fraction(t, 10))) for t in (8, 5, 2, 0)]
    assert counts == sorted(counts)
    assert counts[-1] == 6


def test_large_tables_are_compared_without_overflow():
    cells = line([0, 1, 2, 3] * 5)
    huge = type(cells)(cells.quasi, cells.sensitive, cells.codes, cells.values, cells.counts * 3)
    promises = Promises.from_iterable([TCloseness(Fraction(10**15 + 1, 10**16))])
    recipe = Sabre().plan(huge, promises, Random.from_seed(1))
    assert promises.bind(huge).allow(recipe.as_groups()).all()


def test_classes_have_at_least_k_rows_where_k_is_promised_too():
    promises = Promises.from_iterable([TCloseness("0.5"), KAnonymity(7)])
    recipe = Sabre().plan(line([0, 1, 2] * 30), promises, Random.from_seed(1))
    assert np.bincount(recipe.group, weights=recipe.quota).min() >= 7
    assert recipe.groups > 1


@pytest.mark.parametrize("options", [{"share": 2}, {"fill": "random"}, {"axes": "log"}])
def test_wrong_options_are_refused(options: dict):
    with pytest.raises(JobError):
        Sabre(**options)


@pytest.mark.parametrize(
    ("cells", "promises", "error"),
    [
        (line([0, 0]), [TCloseness(1)], ColumnError),
        (line([0, 1]), [TCloseness(1), KAnonymity(9)], PromiseUnreachable),
        (line([0, 1]), [TCloseness(1), TCloseness(1, "ordered")], JobError),
        (line([0, 1]), [KAnonymity(2)], JobError),
    ],
)
def test_what_it_cannot_do_is_refused(cells, promises: list, error: type):
    with pytest.raises(error):
        Sabre().plan(cells, Promises.from_iterable(promises), Random.from_seed(1))


def test_hierarchical_needs_a_hierarchy():
    cells = random_cells(1)
    with pytest.raises(JobError, match="hierarchy"):
        make_ground_distance(
            "hierarchical",
            cells.quasi[0] if cells.quasi[0].kind == "numeric" else line([0, 1]).quasi[0],
            np.array([1, 2]),
        )
