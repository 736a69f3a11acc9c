"""A table and a job that are published again and again."""

from __future__ import annotations

import random

import polars as pl

import reticent as rt

COLUMNS = {"age": rt.quasi(), "zip": rt.quasi(), "born": rt.quasi(type="categorical"), "illness": rt.sensitive()}


def people(rows: int = 300, seed: int = 1) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "name": [f"p{seed}-{at}" for at in range(rows)],
            "age": [draw.randint(18, 90) for _ in range(rows)],
            "zip": [draw.randint(10_000, 99_999) for _ in range(rows)],
            "born": [f"19{draw.randint(10, 99)}-0{draw.randint(1, 9)}-{draw.randint(10, 28)}" for _ in range(rows)],
            "illness": [draw.choice(["flu", "cold", "gout", "mumps"]) for _ in range(rows)],
        }
    ).with_columns(pl.col("born").str.to_date())


def job(source: object = None, columns: dict | None = None) -> rt.Job:
    return rt.Job(
        source=source,
        columns=columns or COLUMNS,
        promises=[rt.KAnonymity(5)],
        release=rt.Output(undeclared="drop"),
    )


def job_of_named_people(source: object = None, **changes: object) -> rt.Job:
    """A job whose table names its people, with other columns where the caller says so."""
    return job(source, {"name": rt.identifying(), **COLUMNS, **changes})
