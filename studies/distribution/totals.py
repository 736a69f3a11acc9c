"""Widths of guaranteed bounds group by group, as the paper adds them up, and narrowed by totals across groups (ours).

Random ranges of ages, as in section 6; groups are states (bands of age on Adult, sex and race of the dead), the target is the
table's own distribution, and nothing is drawn but the ranges, by five seeds.  Bounds group by group are looked up in the published tables; with totals they are the release's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from studies.distribution.data import SHARED, adult
from studies.distribution.errors import _sums
from studies.seeds import SEEDS

QUERIES = 60
YEARS = (5, 10, 20, 30, 40)
Row = dict[str, object]


@dataclass(frozen=True)
class StudyTable:
    """A table with `age` and `value`, and how it is grouped."""

    name: str
    file: str
    read: Callable[[], pl.DataFrame]
    group_by: Any
    numeric: bool = True


def _read(file: str, **columns: Any) -> pl.DataFrame:
    return pl.read_parquet(SHARED / file).select(**columns).drop_nulls()


TABLES = (
    StudyTable("Adult, loss", "adult.csv", lambda: adult().rename({"loss": "value"}), {"age": [25, 32, 38, 44, 50]}),
    StudyTable(
        "teachers, wage",
        "acs_teachers_2015_2019.parquet",
        lambda: _read("acs_teachers_2015_2019.parquet", age="agep", state="st", value="wagp"),
        ["state"],
    ),
    StudyTable(
        "women, income",
        "acs_married_women_2014.parquet",
        lambda: _read(
            "acs_married_women_2014.parquet", age="AGEP", state="ST", value=pl.col("PINCP").floordiv(10_000) * 10_000
        ),
        ["state"],
    ),
    StudyTable(
        "ATUS, hours",
        "atus_2003_2016.parquet",
        lambda: _read("atus_2003_2016.parquet", age="age", state="state", value="work_hrs_week"),
        ["state"],
    ),
    StudyTable(
        "deaths, cause",
        "nchs_mortality2006_sample.parquet",
        lambda: _read(
            "nchs_mortality2006_sample.parquet",
            age=pl.col("age").cast(pl.Int64),
            sex="Sex",
            race="Race",
            value=pl.col("CauseRecord39").cast(pl.String),
        ),
        ["sex", "race"],
        numeric=False,
    ),
)


def count_rounded() -> Iterator[Row]:
    """Width of COUNT over the selected rows, before and after totals: the table's distribution, rounded (the default)"""
    return _measure("count", exact=False)


def count_exact() -> Iterator[Row]:
    """Width of COUNT over the selected rows, before and after totals: the table's distribution, exact"""
    return _measure("count", exact=True)


def avg_rounded() -> Iterator[Row]:
    """Width of AVG over the answer, before and after totals: the table's distribution, rounded (the default)"""
    return _measure("avg", exact=False)


def avg_exact() -> Iterator[Row]:
    """Width of AVG over the answer, before and after totals: the table's distribution, exact"""
    return _measure("avg", exact=True)


def _measure(aggregate: str, *, exact: bool) -> Iterator[Row]:
    for table in TABLES if aggregate == "avg" else TABLES[1:]:
        if not (SHARED / table.file).exists() or (aggregate == "avg" and not table.numeric):
            continue
        frame = table.read()
        columns = {name: rt.quasi() for name in frame.columns if name != "value"}
        job = rt.Job(
            columns={**columns, "value": rt.sensitive()},
            promises=[rt.PPrivacy("source", exact=exact)],
            method=rt.Distribution(group_by=table.group_by),
        )
        release = rt.publish(job, frame=frame)
        for seed in SEEDS:
            for years, *widths in _ask(aggregate, release, frame, seed):
                for name, width in zip(("by group", "totals"), widths, strict=True):
                    yield {"years": years, "method": f"{table.name}, {name}", "width": width, "seed": seed}


def _ask(aggregate: str, release: rt.Release, frame: pl.DataFrame, seed: int) -> Iterator[tuple[int, float, float]]:
    """The mean widths for each number of years, group by group and as the release answers, over the same random ranges."""
    rng = np.random.default_rng(10 + seed)
    quasi = release.tables["quasi"]
    age, group = (quasi[name].to_numpy() for name in ("age", "group"))
    low, high = int(age.min()), int(age.max())
    texts = release.manifest.own["values"]
    groups = int(group.max()) + 1
    people = frame.sort("age").cast({pl.Int32: pl.Int64})
    ages = people["age"].to_numpy()
    for years in YEARS:
        widths = []
        while len(widths) < QUERIES:
            first = int(rng.integers(low, max(high - years, low) + 1))
            start = int(rng.integers(len(texts)))
            wanted = texts[start : start + max(len(texts) // 5, 1)]
            selected = np.bincount(group[(age >= first) & (age < first + years)], minlength=groups)
            rows = int(selected.sum())
            if not rows:
                continue
            condition = f"age >= {first} AND age < {first + years}"
            if aggregate == "count":
                lower, upper = _count(release, selected, wanted)
                listed = ", ".join(wanted if people["value"].dtype.is_numeric() else [f"'{text}'" for text in wanted])
                answer = release.query(f"SELECT COUNT(*) FROM release WHERE {condition} AND value IN ({listed})")
                widths.append(((upper - lower) / rows, (answer.upper - answer.lower) / rows))
                continue
            lower, upper = _sums(release.tables["bounds"], selected)
            answer = release.query(f"SELECT SUM(value) FROM release WHERE {condition}")
            inside = slice(*np.searchsorted(ages, [first, first + years]))
            true = abs(float(people["value"][inside].sum()))
            widths.append(((upper - lower) / true, (answer.upper - answer.lower) / true))
        yield years, *(float(mean) for mean in np.mean(widths, axis=0))


def _count(release: rt.Release, selected: np.ndarray, wanted: Sequence[str]) -> tuple[int, int]:
    """The bounds of section 3.3 on how many of the selected rows of each group hold a wanted value."""
    place = {text: number for number, text in enumerate(release.manifest.own["values"])}
    listed = release.tables["sensitive"]
    first, last = (
        listed[name].cast(pl.String).replace_strict(place, return_dtype=pl.Int64).to_numpy()
        for name in ("lower", "upper")
    )
    until = np.append(0, np.cumsum(np.isin(np.array(list(place)), list(wanted))))
    inside = until[last + 1] - until[first]
    group = listed["group"].to_numpy()
    may, others = (
        np.bincount(group, weights=listed["count"].to_numpy() * marked, minlength=len(selected))
        for marked in (inside > 0, inside <= last - first)
    )
    return int(np.maximum(selected - others, 0).sum()), int(np.minimum(selected, may).sum())
