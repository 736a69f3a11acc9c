"""Advice of methods and of what is checked before data is read: columns, matrices, labels, stages and regions."""

from __future__ import annotations

import random
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent.data.cells import Cells, build_cells
from reticent.data.domain import build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.methods.base import resolve_weights
from reticent.methods.beta_perturbation import solve_optimal_matrix
from reticent.methods.sabre import make_ground_distance
from reticent.methods.suppression.stage import choose_rows
from reticent.models.promise import Promises
from reticent.randomness import Random
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.small_jobs import CITIES, ILLNESSES, ROWS, make_people, publish
from tests.support.in_process_partitions import Spread

TABLE = CaseTable()
follows = TABLE.follows

AGE = {"role": "quasi-identifying", "type": "numeric"}
CITY = {"role": "sensitive"}
K = {"model": "k-anonymity", "k": 3}
DIVERSITY = {"model": "probabilistic-l-diversity", "l": 2}
LIKENESS = {"model": "beta-likeness", "beta": 2}
CLOSENESS = {"model": "t-closeness", "t": 0.4}
KNOWING = {"model": "bt-privacy", "bandwidth": 0.3, "t": 0.9}
CORRUPTED = {"model": "rho-guarantee", "rho1": 0.2, "rho2": 0.6, "lambda": 0.4}


def publish_by(method: str, *promises: dict[str, Any], frame: Any = None, options: Any = None, **parts: Any) -> Any:
    """Publish the small job by a method, with these promises."""
    return publish(frame, promise=list(promises), method={"name": method, **(options or {})}, **parts)


def make_cells(sensitive: int = 1, *, null: bool = False) -> Cells:
    """Return eight rows of an age and so many sensitive columns of four letters; with `null` the last row has no value."""
    age = build_range_domain("age", "numeric", "Int64", [str(i) for i in range(8)], np.arange(8), null=False)
    domains = tuple(
        build_tree_domain(name, "String", Hierarchy.flat(list("abcd")), null=null, is_from_steward=True)
        for name in ("illness", "wage")[:sensitive]
    )
    values = np.tile(np.arange(8) % 4, (sensitive, 1)).T.astype(np.int32)
    if null:
        values[-1] = domains[0].null_code
    codes = np.arange(8, dtype=np.int32)[:, None]
    return build_cells((age,), domains, codes, values, np.ones(8, np.int64))[0]


def plan_by(method: Any, promise: Any, cells: Cells) -> Any:
    return method.plan(cells, Promises((promise,)), Random.from_seed(1))


def has_one_illness() -> pl.DataFrame:
    return make_people(illness=["flu"] * ROWS)


# anatomy.


@follows("methods/anatomy.py", 'role = "identifying" for all but one, which are then not published.')
def anatomize_two_columns(desk: Desk) -> Steps:
    yield lambda: plan_by(rt.Anatomy(), rt.DistinctLDiversity(2), make_cells(2))
    yield lambda: plan_by(rt.Anatomy(), rt.DistinctLDiversity(2), make_cells(1))
    yield lambda: publish_by("anatomy", DIVERSITY, columns={"city": "identifying"})


@follows("methods/anatomy.py", "another sensitive column.")
def anatomize_column_of_one_value(desk: Desk) -> Steps:
    yield lambda: publish_by("anatomy", DIVERSITY, frame=has_one_illness())
    yield lambda: publish_by(
        "anatomy", DIVERSITY, frame=has_one_illness(), columns={"illness": "identifying", "city": CITY}
    )


@follows("methods/anatomy.py", 'missing = "withhold" for this column.')
def anatomize_people_without_a_value(desk: Desk) -> Steps:
    people = make_people(illness=[ILLNESSES[row % 3] if row < 15 else None for row in range(ROWS)])
    for missing in ("category", "withhold"):
        illness = {"role": "sensitive", "missing": missing}
        yield lambda illness=illness: publish_by("anatomy", DIVERSITY, frame=people, columns={"illness": illness})


# Values and weights.


@follows("methods/base.py", 'fewer values (rounded, or grouped), or method = "mondrian".')
def redraw_too_many_values(desk: Desk) -> Steps:
    numbers = pl.concat([make_people()] * 10).with_columns(illness=pl.int_range(600))
    illness = {"role": "sensitive", "type": "numeric"}
    grouped = numbers.with_columns(illness=pl.col("illness") % 3)
    yield lambda: publish_by("beta-perturbation", LIKENESS, frame=numbers, columns={"illness": illness})
    yield lambda: publish_by(
        "beta-perturbation", LIKENESS, frame=numbers, columns={"illness": {**illness, "round_to": 200}}
    )
    yield lambda: publish_by("beta-perturbation", LIKENESS, frame=grouped, columns={"illness": illness})
    yield lambda: publish_by("mondrian", LIKENESS, frame=numbers, columns={"illness": illness})


@follows("methods/base.py", '{"age": 2}.')
def weigh_by_no_table(desk: Desk) -> Steps:
    weights: Any = 2
    yield lambda: resolve_weights(["age", "city"], weights)
    yield lambda: resolve_weights(["age", "city"], {"age": 2})
    yield lambda: publish_by("mondrian", K, options={"weights": {"age": 2}})


# beta-perturbation.


FREQUENT = ["flu"] * 36 + ["cold"] * 24


def redraw(matrix: str, promise: dict[str, Any] = LIKENESS, frame: Any = None, **options: Any) -> Any:
    return publish_by("beta-perturbation", promise, frame=frame, options={"matrix": matrix, **options})


@follows("methods/beta_perturbation.py", 'matrix = "rank-one", or enhanced = true.')
def redraw_certain_values_by_theorem(desk: Desk) -> Steps:
    people = make_people(illness=FREQUENT)
    plain = {"model": "beta-likeness", "beta": 1, "enhanced": False}
    yield lambda: redraw("theorem3", plain, people)
    yield lambda: redraw("rank-one", plain, people)
    yield lambda: redraw("theorem3", {**plain, "enhanced": True}, people)


@follows("methods/beta_perturbation.py", 'matrix = "rank-one", which is always valid.')
def redraw_rare_values_by_theorem(desk: Desk) -> Steps:
    people = make_people(illness=["flu"] * 50 + ["cold"] * 9 + ["gout"])
    yield lambda: redraw("theorem3", LIKENESS, people)
    yield lambda: redraw("rank-one", LIKENESS, people)


@follows("methods/beta_perturbation.py", 'pip install "reticent[stats]", or matrix = "rank-one".')
def redraw_best_without_scipy(desk: Desk) -> Steps:
    def redraw_without() -> Any:
        with desk.patch.context() as patch:
            patch.setitem(sys.modules, "scipy.optimize", None)
            return redraw("optimal")

    yield redraw_without
    yield lambda: redraw("optimal")
    yield lambda: redraw("rank-one")


@follows("methods/beta_perturbation.py", 'a smaller conditioning, or matrix = "rank-one".')
def redraw_by_badly_conditioned_matrix(desk: Desk) -> Steps:
    shares, gains = [Fraction(1, 2)] * 2, [Fraction(1, 2)] * 2
    yield lambda: solve_optimal_matrix(shares, gains, 0.9, two_sided=False)
    yield lambda: solve_optimal_matrix(shares, gains, 0.1, two_sided=False)
    yield lambda: redraw("optimal", conditioning=0.1)
    yield lambda: redraw("rank-one")


@follows("methods/beta_perturbation.py", 'role = "identifying" for all but one, which are then not published.')
def redraw_two_columns(desk: Desk) -> Steps:
    yield lambda: plan_by(rt.BetaPerturbation(), rt.BetaLikeness(2), make_cells(2))
    yield lambda: plan_by(rt.BetaPerturbation(), rt.BetaLikeness(2), make_cells(1))
    yield lambda: redraw("rank-one")


@follows(
    "methods/beta_perturbation.py",
    'missing = "withhold" for this column, or a value of their own for these rows in the source.',
)
def redraw_missing_values(desk: Desk) -> Steps:
    people = make_people(illness=[None, *ILLNESSES * 20][:ROWS])
    illness = {"role": "sensitive", "missing": "withhold"}
    yield lambda: plan_by(rt.BetaPerturbation(), rt.BetaLikeness(2), make_cells(null=True))
    yield lambda: publish_by("beta-perturbation", LIKENESS, frame=people, columns={"illness": illness})
    yield lambda: publish_by("beta-perturbation", LIKENESS, frame=people.with_columns(pl.col("illness").fill_null("?")))


# burel and sabre.


@follows("methods/burel.py", 'method = "mondrian".')
def group_for_two_columns(desk: Desk) -> Steps:
    promises = [{**LIKENESS, "column": column} for column in ("illness", "city")]
    yield lambda: publish_by("burel", *promises, columns={"city": CITY})
    yield lambda: publish_by("mondrian", *promises, columns={"city": CITY})


@follows("methods/burel.py", 'a larger beta, withholding so rare a value, or method = "beta-perturbation".')
def group_rare_value(desk: Desk) -> Steps:
    people = make_people(illness=["gout", *["flu", "cold"] * 30][:ROWS])
    strict = {"model": "beta-likeness", "beta": 0.5}
    yield lambda: publish_by("burel", strict, frame=people)
    yield lambda: publish_by("burel", {**strict, "beta": 4}, frame=people)
    yield lambda: publish_by("burel", strict, frame=people.filter(pl.col("illness") != "gout"))
    yield lambda: publish_by("beta-perturbation", strict, frame=people)


@follows("methods/burel.py", "a larger beta, or withholding so rare a value.")
def group_rare_value_of_many_people(desk: Desk) -> Steps:
    people = make_people(illness=["gout", *["flu", "cold"] * 30][:ROWS])
    strict = {"model": "beta-likeness", "beta": 0.5}
    yield lambda: publish_by("burel", strict, K, frame=people)
    yield lambda: publish_by("burel", {**strict, "beta": 4}, K, frame=people)
    yield lambda: publish_by("burel", strict, K, frame=people.filter(pl.col("illness") != "gout"))


@follows("methods/equivalence_classes.py", "another sensitive column, or not publishing this one.")
def group_by_column_of_one_value(desk: Desk) -> Steps:
    people = has_one_illness()
    yield lambda: publish_by("burel", LIKENESS, frame=people)
    yield lambda: publish_by("burel", LIKENESS, frame=people, columns={"illness": "identifying", "city": CITY})
    yield lambda: publish_by("mondrian", K, frame=people, columns={"illness": "identifying"})


@follows("methods/sabre.py", 'hierarchy = "file.csv" on that column.')
def group_closely_without_hierarchy(desk: Desk) -> Steps:
    (desk / "file.csv").write_text("flu,lungs,*\ncold,lungs,*\ngout,joints,*\n")
    illness = {"role": "sensitive", "hierarchy": "file.csv"}
    age = make_cells().quasi[0]
    yield lambda: make_ground_distance("hierarchical", age, np.ones(8, np.int64))
    yield lambda: publish_by("sabre", {**CLOSENESS, "distance": "hierarchical"}, columns={"illness": illness})


# mondrian, mosaic and labels.


@follows("methods/mondrian/nodes.py", "no hierarchy for …: it is then published as ranges.")
def tell_groups_apart_under_nodes(desk: Desk) -> Steps:
    bands = [[str(age), "young" if age < 40 else "old", "*"] for age in range(20, 60)]
    yield lambda: publish_by("mondrian", KNOWING, columns={"age": {**AGE, "hierarchy": bands}})
    yield lambda: publish_by("mondrian", KNOWING, columns={"age": AGE})


@follows("methods/mondrian/nodes.py", "filling in or withholding the rows with missing values, or a weaker promise.")
def tell_missing_values_apart(desk: Desk) -> Steps:
    people = make_people(age=[None, *(20 + row * 7 % 40 for row in range(ROWS - 1))])
    strict = {**KNOWING, "t": 0.3, "bandwidth": "whole"}
    filled = people.with_columns(pl.col("age").fill_null(30))
    withheld = {"age": {**AGE, "missing": "withhold"}}
    yield lambda: publish_by("mondrian", strict, frame=people)
    yield lambda: publish_by("mondrian", strict, frame=filled)
    yield lambda: publish_by("mondrian", strict, frame=people, columns=withheld)
    yield lambda: publish_by("mondrian", {**strict, "t": 1}, frame=people)


@follows("methods/mosaic/method.py", 'method = "mondrian".')
def merge_groups_that_break_together(desk: Desk) -> Steps:
    yield lambda: publish_by("mosaic", KNOWING)
    yield lambda: publish_by("mondrian", KNOWING)


@follows(
    "methods/recipe_planning.py", 'a smaller step, or labels = "tight" for the columns that are snapped or padded.'
)
def snap_labels_of_groups_that_break_together(desk: Desk) -> Steps:
    people = make_people(illness=random.Random(2).choices(ILLNESSES, k=ROWS))
    promise = {"model": "delta-disclosure", "delta": 1, "absent": "ignore"}

    def label(labels: Any) -> Any:
        age = {**AGE, "labels": labels}
        return lambda: publish_by("mondrian", promise, frame=people, columns={"age": age})

    yield label({"style": "snapped", "step": 20})
    yield label({"style": "snapped", "step": 1})
    yield label("tight")


# Stages and regions.


@follows("methods/recipe_planning.py", 'a further [[promise]], such as model = "probabilistic-l-diversity".')
def promise_nothing_of_groups(desk: Desk) -> Steps:
    promise = {"model": "l-dichotomy", "l": 2}
    stages = [{"name": "suppression", "kind": "safe", "l": 2}]
    yield lambda: publish_by("mondrian", promise, prepare=stages)
    yield lambda: publish_by("mondrian", promise, DIVERSITY, prepare=stages)


@follows("methods/suppression/stage.py", 'kind = "safe", whose bound needs no such prior, or prior = "…" beside kind.')
def suppress_without_stated_prior(desk: Desk) -> Steps:
    stage = {"name": "suppression", "kind": "calibrated", "l": 2}
    yield lambda: publish_by("anatomy", DIVERSITY, prepare=[stage])
    yield lambda: publish_by("anatomy", DIVERSITY, prepare=[{**stage, "kind": "safe"}])
    yield lambda: publish_by("anatomy", DIVERSITY, prepare=[{**stage, "prior": "uniform"}])


@follows("methods/suppression/stage.py", "another sensitive column.")
def suppress_column_of_one_value(desk: Desk) -> Steps:
    stages = [{"name": "suppression", "kind": "safe", "l": 2}]
    other = {"illness": "identifying", "city": CITY}
    yield lambda: publish_by("anatomy", DIVERSITY, frame=has_one_illness(), prepare=stages)
    yield lambda: publish_by("anatomy", DIVERSITY, frame=has_one_illness(), prepare=stages, columns=other)


def publish_all_batches(job: rt.Job, people: pl.DataFrame, to: Any) -> None:
    summary = rt.publish_batches(job, "day", to, frame=people, seed=1)
    assert [batch["status"] for batch in summary["batches"]] == ["published", "published"], summary


@follows("methods/suppression/stage.py", "publishing in batches.")
def suppress_too_many_rows(desk: Desk) -> Steps:
    draw = np.random.default_rng(1)
    people = make_people(day=["Monday", "Tuesday"] * 30, illness=["flu"] * 40 + list(ILLNESSES[1:]) * 10)
    columns = {"name": rt.identifying(), "age": rt.quasi(numeric=True), "city": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(
        columns=columns,
        promises=[rt.ProbabilisticLDiversity(2)],
        method=rt.Anatomy(),
        prepare=[rt.Suppression(l=2)],
        release=rt.Output(undeclared="drop"),
    )
    yield lambda: choose_rows(np.array([10**9, 10**9]), 5, draw)
    yield lambda: choose_rows(np.array([10**8, 10**8]), 5, draw)
    yield lambda: publish_all_batches(job, people, desk / "batches")


@follows(
    "methods/regions.py",
    'no regions, or method = "mondrian" with k-anonymity, l-diversity, t-closeness or beta-likeness.',
)
def plan_regions_by_a_method_of_whole_tables(desk: Desk) -> Steps:
    def publish_regions(method: Any, promise: Any, engine: Any = "local") -> Any:
        columns = {
            "name": rt.identifying(),
            "age": rt.quasi(numeric=True),
            "city": rt.quasi(),
            "illness": rt.sensitive(),
        }
        job = rt.Job(columns=columns, promises=[promise], method=method)
        to = desk / f"{method.name}-{promise.name}-{engine == 'local'}"
        return rt.publish(job, frame=make_people(), engine=engine, to=to, seed=1, again=True)

    mosaic = rt.Mosaic(effort="quick")
    yield lambda: publish_regions(mosaic, rt.KAnonymity(3), Spread(2))
    yield lambda: publish_regions(mosaic, rt.KAnonymity(3))
    for promise in (
        rt.KAnonymity(3),
        rt.DistinctLDiversity(2),
        rt.ProbabilisticLDiversity(2),
        rt.EntropyLDiversity(2),
        rt.RecursiveLDiversity(3, 2),
        rt.TCloseness("0.9"),
        rt.BetaLikeness(4),
    ):
        yield lambda promise=promise: publish_regions(rt.Mondrian(), promise, Spread(2))


# What is checked before data is read.


@follows(
    "preconditions.py", "beta-perturbation or perturbed-generalization, or together in [release], a limit of belief."
)
def limit_odds_of_shown_values(desk: Desk) -> Steps:
    limit = {"odds_at_most": 50}
    yield lambda: publish_by("mondrian", LIKENESS, release=limit)
    yield lambda: publish_by("beta-perturbation", LIKENESS, release=limit)
    yield lambda: publish_by(
        "perturbed-generalization",
        CORRUPTED,
        columns={"illness": {"role": "sensitive", "domain": list(ILLNESSES)}},
        release=limit,
        options={"k": 2},
    )
    yield lambda: publish_by("mondrian", LIKENESS, release={"together": 1})


def corrupt(illness: Any, frame: Any, **columns: Any) -> Any:
    column = {"role": "sensitive", "domain": list(ILLNESSES), **illness}
    return publish_by(
        "perturbed-generalization", CORRUPTED, columns={"illness": column, **columns}, frame=frame, options={"k": 2}
    )


@follows("preconditions.py", "a value of their own for these rows in the source.")
def withhold_missing_values_of_a_sample(desk: Desk) -> Steps:
    people = make_people(illness=[None, *ILLNESSES * 20][:ROWS])
    filled = people.with_columns(pl.col("illness").fill_null("none"))
    yield lambda: corrupt({"missing": "withhold"}, people)
    yield lambda: corrupt({"domain": [*ILLNESSES, "none"]}, filled)


def repeat_people() -> pl.DataFrame:
    return make_people(name=[f"p{row // 2}" for row in range(ROWS)])


BEYOND = {"role": "identifying", "rows_per_person": 1, "beyond": "withhold"}


@follows(
    "preconditions.py",
    "leaving beyond out for …, with rows_per_person as high as anybody has rows, or fewer rows in the source.",
)
def withhold_surplus_rows(desk: Desk) -> Steps:
    people = repeat_people()
    fewer = people.unique("name", keep="first", maintain_order=True)
    high = {"role": "identifying", "rows_per_person": 2}
    yield lambda: publish_by("mondrian", KNOWING, frame=people, columns={"name": BEYOND})
    yield lambda: publish_by("mondrian", KNOWING, frame=people, columns={"name": high})
    yield lambda: publish_by("mondrian", KNOWING, frame=fewer)


@follows("preconditions.py", "a table with one row of each person, without rows_per_person and beyond.")
def withhold_surplus_rows_of_a_sample(desk: Desk) -> Steps:
    people = repeat_people()
    yield lambda: corrupt({}, people, name=BEYOND)
    yield lambda: corrupt({}, people.unique("name", keep="first", maintain_order=True))


@follows("preconditions.py", "renaming the source's column.")
def take_reserved_name(desk: Desk) -> Steps:
    named = make_people().rename({"city": "group"})
    yield lambda: publish_by(
        "anatomy", DIVERSITY, frame=named, columns={"city": None, "group": {"role": "quasi-identifying"}}
    )
    yield lambda: publish_by("anatomy", DIVERSITY, frame=named.rename({"group": "city"}))


@follows("preconditions.py", "{suggest(column, sensitive)}")
def suppress_column_that_is_not_sensitive(desk: Desk) -> Steps:
    stage = {"name": "suppression", "kind": "safe", "l": 2}
    yield lambda: publish_by("anatomy", DIVERSITY, prepare=[{**stage, "column": "ilness"}])
    yield lambda: publish_by("anatomy", DIVERSITY, prepare=[{**stage, "column": "illness"}])


@follows("preconditions.py", "a shorter code for each, or leaving the column out.")
def publish_long_texts(desk: Desk) -> Steps:
    texts = {city: city * 50_000 for city in CITIES}
    people = make_people()
    long = people.with_columns(pl.col("city").replace_strict(texts))
    yield lambda: publish_by("mondrian", K, frame=long)
    yield lambda: publish_by("mondrian", K, frame=people)
    yield lambda: publish_by("mondrian", K, frame=long.drop("city"), columns={"city": None})
    yield lambda: publish_by("mondrian", K, frame=long, columns={"city": "identifying"})
