"""Adult and the other public tables publish, and their releases pass the audit, with the source at hand too."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt

HIERARCHY = "hierarchies/adult_hierarchy_{}.csv"

TABLES = {
    "acs_married_women_2014": (
        {"ST": rt.quasi(type="categorical"), "AGEP": rt.quasi(), "FER": rt.quasi(), "LFP": rt.quasi()},
        "PINCP",
        20_000,
    ),
    "acs_teachers_2015_2019": (
        {"agep": rt.quasi(), "sex": rt.quasi(), "mar": rt.quasi(), "st": rt.quasi(type="categorical")},
        "wagp",
        10_000,
    ),
    "nchs_mortality2006_sample": (
        {"age": rt.quasi(), "Sex": rt.quasi(), "Race": rt.quasi(), "MaritalStatus": rt.quasi()},
        "Cause",
        None,
    ),
    "atus_2003_2016": (
        {"age": rt.quasi(), "sex": rt.quasi(), "edu": rt.quasi(), "state": rt.quasi()},
        "famincome",
        None,
    ),
}


@pytest.mark.parametrize("promises", [[rt.KAnonymity(5)], [rt.BetaLikeness(4)]], ids=["k", "beta"])
@pytest.mark.parametrize("name", TABLES)
def test_a_public_table_publishes_and_its_release_passes_the_audit(data, tmp_path, name, promises):
    columns, sensitive, width = TABLES[name]
    frame = pl.read_parquet(data / f"{name}.parquet").drop_nulls(sensitive)
    if width:
        frame = frame.with_columns((pl.col(sensitive) // width).cast(pl.Int64))
    path = tmp_path / "source.parquet"
    frame.select(*columns, sensitive).write_parquet(path)
    job = rt.Job(source=str(path), columns={**columns, sensitive: rt.sensitive(type="categorical")}, promises=promises)
    rt.publish(job, to=tmp_path / "release")
    found = rt.audit(tmp_path / "release", source=str(path))
    assert found.kept is True
    assert found.to_dict()["rows"] == len(frame)
    assert found.to_dict()["achieved"]["k-anonymity"] >= (5 if promises[0].name == "k-anonymity" else 1)


def adult(data, tmp_path) -> str:
    frame = pl.read_csv(data / "adult.csv", infer_schema=False)
    complete = frame.filter(pl.all_horizontal(pl.all() != "?"))
    assert len(complete) == 45_222
    complete.write_csv(tmp_path / "adult.csv")
    return str(tmp_path / "adult.csv")


def test_adults_complete_cases_publish_from_csv_under_several_promises(data, tmp_path):
    names = ("workclass", "education", "marital-status", "race", "sex")
    columns = {name: rt.quasi(hierarchy=str(data / HIERARCHY.format(name))) for name in names}
    columns |= {
        "age": rt.quasi(numeric=True),
        "occupation": rt.sensitive(hierarchy=str(data / HIERARCHY.format("occupation"))),
    }
    job = rt.Job(
        source=adult(data, tmp_path),
        columns=columns,
        promises=[rt.KAnonymity(5), rt.BetaLikeness(4), rt.TCloseness("0.5", distance="hierarchical")],
        release=rt.Output(undeclared="drop", format="csv"),
    )
    rt.publish(job, to=tmp_path / "release")
    found = rt.audit(tmp_path / "release", source=job.source.path)
    assert found.kept is True
    assert all(promise["kept"] for promise in found.to_dict()["promises"])


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)  # the judge leaves files open
@pytest.mark.parametrize("work", ["adult30k", "acs100k"])
def test_the_common_judge_agrees_with_our_information_loss(bench, judge, work):
    meta, source, hierarchies = judge.load(bench, work)
    columns = {name: rt.quasi(hierarchy=hierarchies[name]) for name in meta["qi"] if name not in meta["numeric"]}
    columns |= {name: rt.quasi(numeric=True) for name in meta["numeric"]}
    columns |= {"rid": rt.insensitive(acknowledge=True), meta["sensitive"]: rt.sensitive(type="categorical")}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], method=rt.Mondrian(cuts="median"))
    release = rt.publish(job, frame=source)
    found = judge.evaluate(bench, work, release.frame().to_pandas().astype(str), keepstar=True)
    ours = rt.audit(release.folder).to_dict()
    assert found["AIL_published"] == round(ours["utility"]["ail"], 4)
    assert found["suppressed"] == 0
    assert (found["classes"], found["k"], found["l"]) == (
        ours["groups"],
        ours["achieved"]["k-anonymity"],
        ours["achieved"]["distinct-l-diversity"],
    )
    assert found["t_equal"] == pytest.approx(ours["achieved"]["t-closeness-equal"], abs=1e-4)
    assert found["beta_basic"] == pytest.approx(ours["achieved"]["beta-likeness-basic"], abs=1e-4)
