"""Does mosaic serve every promise at least as well as mondrian?  python -m studies.mosaic.promises [--rows N] [--effort E]

Every promise of the contract that mosaic takes, on four real tables, five seeds each: the loss of `mondrian`, that of `mosaic` at
one effort, and CPU seconds.  A seed draws the rows of the table and seeds the search.  Each table has a sensitive column of names
with a hierarchy and one of numbers.  `--before FILE` puts the losses and seconds of a file that was saved before beside those
measured now, seed by seed.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from studies.jobs import job_for
from studies.mosaic.charts import draw_charts
from studies.results import write_charts
from studies.seeds import SEEDS

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class RealTable:
    """A file, its quasi-identifiers, a sensitive column of names with the families they belong to, and one of numbers."""

    file: str
    numbers: tuple[str, ...]
    labels: tuple[str, ...]
    names: str
    family: Callable[[str], str]
    wages: str
    width: float


TABLES = {
    "adult": RealTable(
        "adult.parquet",
        ("age",),
        ("sex", "race", "marital-status", "education", "workclass"),
        "occupation",
        lambda name: {"P": "professional", "E": "professional", "T": "technical", "C": "technical"}.get(
            name[0], "other"
        ),
        "hours-per-week",
        5,
    ),
    "deaths": RealTable(
        "nchs_mortality2006_sample.parquet",
        ("age",),
        ("Sex", "Race", "MaritalStatus", "PlaceOfDeath"),
        "CauseRecord39",
        lambda code: f"{int(code) // 8}",
        "CauseRecode113",
        5,
    ),
    "time use": RealTable(
        "atus_2003_2016.parquet",
        ("age", "hh_size"),
        ("sex", "state", "edu", "race", "marital"),
        "occup_code",
        lambda name: name[0],
        "work_hrs_week",
        5,
    ),
    "teachers": RealTable(
        "acs_teachers_2015_2019.parquet",
        ("agep", "schl"),
        ("sex", "mar", "cow", "rac1p"),
        "pay",
        lambda pay: f"{int(pay) // 5}",
        "wage",
        5,
    ),
}


@cache
def read_table(name: str) -> pl.DataFrame:
    """Read a table's columns, without missing values."""
    table = TABLES[name]
    frame = pl.read_parquet(REAL / table.file)
    if name == "teachers":
        wage = (pl.col("wagp") // 5000).clip(0, 30)
        frame = frame.with_columns(wage=wage, pay=wage.cast(pl.String))
    texts = [*table.labels, table.names]
    return frame.select(
        *(pl.col(column).cast(pl.Float64) for column in (*table.numbers, table.wages)),
        *(pl.col(column).cast(pl.String) for column in texts),
    ).drop_nulls()


@lru_cache(maxsize=4)
def draw_rows(name: str, rows: int, seed: int) -> pl.DataFrame:
    """Draw so many rows of a table, all of them if it has no more, in a random order."""
    frame = read_table(name)
    return frame.sample(min(rows, len(frame)), seed=seed + 6)


@lru_cache(maxsize=8)
def count_cells(name: str, rows: int, sensitive: tuple[str, ...], seed: int) -> Any:
    """Return the cells of a table with these sensitive columns."""
    table = TABLES[name]
    frame = draw_rows(name, rows, seed)
    families = [[value, table.family(value), "*"] for value in sorted(frame[table.names].unique())]
    columns = {column: rt.quasi(numeric=True) for column in table.numbers} | {
        column: rt.quasi(type="categorical") for column in table.labels
    }
    declared = {table.names: rt.sensitive(hierarchy=families), table.wages: rt.sensitive(type="numeric")}
    columns |= {column: declared[column] for column in sensitive}
    return rt.count(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame.select(list(columns)))


def list_promises(name: str, rows: int, seed: int) -> Iterator[tuple[str, tuple[str, ...], list[Any]]]:
    """Yield what is promised in words, the sensitive columns, and the promises."""
    table = TABLES[name]
    names = table.names
    population = read_table(name).select([*table.numbers, *table.labels])
    alone: dict[str, Any] = {
        "k 5": rt.KAnonymity(5),
        "(alpha, k) .5, 5": rt.AlphaKAnonymity("0.5", 5),
        "k-map 5": rt.KMap(5, population),
        "distinct l 4": rt.DistinctLDiversity(4),
        "probabilistic l 3": rt.ProbabilisticLDiversity(3),
        "entropy l 3": rt.EntropyLDiversity(3),
        "recursive (3, 3)": rt.RecursiveLDiversity(3, 3),
        "t .2, equal": rt.TCloseness("0.2"),
        "t .2, hierarchical": rt.TCloseness("0.2", distance="hierarchical"),
        "delta 2": rt.DeltaDisclosure(2),
        "delta 2, absent ignored": rt.DeltaDisclosure(2, absent="ignore"),
        "basic beta 2": rt.BetaLikeness(2, enhanced=False),
        "beta 1": rt.BetaLikeness(1),
        "beta 4": rt.BetaLikeness(4),
        "beta 4, two-sided": rt.BetaLikeness(4, two_sided=True),
        "semantic beta 1": rt.SemanticLikeness(1, level=1),
        "semantic beta 4": rt.SemanticLikeness(4, level=1),
        "semantic beta 4, two-sided": rt.SemanticLikeness(4, level=1, two_sided=True),
    }
    for words, promise in alone.items():
        yield words, (names,), [promise]
    violated = find_violated_l(draw_rows(name, rows, seed)[names])
    yield "l-dichotomy, distinct l", (names,), [rt.LDichotomy(violated), rt.DistinctLDiversity(violated)]
    yield "k 5, t .3, equal", (names,), [rt.KAnonymity(5), rt.TCloseness("0.3")]
    yield "beta 4, t .3, equal", (names,), [rt.BetaLikeness(4), rt.TCloseness("0.3")]
    yield "t .1, ordered", (table.wages,), [rt.TCloseness("0.1", distance="ordered")]
    yield "proximity beta 1", (table.wages,), [rt.ProximityLikeness(1, table.width)]
    yield "proximity beta 4", (table.wages,), [rt.ProximityLikeness(4, table.width)]
    yield "proximity beta 4, k 5", (table.wages,), [rt.ProximityLikeness(4, table.width), rt.KAnonymity(5)]
    both = (names, table.wages)
    yield "beta 4 of two columns", both, [rt.BetaLikeness(4, column=column) for column in both]
    yield "distinct l 3 of two columns", both, [rt.DistinctLDiversity(3, column=column) for column in both]
    yield "t .3 of two columns", both, [rt.TCloseness("0.3", column=column) for column in both]


def find_violated_l(values: pl.Series) -> int:
    """Find the least l of which the table is not eligible: its most frequent value is too frequent."""
    most_rows = int(values.value_counts()["count"].max())  # type: ignore[arg-type]
    return max(2, len(values) // most_rows + 1)


def plan_loss(cells: Any, promises: list[Any], method: Any, seed: int) -> tuple[float, float] | None:
    """Return the loss and the CPU seconds of planning; None where the table cannot keep the promises.

    Promises of l-dichotomy have the stage that keeps them.
    """
    stages = [rt.Suppression(l=promise.l) for promise in promises if isinstance(promise, rt.LDichotomy)]
    job = job_for(cells, promises, method).at(prepare=stages)
    began = time.process_time()
    try:
        planned = rt.plan(job, cells=cells, seed=seed)
    except rt.PromiseUnreachable:
        return None
    return planned.loss, time.process_time() - began


def measure_promises(name: str, rows: int, effort: str, seed: int, only: str = "") -> Iterator[dict[str, Any]]:
    """Yield a row for each promise of a table."""
    for words, sensitive, promises in list_promises(name, rows, seed):
        if only not in words:
            continue
        cells = count_cells(name, rows, sensitive, seed)
        strict = plan_loss(cells, promises, rt.Mondrian(), seed)
        ours = plan_loss(cells, promises, rt.Mosaic(effort=effort, threads=1), seed)
        if strict is None or ours is None:
            continue
        yield {
            "table": name,
            "promise": words,
            "seed": seed,
            "mondrian": strict[0],
            "mosaic": ours[0],
            "share": ours[0] / strict[0] if strict[0] else 1.0,
            "mondrian seconds": strict[1],
            "mosaic seconds": ours[1],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--promise", default="", help="a part of the promise's words")
    parser.add_argument("--before", type=Path, help="a file saved before")
    parser.add_argument("--out", type=Path, default=RESULTS / "promises.csv")
    options = parser.parse_args()
    if not REAL.is_dir():
        parser.exit(message="left out: shared/data is not there\n")
    before = {}
    if options.before:
        with open(options.before, newline="", encoding="utf-8") as handle:
            before = {(row["table"], row["promise"], int(row["seed"])): row for row in csv.DictReader(handle)}
    rows = []
    for name, seed in product(options.tables or TABLES, SEEDS):
        for row in measure_promises(name, options.rows, options.effort, seed, options.promise):
            if earlier := before.get((row["table"], row["promise"], seed)):
                row |= {
                    "mosaic before": float(earlier["mosaic"]),
                    "mosaic seconds before": float(earlier["mosaic seconds"]),
                }
            print(
                *(f"{value:.4f}" if isinstance(value, float) else value for value in row.values()),
                sep=" | ",
                flush=True,
            )
            rows.append(row)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with open(options.out, "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows
        )
    write_charts(options.out, draw_charts)


if __name__ == "__main__":
    main()
