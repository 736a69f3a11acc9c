"""Advice beside the full comparison:  python -m studies.choosing.run [TABLE ...] [--promise NAME]

full-<table>.csv: every method that keeps a promise, and the trivial sanitizations, measured on all rows, three runs; of a figure that
decides, the least and the most too.
advice-<table>.csv: for each purpose what the full comparison ranks first, what `rt.advise` says on all rows, drawn anew in three runs of
its own, and what it says from 3,000 of them.
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
FULL, ROWS, RUNS = 40_000, 3_000, 3
SEED, ANEW = 1, 11
"""Of the full comparison, and of advice: nothing that is drawn is the same."""
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
SPREADS = ("count_error", "average_error", "row_loss")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--promise", choices=tuple(PROMISES), help="only this one; what is written of others stays")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or TABLES:
        if name != "census" and not tables.REAL.is_dir():
            print(f"{name}: left out, ../shared/data is not there")
            continue
        frame, columns = table(name)
        promised = [options.promise] if options.promise else list(PROMISES)
        full, advice = studied(frame, columns, promised=promised)
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
    methods: Iterable[str] = METHODS,
    promised: Iterable[str] = tuple(PROMISES),
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The full comparison under each promise, and the advice for each purpose beside it."""
    full, advised = [], []
    for promise in promised:
        job = rt.Job(columns=columns, promises=[PROMISES[promise]], release=rt.Output(undeclared="drop"))
        how: dict[str, Any] = {"frame": frame, "methods": list(methods), "runs": runs, "progress": say}
        compared = rt.compare(job, attacks=[], seed=SEED, **how)
        anew = rt.compare(job, attacks=[], seed=ANEW, **how)
        full += [{"promise": promise, **row} for row in shown(compared)]
        for purpose in FIGURES:
            first, advice = rt.advise(compared, purpose=purpose), rt.advise(anew, purpose=purpose)
            part = rt.advise(job, purpose=purpose, rows=rows, seed=ANEW, **how)
            advised.append({"promise": promise, "purpose": purpose, "full": first.best["name"], "full level": names(first.level),
                            "advised": advice.best["name"], "level": names(advice.level),
                            "no better than": names(advice.trivially_better, "; "), "from a part": part.best["name"],
                            "part level": names(part.level), "may overtake": names(part.may_overtake)})  # fmt: skip
    return full, advised


def names(rows: Iterable[Any], between: str = " ") -> str:
    return between.join(row["name"] for row in rows)


def shown(compared: Any) -> Iterable[dict[str, Any]]:
    """The figures of each line, and the least and the most of those that decide."""
    for line, row in zip(compared.frame().select(SHOWN).to_dicts(), compared.rows, strict=True):
        told = [one for one in (row.get("classification") or {}).values() if one is not None]
        best = max(told, key=lambda one: one["value"], default=None)
        figures = {**{name: row.get(name) for name in SPREADS}, "accuracy": best}
        ends = {f"{name} {end}": None if figure is None else figure[end] for name, figure in figures.items()
                for end in ("low", "high")}  # fmt: skip
        yield {**line, **ends}


def say(stage: str) -> None:
    print(f"{process_time():8.1f} {stage}", file=sys.stderr, flush=True)


def save(path: Path, found: list[dict[str, Any]]) -> None:
    """Lines of promises that were not run again stay, in the order of the promises."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = {row["promise"] for row in found}
    kept = [row for row in written(path) if row["promise"] not in fresh and set(row) == set(found[0])]
    lines = [*kept, *({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in found)]  # fmt: skip
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(lines, key=lambda row: list(PROMISES).index(row["promise"])))


def written(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
