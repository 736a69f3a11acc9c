"""Errors of estimates by where people are taken to lie within their labels:  python -m studies.density.run [answers | joint ...]

answers.csv: for each table, method and seed the median and the mean relative error and the bias of 100 random counts that cut labels,
evenly and by likelihood; `codes` are questions about columns with codes far from most values.
joint.csv: questions about two columns of ranges, by each column's density alone and by the density of both together.
answers.svg is drawn from answers.csv.  All of it takes about ten CPU minutes, and needs ../shared/data.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from studies.density import tables
from studies.density.charts import draw_charts
from studies.density.joint import measure_joint
from studies.results import write_charts

RESULTS = Path(__file__).parent / "results"
PARTS = ("answers", "joint")
SEEDS = (1, 2, 3, 4, 5)
QUESTIONS = 100
DENSITIES = ("even", "likelihood")
METHODS = ("mondrian", "mosaic", "burel", "perturbed-generalization")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not tables.REAL.is_dir():
        print("left out, ../shared/data is not there")
        return
    for part in options.parts or PARTS:
        if part == "answers":
            save(options.out / "answers.csv", measure_answers())
            write_charts(options.out / "answers.csv", draw_charts)
        else:
            save(options.out / "joint.csv", measure_joint(SEEDS, publish))


def save(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(handle, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow({key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()})
            handle.flush()


def publish(name: str, method: str, seed: int, rows: int = tables.ROWS) -> tuple[rt.Release, pl.DataFrame]:
    """A release of some rows of a table by one of the methods, and the rows."""
    frame, columns = tables.load(name, seed, rows)
    sensitive = list(columns)[-1]
    promises: list[Any] = [rt.KAnonymity(10)]
    algorithm: Any = {"mondrian": rt.Mondrian(), "mosaic": rt.Mosaic()}.get(method)
    if method == "burel":
        promises, algorithm = [rt.BetaLikeness(4)], rt.Burel()
    elif method == "perturbed-generalization":
        promises, algorithm = [rt.DeltaGrowth("0.99", "0.1")], rt.PerturbedGeneralization(k=6, p="0.5")
        columns = {**columns, sensitive: rt.sensitive(domain=sorted(frame[sensitive].unique().to_list()))}
    job = rt.Job(columns=columns, promises=promises, method=algorithm)
    return rt.publish(job, frame=frame, seed=seed), frame


def measure_answers(
    names: Iterable[str] = tables.NAMES, seeds: Iterable[int] = SEEDS, rows: int = tables.ROWS, number: int = QUESTIONS
) -> Iterator[dict[str, Any]]:
    """The errors of counts, by table, method, workload, seed and density."""
    for name in names:
        for method in METHODS:
            for seed in seeds:
                release, frame = publish(name, method, seed, rows)
                workloads = {"all": frame.columns[:-1], "codes": list(tables.CODES.get(name, ()))}
                for workload, columns in workloads.items():
                    if not columns:
                        continue
                    asked = list(draw_questions(frame, columns, number, seed))
                    for density in DENSITIES:
                        errors = measure_errors(release, asked, density)
                        yield {
                            "table": name,
                            "method": method,
                            "workload": workload,
                            "seed": seed,
                            "density": density,
                            "questions": len(errors),
                            "median_error": float(np.median(np.abs(errors))),
                            "mean_error": float(np.mean(np.abs(errors))),
                            "bias": float(np.mean(errors)),
                        }
            print(name, method, flush=True)


def measure_errors(release: rt.Release, asked: Iterable[tuple[str, int]], density: Any) -> np.ndarray:
    """The relative errors, with their sign, of the answers that are not exact."""
    errors = []
    for where, true in asked:
        answer = release.query(f"SELECT COUNT(*) FROM release WHERE {where}", density=density)
        if not answer.is_exact:
            errors.append((answer.estimate - true) / true)
    return np.array(errors or [0.0])


def draw_questions(frame: pl.DataFrame, columns: Iterable[str], number: int, seed: int) -> Iterator[tuple[str, int]]:
    """Conditions on one or two columns, and on the sensitive one in every second, that 0.25 to 90 % of the rows meet."""
    rng = np.random.default_rng(seed)
    names = list(columns)
    drawn = 0
    while drawn < number:
        chosen = rng.choice(names, size=min(len(names), int(rng.integers(1, 3))), replace=False).tolist()
        if rng.random() < 0.5:
            chosen.append(frame.columns[-1])
        conditions = [draw_condition(rng, frame[name]) for name in chosen]
        true = frame.filter(pl.all_horizontal(condition for _, condition in conditions)).height
        if len(frame) / 400 <= true <= 0.9 * len(frame):
            drawn += 1
            yield " AND ".join(text for text, _ in conditions), true


def draw_condition(rng: np.random.Generator, values: pl.Series) -> tuple[str, pl.Expr]:
    """A range between two people's values, or from one over up to 30 % of all that there are; or a list of values."""
    name = values.name
    if values.dtype.is_numeric():
        first, second = (int(value) for value in rng.choice(values.to_numpy(), 2))
        if rng.random() < 0.5:
            second = first + int((int(values.max()) - int(values.min())) * rng.random() * 0.3)  # type: ignore[arg-type]
        low, high = min(first, second), max(first, second)
        return f'"{name}" BETWEEN {low} AND {high}', pl.col(name).is_between(low, high)
    known = sorted(values.unique().to_list())
    listed = rng.choice(known, size=int(rng.integers(1, max(2, len(known) // 2 + 1))), replace=False).tolist()
    texts = ", ".join(f"'{value}'" for value in listed)
    return f'"{name}" IN ({texts})', pl.col(name).is_in(listed)


if __name__ == "__main__":
    main()
