"""Five real tables with columns whose labels questions cut: 8,000 rows of each, drawn by a seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
ROWS = 8_000
NAMES = ("adult", "adult with trees", "teachers", "deaths", "women", "time use")
CODES = {"adult": ("hours-per-week", "capital-gain"), "time use": ("weekly_earn",)}
"""Columns with codes far from most values: 99 hours, 99,999 of gain, and -1 for no earnings told."""

Table = tuple[pl.DataFrame, dict[str, Any]]


def load(name: str, seed: int, rows: int = ROWS) -> Table:
    """Some rows of a table, the sensitive column last, and the roles of its columns."""
    frame, columns = _TABLES[name]()
    return frame.select(list(columns)).sample(min(rows, len(frame)), seed=seed, shuffle=True), columns


def _read_adult() -> pl.DataFrame:
    frame = pl.read_csv(REAL / "adult.csv", infer_schema_length=None)
    return frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))


def _make_adult() -> Table:
    numbers = ("age", "hours-per-week", "capital-gain", "education-num")
    columns = {name: rt.quasi(numeric=True) for name in numbers}
    columns |= {name: rt.quasi(type="categorical") for name in ("marital-status", "sex")}
    return _read_adult(), {**columns, "occupation": rt.sensitive(type="categorical")}


def _make_adult_with_trees() -> Table:
    names = ("workclass", "education", "marital-status", "native-country", "race")
    trees = {name: REAL / "hierarchies" / f"adult_hierarchy_{name}.csv" for name in names}
    columns = {"age": rt.quasi(numeric=True), **{name: rt.quasi(hierarchy=trees[name]) for name in names}}
    return _read_adult(), {**columns, "occupation": rt.sensitive(type="categorical")}


def _make_teachers() -> Table:
    frame = pl.read_parquet(REAL / "acs_teachers_2015_2019.parquet")
    columns = {name: rt.quasi(numeric=True) for name in ("agep", "schl")}
    columns |= {name: rt.quasi(type="categorical") for name in ("sex", "mar", "cow")}
    return _add_classes(frame, "wagp"), {**columns, "class": rt.sensitive(type="numeric")}


def _make_deaths() -> Table:
    names = {"age": "age", "Sex": "sex", "MaritalStatus": "marital", "Race": "race", "CauseRecord39": "cause"}
    frame = pl.read_parquet(REAL / "nchs_mortality2006_sample.parquet").select(
        pl.col(old).cast(pl.Int64 if new == "age" else pl.String).alias(new) for old, new in names.items()
    )
    columns = {name: rt.quasi(type="categorical") for name in ("sex", "marital", "race")}
    columns = {"age": rt.quasi(numeric=True), **columns, "cause": rt.sensitive(type="categorical")}
    return frame.drop_nulls(), columns


def _make_women() -> Table:
    frame = _add_classes(pl.read_parquet(REAL / "acs_married_women_2014.parquet"), "PINCP")
    columns = {name: rt.quasi(type="categorical") for name in ("ST", "FER", "LFP")}
    return frame, {"AGEP": rt.quasi(numeric=True), **columns, "class": rt.sensitive(type="numeric")}


def _make_time_use() -> Table:
    numbers = ("age", "hh_size", "weekly_earn")
    texts = ("edu", "region", "occup_code")
    frame = pl.read_parquet(REAL / "atus_2003_2016.parquet").select(
        *(pl.col(name).fill_null(-1).round(0).cast(pl.Int64) for name in numbers),
        *(pl.col(name).cast(pl.String).fill_null("none").str.replace_all("'", "") for name in texts),
    )
    columns = {name: rt.quasi(numeric=True) for name in numbers}
    columns |= {name: rt.quasi(type="categorical") for name in ("edu", "region")}
    return frame, {**columns, "occup_code": rt.sensitive(type="categorical")}


def _add_classes(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A column of numbers in 50 classes of about equal size, fewer after ties."""
    numbers = frame[name].to_numpy()
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, 51))[1:-1])
    return frame.with_columns(pl.Series("class", np.searchsorted(edges, numbers, side="right")))


_TABLES = {
    "adult": _make_adult,
    "adult with trees": _make_adult_with_trees,
    "teachers": _make_teachers,
    "deaths": _make_deaths,
    "women": _make_women,
    "time use": _make_time_use,
}
