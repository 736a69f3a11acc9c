"""Widths of guaranteed bounds group by group, as the paper adds them up, and narrowed by totals across groups (ours).

Random ranges of ages, as in section 6; groups are states (bands of age on Adult, sex and race of the dead), the target is the
table's own distribution.  Bounds group by group are those of totals of which nothing is known: a distance of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent.estimate.guaranteed_bounds import AnnotatedHierarchy, read_known_totals
from reticent.estimate.known_totals import DomainNumbers, KnownTotals
from studies.distribution.data import SHARED, adult

QUERIES = 60
YEARS = (5, 10, 20, 30, 40)
SEED = 11
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
        annotated = AnnotatedHierarchy.from_manifest(release.manifest)
        totals = read_known_totals(release.tables, release.manifest, annotated)
        assert totals is not None
        ways = {"by group": replace(totals, distance=Fraction(1)), "totals": totals}
        for name, known in ways.items():
            for years, width in _ask(aggregate, known, annotated, release.tables["quasi"], frame, table.numeric):
                yield {"years": years, "method": f"{table.name}, {name}", "width": width}


def _ask(
    aggregate: str,
    totals: KnownTotals,
    annotated: AnnotatedHierarchy,
    quasi: pl.DataFrame,
    frame: pl.DataFrame,
    numeric: bool,
) -> Iterator[tuple[int, float]]:
    """The mean width for each number of years, over the same random ranges for every way and table."""
    rng = np.random.default_rng(SEED)
    age, group = (quasi[name].to_numpy() for name in ("age", "group"))
    low, high = int(age.min()), int(age.max())
    numbers = DomainNumbers.from_texts(list(annotated.texts)) if numeric else None
    source_age, value = frame["age"].to_numpy(), frame["value"].to_numpy()
    places = len(annotated.texts)
    for years in YEARS:
        widths = []
        while len(widths) < QUERIES:
            first = int(rng.integers(low, max(high - years, low) + 1))
            chosen = (age >= first) & (age < first + years)
            start = int(rng.integers(places))
            wanted = np.zeros(places, bool)
            wanted[start : start + max(places // 5, 1)] = True
            selected = np.bincount(group[chosen], minlength=len(totals.rows))
            rows = int(selected.sum())
            if not rows:
                continue
            if aggregate == "count":
                lower, upper = totals.narrow_count(selected, *_count_nodes(totals, wanted), wanted)
                widths.append((upper - lower) / rows)
                continue
            layers = totals.bound_layers(selected)
            assert layers is not None and numbers is not None
            width = float(numbers.add_up_layers(layers[1]) - numbers.add_up_layers(layers[0]))
            inside = (source_age >= first) & (source_age < first + years)
            widths.append(width / abs(float(value[inside].sum())))
        yield years, float(np.mean(widths))


def _count_nodes(totals: KnownTotals, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many values of each group may stand for a wanted one, and for another."""
    nodes = totals.nodes
    until = np.append(0, np.cumsum(wanted))
    inside = until[nodes.last + 1] - until[nodes.first]
    groups = len(totals.rows)
    may = np.bincount(nodes.group, weights=nodes.count * (inside > 0), minlength=groups)
    others = np.bincount(nodes.group, weights=nodes.count * (inside <= nodes.last - nodes.first), minlength=groups)
    return may.astype(np.int64), others.astype(np.int64)
