"""No job, however hostile, ends in a bug of ours, quotes a record, leaves a file or takes long."""

from __future__ import annotations

import pytest

from reticent import catalogue, registry
from reticent.registry import list_job_types
from tests.hostile.fields import CASES as FIELDS
from tests.hostile.fields import KEPT_BY, fields, tried
from tests.hostile.jobs import CASES
from tests.support.hostile_cases import faults, run, sampled


@pytest.mark.parametrize("name", sampled(CASES, most=260))
def test_a_hostile_job_is_refused_in_our_own_words(name, tmp_path):
    case = CASES[name]
    ran = run(tmp_path, case)
    assert not faults(ran, case.expected), ran.err[:2_000]
    for words in case.says:
        assert words in ran.out + ran.err


@pytest.mark.parametrize("name", sampled(FIELDS, most=60))
def test_a_field_of_a_wrong_type_is_refused_in_our_own_words(name, tmp_path):
    ran = run(tmp_path, FIELDS[name])
    assert not faults(ran, None), ran.err[:2_000]


def test_every_field_of_every_promise_and_method_is_tried():
    known = tried()
    for name in catalogue.PROMISES:
        assert set(fields(registry.load_promise_class(name))) <= known[name], name
    for name in catalogue.METHODS:
        assert set(fields(registry.load_method_class(name))) <= known[name], name
    assert set(KEPT_BY) == set(catalogue.PROMISES)


ROWS = catalogue.PROMISES | catalogue.METHODS | catalogue.STAGES | catalogue.JOB_TABLES


@pytest.mark.parametrize("name", [name for name in ROWS if name not in ("job", "labels")])
def test_every_field_of_a_job_has_a_type_that_is_checked(name):
    for field in ROWS[name].fields.values():
        assert list_job_types(field)
