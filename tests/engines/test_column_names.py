"""Columns may be called as an engine calls what it puts beside them: counts, hashes, positions, parts."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from reticent.errors import JobError
from tests.support.column_names import assert_any_name_is_carried, table
from tests.support.release_comparison import in_pieces

ENGINES = ("local", "stream")  # `test_spark_column_names.py` has Spark


@pytest.mark.parametrize("engine", ENGINES)
def test_carried_columns_have_any_name(engine):
    assert_any_name_is_carried(engine)


METHODS = {
    "mondrian": ([rt.KAnonymity(4)], rt.Mondrian()),
    "suppression before": ([rt.ProbabilisticLDiversity(2)], rt.Mondrian()),
    "burel": ([rt.BetaLikeness(3)], rt.Burel()),
    "anatomy": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "beta-perturbation": ([rt.BetaLikeness(3)], rt.BetaPerturbation()),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "names", [("count", "rows", "times"), ("hash", "value", "count"), ("cell", "len", "entry")], ids="-".join
)
def test_columns_of_every_role_have_any_name(engine, method, names):
    frame = table(dict(zip("abc", names, strict=True)))
    columns = {names[0]: rt.quasi(), names[1]: rt.quasi(), names[2]: rt.sensitive()}
    promises, how = METHODS[method]
    stages = [rt.Suppression(l=2)] if method == "suppression before" else []
    job = rt.Job(columns=columns, promises=promises, method=how, prepare=stages)
    if method == "anatomy" and "count" in names:  # as a column that the kind adds is
        with pytest.raises(JobError, match="'count'"):
            rt.publish(job, frame=pl.DataFrame(), engine=engine, seed=1)  # before data is read
        return
    with in_pieces():
        release = rt.publish(job, frame=frame, engine=engine, seed=1)
    found = rt.audit(release, source=frame, job=job)
    assert found.kept is not False and found.source.passed
    assert rt.report(release).html() and rt.report(release, source=frame).html()


def test_withheld_values_of_a_column_called_count_are_compared_with_the_source():
    frame = pl.DataFrame({"a": [at % 9 for at in range(120)], "count": ["x"] * 70 + ["y", "z"] * 25})
    columns = {"a": rt.quasi(), "count": rt.sensitive()}
    promises = [rt.ProbabilisticLDiversity(2)]
    job = rt.Job(columns=columns, promises=promises, prepare=[rt.Suppression(l=2)])
    release = rt.publish(job, frame=frame, seed=1)
    assert release.manifest.withheld
    assert rt.audit(release, source=frame, job=job).source.passed
