"""Four real tables for the figures that are ours: a draw of rows for each seed, and the columns' declarations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl

import reticent as rt
from studies.background import tables as paper_tables
from studies.beta_likeness.tables import REAL

ROWS = 5_000
SEEDS = (1, 2, 3, 4, 5)
Table = tuple[pl.DataFrame, dict[str, Any]]


def read_adult() -> Table:
    """Adult's complete training rows: six quasi-identifiers with hierarchies; 14 occupations."""
    return paper_tables.people(), dict(paper_tables.job([rt.KAnonymity(2)]).columns)


def read_teachers() -> Table:
    """Teachers of the ACS 2015-2019: age, sex, schooling, marital status, race; the wage in 20 classes."""
    names = ("agep", "sex", "schl", "mar", "rac1p")
    frame = pl.read_parquet(REAL / "acs_teachers_2015_2019.parquet").select(*names, "wagp").drop_nulls()
    wage = frame["wagp"].rank("ordinal") * 20 // (len(frame) + 1)
    frame = frame.with_columns(wage.alias("wagp"))
    numbers = {"agep": rt.quasi(numeric=True), "schl": rt.quasi(numeric=True)}
    return frame, _declare(names, numbers, "wagp")


def read_deaths() -> Table:
    """Deaths of 2006: age, sex, race, marital status, Hispanic origin; the cause in 10 groups."""
    names = ("age", "Sex", "Race", "MaritalStatus", "HispanicOrigin")
    frame = pl.read_parquet(REAL / "nchs_mortality2006_sample.parquet").select(*names, "Cause").drop_nulls()
    return frame, _declare(names, {"age": rt.quasi(numeric=True)}, "Cause")


def read_time_use() -> Table:
    """ATUS 2003-2016: age, sex, schooling, race, marital status; the family's income in 16 classes."""
    names = ("age", "sex", "edu", "race", "marital")
    frame = pl.read_parquet(REAL / "atus_2003_2016.parquet").select(*names, "famincome").drop_nulls()
    return frame, _declare(names, {"age": rt.quasi(numeric=True)}, "famincome")


READERS: dict[str, Callable[[], Table]] = {
    "adult": read_adult,
    "teachers": read_teachers,
    "deaths": read_deaths,
    "time use": read_time_use,
}


@cache
def read_table(name: str) -> Table:
    return READERS[name]()


def draw_rows(name: str, seed: int, rows: int = ROWS) -> Table:
    """Draw rows of a table without replacement."""
    frame, columns = read_table(name)
    return frame.sample(min(rows, len(frame)), seed=seed), columns


def make_job(columns: dict[str, Any], promises: list[Any], method: Any = None) -> rt.Job:
    return rt.Job(columns=columns, promises=promises, method=method or rt.Mondrian(labels="sets"))


@cache
def count_cells(name: str, seed: int, rows: int = ROWS) -> Any:
    frame, columns = draw_rows(name, seed, rows)
    return rt.count(make_job(columns, [rt.KAnonymity(2)]), frame=frame)


def _declare(quasi: tuple[str, ...], numbers: dict[str, Any], sensitive: str) -> dict[str, Any]:
    columns = {name: numbers.get(name, rt.quasi(type="categorical")) for name in quasi}
    return {**columns, sensitive: rt.sensitive(type="categorical")}
