"""A small table and a job that every engine must publish alike."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from tests.support.engine_tables import people


@pytest.fixture
def table() -> pl.DataFrame:
    return people()


@pytest.fixture
def job() -> rt.Job:
    return rt.Job(
        columns={
            "person": rt.identifying(),
            "age": rt.quasi(),
            "city": rt.quasi(),
            "illness": rt.sensitive(),
            "note": rt.identifying(),
        },
        promises=[rt.KAnonymity(5), rt.BetaLikeness(2)],
    )


@pytest.fixture
def carrying(job: rt.Job) -> rt.Job:
    return job.at(columns={**job.columns, "note": rt.insensitive(acknowledge=True)})
