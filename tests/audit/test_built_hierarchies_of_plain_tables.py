"""A job whose hierarchies are built reads plain tables too: its own source as it is, and tables that another tool made of it."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.errors import HierarchyError


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A source of 200 people, a job that builds hierarchies of codes, numbers and dates, and the rows of its release as a CSV."""
    folder = tmp_path_factory.mktemp("built")
    random = Random(26)
    people = {
        "zip": [f"{random.randrange(10_000, 10_100)}" for _ in range(200)],
        "age": [random.randrange(20, 60) for _ in range(200)],
        "born": [
            f"19{random.randrange(40, 99)}-0{random.randrange(1, 10)}-1{random.randrange(10)}" for _ in range(200)
        ],
        "illness": [random.choice(["flu", "cold", "gout"]) for _ in range(200)],
    }
    pl.DataFrame(people).write_csv(folder / "source.csv")
    columns = {
        "zip": rt.quasi(hierarchy={"build": "prefixes"}),
        "age": rt.quasi(hierarchy={"build": "intervals", "width": [5, 10]}),
        "born": rt.quasi(hierarchy={"build": "dates"}),
        "illness": rt.sensitive(),
    }
    job = rt.Job(source="source.csv", columns=columns, promises=[rt.KAnonymity(3)])
    (folder / "job.toml").write_text(job.to_toml())
    job = rt.Job.read(folder / "job.toml")
    rt.publish(job, seed=1).frame().write_csv(folder / "plain.csv")
    return folder, job


def test_the_risk_of_the_raw_source_needs_no_hierarchy(place, capsys):
    folder, job = place
    without = rt.risk(folder / "source.csv", quasi=["zip", "age", "born"]).to_dict()
    assert rt.risk(folder / "source.csv", job=job).to_dict() == without
    assert rt.record_risk(folder / "source.csv", job=job).to_dict()["rows"] == 200
    assert main(["risk", str(folder / "source.csv"), "--job", str(folder / "job.toml")]) == 0


def test_a_table_of_labels_is_judged_and_compared_with_the_source(place):
    folder, job = place
    alone = rt.audit(folder / "plain.csv", job=job)
    assert alone.kept and alone.achieved["k-anonymity"] >= 3
    compared = rt.audit(folder / "plain.csv", job=job, source=folder / "source.csv").to_dict()
    assert compared["verdict"] == "kept" and compared["source"]["unmatched"] == 0


def test_it_is_attacked_as_the_release_is(place):
    folder, job = place
    outcome = rt.attack(folder / "plain.csv", folder / "source.csv", "naive-bayes", job=job)
    assert outcome.targets == 200 and outcome.success > 0


def test_labels_that_the_hierarchy_does_not_have_are_judged_and_not_compared(place):
    folder, job = place
    table = pl.read_csv(folder / "plain.csv", infer_schema=False).with_columns(
        ("area " + pl.col("zip").str.slice(0, 3)).alias("zip")
    )
    assert rt.audit(table, job=job).kept
    with pytest.raises(HierarchyError, match="does not have all labels of the table") as refused:
        rt.audit(table, job=job, source=folder / "source.csv")
    assert "area" not in str(refused.value)
    with_file = job.at(columns={**job.columns, "zip": rt.quasi(hierarchy=[["10001", "100**"], ["10002", "100**"]])})
    with pytest.raises(HierarchyError, match="does not have all labels of the table"):
        rt.audit(table, job=with_file, source=folder / "source.csv")
