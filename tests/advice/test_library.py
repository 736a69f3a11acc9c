"""Advice of the Python library is followed: plans, checks, charts, data sets and what mines a release."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent import charts, datasets, fork_safety, time_limit
from reticent.datasets import adult, census
from reticent.errors import DataUnavailable, LossTooHigh, RequestError
from reticent.job.parse import parse_job
from reticent.sklearn import Anonymizer
from reticent.utility.classification import require_stats_extra
from reticent.utility.mining import ReconstructingTree
from tests.advice.coverage import Trial, follows
from tests.advice.kind_releases import publish_kind
from tests.advice.small_jobs import COLUMNS, ROWS, make_people, publish

PLANNED = "planning.py"
LEARNED = "sklearn.py"
MINED = "utility/mining/tree.py"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make_job(columns: dict[str, Any] | None = None, **parts: Any) -> rt.Job:
    table = {"columns": {**COLUMNS, **(columns or {})}, "promise": [{"model": "k-anonymity", "k": 3}], **parts}
    return parse_job(table)


def plan(columns: dict[str, Any] | None = None, frame: Any = None, **parts: Any) -> Any:
    return rt.plan(make_job(columns, **parts), frame=make_people() if frame is None else frame, seed=1)


BETA = {"promise": [{"model": "beta-likeness", "beta": 4}]}
ANATOMY = {"method": {"name": "anatomy"}, "promise": [{"model": "probabilistic-l-diversity", "l": 2}]}
PERTURBED = {"method": {"name": "beta-perturbation"}, **BETA}
TWO = {"illness": "sensitive", "wage": {"role": "sensitive", "type": "categorical"}}
RICH_PEOPLE = make_people(wage=[row % 4 for row in range(ROWS)])


def publish_and_audit(**parts: Any) -> None:
    release = rt.publish(make_job(**parts), frame=make_people(), seed=1)
    rt.audit(release)


def count_jointly(jointly: bool = True) -> Any:
    promise = [{"model": "distinct-l-diversity", "l": 2, **({} if jointly else {"column": "illness"})}]
    job = make_job(TWO, jointly=jointly, promise=promise)
    return rt.count(job, frame=RICH_PEOPLE), job


def plan_cells(count: Any, job: rt.Job) -> None:
    rt.plan(job, cells=count, seed=1)


PLANS = [
    Trial(
        PLANNED,
        "rt.BetaPerturbation(), or plan.boxes for groups.",
        lambda: plan().redrawn,
        lambda: [plan(**PERTURBED).redrawn, plan().boxes],
    ),
    Trial(
        PLANNED,
        "rt.publish(...) and rt.audit(...).",
        lambda: rt.measure(plan(**ANATOMY)),
        lambda: publish_and_audit(**ANATOMY),
    ),
    Trial(
        PLANNED,
        "rt.publish(...) and rt.audit(...).",
        lambda: rt.measure(plan(**PERTURBED)),
        lambda: publish_and_audit(**PERTURBED),
    ),
    Trial(PLANNED, "a job with one of them.", lambda: plan(TWO, RICH_PEOPLE).boxes, lambda: plan().boxes),
    Trial(
        PLANNED,
        "rt.Mosaic(), or no watch.",
        lambda: rt.plan(make_job(), frame=make_people(), watch=lambda *found: False),
        lambda: [
            rt.plan(make_job(method={"name": "mosaic", "effort": 1}), frame=make_people(), watch=lambda *found: False),
            rt.plan(make_job(), frame=make_people()),
        ],
    ),
    Trial(
        PLANNED,
        "one of them.",
        lambda: rt.plan(make_job(), frame=make_people(), cells=rt.count(make_job(), frame=make_people())),
        lambda: [
            rt.plan(make_job(), frame=make_people()),
            rt.plan(make_job(), cells=rt.count(make_job(), frame=make_people())),
        ],
    ),
    Trial(
        PLANNED,
        "rt.count(...) by this job.",
        lambda: plan_cells(count_jointly()[0], count_jointly(jointly=False)[1]),
        lambda: plan_cells(*count_jointly(jointly=False)),
    ),
    Trial(
        PLANNED,
        "rt.count(...) by a job with the same columns.",
        lambda: plan_cells(rt.count(make_job(), frame=make_people()), make_job({"city": "identifying"})),
        lambda: plan_cells(
            rt.count(make_job({"city": "identifying"}), frame=make_people()), make_job({"city": "identifying"})
        ),
    ),
    Trial(
        "check.py",
        "{suggest(name, catalogue.METHODS)}",
        lambda: rt.check(make_job(), frame=make_people(), methods=["mondrain"]),
        lambda: rt.check(make_job(), frame=make_people(), methods=["mondrian"]),
    ),
    Trial(
        "charts.py",
        'a name such as "chart.svg".',
        lambda: charts.Chart("<svg/>", "Ages").save("chart.png"),
        lambda: charts.Chart("<svg/>", "Ages").save("chart.svg"),
    ),
    Trial(
        "datasets/__init__.py",
        "{suggest(name, LOADERS)}",
        lambda: datasets.load("censu"),
        lambda: datasets.load("census", 5),
    ),
    Trial(
        "datasets/__init__.py",
        "{suggest(name, LOADERS)}",
        lambda: datasets.hierarchies("censu"),
        lambda: datasets.hierarchies("census"),
    ),
    Trial(
        "datasets/census.py",
        "version=1.",
        lambda: census.generate_census(5, 1, version=2),
        lambda: census.generate_census(5, 1, version=1),
    ),
    Trial(
        "datasets/census.py",
        "{suggest(name, SAL_COLUMNS)}",
        lambda: census.generate_census(5, 1, attributes=["agee"]),
        lambda: census.generate_census(5, 1, attributes=["age"]),
    ),
    Trial(
        "datasets/census.py",
        "another name, or remove it first.",
        lambda: [census.write_census("census.csv", 5), census.write_census("census.csv", 5)],
        lambda: [
            census.write_census("other.csv", 5),
            Path("census.csv").unlink(),
            census.write_census("census.csv", 5),
        ],
    ),
]


@pytest.mark.parametrize("trial", PLANS, ids=str)
def test_plans_charts_and_data_sets(trial):
    trial.run()


def make_anonymizer(**options: Any) -> Anonymizer:
    given = {"columns": {"age": rt.quasi(numeric=True), "city": "quasi"}, "promises": rt.KAnonymity(3), "seed": 1}
    return Anonymizer(**{**given, **options})


ROWS_TO_LEARN = make_people().select("age", "city")
ILLNESS = make_people()["illness"].to_numpy()

LEARNERS = [
    Trial(
        LEARNED,
        "fit(X, y).",
        lambda: make_anonymizer(target="illness").fit(ROWS_TO_LEARN),
        lambda: make_anonymizer(target="illness").fit(ROWS_TO_LEARN, ILLNESS),
    ),
    Trial(
        LEARNED,
        'Anonymizer(columns={"age": "quasi"}, promises=rt.KAnonymity(5)).',
        lambda: Anonymizer().fit(ROWS_TO_LEARN),
        lambda: Anonymizer(columns={"age": "quasi"}, promises=rt.KAnonymity(5)).fit(ROWS_TO_LEARN),
    ),
    Trial(
        LEARNED,
        "fitting on rows that have them, or leaving these rows out.",
        lambda: make_anonymizer().fit(ROWS_TO_LEARN).transform(with_city("Bern")),
        lambda: [
            make_anonymizer().fit(pl.concat([with_city("Bern")] * 5)).transform(with_city("Bern")),
            make_anonymizer().fit(ROWS_TO_LEARN).transform(with_city("Bern").filter(pl.col("city") != "Bern")),
        ],
    ),
    Trial(
        LEARNED,
        "fitting on rows that cover them, or leaving them out.",
        lambda: make_anonymizer().fit(APART).transform(ACROSS),
        lambda: [
            make_anonymizer().fit(pl.concat([APART, *[ACROSS] * 3])).transform(ACROSS),
            make_anonymizer().fit(APART).transform(APART),
        ],
    ),
    Trial(
        LEARNED,
        'method=rt.Mondrian(labels="sets"), or leaving the method out.',
        lambda: make_anonymizer(method=rt.Mosaic(effort=1), promises=[rt.BetaLikeness(4)], target="illness").fit(
            ROWS_TO_LEARN, ILLNESS
        ),
        lambda: make_anonymizer(promises=[rt.BetaLikeness(4)], target="illness").fit(ROWS_TO_LEARN, ILLNESS),
    ),
    Trial(
        LEARNED,
        'method=rt.Mondrian(labels="sets"), or leaving the method out.',
        lambda: make_anonymizer(method=rt.Burel(), promises=[rt.BetaLikeness(4)], target="illness").fit(
            ROWS_TO_LEARN, ILLNESS
        ),
        lambda: [
            make_anonymizer(method=method, promises=[rt.BetaLikeness(4)], target="illness").fit(ROWS_TO_LEARN, ILLNESS)
            for method in (rt.Mondrian(labels="sets"), None)
        ],
    ),
    Trial(
        LEARNED,
        "a pandas or Polars frame.",
        lambda: make_anonymizer().fit(ROWS_TO_LEARN.to_numpy()),
        lambda: [make_anonymizer().fit(ROWS_TO_LEARN), make_anonymizer().fit(ROWS_TO_LEARN.to_pandas())],
    ),
]
APART = pl.DataFrame({"age": [20, 20, 20, 50, 50, 50], "city": ["Ulm"] * 3 + ["Bonn"] * 3})
ACROSS = pl.DataFrame({"age": [20], "city": ["Bonn"]})


def with_city(name: str) -> pl.DataFrame:
    return ROWS_TO_LEARN.with_columns(city=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(name)).otherwise("city"))


@pytest.mark.parametrize("trial", LEARNERS, ids=str)
def test_anonymizers_of_scikit_learn(trial):
    trial.run()


@cache
def perturbed() -> rt.Release:
    return publish_kind("perturbed")


def fit_tree(manifest: Any = None, *arguments: Any, **options: Any) -> Any:
    rows = perturbed().frame()
    tree = ReconstructingTree(manifest or perturbed().manifest, *arguments, **options)
    return tree.fit(rows, rows[perturbed().manifest.sensitive.name])


TREES = [
    Trial(
        MINED,
        "any decision tree on its frame().",
        lambda: fit_tree(publish_kind("generalized").manifest),
        lambda: fit_decision_tree(publish_kind("generalized").frame()),
    ),
    Trial(
        MINED,
        "ReconstructingTree(release.manifest, ...).",
        lambda: ReconstructingTree().fit(perturbed().frame(), [1]),
        fit_tree,
    ),
    Trial(
        MINED,
        'by = "inversion" or "em".',
        lambda: fit_tree(by="bayes"),
        lambda: [fit_tree(by="inversion"), fit_tree(by="em")],
    ),
    Trial(MINED, "one of ….", lambda: fit_tree(columns=["agee"]), lambda: fit_tree(columns=["age"])),
    Trial(
        MINED,
        "fit(frame, values) first.",
        lambda: ReconstructingTree(perturbed().manifest).predict_proba(perturbed().frame()),
        lambda: fit_tree().predict_proba(perturbed().frame()),
    ),
    Trial(
        MINED,
        "a class for every value.",
        lambda: fit_tree(None, {"first": []}),
        lambda: fit_tree(None, {"all": perturbed().frame()[perturbed().manifest.sensitive.name].unique().to_list()}),
    ),
]


def fit_decision_tree(rows: pl.DataFrame) -> None:
    from sklearn.tree import DecisionTreeClassifier

    features = rows.select(pl.all().cast(pl.String).rank("dense"))
    DecisionTreeClassifier(max_depth=2).fit(features.to_numpy(), rows[:, -1].cast(pl.String).to_numpy())


@pytest.mark.parametrize("trial", TREES, ids=str)
def test_trees_that_reconstruct(trial):
    trial.run()


@follows("charts.py", "pip install 'reticent[charts]'.")
@follows("utility/classification.py", "pip install 'reticent[stats]', or leaving classification out.")
def test_packages_that_are_not_installed(monkeypatch):
    with monkeypatch.context() as machine:
        for package in ("altair", "scipy"):
            machine.setitem(sys.modules, package, None)
        for need in (charts.load_altair, require_stats_extra):
            with pytest.raises(RequestError, match="not installed"):
                need()
    charts.load_altair()
    require_stats_extra()


@follows("check.py", "a greater --budget (budget=...), or a part of the source.")
def test_a_check_that_has_no_time_to_read(monkeypatch):
    def stop(budget: float, run: Any) -> Any:
        raise time_limit.TimeLimitReached

    with monkeypatch.context() as clock:
        clock.setattr("reticent.check.run_within", stop)
        with pytest.raises(RequestError, match="not read within"):
            rt.check(make_job(), frame=make_people(), methods=["mondrian"], budget=1)
    rt.check(make_job(), frame=make_people(), methods=["mondrian"], budget=60)
    rt.check(make_job(), frame=make_people().head(30), methods=["mondrian"], budget=60)


@follows(
    "loss_limit.py",
    "`reticent check JOB`, which measures what other methods and weaker promises lose; a hierarchy, fewer values or no "
    "place in the job for …; or loss_at_most = …, which publishes the release as it is.",
)
def test_a_release_that_loses_too_much():
    def publish_within(limit: float, frame: Any = None, **columns: Any) -> None:
        publish(frame, columns, release={"loss_at_most": limit, "undeclared": "drop"})

    with pytest.raises(LossTooHigh) as refused:
        publish_within(0.01)
    publish_within(float(refused.value.attempt.split("loss_at_most = ")[1].split(",")[0]))
    assert rt.check(make_job(), frame=make_people(), methods=["mondrian"]) is not None
    assert "no place in the job for 'age'" in refused.value.attempt
    publish_within(0.01, make_people(age=[20, 40] * 30))
    publish_within(0.01, make_people().drop("age"), age=None)


@follows("datasets/__init__.py", "seed=None.")
@follows("datasets/adult.py", "again with a connection, or put … into ….", "a registry you trust.")
def test_a_data_set_that_is_fetched(monkeypatch, tmp_path):
    with pytest.raises(RequestError, match="takes no seed"):
        datasets.load("adult", 5, seed=1)
    content = b"39, State-gov\n"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(adult, "is_genuine", lambda name, found: found == content)
    names = list(adult.FILE_SHA256)

    def fail(*arguments: Any, **options: Any) -> Any:
        return subprocess.CompletedProcess([], 1, "", "no connection")

    with monkeypatch.context() as network:
        network.setattr(adult.subprocess, "run", fail)
        with pytest.raises(DataUnavailable, match="could not be fetched"):
            adult.load_files()
    with monkeypatch.context() as registry:
        registry.setattr(adult, "fetch_files", lambda: dict.fromkeys(names, b"other"))
        with pytest.raises(DataUnavailable, match="not the file we know"):
            adult.load_files()
        registry.setattr(adult, "fetch_files", lambda: dict.fromkeys(names, content))
        assert adult.load_files() == dict.fromkeys(names, content)
    folder = adult.find_cache_folder() / "adult"
    for name in names:
        (folder / name).unlink()
        (folder / name).write_bytes(content)
    assert adult.load_files() == dict.fromkeys(names, content)
    monkeypatch.setattr(adult, "read_adult", make_people)
    assert len(datasets.load("adult", 5, seed=None)) == 5


@follows(
    "fork_safety.py",
    'multiprocessing.get_context("spawn") or "forkserver" instead of "fork", workers that are started before the first '
    "call (gunicorn without --preload), or a subprocess that runs the reticent command.",
)
def test_a_forked_process(monkeypatch):
    with monkeypatch.context() as fork:
        fork.setattr(fork_safety, "_lost_threads", True)
        with pytest.raises(RequestError, match="forked"):
            publish()
    command = [sys.executable, "-m", "reticent", "--version"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
