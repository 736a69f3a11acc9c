"""Planning without publishing: `rt.count`, `rt.plan` and `rt.measure` say what a release would be, and write nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import datasets
from reticent.data.cells import Cells

ILLNESSES = [["flu", "lung", "*"], ["asthma", "lung", "*"], ["ulcer", "gut", "*"], ["gastritis", "gut", "*"]]
WORK = [["a1", "a", "*"], ["a2", "a", "*"], ["b1", "b", "*"], ["b2", "b", "*"], ["b3", "b", "*"]]


def people(rows: int = 600, *, missing: bool = False) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    illness = rng.choice([row[0] for row in ILLNESSES[:3]], rows, p=[0.45, 0.3, 0.25]).tolist()  # one leaf never occurs
    return pl.DataFrame(
        {
            "name": [f"n{number // 2}" for number in range(rows)],
            "age": rng.integers(18, 70, rows),
            "work": rng.choice([row[0] for row in WORK], rows),
            "illness": [None if missing and number % 11 == 0 else held for number, held in enumerate(illness)],
            "wage": rng.integers(1, 6, rows),
        }
    )


QUASI = {"age": rt.quasi(), "work": rt.quasi(hierarchy=WORK)}
ILLNESS = {"illness": rt.sensitive(hierarchy=ILLNESSES)}
DROP = rt.Output(undeclared="drop")
WITH_NULLS = {"illness": rt.sensitive(hierarchy=ILLNESSES, missing="category")}
BOTH = {"illness": rt.sensitive(), "wage": rt.sensitive()}
K = rt.KAnonymity(5)
HALF = rt.TCloseness("0.5", "hierarchical")


def job(*promises: Any, columns: dict | None = None, **more: Any) -> rt.Job:
    return rt.Job(
        **{"columns": {**QUASI, **(columns or ILLNESS)}, "promises": promises, "release": DROP, **more},
    )


JOBS = {
    "k": job(K),
    "k, median cuts": job(K, method=rt.Mondrian(cuts="median")),
    "k, sets": job(K, method=rt.Mondrian(labels="sets")),
    "distinct l, k": job(K, rt.DistinctLDiversity(2)),
    "mosaic, entropy l": job(rt.EntropyLDiversity(2), method=rt.Mosaic(effort="quick")),
    "mosaic, weights": job(K, method=rt.Mosaic(effort="quick", weights={"age": 3})),
    "hierarchical t": job(HALF),
    "ordered t of numbers": job(rt.TCloseness("0.3", "ordered"), columns={"wage": rt.sensitive()}),
    "sabre, t": job(rt.TCloseness("0.3"), method=rt.Sabre()),
    "burel, beta": job(rt.BetaLikeness(1), method=rt.Burel()),
    "missing values": job(K, rt.BetaLikeness(2), columns=WITH_NULLS),
    "missing values, mosaic": job(rt.BetaLikeness(2), columns=WITH_NULLS, method=rt.Mosaic(effort="quick")),
    "jointly": job(rt.BetaLikeness(4), K, columns=BOTH, jointly=True),
    "jointly, and one alone": job(
        rt.BetaLikeness(4), rt.DistinctLDiversity(2, column="illness"), columns=BOTH, jointly=True
    ),
    "each alone": job(K, rt.DistinctLDiversity(2, column="wage"), columns=BOTH),
    "two rows a person": job(K, columns={"name": rt.identifying(rows_per_person=2), **ILLNESS}),
    "withholding": job(rt.KAnonymity(20), release=rt.Output(undeclared="drop", suppress_at_most="0.05")),
    "suppression": job(rt.ProbabilisticLDiversity(3), prepare=[rt.Suppression(l=3, kind="safe")]),
}


def frame_for(name: str) -> pl.DataFrame:
    return people(missing="missing" in name)


@pytest.mark.parametrize("name", JOBS)
def test_a_plan_of_a_frame_and_one_of_its_cells_have_the_same_groups(name):
    asked = JOBS[name]
    frame = frame_for(name)
    direct = rt.plan(asked, frame=frame, seed=3)
    counted = rt.plan(asked, cells=rt.count(asked, frame=frame), seed=3)
    assert direct.groups.equals(counted.groups)
    assert direct.sizes.sum() + direct.withheld == len(frame)
    assert direct.groups.n_unique(direct.groups.columns[:-1]) == len(direct.sizes)


@pytest.mark.parametrize("name", JOBS)
def test_what_a_plan_measures_is_what_the_audit_of_its_release_reports(name):
    asked = JOBS[name]
    frame = frame_for(name)
    measured = rt.measure(rt.plan(asked, frame=frame, seed=3))
    release = rt.publish(asked, frame=frame, seed=3)
    audited = rt.audit(release).to_dict()
    assert {key: measured.pop(key) for key in ("rows", "groups", "withheld")} == {
        key: audited[key] for key in ("rows", "groups", "withheld")
    }
    assert {key: measured.pop(key) for key in audited["achieved"]} == audited["achieved"]
    utility = audited["utility"]
    assert measured.pop("ail_by_column") == pytest.approx(utility.pop("ail_by_column"))
    assert measured == pytest.approx(utility)


@pytest.mark.parametrize("name", JOBS)
def test_the_labels_of_a_plan_are_those_of_its_release(name):
    asked = JOBS[name]
    frame = frame_for(name)
    planned = rt.plan(asked, frame=frame, seed=3).groups
    names = planned.columns[:-1]
    published = rt.publish(asked, frame=frame, seed=3).frame().select(pl.col(names).cast(pl.String))
    counted = published.group_by(names).len(name="rows").with_columns(pl.col("rows").cast(pl.Int64))
    assert planned.with_columns(pl.col("rows").cast(pl.Int64)).sort(names).equals(counted.sort(names))


def test_where_nothing_is_withheld_the_loss_of_a_plan_is_the_one_an_audit_reads_from_labels():
    for name in ("k", "mosaic, weights", "burel, beta", "missing values"):
        planned = rt.plan(JOBS[name], frame=frame_for(name), seed=3)
        measured = rt.measure(planned)
        assert planned.loss == pytest.approx(measured["ail"])
        assert planned.loss_by_column == pytest.approx(measured["ail_by_column"])


def test_classes_as_a_method_made_them_are_merged_where_their_labels_are_equal():
    asked = JOBS["burel, beta"]
    frame = people()
    made, merged = (rt.plan(asked, frame=frame, seed=3, merged=merged) for merged in (False, True))
    assert len(made.sizes) > len(merged.sizes)
    assert made.loss == pytest.approx(merged.loss)
    again = made.groups.group_by(["age", "work"]).agg(pl.col("rows").sum())
    assert again.sort(["age", "work"]).equals(merged.groups.sort(["age", "work"]))


def test_planning_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for variable in ("RETICENT_OWNER", "RETICENT_LEDGER", "TMPDIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    (tmp_path / "TMPDIR").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    for _ in range(2):  # nor is it remembered that the rows were planned on
        rt.measure(rt.plan(job(K), frame=people()))
    assert [path for path in tmp_path.rglob("*") if path.name != "TMPDIR"] == []


class Untouched:
    """A frame that must not be looked at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the data was asked for {name}")


BAD = {
    "a method that cannot keep the promise": ({"method": rt.Anatomy()}, {}, "anatomy cannot keep"),
    "a promise about the whole table": ({"promises": [rt.LDichotomy(2)]}, {}, "mondrian cannot keep l-dichotomy"),
    "withholding of an anatomized release": (
        {
            "promises": [rt.ProbabilisticLDiversity(2)], "method": rt.Anatomy(),
            "release": rt.Output(suppress_at_most="0.1"),
        }, {}, "suppress_at_most is for",
    ),
    "watching a method that plans in one go": ({"promises": [K]}, {"watch": print}, "nothing to watch"),
    "frame and cells": ({"promises": [K]}, {"cells": object.__new__(Cells)}, "both are given"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_is_refused_before_data_is_read(name):
    changes, how, message = BAD[name]
    with pytest.raises(rt.RequestError, match=message):
        rt.plan(job(K).at(**changes), frame=Untouched(), **how)


def test_cells_of_other_columns_than_the_jobs_are_refused():
    cells = rt.count(job(K), frame=people())
    with pytest.raises(rt.RequestError, match="does not declare alike"):
        rt.plan(
            job(K, columns={"illness": rt.quasi(), "wage": rt.sensitive()}).at(
                columns={**QUASI, "illness": rt.quasi()}
            ),
            cells=cells,
        )
    with pytest.raises(rt.RequestError, match="'wage' is declared but not in the data"):
        rt.plan(job(K, columns=BOTH), cells=cells)
    with pytest.raises(rt.RequestError, match="'wage' is not a sensitive column"):
        rt.plan(job(rt.DistinctLDiversity(2, column="wage")), cells=cells)
    joint = rt.count(JOBS["jointly"], frame=people())
    with pytest.raises(rt.RequestError, match="taken jointly"):
        rt.plan(job(K, columns=BOTH), cells=joint)


def test_cells_counted_each_alone_can_be_taken_jointly():
    cells = rt.count(JOBS["each alone"], frame=people())
    assert len(rt.plan(JOBS["jointly"], cells=cells, seed=3).cells.sensitive) == 3


EXACT = {
    "anatomy": job(rt.ProbabilisticLDiversity(2), method=rt.Anatomy()),
    "beta-perturbation": job(rt.BetaLikeness(1), method=rt.BetaPerturbation()),
}


@pytest.mark.parametrize("name", EXACT)
def test_a_plan_without_labels_has_sizes_and_says_why_it_cannot_be_measured(name):
    planned = rt.plan(EXACT[name], frame=people(), seed=3)
    assert planned.sizes.sum() == 600
    assert planned.histogram().sum() == 600
    for asked in (lambda: rt.measure(planned), lambda: planned.loss, lambda: planned.groups, lambda: planned.boxes):
        with pytest.raises(rt.RequestError, match=f"{name} publishes quasi-identifiers as they are"):
            asked()


def test_redrawn_values_come_with_their_matrix():
    planned = rt.plan(EXACT["beta-perturbation"], frame=people(), seed=3)
    published, matrix, occurring = planned.redrawn
    assert published.rows == 600
    assert matrix.shape == (len(occurring), len(occurring)) == (3, 3)
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert (published.totals(0) != planned.cells.totals(0)).any()
    with pytest.raises(rt.RequestError, match="mondrian redraws no sensitive value"):
        rt.plan(job(K), frame=people()).redrawn  # noqa: B018  asking for it is the test


def test_an_attack_on_a_plan_is_the_attack_on_its_release():
    for name in ("k", "k, sets", "missing values", "burel, beta"):
        asked = JOBS[name]
        frame = frame_for(name)
        planned = rt.plan(asked, frame=frame, seed=3)
        release = rt.publish(asked, frame=frame, seed=3)
        for adversary in ("naive-bayes", "skewness"):
            found = [rt.attack(planned, name=adversary), rt.attack(release, frame, adversary)]
            # Controls deal values at random to groups, which a release numbers in an order of its own.
            one, other = ({key: said for key, said in each.to_dict().items() if "control" not in key} for each in found)
            assert one == pytest.approx(other), (name, adversary)


def test_attacks_that_a_plan_cannot_show_are_refused_with_a_reason():
    planned = rt.plan(job(K), frame=people())
    with pytest.raises(rt.RequestError, match="knows the people"):
        rt.attack(planned, people())
    with pytest.raises(rt.RequestError, match="reads a release's files"):
        rt.attack(planned, name="eligibility")
    with pytest.raises(rt.RequestError, match="one sensitive column; the job declares 2"):
        rt.attack(rt.plan(JOBS["each alone"], frame=people()))


def test_a_workload_is_asked_of_cells_of_groups_and_of_redrawn_values():
    frame = people()
    cells = rt.count(job(K), frame=frame)
    asked = rt.Workload.draw(cells, predicates=1, selectivity=0.3, queries=50, rng=np.random.default_rng(1))
    true = asked.exact(cells)
    groups = asked.generalized(rt.plan(job(K), cells=cells, seed=3).boxes)
    drawn = asked.perturbed(*rt.plan(EXACT["beta-perturbation"], cells=cells, seed=3).redrawn)
    assert asked.median_error(true, true) == 0
    assert 0 < asked.median_error(groups, true) < 1
    assert drawn.shape == true.shape


def test_watching_tells_a_loss_that_never_rises_and_ends_the_search_by_true():
    told: list[float] = []

    def watch(now: Any) -> bool:
        told.append(now.loss)
        return len(told) == 3

    planned = rt.plan(job(rt.BetaLikeness(1), method=rt.Mosaic()), frame=people(), seed=3, watch=watch)
    assert len(told) == 3
    assert told == sorted(told, reverse=True)
    assert planned.loss == pytest.approx(told[-1])


def test_a_source_is_read_where_neither_a_frame_nor_cells_are_given(tmp_path: Path):
    datasets.load("census", rows=200, seed=1).write_csv(tmp_path / "census.csv")
    asked = rt.Job(
        source=tmp_path / "census.csv",
        columns={"age": rt.quasi(), "salary_class": rt.sensitive()},
        promises=[K],
        release=DROP,
    )
    assert rt.plan(asked).cells.rows == 200
    with pytest.raises(rt.RequestError):
        rt.plan(asked.at(source=None))
