"""Figures 2a-b and 3a-b with five seeds:  python -m studies.perturbed_generalization.seeds [--rows 40000] [--draws one,many]

Classification error by k (figure 2, p = .3) and by p (figure 3, k = 6), into two categories (a) and three (b), and into halves at
the median, where there is something to learn; on a part of the census, four fifths learned from, a fifth held out.  A release is
published with each of five seeds and a tree learned from it.  Charts have a band from the least to the greatest of the five,
beside always guessing the most frequent category.

`--draws` are the values of the method's parameter `draw`, where it has one: how many tuples of every label are published.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent import datasets
from reticent.utility.mining import ReconstructingTree
from studies.perturbed_generalization.charts import draw_charts
from studies.perturbed_generalization.figures import RETENTIONS, SIZES, SPLITS, VALUES
from studies.results import write_charts

RESULTS = Path(__file__).parent / "results"
SEEDS = (1, 2, 3, 4, 5)
DEFAULT_K = 6
DEFAULT_P = "0.3"


@cache
def load_people(rows: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows learned from and those held out, the sensitive class last and named `class`."""
    table = datasets.load("sal", rows=rows).rename({"salary_class": "class"})
    is_held_out = pl.Series(np.random.default_rng(0).random(len(table)) < 0.2)
    return table.filter(~is_held_out), table.filter(is_held_out)


def classify(table: pl.DataFrame, split: str) -> np.ndarray:
    """Return the category of each person."""
    category = np.zeros(VALUES, np.int64)
    for number, part in enumerate(SPLITS[split].values()):
        category[list(part)] = number
    return category[table["class"].to_numpy()]


def list_draws(asked: str) -> list[str]:
    """Return the draws to measure: those asked for, or only that of the paper where the method has no such parameter."""
    has_draw = any(field.name == "draw" for field in fields(rt.PerturbedGeneralization))
    return asked.split(",") if has_draw else ["one"]


def publish(rows: int, k: int, p: str, draw: str, seed: int) -> Any:
    train, _ = load_people(rows)
    parameters: dict[str, Any] = {"k": k, "p": p, "grouping": "mondrian"}
    if any(field.name == "draw" for field in fields(rt.PerturbedGeneralization)):
        parameters["draw"] = draw
    columns = {column: rt.quasi() for column in train.columns[:-1]}
    columns["class"] = rt.sensitive(order=[str(value) for value in range(VALUES)])
    job = rt.Job(
        columns=columns,
        promises=[rt.DeltaGrowth("0.99", "0.1")],
        method=rt.PerturbedGeneralization(**parameters),
    )
    return rt.publish(job, frame=train, seed=seed)


def measure_errors(rows: int, draws: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the error of every setting, draw, seed and split; `guess` always takes the most frequent category."""
    _, test = load_people(rows)
    settings = [(k, DEFAULT_P) for k in SIZES] + [(DEFAULT_K, p) for p in RETENTIONS if p != DEFAULT_P]
    for k, p in settings:
        for draw in draws:
            for seed in SEEDS:
                release = publish(rows, k, p, draw, seed)
                frame = release.frame()
                for split, categories in SPLITS.items():
                    tree = ReconstructingTree(release.manifest, categories).fit(frame, frame["class"])
                    number = {category: place for place, category in enumerate(categories)}
                    predicted = np.array([number[category] for category in tree.predict(test.drop("class"))])
                    truth = classify(test, split)
                    yield {
                        "split": split,
                        "k": k,
                        "p": p,
                        "method": f"draw {draw}",
                        "seed": seed,
                        "rows": len(frame),
                        "held_out": float(np.mean(predicted != truth)),
                        "guess": float(1 - np.bincount(truth).max() / len(truth)),
                    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--draws", default="one,many")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = []
    for row in measure_errors(options.rows, list_draws(options.draws)):
        print(*row.values(), flush=True)
        rows.append(row)
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "seeds.csv", "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows
        )
    write_charts(options.out / "seeds.csv", draw_charts)


if __name__ == "__main__":
    main()
