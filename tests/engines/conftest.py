"""A small table and a job that every engine must publish alike."""

from __future__ import annotations

import random

import polars as pl
import pytest

import reticent as rt


def people(rows: int = 600, seed: int = 3) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "person": [f"p{i:05d}" for i in range(rows)],
            "age": [draw.randint(20, 60) for _ in range(rows)],
            "city": [draw.choice(["Ulm", "Bonn", "Kiel", None]) for _ in range(rows)],
            "illness": [draw.choice(["flu", "flu", "cold", "gout", "mumps"]) for _ in range(rows)],
            "note": [f"n{i}" for i in range(rows)],
        }
    )


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
