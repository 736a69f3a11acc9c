"""Advice of what measures and compares: calibrate, compare, sweep, advise and utility."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np

import reticent as rt
from reticent.audit.record_risk import record_risk as record_risk
from reticent.compare import candidates as candidate_module
from reticent.compare import sweep as sweep_module
from reticent.time_limit import TimeLimitReached
from reticent.utility.mining.tree import ReconstructingTree
from reticent.utility.workload import Workload
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.kind_releases import publish_kind
from tests.support import contract_examples
from tests.support.contract_examples import people

check_module = importlib.import_module("reticent.check")  # the package calls the function of that name so
TABLE = CaseTable()
follows = TABLE.follows


def make_job(**parts: Any) -> rt.Job:
    """Return a job over the people of the examples."""
    return rt.Job(**{"columns": contract_examples.columns("illness"), "promises": [rt.KAnonymity(3)], **parts})


def fail_in_time(*arguments: Any, **named: Any) -> Any:
    raise TimeLimitReached


# calibrate.


def calibrate(**options: Any) -> Any:
    return rt.calibrate("suppression", **options)


@follows("calibrate.py", "{suggest(str(method), CALIBRATORS)}")
def calibrate_unknown_method(desk: Desk) -> Steps:
    yield lambda: rt.calibrate("supression", counts=[10, 4, 2, 1, 1], l=3)
    yield lambda: rt.calibrate("suppression", counts=[10, 4, 2, 1, 1], l=3)


@follows("calibrate.py", "l = 2 or more.")
def calibrate_for_one_value(desk: Desk) -> Steps:
    yield lambda: calibrate(counts=[10, 4, 2, 1, 1], l=1)
    yield lambda: calibrate(counts=[10, 4, 2, 1, 1], l=2)


@follows("calibrate.py", "{suggest(str(kind), SUPPRESSION_KINDS)}")
def calibrate_unknown_kind(desk: Desk) -> Steps:
    yield lambda: calibrate(counts=[10, 4, 2, 1, 1], l=3, kinds=["save"])
    yield lambda: calibrate(counts=[10, 4, 2, 1, 1], l=3, kinds=["safe"])


@follows("calibrate.py", "counts=[10, 4, 2, 1, 1], l=3, or rows=18, values=5, l=3.")
def calibrate_from_nothing(desk: Desk) -> Steps:
    yield lambda: calibrate(l=3)
    yield lambda: calibrate(counts=[10, 4, 2, 1, 1], l=3)
    yield lambda: calibrate(rows=18, values=5, l=3)


@follows("calibrate.py", "counts=[10, 4, 2, 1, 1].")
def calibrate_from_no_people(desk: Desk) -> Steps:
    yield lambda: calibrate(counts=[10, 0], l=3)
    yield lambda: calibrate(counts=[10, 4, 2, 1, 1], l=3)


@follows("calibrate.py", "counts=[...] of one table.")
def calibrate_every_large_table(desk: Desk) -> Steps:
    yield lambda: calibrate(rows=5000, values=5, l=3)
    yield lambda: calibrate(counts=[10, 4, 2, 1, 1], l=3)


@follows("calibrate.py", "more rows, fewer values or a greater l.")
def calibrate_where_nothing_is_withheld(desk: Desk) -> Steps:
    yield lambda: calibrate(rows=6, values=5, l=3)
    yield lambda: calibrate(rows=12, values=5, l=3)
    yield lambda: calibrate(rows=6, values=3, l=3)
    yield lambda: calibrate(rows=6, values=5, l=4)


# check.


@follows("check.py", "a greater --budget (budget=...), or numbers for the bandwidth.")
def choose_bandwidth_within_no_time(desk: Desk) -> Steps:
    def check(bandwidth: Any, budget: float) -> Any:
        job = make_job(promises=[rt.BTPrivacy(bandwidth, 0.6)])
        return rt.check(job, frame=people(), methods=["mondrian"], budget=budget)

    yield desk.with_setting(check_module, "settle_promises", fail_in_time, lambda: check("auto", 1))
    yield lambda: check("auto", 60)
    yield lambda: check(0.3, 1)


# compare, sweep and advise.


def compare(jobs: Any = None, **options: Any) -> Any:
    """Compare without attacks and learners, which take their time."""
    return rt.compare(
        make_job() if jobs is None else jobs, frame=people(), **{"attacks": (), "classification": False, **options}
    )


@cache
def sweep_k() -> Any:
    return rt.sweep(make_job(), frame=people(), k=[2, 5])


@cache
def compare_once() -> Any:
    return compare()


@follows("compare/candidates.py", 'methods=["mondrian", "mosaic"] (--methods mondrian,mosaic).')
def compare_no_method(desk: Desk) -> Steps:
    yield lambda: compare(methods=[])
    yield lambda: compare(methods=["mondrian", "mosaic"])


@follows("compare/candidates.py", "fewer values; rt.sweep plans 1,000.")
def compare_too_many(desk: Desk) -> Steps:
    yield lambda: compare(k=list(range(2, candidate_module.MAX_CANDIDATES + 3)))
    yield lambda: compare(k=[2, 3])
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 3, 4])


@follows("compare/candidates.py", "…=[2, 5, 10].")
def sweep_over_nothing(desk: Desk) -> Steps:
    yield lambda: rt.sweep(make_job(), frame=people(), k=[])
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 5, 10])


@follows("compare/candidates.py", "fewer values.")
def sweep_over_too_much(desk: Desk) -> Steps:
    yield lambda: rt.sweep(make_job(), frame=people(), k=list(range(2, candidate_module.MAX_COMBINATIONS + 3)))
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 3])


@follows("compare/candidates.py", "rt.compare(job), or rt.compare([job, other]).")
def compare_nothing(desk: Desk) -> Steps:
    yield lambda: compare([])
    yield lambda: compare(make_job())
    yield lambda: compare([make_job(), make_job(promises=[rt.KAnonymity(5)])])


@follows("compare/candidates.py", "jobs of one source, which may differ in columns, promises and methods.")
def compare_different_sources(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    people().write_csv(desk / "others.csv")
    one, other = (make_job(source=desk / name) for name in ("people.csv", "others.csv"))
    yield lambda: rt.compare([one, other], attacks=(), classification=False)
    yield lambda: rt.compare([one, one.at(promises=[rt.KAnonymity(5)])], attacks=(), classification=False)


@follows("compare/candidates.py", "a job with one of them.")
def sweep_parameter_of_two_promises(desk: Desk) -> Steps:
    both = make_job(promises=[rt.KAnonymity(3), rt.AlphaKAnonymity("1/2", 3)])
    yield lambda: rt.sweep(both, frame=people(), k=[2, 5])
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 5])


@follows("compare/candidates.py", "{suggest(name, ['method', *dict.fromkeys(parameters)])}")
def sweep_unknown_parameter(desk: Desk) -> Steps:
    yield lambda: rt.sweep(make_job(), frame=people(), kk=[2, 5])
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 5])
    yield lambda: rt.sweep(make_job(), frame=people(), method=["mondrian", "mosaic"])


@follows("compare/compare.py", "{suggest(name, numeric)}")
def draw_unknown_figure(desk: Desk) -> Steps:
    yield lambda: compare_once().chart("los", "count_error")
    yield lambda: compare_once().chart("loss", "count_error")


@follows("compare/compare.py", "leaving rows out.")
def compare_table_with_a_part(desk: Desk) -> Steps:
    table = people().select("age", "city", "illness")
    yield lambda: compare(tables={"other": table}, rows=100)
    yield lambda: compare(tables={"other": table})


@follows("compare/compare.py", "{suggest(name, catalogue.ATTACKS)}")
def compare_by_unknown_attack(desk: Desk) -> Steps:
    yield lambda: compare(attacks=["skewnes"])
    yield lambda: compare(attacks=["skewness"])


@follows("compare/metrics.py", "rt.sweep, which plans any job, or a job with one sensitive column.")
def compare_two_sensitive_columns(desk: Desk) -> Steps:
    both = make_job(columns=contract_examples.columns("illness", {"wage": rt.sensitive()}))
    yield lambda: compare(both)
    yield lambda: rt.sweep(both, frame=people(), k=[2, 5])
    yield lambda: compare()


@follows("compare/sweep.py", "{suggest(measure, numeric)}")
def draw_unknown_measure(desk: Desk) -> Steps:
    yield lambda: sweep_k().chart("los")
    yield lambda: sweep_k().chart("loss")


@follows("compare/sweep.py", "sweep.frame(), with one of your own.")
def draw_four_parameters(desk: Desk) -> Steps:
    job = make_job(promises=[rt.KAnonymity(3), rt.RecursiveLDiversity(2, 2)])
    swept = rt.sweep(job, frame=people(), k=[2], c=[3], l=[2], labels=["nodes"])
    yield lambda: swept.chart()
    yield lambda: swept.frame()


@follows("compare/sweep.py", "k=[2, 5, 10].")
def sweep_no_parameter(desk: Desk) -> Steps:
    yield lambda: rt.sweep(make_job(), frame=people())
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 5, 10])


@follows("compare/sweep.py", "a greater budget, or a part of the source.")
def sweep_within_no_time(desk: Desk) -> Steps:
    call = lambda: rt.sweep(make_job(), frame=people(), k=[2], budget=1)  # noqa: E731
    yield desk.with_setting(sweep_module, "run_within_budget", fail_in_time, call)
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2], budget=60)
    yield lambda: rt.sweep(make_job(), frame=people().head(60), k=[2], budget=1)


@follows("compare/advise.py", "{suggest(purpose, PURPOSES)}")
def advise_for_unknown_purpose(desk: Desk) -> Steps:
    yield lambda: rt.advise(compare_once(), purpose="count")
    yield lambda: rt.advise(compare_once(), purpose="counts")


@follows("compare/advise.py", "rt.advise(compared, purpose=...), or a job instead of the comparison.")
def advise_by_comparison_of_a_part(desk: Desk) -> Steps:
    yield lambda: rt.advise(compare_once(), purpose="counts", rows=100)
    yield lambda: rt.advise(compare_once(), purpose="counts")
    yield lambda: rt.advise(make_job(), frame=people(), purpose="counts", rows=100, methods=["mondrian"])


@follows("compare/advise.py", "fewer promises, or others.")
def advise_where_no_method_keeps_all(desk: Desk) -> Steps:
    both = make_job(promises=[rt.PPrivacy(), rt.RhoGuarantee("0.2", "0.6", "0.4")])
    yield lambda: rt.advise(both, frame=people(), purpose="counts")
    yield lambda: rt.advise(make_job(promises=[rt.PPrivacy()]), frame=people(), purpose="counts")
    yield lambda: rt.advise(make_job(), frame=people(), purpose="counts", methods=["mondrian"])


@follows("compare/advise.py", "another purpose, a weaker promise, or a greater budget.")
def advise_where_nothing_was_measured(desk: Desk) -> Steps:
    strict = make_job(promises=[rt.KAnonymity(1000)])
    compared = compare(strict)
    yield lambda: rt.advise(compared, purpose="counts")
    yield lambda: rt.advise(compare_once(), purpose="counts")


# utility.


def draw_workload(**options: Any) -> Any:
    defaults = {"predicates": 1, "selectivity": 0.1, "queries": 10, "rng": np.random.default_rng(1)}
    return Workload.draw(options.pop("sizes", [40, 6]), **{**defaults, **options})


@follows("utility/workload.py", "queries = 1000.")
def draw_no_question(desk: Desk) -> Steps:
    yield lambda: draw_workload(queries=0)
    yield lambda: draw_workload(queries=1000)


@follows("utility/workload.py", "sizes = [40, 6].")
def draw_questions_over_one_attribute(desk: Desk) -> Steps:
    yield lambda: draw_workload(sizes=[6])
    yield lambda: draw_workload(sizes=[40, 6])


@follows("utility/workload.py", "predicates = 1.")
def draw_questions_of_too_many_predicates(desk: Desk) -> Steps:
    yield lambda: draw_workload(predicates=2)
    yield lambda: draw_workload(predicates=1)


@follows("utility/workload.py", "selectivity = 0.1.")
def draw_questions_that_select_everybody(desk: Desk) -> Steps:
    yield lambda: draw_workload(selectivity=1)
    yield lambda: draw_workload(selectivity=0.1)


def fit_tree(kind: str = "perturbed", **options: Any) -> Any:
    release = publish_kind(kind)
    tree = ReconstructingTree(**{"manifest": release.manifest, "least": 10, **options})
    frame = release.frame()
    return tree.fit(frame.drop("illness"), frame["illness"])


@follows("utility/mining/tree.py", "fit(frame, values) first.")
def predict_by_no_tree(desk: Desk) -> Steps:
    rows = people().select("age", "city")
    yield lambda: ReconstructingTree(publish_kind("perturbed").manifest).predict(rows)
    yield lambda: fit_tree().predict(rows)


# What is calibrated against corruption.


QUESTION = {"p": 0.3, "k": 6, "lambda_": 0.1, "rho1": 0.2, "domain": 50}
WORDS = ("calibrate", "perturbed-generalization")
CALIBRATION = "methods/perturbed_generalization/calibration.py"


def calibrate_corruption(**options: Any) -> Any:
    return rt.calibrate("perturbed-generalization", **options)


@follows(
    CALIBRATION,
    "p=0.3, k=6, lambda_=0.1, rho1=0.2, domain=50 (--p 0.3 --k 6 --lambda 0.1 --rho1 0.2 --domain 50).",
)
def calibrate_corruption_from_too_little(desk: Desk) -> Steps:
    yield desk.command(*WORDS, "--p", "0.3")
    yield desk.command(*WORDS, *["--p", "0.3", "--k", "6", "--lambda", "0.1", "--rho1", "0.2", "--domain", "50"])
    yield lambda: calibrate_corruption(**QUESTION)


@follows(CALIBRATION, "rho1=0.2 (--rho1 0.2) with it.")
def calibrate_belief_without_prior(desk: Desk) -> Steps:
    yield desk.command(*WORDS, *["--rho2", "0.6", "--k", "6", "--lambda", "0.1", "--domain", "50"])
    yield desk.command(*WORDS, *["--rho2", "0.6", "--k", "6", "--lambda", "0.1", "--domain", "50", "--rho1", "0.2"])
    yield lambda: calibrate_corruption(rho2=0.6, k=6, lambda_=0.1, domain=50, rho1=0.2)


@follows(CALIBRATION, "rho1=0.2 (--rho1 0.2).")
def calibrate_certain_prior(desk: Desk) -> Steps:
    yield lambda: calibrate_corruption(**{**QUESTION, "rho1": 1.5})
    yield lambda: calibrate_corruption(**QUESTION)


@follows(CALIBRATION, "k = 6, or s = 0.16.")
def calibrate_two_group_sizes(desk: Desk) -> Steps:
    yield lambda: calibrate_corruption(**{**QUESTION, "s": 0.16})
    yield lambda: calibrate_corruption(**QUESTION)
    yield lambda: rt.PerturbedGeneralization(k=6)
    yield lambda: rt.PerturbedGeneralization(s=0.16)


@follows(CALIBRATION, "lambda = … or more.")
def calibrate_even_priors(desk: Desk) -> Steps:
    yield lambda: calibrate_corruption(**{**QUESTION, "domain": 3})
    yield lambda: calibrate_corruption(**{**QUESTION, "domain": 3, "lambda_": 0.333334})
