"""What the ends of ranges give away, and what it costs to hide it:  python -m studies.what_else.labels [TABLE ...]

For each table, method and style of labels at k = 5: AIL beside that of tight labels, the share of predicates "the published labels
and the value at an end" that isolate one person, beside a random value inside the label, and the share of hidden values that are
certain.  One seed.  The tables are those of `studies.beta_likeness.tables`, `time use`, and `patients`: 20,000 made-up people with a
date of birth, a date of admission and a weight, whose labels are tight or the default ones.  Each becomes results/labels-<table>.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from studies.beta_likeness import tables
from studies.jobs import job_for

RESULTS = Path(__file__).parent / "results"
METHODS = {"mosaic": rt.Mosaic(), "mondrian": rt.Mondrian()}
STYLES: dict[str, Any] = {
    "tight": "tight",
    **{f"snapped {step}": {"style": "snapped", "step": step} for step in (2, 3, 5)},
    "snapped 2, first number alone": [{"style": "snapped", "step": 2}, "tight"],
    **{f"padded {width}": {"style": "padded", "width": width} for width in (1, 2, 3)},
    **{
        f"padded {width}, share {share}": {"style": "padded", "width": width, "share": share}
        for width, share in ((3, 0.25), (2, 0.34), (3, 0.34), (2, 0.5))
    },
}
"""A list has a style for each number, and is for tables of so many."""
BY_DEFAULT = {"tight": "tight", "snapped": None}
ROWS = {"census": 100_000, "teachers": 100_000, "deaths": None, "time use": 100_000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(tables.available()))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or ["census"]:
        styles = BY_DEFAULT if name == "patients" else STYLES
        save(options.out / f"labels-{name.replace(' ', '-')}.csv", list(rows(*table(name), styles)))


def table(name: str) -> tuple[Any, dict[str, Any]]:
    """The rows, and the columns' declarations."""
    if name == "patients":
        return patients(20_000)
    known = {"census": tables.census, "teachers": tables.teachers, "deaths": tables.deaths, "time use": time_use}
    load = known.get(name) or partial(tables.prepared, name)
    return load(ROWS.get(name))


def time_use(rows: int, seed: int = 1) -> tuple[Any, dict[str, Any]]:
    """ATUS 2003-2016: age, sex, schooling, race, marital status; the family's income in 16 classes."""
    names = ("age", "sex", "edu", "race", "marital", "famincome")
    frame = (
        pl.read_parquet(tables.REAL / "atus_2003_2016.parquet").select(names).drop_nulls().sample(rows, seed=6 + seed)
    )
    quasi = {name: rt.quasi(type="categorical") for name in names[1:5]}
    return frame, {"age": rt.quasi(numeric=True), **quasi, "famincome": rt.sensitive(type="categorical")}


def patients(count: int) -> tuple[Any, dict[str, Any]]:
    """People of a hospital: nobody real."""
    rng = np.random.default_rng(16)
    born = np.datetime64("1928-01-01") + (rng.beta(1.6, 1.9, count) * 28_000).astype("timedelta64[D]")
    admitted = np.datetime64("2021-01-01") + rng.integers(0, 1_095, count).astype("timedelta64[D]")
    frame = pl.DataFrame(
        {
            "born": born,
            "admitted": admitted,
            "weight": rng.normal(74, 13, count),
            "sex": rng.choice(["f", "m"], count),
            "ward": rng.choice(list("abcdef"), count),
            "illness": rng.choice([f"i{at}" for at in range(20)], count),
        }
    )
    quasi = {name: rt.quasi() for name in ("born", "admitted", "weight", "sex", "ward")}
    return frame, {**quasi, "illness": rt.sensitive()}


def rows(
    frame: Any,
    columns: dict[str, Any],
    styles: dict[str, Any] = STYLES,
    promises: tuple[Any, ...] = (rt.KAnonymity(5),),
) -> Iterator[dict[str, Any]]:
    """A row for each method and style, in the order of the tables above."""
    for method in METHODS.values():
        tight = 0.0
        for style, labels in styles.items():
            if isinstance(labels, list) and len(labels) != len(numbers(columns)):
                continue
            made = planned(frame, columns, promises, method, labels)
            tight = tight or made.loss
            found = rt.attack(made, name="singling-out").to_dict()
            yield {
                "method": method.name,
                "labels": style,
                "groups": len(made.sizes),
                "AIL": round(made.loss, 5),
                "more than tight": round(made.loss / tight - 1, 4),
                "isolated": round(found["success"], 4),
                "from": round(found["low"], 4),
                "to": round(found["high"], 4),
                "control": round(found["control"], 4),
                "certain": round(found["certain"], 4),
            }


def planned(frame: Any, columns: dict[str, Any], promises: Any, method: Any, labels: Any) -> Any:
    """A plan whose numbers are printed in a style; their range is declared, so that all losses are measured against the same."""
    styled = dict(columns)
    for name, column in columns.items():
        if column.type is None and column.role == "quasi-identifying" and frame[name].dtype in (pl.Date, pl.Float64):
            styled[name] = replace(column, labels=labels)
    for at, name in enumerate(numbers(columns)):
        held = frame[name].cast(float).drop_nulls()
        style = labels[at] if isinstance(labels, list) else labels
        styled[name] = replace(columns[name], labels=style, domain=(int(held.min()), int(held.max())))
    cells = rt.count(rt.Job(columns=styled, promises=promises), frame=frame.select(list(styled)))
    return rt.plan(job_for(cells, promises, method), cells=cells, seed=1)


def numbers(columns: dict[str, Any]) -> list[str]:
    return [name for name, column in columns.items() if column.type == "numeric" and column.role == "quasi-identifying"]


def save(path: Path, found: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()
