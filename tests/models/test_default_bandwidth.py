"""A bandwidth for all columns with exceptions: `default` in a table of bandwidths."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import polars as pl
import pytest

import reticent as rt
from reticent import datasets
from reticent.audit.measure.background import list_bandwidths
from reticent.errors import BundleDamaged, JobError
from reticent.job.job import Job

COLUMNS = {"age": rt.quasi(), "gender": rt.quasi(type="categorical"), "salary_class": rt.sensitive()}
IN_FULL = {"age": 0.2, "gender": "whole"}
BY_DEFAULT = {"default": "whole", "age": 0.2}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    found = datasets.load("census", rows=400, seed=4).select("age", "gender", "salary_class")
    return found.with_columns(pl.col("salary_class").cast(pl.Int64) // 10)


def publish(people, tmp_path, name, promise, columns=COLUMNS):
    job = rt.Job(columns=columns, promises=[promise])
    return rt.publish(job, frame=people, to=tmp_path / name, seed=1, ledger=tmp_path / f"{name}.ledger")


@pytest.mark.parametrize("promise", ["bt-privacy", "skyline"])
def test_a_default_means_what_the_table_written_in_full_means(people, tmp_path, promise):
    def make(bandwidth):
        if promise == "bt-privacy":
            return rt.BTPrivacy(bandwidth, 0.3)
        return rt.Skyline(points=[{"bandwidth": bandwidth, "t": 0.3}, {"bandwidth": "whole", "t": 0.4}])

    release = publish(people, tmp_path, "by-default", make(BY_DEFAULT))
    in_full = publish(people, tmp_path, "in-full", make(IN_FULL))
    assert release.frame().equals(in_full.frame())
    audited = rt.audit(tmp_path / "by-default", source=people)
    assert audited.kept
    assert audited.promises[0].achieved == rt.audit(tmp_path / "in-full", source=people).promises[0].achieved
    readme = " ".join((tmp_path / "by-default" / "README.md").read_text().split())
    assert "bandwidth age 0.2, default whole" in readme


def test_a_column_that_is_called_default_has_its_own_bandwidth(people, tmp_path):
    renamed = people.rename({"gender": "default"})
    columns = {"age": rt.quasi(), "default": rt.quasi(type="categorical"), "salary_class": rt.sensitive()}
    release = publish(renamed, tmp_path, "renamed", rt.BTPrivacy({"age": 0.2, "default": "whole"}, 0.3), columns)
    in_full = publish(people, tmp_path, "in-full", rt.BTPrivacy(IN_FULL, 0.3))
    assert release.frame().rename({"default": "gender"}).equals(in_full.frame())
    with pytest.raises(JobError, match="No bandwidth is given for 'age'"):
        publish(renamed, tmp_path, "refused", rt.BTPrivacy({"default": "whole"}, 0.3), columns)
    assert not (tmp_path / "refused").exists()


def test_a_job_file_has_the_same_table(people, tmp_path):
    people.write_csv(tmp_path / "people.csv")
    text = """
[source]
path = "people.csv"
[columns]
age = "quasi-identifying"
gender = { role = "quasi-identifying", type = "categorical" }
salary_class = "sensitive"
[[promise]]
model = "bt-privacy"
bandwidth = { default = "whole", age = 0.2 }
t = 0.3
"""
    (tmp_path / "job.toml").write_text(text)
    assert Job.read(tmp_path / "job.toml").promises.all[0] == rt.BTPrivacy(BY_DEFAULT, 0.3)
    (tmp_path / "twice.toml").write_text(text.replace("age = 0.2", "age = 0.2, age = 0.3"))
    with pytest.raises(JobError):
        Job.read(tmp_path / "twice.toml")


@pytest.mark.parametrize("names", [["age", "gender"], ["age", "default", "gender"]])
def test_the_audit_refuses_a_promise_that_lacks_a_bandwidth(names):
    view = SimpleNamespace(axes=[SimpleNamespace(name=name) for name in names])
    table = {"age": "0.2", "default": "whole"} if "default" in names else {"age": "0.2"}
    with pytest.raises(BundleDamaged, match="lacks a bandwidth"):
        list_bandwidths(table, view)
    assert list_bandwidths({**table, "gender": 0}, view) == [Fraction(1, 5), *(["whole"] * (len(names) - 2)), 0]
