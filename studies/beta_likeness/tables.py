"""The tables the experiments run on, as cells: the census generator and, where they are there, real ones.

`adult30k`, `acs100k`, `acs265k` and `acs500k` are the common work of `../shared/bench`: make it with its `prepare.py` and say where it
is in the environment variable BENCH_WORK.
"""

from __future__ import annotations

import json
import os
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent import datasets

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
PREPARED = ("adult30k", "acs100k", "acs265k", "acs500k")


def available() -> list[str]:
    real = ["teachers", "deaths"] if REAL.is_dir() else []
    return ["census", *real, *(PREPARED if "BENCH_WORK" in os.environ else [])]


def most_quasi(name: str) -> int:
    """How many quasi-identifiers a table has."""
    return {"deaths": 4, "adult30k": 6, "acs100k": 7, "acs265k": 7, "acs500k": 4}.get(name, 5)


@cache
def cells(name: str, rows: int | None, quasi: int, seed: int = 1) -> Any:
    """The first `quasi` quasi-identifiers and the sensitive column, the first `rows` rows of the random order of a seed."""
    load = {"census": census, "teachers": teachers, "deaths": deaths}.get(name) or partial(prepared, name)
    frame, columns = load(rows, seed)
    *names, sensitive = columns
    kept = {column: columns[column] for column in (*names[:quasi], sensitive)}
    return rt.count(rt.Job(columns=kept, promises=[rt.KAnonymity(2)]), frame=frame.select(list(kept)))


def census(rows: int | None, seed: int = 1) -> tuple[pl.DataFrame, dict]:
    """Table 3: age, gender, education (numeric), marital status, work class; salary class in 50; a seed generates other people."""
    trees = datasets.hierarchies("census")
    columns = {
        "age": rt.quasi(numeric=True),
        "gender": rt.quasi(hierarchy=trees["gender"]),
        "education": rt.quasi(numeric=True),
        "marital_status": rt.quasi(hierarchy=trees["marital_status"]),
        "work_class": rt.quasi(hierarchy=trees["work_class"]),
        "salary_class": rt.sensitive(type="numeric"),
    }
    return datasets.load("census", rows=rows or 500_000, seed=seed - 1), columns


def teachers(rows: int | None, seed: int = 1) -> tuple[pl.DataFrame, dict]:
    """ACS 2015-2019, teachers: the same five attributes; wage in 50 quantile classes (43 after ties)."""
    frame = pl.read_parquet(REAL / "acs_teachers_2015_2019.parquet")
    wage = frame["wagp"].to_numpy()
    edges = np.unique(np.quantile(wage, np.linspace(0, 1, 51))[1:-1])
    frame = frame.with_columns(pl.Series("wage", np.searchsorted(edges, wage, side="right")))
    columns = {
        "agep": rt.quasi(numeric=True),
        "sex": rt.quasi(type="categorical"),
        "schl": rt.quasi(numeric=True),
        "mar": rt.quasi(type="categorical"),
        "cow": rt.quasi(type="categorical"),
        "wage": rt.sensitive(type="numeric"),
    }
    return _some(frame, rows, seed), columns


def deaths(rows: int | None, seed: int = 1) -> tuple[pl.DataFrame, dict]:
    """NCHS deaths of 2006, a 10 % sample: age, sex, marital status, race; cause of death (39 causes)."""
    frame = pl.read_parquet(REAL / "nchs_mortality2006_sample.parquet")
    names = {"age": "age", "Sex": "sex", "MaritalStatus": "marital", "Race": "race", "CauseRecord39": "cause"}
    frame = frame.select(
        pl.col(old).cast(pl.String if new != "age" else pl.Float64).alias(new) for old, new in names.items()
    ).drop_nulls()
    columns = {
        "age": rt.quasi(numeric=True),
        "sex": rt.quasi(type="categorical"),
        "marital": rt.quasi(type="categorical"),
        "race": rt.quasi(type="categorical"),
        "cause": rt.sensitive(type="categorical"),
    }
    return _some(frame, rows, seed), columns


def prepared(name: str, rows: int | None, seed: int = 1) -> tuple[pl.DataFrame, dict]:
    """One work of `../shared/bench`, with its roles and hierarchies."""
    folder = Path(os.environ["BENCH_WORK"])
    roles = json.loads((folder / f"{name}.json").read_text())
    frame = pl.read_csv(folder / f"{name}.csv", infer_schema=False).drop("rid")
    columns = {
        column: rt.quasi(numeric=True)
        if column in roles["numeric"]
        else rt.quasi(hierarchy=str(folder / f"{name}.h" / f"{column}.csv"))
        for column in roles["qi"]
    }
    kind = "categorical" if name == "adult30k" else "numeric"
    return _some(frame, rows, seed), {**columns, roles["sensitive"]: rt.sensitive(type=kind)}


def _some(frame: pl.DataFrame, rows: int | None, seed: int) -> pl.DataFrame:
    return frame if rows is None or rows >= len(frame) else frame.sample(rows, seed=6 + seed)
