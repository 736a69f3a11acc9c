"""A release beside the job it was made by: the manifest repeats what the job declares."""

from fractions import Fraction

import polars as pl
import pytest

import reticent as rt
from tests.support.release_folders import resealed

FRAME = pl.DataFrame(
    {"age": [20 + i % 7 for i in range(60)], "town": ["Ulm", "Bonn"] * 30, "illness": ["a", "b", "c"] * 20}
)
JOB = rt.Job(
    columns={"age": rt.quasi(), "town": rt.quasi(), "illness": rt.sensitive(hierarchy=[[v, "*"] for v in "abc"])},
    promises=[rt.KAnonymity(3), rt.TCloseness(Fraction(1, 3)), rt.BetaLikeness(0.1, enhanced=False)],
)


@pytest.fixture
def release(tmp_path):
    return rt.publish(JOB, frame=FRAME, to=tmp_path / "r").folder


def test_an_honest_release_says_what_its_job_says(release):
    assert rt.audit(release, source=FRAME, job=JOB).disagreements == ()


FORGERIES = {
    "the promises": lambda m: m["promises"][0].update(k=2),
    "promises": lambda m: m["promises"][1].update(t=0.34),
    "the method": lambda m: m.update(method={"name": "mosaic"}),
    "the stages": lambda m: m.update(prepare=[{"name": "suppression", "l": 2}]),
    "'town' has another role": lambda m: m["columns"][1].update(role="insensitive") or m["columns"][1].pop("values"),
    "hierarchy of 'illness' is not": lambda m: m["columns"][2].update(hierarchy=[[v, "x", "*"] for v in "abc"]),
    "hierarchy of 'illness' is missing": lambda m: m["columns"][2].pop("hierarchy"),
}


@pytest.mark.parametrize("said", FORGERIES)
def test_what_the_manifest_says_otherwise_is_told_and_nothing_is_kept(release, said):
    resealed(release, FORGERIES[said])
    found = rt.audit(release, job=JOB)
    assert found.kept is False
    assert any(said in sentence for sentence in found.disagreements)


def test_a_domain_that_is_not_the_jobs_is_told(tmp_path):
    job = JOB.at(columns={**JOB.columns, "age": rt.quasi(numeric=True, domain=[0, 120])})
    folder = rt.publish(job, frame=FRAME, to=tmp_path / "r").folder
    assert rt.audit(folder, job=job).disagreements == ()
    resealed(folder, lambda stated: stated["columns"][0].update(domain=[0, 97]))
    assert rt.audit(folder, job=job).disagreements == ("the domain of 'age' is not the job's",)
