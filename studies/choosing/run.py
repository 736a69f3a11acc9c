"""Advice beside the full comparison:  python -m studies.choosing.run [TABLE ...] [--promise NAME] [--part questions|learning]

full-<table>.csv: every method that keeps a promise, and the trivial sanitizations, measured on all rows, three runs;
of a figure that decides, the least and the most too.
advice-<table>.csv: for each purpose what the full comparison ranks first, what `rt.advise` says on all rows, everything drawn anew, and
what it says from 3,000 of them.
Tables: adult (../shared/data/adult.csv, 30,162 complete rows), census (20,000 rows of the generator), teachers (20,000 of 264,948 rows).
What is written already of other promises and parts stays.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import polars as pl

import reticent as rt
from reticent import datasets
from studies.beta_likeness import tables

RESULTS = Path(__file__).parent / "results"
FULL = 20_000
ROWS = 3_000
PARTS = {"questions": ("counts", "averages", "sharing-rows"), "learning": ("classification",)}
RUNS = 3
SEED = 1
ANEW = 11
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
KEPT = ("name", "kind", "reached")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--promise", choices=tuple(PROMISES), help="only this one")
    parser.add_argument("--part", choices=tuple(PARTS), help="questions and rows, or classification; both if left out")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or TABLES:
        if name != "census" and not tables.REAL.is_dir():
            print(f"{name}: left out, ../shared/data is not there")
            continue
        frame, columns = table(name)
        promised = [options.promise] if options.promise else list(PROMISES)
        full, advice = studied(frame, columns, promised=promised, parts=[options.part] if options.part else list(PARTS))
        save(options.out / f"full-{name}.csv", full, "name")
        save(options.out / f"advice-{name}.csv", advice, "purpose")
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
    runs: int | None = None,
    methods: Iterable[str] = METHODS,
    promised: Iterable[str] = tuple(PROMISES),
    parts: Iterable[str] = tuple(PARTS),
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The full comparison under each promise, and the advice for each purpose beside it."""
    full = []
    advised = []
    for promise, part in product(promised, parts):
        job = rt.Job(columns=columns, promises=[PROMISES[promise]], release=rt.Output(undeclared="drop"))
        how: dict[str, Any] = {"frame": frame, "methods": list(methods), "runs": runs or RUNS, "progress": say}
        learning = {"classification": part == "learning", "attacks": []}
        compared, anew = (rt.compare(job, seed=seed, **learning, **how) for seed in (SEED, ANEW))
        full += [{"promise": promise, **row} for row in shown(compared, part)]
        drawn = rt.advise(job, purpose=PARTS[part][0], rows=rows, seed=ANEW, **how).compared
        for purpose in PARTS[part]:
            first, advice, few = (rt.advise(one, purpose=purpose) for one in (compared, anew, drawn))
            advised.append(
                {
                    "promise": promise,
                    "purpose": purpose,
                    "full": first.best["name"],
                    "full level": names(first.level),
                    "advised": advice.best["name"],
                    "level": names(advice.level),
                    "no better than": names(advice.trivially_better, "; "),
                    "from a part": few.best["name"],
                    "part level": names(few.level),
                    "may overtake": names(few.may_overtake),
                }
            )
    return full, advised


def names(rows: Iterable[Any], between: str = " ") -> str:
    return between.join(row["name"] for row in rows)


def shown(compared: Any, part: str) -> Iterable[dict[str, Any]]:
    """The figures of each line, and the least and the most of those that decide; those of the other part are left empty."""
    for line, row in zip(compared.frame().to_dicts(), compared.rows, strict=True):
        told = [one for one in (row.get("classification") or {}).values() if one is not None]
        best = max(told, key=lambda one: one["value"], default=None)
        figures = {**{name: row.get(name) for name in SPREADS}, "accuracy": best}
        ends = {
            f"{name} {end}": None if figure is None else figure[end]
            for name, figure in figures.items()
            for end in ("low", "high")
        }
        both = {**{name: line[name] for name in SHOWN}, **ends}
        learned = {name for name in both if name.startswith("accuracy")}
        yield {
            name: value if name in KEPT or (name in learned) == (part == "learning") else None
            for name, value in both.items()
        }


def say(stage: str) -> None:
    print(f"{process_time():8.1f} {stage}", file=sys.stderr, flush=True)


def save(path: Path, found: list[dict[str, Any]], key: str) -> None:
    """A line for each promise and key: what was found is filled in, what stands there of other runs stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = list(found[0])
    lines = {(row["promise"], row[key]): row for row in written(path)}
    for row in found:
        fresh = {
            name: f"{cell:.6g}" if isinstance(cell, float) else cell for name, cell in row.items() if cell is not None
        }
        lines[row["promise"], row[key]] = {**lines.get((row["promise"], row[key]), {}), **fresh}
    order = [*PROMISES], [*FIGURES]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, head, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        for promise in order[0]:
            of = [row for (where, _), row in lines.items() if where == promise]
            writer.writerows(sorted(of, key=lambda row: order[1].index(row[key])) if key == "purpose" else of)


def written(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
