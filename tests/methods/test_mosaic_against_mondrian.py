"""Mosaic serves every promise that it takes at least as well as mondrian, on random small tables."""

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import registry
from reticent.methods.mosaic.kernel_tables import fold_families
from reticent.models.promise import CandidateGroups, Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import compute_total_loss
from tests.support import contract_examples

ILLNESS = [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"], ["e", "z", "*"]]
CITIES = [[letter, "north" if letter < "d" else "south", "*"] for letter in "abcdef"]
BOTH = ("illness", "wage")


def make_table(seed: int) -> pl.DataFrame:
    """Return 20 to 150 rows; in half of the tables the sensitive values go with age."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(20, 151))
    age = rng.integers(0, int(rng.integers(3, 30)), rows)
    rank = rng.choice(5, rows, p=[0.3, 0.3, 0.2, 0.1, 0.1])
    if seed % 2:
        rank = np.minimum((rank + age // 4) // 2, 4)
    return pl.DataFrame(
        {
            "age": age,
            "city": rng.choice(list("abcdef"), rows),
            "illness": np.array(list("abcde"))[rank],
            "wage": rng.integers(0, 12, rows) + 2 * rank,
        }
    )


def list_promises(table: pl.DataFrame) -> dict[str, tuple[tuple[str, ...], list]]:
    population = pl.concat([table.select("age", "city")] * 2)
    return {
        "k-anonymity": (("illness",), [rt.KAnonymity(3)]),
        "alpha-k-anonymity": (("illness",), [rt.AlphaKAnonymity("0.6", 3)]),
        "k-map": (("illness",), [rt.KMap(5, population)]),
        "distinct-l-diversity": (("illness",), [rt.DistinctLDiversity(3)]),
        "probabilistic-l-diversity": (("illness",), [rt.ProbabilisticLDiversity(2)]),
        "entropy-l-diversity": (("illness",), [rt.EntropyLDiversity(2)]),
        "recursive-l-diversity": (("illness",), [rt.RecursiveLDiversity(2, 2)]),
        "t-closeness": (("illness",), [rt.TCloseness("0.3")]),
        "t-closeness ordered": (("wage",), [rt.TCloseness("0.2", distance="ordered")]),
        "t-closeness hierarchical": (("illness",), [rt.TCloseness("0.2", distance="hierarchical")]),
        "delta-disclosure": (("illness",), [rt.DeltaDisclosure(2)]),
        "delta-disclosure ignoring": (("illness",), [rt.DeltaDisclosure(1, absent="ignore")]),
        "beta-likeness": (("illness",), [rt.BetaLikeness(2)]),
        "beta-likeness two-sided": (("illness",), [rt.BetaLikeness(4, two_sided=True)]),
        "semantic-beta-likeness": (("illness",), [rt.SemanticLikeness(1, level=1)]),
        "semantic-beta-likeness two-sided": (("illness",), [rt.SemanticLikeness(2, level=1, two_sided=True)]),
        "semantic beside values": (("illness",), [rt.SemanticLikeness(1, level=1), rt.DistinctLDiversity(2)]),
        "proximity-beta-likeness": (("wage",), [rt.ProximityLikeness(2, 2)]),
        "proximity beside k": (("wage",), [rt.ProximityLikeness(2, 2), rt.KAnonymity(4)]),
        "two columns": (BOTH, [rt.BetaLikeness(4, column="illness"), rt.DistinctLDiversity(3, column="wage")]),
        "k of two columns": (BOTH, [rt.KAnonymity(3)]),
        "l of one of two columns": (BOTH, [rt.DistinctLDiversity(3, column="illness")]),
    }


def make_job(sensitive: tuple[str, ...], promises: list, method: object) -> rt.Job:
    declared = {"illness": rt.sensitive(hierarchy=ILLNESS), "wage": rt.sensitive(type="numeric")}
    quasi = {"age": rt.quasi(numeric=True), "city": rt.quasi(hierarchy=CITIES)}
    return rt.Job(columns=quasi | {name: declared[name] for name in sensitive}, promises=promises, method=method)


def compute_losses(table: pl.DataFrame, sensitive: tuple[str, ...], promises: list) -> list[float]:
    return [
        rt.plan(make_job(sensitive, promises, method), frame=table.select("age", "city", *sensitive), seed=1).loss
        for method in (rt.Mondrian(), rt.Mosaic(effort="quick", threads=1))
    ]


def test_every_promise_of_the_contract_that_mosaic_takes_is_among_those_tried():
    taken = set()
    for name, example in contract_examples.EXAMPLES.items():
        parameters = dict(example.parameters) | ({"population": pl.DataFrame()} if example.of_population else {})
        promise = registry.make_promise({"model": name, **parameters})
        if isinstance(promise, rt.Mosaic.keeps) and getattr(promise, "union_closed", False):
            taken.add(name)
    tried = {promise.name for _, promises in list_promises(make_table(0)).values() for promise in promises}
    assert taken <= tried


@pytest.mark.parametrize("words", list(list_promises(make_table(0))))
def test_mosaic_loses_no_more_than_mondrian(words: str):
    compared = 0
    for seed in range(12):
        table = make_table(seed)
        sensitive, promises = list_promises(table)[words]
        try:
            strict, ours = compute_losses(table, sensitive, promises)
        except rt.PromiseUnreachable:
            continue
        compared += 1
        assert ours <= strict * (1 + 1e-12), (words, seed)
    assert compared >= 4


@pytest.mark.parametrize("words", ["t-closeness", "proximity-beta-likeness", "semantic-beta-likeness"])
def test_mosaic_loses_no_more_than_mondrian_by_the_weights_that_both_are_given(words: str):
    for seed in range(6):
        table = make_table(seed)
        sensitive, promises = list_promises(table)[words]
        job = make_job(sensitive, promises, rt.Mosaic())
        cells = rt.count(job, frame=table.select("age", "city", *sensitive))
        weights = {"age": 5}
        strict, ours = (
            compute_total_loss(method.plan(cells, Promises.from_iterable(promises), Random.from_seed(1)), weights)
            for method in (rt.Mondrian(weights=weights), rt.Mosaic(effort="quick", weights=weights))
        )
        assert ours <= strict * (1 + 1e-12)


def test_families_of_semantic_likeness_have_the_caps_of_its_values():
    table = make_table(3)
    promises = Promises.from_iterable([rt.SemanticLikeness(1, level=1), rt.KAnonymity(3)])
    cells = rt.count(make_job(("illness",), list(promises), rt.Mosaic()), frame=table.select("age", "city", "illness"))
    folded_cells, folded_promises = fold_families(cells, promises)
    assert folded_cells.sensitive[0].size == 3 and np.array_equal(folded_cells.codes, cells.codes)
    rng = np.random.default_rng(1)
    group = rng.integers(0, 9, len(cells))
    recipe = rt.Mondrian().plan(cells, promises, Random.from_seed(1))
    for plan_group in (group, recipe.group[np.argsort(recipe.cell)]):
        order = np.argsort(plan_group, kind="stable")
        offsets = np.searchsorted(plan_group[order], np.arange(int(plan_group.max()) + 2))
        groups, folded_groups = (
            CandidateGroups(counted, order, counted.counts[order], offsets) for counted in (cells, folded_cells)
        )
        allowed = promises.bind(cells).allow(groups)
        assert np.array_equal(allowed, folded_promises.bind(folded_cells).allow(folded_groups))


def test_families_keep_the_reference_distribution_of_a_whole_table_where_cells_are_a_part_of_it():
    table = make_table(3)
    job = make_job(("illness",), [rt.SemanticLikeness(1, level=1)], rt.Mosaic())
    cells = rt.count(job, frame=table.select("age", "city", "illness"))
    totals = cells.totals(0) * 3 + np.arange(5)
    promises = Promises(tuple(job.promises), [totals])
    _, folded_promises = fold_families(cells, promises)
    family = rt.SemanticLikeness(1, level=1).families(cells.sensitive[0])
    assert folded_promises.reference[0].tolist() == [int(totals[family == number].sum()) for number in range(3)]


def test_k_map_holds_after_the_search_without_merging_what_swaps_made_narrow():
    table = make_table(1)
    sensitive, promises = list_promises(table)["k-map"]
    job = make_job(sensitive, promises, rt.Mosaic(effort="balanced"))
    release = rt.publish(job, frame=table.select("age", "city", "illness"), seed=1)
    assert release.audited.kept is not False
