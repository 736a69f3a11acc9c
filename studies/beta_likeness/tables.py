"""The tables the experiments run on, as cells: the census generator and, where they are there, real ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import reticent as rt
from reticent import datasets
from reticent.engines import local
from reticent.table.cells import Cells

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
NAMES = ("census", "teachers", "deaths")


def available() -> list[str]:
    return [name for name in NAMES if name == "census" or REAL.is_dir()]


@cache
def cells(name: str, rows: int | None, quasi: int) -> Cells:
    """The first `quasi` quasi-identifiers and the sensitive column, the first `rows` rows of a fixed random order."""
    frame, columns = {"census": census, "teachers": teachers, "deaths": deaths}[name](rows)
    *names, sensitive = columns
    kept = {column: columns[column] for column in (*names[:quasi], sensitive)}
    return local.count(frame.select(list(kept)).lazy(), kept).cells


def census(rows: int | None) -> tuple[pl.DataFrame, dict]:
    """Table 3: age, gender, education (numeric), marital status, work class; salary class in 50."""
    trees = datasets.hierarchies("census")
    columns = {
        "age": rt.quasi(numeric=True),
        "gender": rt.quasi(hierarchy=trees["gender"]),
        "education": rt.quasi(numeric=True),
        "marital_status": rt.quasi(hierarchy=trees["marital_status"]),
        "work_class": rt.quasi(hierarchy=trees["work_class"]),
        "salary_class": rt.sensitive(type="numeric"),
    }
    return datasets.load("census", rows=rows or 500_000), columns


def teachers(rows: int | None) -> tuple[pl.DataFrame, dict]:
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
    return _some(frame, rows), columns


def deaths(rows: int | None) -> tuple[pl.DataFrame, dict]:
    """NCHS deaths of 2006, a 10 % sample: age, sex, marital status, race; cause of death (39 causes)."""
    frame = pl.read_parquet(REAL / "nchs_mortality2006_sample.parquet")
    names = {"age": "age", "Sex": "sex", "MaritalStatus": "marital", "Race": "race", "CauseRecode39": "cause"}
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
    return _some(frame, rows), columns


def _some(frame: pl.DataFrame, rows: int | None) -> pl.DataFrame:
    return frame if rows is None or rows >= len(frame) else frame.sample(rows, seed=7)
