"""What a refused job is advised to change leads to a release: every method, promise and habit of a table."""

from __future__ import annotations

import pytest

from reticent import catalogue
from reticent.errors import JobError
from tests.advice.job_tables import FAULTS, HABITS, draft_job, write_promise
from tests.advice.steps import find_broken_advice, list_steps


@pytest.mark.parametrize("method", list(catalogue.METHODS))
def test_every_advice_to_a_refused_job_leads_to_a_release(method):
    broken: dict[str, list[str]] = {}
    for model in catalogue.PROMISES:
        for habits in HABITS:
            job = draft_job(method, model, habits)
            refusal = job.publish()
            if refusal is not None and str(refusal) not in broken:
                broken[str(refusal)] = find_broken_advice(job)
    assert len(broken) > 10
    assert [fault for faults in broken.values() for fault in faults] == []


PAIRS = [
    ("mondrian", "k-anonymity"),
    ("mondrian", "alpha-k-anonymity"),
    ("mondrian", "distinct-l-diversity"),
    ("mosaic", "probabilistic-l-diversity"),
    ("mosaic", "entropy-l-diversity"),
    ("burel", "beta-likeness"),
    ("sabre", "t-closeness"),
    ("anatomy", "probabilistic-l-diversity"),
    ("distribution", "p-privacy"),
]


@pytest.mark.parametrize(("method", "model"), PAIRS)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_advice_on_columns_and_numbers_leads_to_a_release(method, model, fault):
    job = draft_job(method, model, (fault,))
    if method in ("burel", "sabre"):
        job.table["promise"].append(write_promise("k-anonymity"))
        fault(job)
    assert find_broken_advice(job) == []


def test_advice_that_no_rule_understands_is_found():
    job = draft_job("anatomy", "k-anonymity")
    with pytest.raises(AssertionError, match="no rule follows"):
        list_steps(JobError("It is refused.", attempt="wishing for the best."), job)


def test_advice_that_says_nothing_is_found():
    job = draft_job("anatomy", "k-anonymity")
    with pytest.raises(AssertionError, match="nothing is advised"):
        list_steps(JobError("It is refused.", attempt="."), job)


def test_advice_that_leads_in_a_circle_is_found(monkeypatch):
    job = draft_job("distribution", "p-privacy")
    asked = []

    def refuse(self):
        asked.append(self)
        return JobError("It is refused.", attempt='method = "anatomy".')

    monkeypatch.setattr(type(job), "publish", refuse)
    assert "leads in a circle" in find_broken_advice(job)[0]
    assert len(asked) == 2
