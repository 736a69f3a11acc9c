"""Labels of a hierarchy that is built from data cover the same values wherever they are read back.

The tree of the builder `balanced` depends on how many rows have each value, so that it is none of the values alone.
"""

from __future__ import annotations

from importlib.util import find_spec

import polars as pl
import pytest

import reticent as rt

JOBS = ["Clerk", "Farmer", "Guard", "Nurse", "Private", "Sailor", "State", "Tailor"]
ROWS_OF_JOB = [3, 14, 5, 2, 90, 4, 16, 6]
COLUMNS = {
    "job": rt.Column("quasi-identifying", hierarchy={"build": "balanced"}),
    "zip": rt.Column("quasi-identifying", type="categorical", hierarchy={"build": "prefixes", "keep": [1]}),
    "age": rt.Column("quasi-identifying", hierarchy={"build": "intervals", "width": [10, 20]}),
    "pay": rt.Column("quasi-identifying", hierarchy={"build": "quantiles", "groups": [4, 2]}),
    "hours": rt.Column("quasi-identifying", hierarchy={"build": "edges", "edges": [0, 20, 60]}),
    "born": rt.Column("quasi-identifying", hierarchy={"build": "dates", "levels": ["year", "decade"]}),
    "illness": rt.Column("sensitive"),
}
BALANCED_ALONE = {name: COLUMNS[name] for name in ("job", "illness")}
METHODS = {
    "mosaic": (rt.Mosaic(), rt.KAnonymity(20)),
    "mondrian": (rt.Mondrian(), rt.KAnonymity(20)),
    "mondrian-sets": (rt.Mondrian(labels="sets"), rt.KAnonymity(20)),
    "mondrian-bt": (rt.Mondrian(), rt.BTPrivacy(0.3, 0.6)),
    "burel": (rt.Burel(), rt.BetaLikeness(2)),
    "sabre": (rt.Sabre(), rt.TCloseness("0.3")),
    "anatomy": (rt.Anatomy(), rt.ProbabilisticLDiversity(2)),
    "beta-perturbation": (rt.BetaPerturbation(), rt.BetaLikeness(2)),
}


ATTACKS = {"beta-perturbation": ["matrix"]}  # no group holds values
LEARNS = {} if find_spec("sklearn") is None else {"mosaic": True}  # a release of a part of the people, for the others


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    jobs = [job for job, rows in zip(JOBS, ROWS_OF_JOB, strict=True) for _ in range(rows)]
    rows = range(len(jobs))
    return pl.DataFrame(
        {
            "job": jobs,
            "zip": [str(1000 + 997 * row % 8000) for row in rows],
            "age": [20 + 7 * row % 40 for row in rows],
            "pay": [1000 + 37 * row % 900 for row in rows],
            "hours": [5 + 11 * row % 50 for row in rows],
            "born": [f"{1950 + 7 * row % 40}-0{1 + row % 9}-11" for row in rows],
            "illness": [("flu", "cold", "gout", "mumps")[row % 4] for row in rows],
        }
    )


def make_job(name: str, columns: dict[str, rt.Column] = BALANCED_ALONE) -> rt.Job:
    method, promise = METHODS[name]
    return rt.Job(columns=columns, promises=[promise], method=method, release=rt.Output(undeclared="drop"))


@pytest.mark.parametrize("name", METHODS)
def test_a_plan_under_a_balanced_hierarchy_is_compared(name, people):
    compared = rt.compare(
        make_job(name), frame=people, attacks=ATTACKS.get(name, ["naive-bayes"]), classification=LEARNS.get(name, False)
    )
    candidates = [row for row in compared.rows if row["role"] == "candidate"]
    assert [row["why"] for row in candidates if not row["reached"]] == []
    assert [row["attacks_left_out"] for row in candidates if row.get("attacks_left_out")] == []
    assert [row["classification_left_out"] for row in candidates if row.get("classification_left_out")] == []


@pytest.mark.parametrize("name", METHODS)
def test_a_release_under_every_built_hierarchy_is_compared_attacked_and_audited(name, people, tmp_path):
    job = make_job(name, BALANCED_ALONE if name == "mondrian-bt" else COLUMNS)  # which has no nodes of numbers
    compared = rt.compare(job, frame=people, attacks=ATTACKS.get(name, ["naive-bayes"]), classification=False)
    assert [row["why"] for row in compared.rows if row["role"] == "candidate" and not row["reached"]] == []
    release = rt.publish(job, frame=people, to=tmp_path / "release", seed=1)
    audited = rt.audit(release, source=people)
    assert audited.verdict in ("kept", "undecided"), str(audited)
    outcome = rt.attack(release, people, ATTACKS.get(name, ["naive-bayes"])[0])
    assert outcome.targets == len(people)


def test_a_plain_table_under_a_hierarchy_that_the_job_builds_loses_what_the_release_loses(people, tmp_path):
    job = make_job("mosaic")
    release = rt.publish(job, frame=people, to=tmp_path / "release", seed=1)
    table = release.frame()
    assert any(" .. " in label for label in table["job"].unique())
    plain = rt.audit(table, job=job, source=people)
    assert plain.utility["ail"] == pytest.approx(rt.audit(release).utility["ail"], rel=0.2)
    assert not [note for note in plain.notes if "not known" in note]
    alone = rt.audit(table, job=job)
    assert alone.utility["ail"] is None
    assert [note for note in alone.notes if note.startswith("The hierarchy of 'job' is built of the source's values")]


def test_people_who_are_not_in_the_release_lie_under_the_tree_of_those_who_are(people, tmp_path):
    release = rt.publish(make_job("mosaic"), frame=people, to=tmp_path / "release", seed=1)
    others = people.filter(pl.col("job").is_in(["Clerk", "Guard", "Tailor"]))
    outcome = rt.attack(release, people, "inference", others=others)
    assert outcome.targets == len(people)


def test_rows_are_labelled_by_the_tree_that_was_fitted(people):
    pytest.importorskip("sklearn")
    from reticent.sklearn import Anonymizer

    fitted = Anonymizer(columns={"job": COLUMNS["job"]}, promises=rt.KAnonymity(20), method=rt.Mondrian())
    fitted.fit(people.select("job"))
    some_rows = people.select("job").filter(pl.col("job").is_in(["Clerk", "State"]))
    assert len(fitted.transform(some_rows)) == len(some_rows)
