"""Advice beside the full comparison:  python -m studies.choosing.run [TABLE ...]

full-<table>.csv: every method that keeps a promise, and the trivial sanitizations, measured on all rows, one run.
advice-<table>.csv: for each purpose what `rt.advise` says from 3,000 of them in two runs, and what the full comparison ranks first.
Tables: adult (../shared/data/adult.csv, 30,162 complete rows), census (40,000 rows of the generator), teachers (40,000 of 264,948 rows).
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from time import process_time
from typing import Any

import polars as pl

import reticent as rt
from reticent import datasets
from studies.beta_likeness import tables

RESULTS = Path(__file__).parent / "results"
FULL, ROWS, RUNS = 40_000, 3_000, 2
TABLES = ("adult", "census", "teachers")
PROMISES = {"beta-likeness 4": rt.BetaLikeness(4), "probabilistic l-diversity 4": rt.ProbabilisticLDiversity(4)}
METHODS = ("mondrian", "mosaic", "burel", "sabre", "beta-perturbation", "anatomy")
FIGURES = {
    "counts": "count_error",
    "averages": "average_error",
    "classification": "accuracy",
    "sharing-rows": "row_loss",
}
SHOWN = ("name", "kind", "reached", "count_error", "count_error_mean", "average_error", "accuracy", "row_loss", "loss",
         "marginal_error", "association_error", "seconds")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or TABLES:
        if name != "census" and not tables.REAL.is_dir():
            print(f"{name}: left out, ../shared/data is not there")
            continue
        frame, columns = table(name)
        full, advice = studied(frame, columns)
        save(options.out / f"full-{name}.csv", full)
        save(options.out / f"advice-{name}.csv", advice)
        print(f"{name}: {len(full)} rows, {len(advice)} pieces of advice", flush=True)


def table(name: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    if name == "census":
        return tables.census(FULL)
    return adult() if name == "adult" else tables.teachers(FULL)


def adult() -> tuple[pl.DataFrame, dict[str, Any]]:
    """Complete cases of the training part; the occupation is sensitive."""
    frame = pl.read_csv(tables.REAL / "adult.csv", infer_schema_length=None).filter(pl.col("split") == "train")
    frame = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    trees = datasets.hierarchies("adult")
    words = ("workclass", "education", "marital-status", "race", "sex")
    quasi = {name: rt.quasi(hierarchy=trees[name]) if name in trees else rt.quasi() for name in words}
    columns = {"age": rt.quasi(numeric=True), **quasi, "occupation": rt.sensitive()}
    return frame.select(list(columns)), columns


def studied(
    frame: pl.DataFrame,
    columns: dict[str, Any],
    rows: int = ROWS,
    runs: int = RUNS,
    methods: Iterable[str] | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The full comparison under each promise, and the advice for each purpose beside it."""
    full, advised = [], []
    for promised, promise in PROMISES.items():
        job = rt.Job(columns=columns, promises=[promise], release=rt.Output(undeclared="drop"))
        listed = list(methods if methods is not None else METHODS)
        compared = rt.compare(job, frame=frame, methods=listed, attacks=[], progress=say)
        shown = compared.frame().select(SHOWN)
        full += [{"promise": promised, **row} for row in shown.to_dicts()]
        for purpose, figure in FIGURES.items():
            ranked = shown.filter(pl.col("kind").is_not_null() & pl.col("reached"))
            first = ranked.sort(figure, descending=figure == "accuracy", nulls_last=True)["name"][0]
            advice = rt.advise(job, frame=frame, purpose=purpose, methods=listed, rows=rows, runs=runs)
            advised.append({"promise": promised, "purpose": purpose, "full": first, "advised": advice.best["name"],
                            "level": " ".join(row["name"] for row in advice.level),
                            "no better than": "; ".join(row["name"] for row in advice.trivially_better)})  # fmt: skip
    return full, advised


def say(stage: str) -> None:
    print(f"{process_time():8.1f} {stage}", file=sys.stderr, flush=True)


def save(path: Path, found: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in found
        )


if __name__ == "__main__":
    main()
