"""Advice of promises: what an adversary knows, distances between values, labels, and what keeps a promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent.data.domain import Domain
from reticent.methods.beta_perturbation import BetaPerturbation
from reticent.models.background_knowledge.bandwidth_choice import choose_bandwidths
from reticent.models.background_knowledge.bt_privacy import parse_distance_matrices
from reticent.models.background_knowledge.distances import compute_distances
from reticent.models.background_knowledge.priors import KernelPriors, PointCounts
from reticent.models.beta_likeness import BetaPosterior
from reticent.models.promise import MAX_CAPPED_ROWS, Promises
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.method_cases import (
    CITY,
    CLOSENESS,
    CORRUPTED,
    DIVERSITY,
    KNOWING,
    make_cells,
    publish_all_batches,
    publish_by,
)
from tests.advice.small_jobs import ILLNESSES, ROWS, make_people

TABLE = CaseTable()
follows = TABLE.follows

BACKGROUND = "models/background_knowledge/"


def know(**options: Any) -> Any:
    """Publish the small job against an adversary with such knowledge."""
    parts = {name: options.pop(name) for name in ("frame", "columns", "jointly") if name in options}
    return publish_by("mondrian", {**KNOWING, **options}, **parts)


# What an adversary knows.


@follows(BACKGROUND + "adversary.py", "smoothing = 0, or column = one of them.")
def smooth_combined_values(desk: Desk) -> Steps:
    both = {"jointly": True, "columns": {"city": CITY}, "t": 1}
    yield lambda: know(smoothing=0.5, **both)
    yield lambda: know(smoothing=0, **both)
    for column in ("city", "illness"):
        yield lambda column=column: know(smoothing=0.5, column=column, **both)


@follows(BACKGROUND + "adversary.py", 'bandwidth = 0 or "whole" for it, or coarser values.')
def compare_too_many_values(desk: Desk) -> Steps:
    people = pl.concat([make_people()] * 70).with_columns(age=pl.int_range(70 * ROWS))
    coarser = people.with_columns(age=pl.col("age") // 1000 * 1000)
    yield lambda: know(frame=people)
    for bandwidth in (0, "whole"):
        yield lambda bandwidth=bandwidth: know(frame=people, bandwidth={"age": bandwidth, "city": 0.3})
    yield lambda: know(frame=coarser)


@follows(
    BACKGROUND + "bandwidth_choice.py",
    'bandwidth = 0.3, or a table of numbers and "whole", or coarser values in the columns with most of them.',
)
def choose_bandwidths_of_a_large_table(desk: Desk) -> Steps:
    yield lambda: choose_bandwidths(make_cells(), 0, "epanechnikov", max_work=1)
    yield lambda: know(bandwidth=0.3)
    yield lambda: know(bandwidth={"age": 0.3, "city": "whole"})
    yield lambda: know(bandwidth="auto", frame=make_people().with_columns(age=pl.col("age") // 10 * 10))


@follows(BACKGROUND + "bt_privacy.py", "planning the whole table at once.")
def know_a_part_of_a_table(desk: Desk) -> Steps:
    cells = make_cells()
    promise = rt.BTPrivacy(bandwidth="0.3", t="0.9")
    yield lambda: promise.bind(cells, [cells.totals(0)])
    yield lambda: promise.bind(cells)
    yield lambda: know()


@follows(BACKGROUND + "bt_privacy.py", 'distances = { disease = "disease-distances.csv" }.')
def give_distances_of_no_column(desk: Desk) -> Steps:
    (desk / "disease-distances.csv").write_text(",flu,cold,gout\nflu,0,1,2\ncold,1,0,1\ngout,2,1,0\n")
    yield lambda: parse_distance_matrices("disease-distances.csv")
    yield lambda: parse_distance_matrices({"disease": "disease-distances.csv"})
    yield lambda: know(distances={"illness": "disease-distances.csv"})


@follows(BACKGROUND + "bt_privacy.py", 'bandwidth = "auto", or numbers without bandwidth_by.')
def claim_that_the_table_chose(desk: Desk) -> Steps:
    numbers = {"age": 0.35, "city": 0.35}
    yield lambda: know(bandwidth=numbers, bandwidth_by="held-out")
    yield lambda: know(bandwidth="auto")
    yield lambda: know(bandwidth=numbers)


@follows(BACKGROUND + "distances.py", "a hierarchy for it.")
def compare_values_without_order(desk: Desk) -> Steps:
    class UnorderedDomain:
        name = "city"
        null_code = -1

    unordered: Any = UnorderedDomain()
    ordered: Domain = make_cells().sensitive[0]
    yield lambda: compute_distances(unordered, np.arange(4))
    yield lambda: compute_distances(ordered, np.arange(4))
    cities = [["Ulm", "south", "*"], ["Bonn", "west", "*"], ["Kiel", "north", "*"], ["Jena", "east", "*"]]
    yield lambda: know(columns={"city": {"role": "quasi-identifying", "hierarchy": cities}})


@follows(
    BACKGROUND + "priors.py",
    'a bandwidth of 0 or "whole" for the columns with most values, or coarser values in them.',
)
def estimate_priors_of_a_large_table(desk: Desk) -> Steps:
    def estimate(weights: np.ndarray, points: int = 8) -> Any:
        point = np.arange(points)
        counts = PointCounts(point[:, None].astype(np.int32), point, point % 4, np.ones(points, np.int64), 4)
        return KernelPriors(counts, [weights], max_cells=1, max_pairs=200).route

    near = np.triu(np.tril(np.ones((8, 8)), 6), -6)
    yield lambda: estimate(near)
    yield lambda: estimate(np.eye(8))
    yield lambda: estimate(np.ones((8, 8)))
    yield lambda: estimate(np.triu(np.tril(np.ones((4, 4)), 2), -2), 4)


# Values of promises.


@follows("models/beta_likeness.py", 'matrix = "rank-one", which is always valid.')
def judge_matrix_that_shows_values(desk: Desk) -> Steps:
    posterior = BetaPosterior(rt.BetaLikeness(1))
    promises = Promises((rt.BetaLikeness(1),))
    counts = [10, 20, 30]
    yield lambda: posterior.verify({"matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "counts": counts})
    yield lambda: posterior.verify({"matrix": BetaPerturbation().matrix_for(counts, promises), "counts": counts})


@follows("models/beta_likeness.py", 'hierarchy = "file.csv" on that column, or a lower level.')
def promise_families_of_a_flat_hierarchy(desk: Desk) -> Steps:
    (desk / "low.csv").write_text("flu,lungs,*\ncold,lungs,*\ngout,joints,*\n")
    (desk / "file.csv").write_text("flu,lungs,chest,*\ncold,lungs,chest,*\ngout,joints,limbs,*\n")

    def promise(hierarchy: str, level: int) -> Any:
        illness = {"role": "sensitive", "hierarchy": hierarchy}
        semantic = {"model": "semantic-beta-likeness", "beta": 2, "level": level}
        return lambda: publish_by("mondrian", semantic, columns={"illness": illness})

    yield promise("low.csv", 2)
    yield promise("file.csv", 2)
    yield promise("low.csv", 1)


@follows(
    "models/corruption_guarantees.py",
    "a smaller p, or leaving p out: it is then the largest that keeps every promise.",
)
def retain_too_much_for_growth(desk: Desk) -> Steps:
    yield from retain({"model": "delta-growth", "delta": 0.2, "lambda": 0.4})


@follows(
    "models/corruption_guarantees.py",
    "a smaller p, or leaving p out: it is then the largest that keeps every promise.",
)
def retain_too_much_for_beliefs(desk: Desk) -> Steps:
    yield from retain(CORRUPTED)


def retain(promise: dict[str, Any]) -> Steps:
    illness = {"role": "sensitive", "domain": list(ILLNESSES)}
    for options in ({"p": 0.99}, {"p": 0.05}, {}):
        yield lambda options=options: publish_by(
            "perturbed-generalization", promise, columns={"illness": illness}, options={"k": 2, **options}
        )


@follows("models/l_dichotomy.py", 'kind = "safe" and l = … on the same column.')
def claim_dichotomy_of_a_weak_stage(desk: Desk) -> Steps:
    promise = {"model": "l-dichotomy", "l": 3}
    stage = {"name": "suppression", "kind": "safe", "l": 3, "column": "illness"}
    yield lambda: rt.LDichotomy(3).verify({"kind": "safe", "l": 2, "column": "illness"})
    yield lambda: rt.LDichotomy(3).verify({"kind": "safe", "l": 3, "column": "illness"})
    yield lambda: publish_by("mondrian", promise, DIVERSITY, prepare=[stage])


@follows("models/t_closeness.py", 'distance = "equal", or column = one of them.')
def order_combined_values(desk: Desk) -> Steps:
    both = {"jointly": True, "columns": {"city": CITY}}
    ordered = {**CLOSENESS, "distance": "ordered", "t": 0.9}
    columns = {"city": {**CITY, "order": ["Ulm", "Bonn", "Kiel", "Jena"]}}
    yield lambda: publish_by("mondrian", ordered, **both)
    yield lambda: publish_by("mondrian", {**ordered, "distance": "equal"}, **both)
    yield lambda: publish_by("mondrian", {**ordered, "column": "city"}, jointly=True, columns=columns)


@follows("models/t_closeness.py", 'hierarchy = "file.csv" on that column.')
def measure_closeness_without_hierarchy(desk: Desk) -> Steps:
    (desk / "file.csv").write_text("flu,lungs,*\ncold,lungs,*\ngout,joints,*\n")
    promise = {**CLOSENESS, "distance": "hierarchical"}
    yield lambda: publish_by("mondrian", promise)
    yield lambda: publish_by("mondrian", promise, columns={"illness": {"role": "sensitive", "hierarchy": "file.csv"}})


# Labels and sizes.


def map_people() -> dict[str, Any]:
    population = pl.concat([make_people().select("age", "city")] * 3)
    return {"model": "k-map", "k": 4, "population": population}


@follows("models/promise.py", "leaving one of these promises out.")
def need_two_kinds_of_labels(desk: Desk) -> Steps:
    yield lambda: publish_by("mondrian", KNOWING, map_people())
    yield lambda: publish_by("mondrian", KNOWING)
    yield lambda: publish_by("mondrian", map_people())


@follows("models/promise.py", 'labels = … with method = "mondrian".')
def ask_for_other_labels(desk: Desk) -> Steps:
    yield lambda: publish_by("mondrian", KNOWING, options={"labels": "nodes"})
    yield lambda: publish_by("mondrian", KNOWING, options={"labels": "sets"})
    yield lambda: publish_by("mondrian", map_people(), options={"labels": "nodes"})


@follows("models/promise.py", "publishing in batches.")
def promise_of_too_many_rows(desk: Desk) -> Steps:
    cells = make_cells()
    promises = Promises((rt.ProbabilisticLDiversity(2),))
    people = make_people(day=["Monday", "Tuesday"] * 30)
    job = rt.Job(
        columns={
            "name": rt.identifying(),
            "age": rt.quasi(numeric=True),
            "city": rt.quasi(),
            "illness": rt.sensitive(),
        },
        promises=promises,
        release=rt.Output(undeclared="drop"),
    )
    yield lambda: promises.bind(cells, [np.array([MAX_CAPPED_ROWS, 1, 1, 1])])
    yield lambda: promises.bind(cells, [np.array([MAX_CAPPED_ROWS // 2, 1, 1, 1])])
    yield lambda: publish_all_batches(job, people, desk / "batches")
