"""Table III, figures 2 and 3, and what boxes cover: classification error against k and p, for both groupings, beside the yardsticks.

A tree is learned from a release of four fifths of the rows.  `error` is over these rows, as the paper has it; `held_out` over the fifth
that no release has seen; `balanced` is the mean of the classes' errors, held out; `guess` always takes the most frequent class.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import reticent as rt
from reticent import datasets
from reticent.methods.perturbed_generalization.calibration import compute_guarantees
from reticent.utility.mining import ReconstructingTree, optimistic, pessimistic
from reticent.utility.mining.tree import encode_people

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SIZES = (2, 4, 6, 8, 10)
RETENTIONS = ("0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45")
VALUES = 50
SPLITS = {
    "2": {"a": range(25), "b": range(25, 50)},
    "3": {"a": range(25), "b": range(25, 37), "c": range(37, 50)},
    "median": {"low": range(15), "high": range(15, 50)},
}
GROUPINGS = ("mondrian", "specialization")


@cache
def people(name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(learned from, held out), the sensitive class last and named `class`."""
    table = _teachers() if name == "teachers" else datasets.load("sal").rename({"salary_class": "class"})
    held = pl.Series(np.random.default_rng(0).random(len(table)) < 0.2)
    return table.filter(~held), table.filter(held)


def _teachers() -> pl.DataFrame:
    """Wages in 50 classes of about equal size (fewer remain: ties), beside eight quasi-identifiers."""
    names = ["agep", "sex", "schl", "mar", "rac1p", "cow", "occp", "stabbr"]
    table = pl.read_parquet(SHARED / "acs_teachers_2015_2019.parquet")
    rank = table["wagp"].rank("min").to_numpy() - 1
    classes = np.minimum((rank * VALUES / len(table)).astype(np.int64), VALUES - 1)
    texts = [pl.col(column).cast(pl.String) for column in names if column not in ("agep", "schl")]
    return table.select(names).with_columns(texts).with_columns(pl.Series("class", classes))


def splits(name: str) -> dict[str, dict[str, range]]:
    return SPLITS if name == "sal" else {"median": {"low": range(25), "high": range(25, 50)}}


@cache
def release(name: str, k: int, p: str, grouping: str, split: str) -> rt.Release:
    """One release; the split matters to specialization alone, which looks at its classes."""
    train, _ = people(name)
    order = [str(value) for value in range(VALUES)]
    given = (
        {"categories": [[str(v) for v in part] for part in splits(name)[split].values()]}
        if grouping == GROUPINGS[1]
        else {}
    )
    trees = _trees(name) if grouping == GROUPINGS[1] else {}
    job = rt.Job(
        columns={column: rt.quasi(**trees.get(column, {})) for column in train.columns[:-1]}
        | {"class": rt.sensitive(order=order)},
        promises=[rt.DeltaGrowth("0.99", "0.1")],
        method=rt.PerturbedGeneralization(k=k, p=p, grouping=grouping, draw="one", **given),
    )
    return rt.publish(job, frame=train, seed=1)


def _trees(name: str) -> dict[str, dict[str, object]]:
    """Specialization goes down hierarchies: the census has some; mondrian cuts any set of categories and needs none."""
    known = datasets.hierarchies("sal") if name == "sal" else {}
    return {
        column: {"hierarchy": rows}
        for column, rows in known.items()
        if column not in ("age", "education", "salary_class")
    }


def figures_of(name: str, groupings: tuple[str, ...] = GROUPINGS) -> Iterator[dict[str, object]]:
    """Errors for every k at p = .3 and every p at k = 6, every split."""
    settings = [(k, "0.3") for k in SIZES] + [(6, p) for p in RETENTIONS if p != "0.3"]
    for split in splits(name):
        yield from yardsticks(name, split)
        for k, p in settings:
            for grouping in groupings:
                yield measured(name, split, k, p, grouping)
                if grouping == GROUPINGS[1]:
                    release.cache_clear()


def measured(name: str, split: str, k: int, p: str, grouping: str) -> dict[str, object]:
    train, test = people(name)
    found = release(name, k, p, grouping, split if grouping == GROUPINGS[1] else next(iter(splits(name))))
    frame = found.frame()
    categories = splits(name)[split]
    tree = ReconstructingTree(found.manifest, categories).fit(frame, frame["class"])
    kinds = {kind: number for number, kind in enumerate(categories)}
    sides = [np.array([kinds[one] for one in tree.predict(side.drop("class"))]) for side in (train, test)]
    return {
        "data": name,
        "split": split,
        "k": k,
        "p": p,
        "method": grouping,
        "rows": len(frame),
        **errors(name, split, *sides),
    }


def errors(name: str, split: str, inside: np.ndarray, outside: np.ndarray) -> dict[str, float]:
    truth = [classes(side, name, split) for side in people(name)]
    each = [np.mean(outside[truth[1] == c] != c) for c in np.unique(truth[1])]
    guess = 1 - np.bincount(truth[1]).max() / len(truth[1])
    return {
        "error": float(np.mean(inside != truth[0])),
        "held_out": float(np.mean(outside != truth[1])),
        "balanced": float(np.mean(each)),
        "guess": float(guess),
    }


def classes(table: pl.DataFrame, name: str, split: str) -> np.ndarray:
    of = np.zeros(VALUES, np.int64)
    for number, part in enumerate(splits(name)[split].values()):
        of[list(part)] = number
    return of[table["class"].to_numpy()]


def yardsticks(name: str, split: str, k: int = 6) -> Iterator[dict[str, object]]:
    """Optimistic and pessimistic (section VII-B) from |D| / k rows."""
    train, test = people(name)
    plain = [side.drop("class") for side in (train, test)]
    known = classes(train, name, split)
    of = dict(enumerate(classes(pl.DataFrame({"class": np.arange(VALUES)}), name, split).tolist()))
    for method, (tree, encoding) in (
        ("optimistic", optimistic(plain[0], known, k)),
        ("pessimistic", pessimistic(plain[0], known, of, k)),
    ):
        sides = [tree.predict(encode_people(side, encoding)) for side in plain]
        yield {
            "data": name,
            "split": split,
            "k": k,
            "p": "",
            "method": method,
            "rows": len(train) // k,
            **errors(name, split, *sides),
        }


def table_iii() -> Iterator[dict[str, object]]:
    """Table III: guarantees of the theorems as printed, and the tight ones, rounded up at the sixth decimal."""
    for k, p in [(k, "0.3") for k in SIZES] + [(6, p) for p in RETENTIONS]:
        found = compute_guarantees(p, k, 50, "0.1", "0.2")
        names = ("rho2_theorem2", "rho2", "delta_theorem3", "delta")
        yield {"k": k, "p": p, **{name: float(found[name]) for name in names}}


def boxes(name: str = "sal") -> Iterator[dict[str, object]]:
    """What share of each quasi-identifier's values a label covers, on average over people ("a tiny fraction" in the paper)."""
    train, _ = people(name)
    for k in SIZES:
        frame = release(name, k, "0.3", GROUPINGS[0], next(iter(splits(name)))).frame(bounds=True)
        size = frame["G"].to_numpy()
        for column in train.columns[:-1]:
            if f"{column}_lower" in frame.columns:
                wide = (
                    frame[f"{column}_upper"].cast(pl.Int64) - frame[f"{column}_lower"].cast(pl.Int64) + 1
                ).to_numpy()
                whole = int(train[column].max()) - int(train[column].min()) + 1
            else:
                listed = frame[column].str.starts_with("{").to_numpy()
                wide = np.where(listed, frame[column].str.count_matches(", ", literal=True).to_numpy() + 1, 1)
                whole = train[column].n_unique()
            yield {"data": name, "k": k, "column": column, "share": float(np.average(wide / whole, weights=size))}
