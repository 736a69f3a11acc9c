"""BUREL as printed and better, and when it loses:  python -m studies.beta_likeness.refinement [TABLE ...] [--rows N]

On four real tables: AIL and CPU seconds of BUREL with `share = 1` (the paper's), `share = "auto"`, and both that and `refine = 30`,
beside Mondrian's and mosaic's, five seeds, each of which draws the rows of the table and seeds the method (refinement.csv); and of the paper's BUREL why (reasons.csv): the loss of the fifth of classes
that is filled first and of the fifth filled last, its loss where the sensitive column is shuffled, so that it does not go
with the quasi-identifiers, and where values are few (families in place of values), beside a Mondrian with median cuts that
falls back to the next column.  few-values.csv has the same of teachers with wages in 2 to 43 classes.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from studies.beta_likeness.charts import draw_charts
from studies.beta_likeness.tables import teachers
from studies.jobs import job_for
from studies.mosaic.promises import REAL, TABLES, count_cells, draw_rows
from studies.results import write_charts
from studies.seeds import SEEDS

RESULTS = Path(__file__).parent / "results"
BETAS = (1, 2, 4)
SWEEPS = 30
METHODS = {
    "share 1": lambda: rt.Burel(),
    "auto": lambda: rt.Burel(share="auto"),
    "auto, refined": lambda: rt.Burel(share="auto", refine=SWEEPS),
    "mondrian": lambda: rt.Mondrian(),
    "mosaic, quick": lambda: rt.Mosaic(effort="quick"),
}
WAGE_CLASSES = 43
FEW_VALUE_METHODS = {
    "burel": rt.Burel(),
    "burel, nearest": rt.Burel(fill="nearest"),
    "lmondrian": rt.Mondrian(cuts="median", fallback=False),
    "lmondrian, fallback": rt.Mondrian(cuts="median"),
}


def plan(cells: Any, beta: int, method: Any, *, seed: int = SEEDS[0], merged: bool = True) -> Any:
    """Return a plan, or None where the method refuses the table."""
    try:
        return rt.plan(job_for(cells, [rt.BetaLikeness(beta)], method), cells=cells, seed=seed, merged=merged)
    except rt.PromiseUnreachable:
        return None


def measure_refinement(name: str, rows: int) -> Iterator[dict[str, Any]]:
    """Yield the loss and seconds of every method for every beta and seed."""
    for seed, beta in product(SEEDS, BETAS):
        cells = count_cells(name, rows, (TABLES[name].names,), seed)
        for words, make_method in METHODS.items():
            planned = plan(cells, beta, make_method(), seed=seed)
            if planned is not None:
                figures = {"seed": seed, "ail": planned.loss, "cpu": planned.seconds}
                yield {"table": name, "beta": beta, "method": words, **figures}


def count_with(name: str, rows: int, sensitive: pl.Series) -> Any:
    """Return the cells of a table with another sensitive column, of categories."""
    table = TABLES[name]
    columns = {column: rt.quasi(numeric=True) for column in table.numbers}
    columns |= {column: rt.quasi(type="categorical") for column in table.labels}
    frame = draw_rows(name, rows, SEEDS[0]).select(list(columns)).with_columns(sensitive.alias("value"))
    columns["value"] = rt.sensitive(type="categorical")
    return rt.count(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame)


def compute_fifth_losses(planned: Any) -> tuple[float, float]:
    """Return the loss per row of the first and of the last fifth of classes, in the order in which they were filled."""
    recipe = planned.recipe
    lower, upper = recipe.find_spans()
    loss = np.mean([domain.loss(lower[:, at], upper[:, at]) for at, domain in enumerate(recipe.cells.quasi)], axis=0)
    sizes = recipe.as_groups().sizes
    fifth = max(len(sizes) // 5, 1)
    first, last = (float(np.average(loss[part], weights=sizes[part])) for part in (np.s_[:fifth], np.s_[-fifth:]))
    return first, last


def measure_reasons(name: str, rows: int) -> Iterator[dict[str, Any]]:
    """Yield what BUREL as printed loses on the table, shuffled, and with few values."""
    table = TABLES[name]
    values = draw_rows(name, rows, SEEDS[0])[table.names]
    families = pl.Series([table.family(value) for value in values])
    shuffled = values.sample(fraction=1, shuffle=True, seed=11)
    for beta in BETAS:
        row: dict[str, Any] = {"table": name, "beta": beta}
        for words, sensitive in (("as it is", values), ("shuffled", shuffled), ("few values", families)):
            cells = count_with(name, rows, sensitive)
            planned = plan(cells, beta, rt.Burel(), merged=False)
            strict = plan(cells, beta, rt.Mondrian(cuts="median"))
            row[words] = "" if planned is None else planned.loss
            row[f"{words}, mondrian"] = "" if strict is None else strict.loss
            if words == "as it is" and planned is not None:
                row["first fifth"], row["last fifth"] = compute_fifth_losses(planned)
        row["number of few values"] = families.n_unique()
        yield row


def measure_few_values(name: str, rows: int) -> Iterator[dict[str, Any]]:
    """Yield what BUREL and Mondrian with median cuts lose on teachers by quasi-identifiers, number of wage classes, and shuffled."""
    if name != "teachers":
        return
    frame, columns = teachers(rows)
    rng = np.random.default_rng(1)
    for quasi in (3, 5):
        names = list(columns)[:quasi]
        declared = {column: columns[column] for column in names} | {"wage": rt.sensitive(type="numeric")}
        for few in (2, 3, 5, 10, WAGE_CLASSES):
            wages = frame["wage"].to_numpy()
            if few < WAGE_CLASSES:
                edges = np.quantile(wages, np.linspace(0, 1, few + 1))[1:-1]
                wages = np.searchsorted(edges, wages, side="right")
            for words, values in (("as they are", wages), ("shuffled", rng.permutation(wages))):
                counted = rt.count(
                    rt.Job(columns=declared, promises=[rt.KAnonymity(2)]),
                    frame=frame.select(names).with_columns(pl.Series("wage", values)),
                )
                for beta in (1, 4):
                    row = {"quasi-identifiers": quasi, "wage classes": few, "wages": words, "beta": beta}
                    for method, planner in FEW_VALUE_METHODS.items():
                        planned = plan(counted, beta, planner)
                        row[method] = "" if planned is None else planned.loss
                    yield row


def save(path: Path, rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with open(path, "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows
        )


PARTS = {"few-values": measure_few_values, "reasons": measure_reasons, "refinement": measure_refinement}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--part", choices=list(PARTS), help="one of the files alone")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not REAL.is_dir():
        parser.exit(message="left out: shared/data is not there\n")
    tables = options.tables or list(TABLES)
    for file, measure in PARTS.items():
        if options.part not in (None, file):
            continue
        rows = []
        for name in tables:
            for row in measure(name, options.rows):
                print(
                    *(f"{value:.3f}" if isinstance(value, float) else value for value in row.values()),
                    sep=" | ",
                    flush=True,
                )
                rows.append(row)
        save(options.out / f"{file}.csv", rows)
        write_charts(options.out / f"{file}.csv", draw_charts)


if __name__ == "__main__":
    main()
