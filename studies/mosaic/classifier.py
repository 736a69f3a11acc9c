"""How well a classifier learns from groups, and what weights by its target do:  python -m studies.mosaic.classifier PROMISE VALUE

PROMISE is `beta` (on occupation) or `k`; the target is income.  Adult's rows without missing values are shuffled: 30,000 are
grouped by seven quasi-identifiers, and a logistic regression learns from them, each label as equal shares of the values it
covers; the other rows test it as they are.  Weights are what each column tells of the target: its mutual information with it,
over the greatest, times ten.  Needs ../shared/data/adult.csv (reticent data adult).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent import datasets

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.csv"
QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
TARGET = "income"
ROWS = 30_000


def people() -> tuple[pl.DataFrame, pl.DataFrame]:
    frame = pl.read_csv(ADULT, null_values=["?"]).select(*QUASI, "occupation", TARGET).drop_nulls()
    frame = frame.with_columns(pl.col(TARGET).str.strip_chars(". ")).sample(fraction=1, shuffle=True, seed=1)
    return frame[:ROWS], frame[ROWS:]


def information(frame: pl.DataFrame, column: str) -> float:
    """Mutual information with the target, in nats."""
    both = frame.group_by(column, TARGET).len()
    sums = [pl.col("len").sum().over(name).alias(f"of {name}") for name in (column, TARGET)]
    both = both.with_columns(sums)
    share = both["len"] / len(frame)
    return float((share * (both["len"] * len(frame) / (both[f"of {column}"] * both[f"of {TARGET}"])).log()).sum())


def coded(labels: pl.Series, tree: list[list[str]] | None) -> np.ndarray:
    """Each label as equal shares of the values it covers; an age as its mean and that squared."""
    if tree is None:
        ends = labels.cast(pl.String).str.extract_all(r"\d+").list
        mean = ((ends.first().cast(pl.Float64) + ends.last().cast(pl.Float64)) / 200).fill_null(0.5).to_numpy()
        return np.column_stack([mean, mean**2])
    held = np.array([[label in path for path in tree] for label in labels.to_list()], float)
    return held / held.sum(1, keepdims=True)


def features(frame: pl.DataFrame, trees: Any) -> np.ndarray:
    return np.hstack([coded(frame[name], None if name == "age" else trees[name]) for name in QUASI])


def auc(learned: tuple[pl.DataFrame, np.ndarray], unseen: pl.DataFrame, truth: np.ndarray, trees: Any) -> float:
    """`learned` is labels, a row for each group, and how many rows of it have each value of the target."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    shown = features(learned[0], trees)
    counts = learned[1]
    model = LogisticRegression(max_iter=300).fit(
        np.vstack([shown, shown]), np.repeat([0, 1], len(shown)), sample_weight=counts.T.ravel()
    )
    return float(roc_auc_score(truth, model.decision_function(features(unseen, trees))))


def main(promise: str, value: str) -> None:
    seen, unseen = people()
    known = {name: information(seen, name) for name in QUASI}
    weights = {name: max(round(10 * found / max(known.values()), 1), 0.1) for name, found in known.items()}
    trees = datasets.hierarchies("adult")
    columns = {name: rt.quasi(numeric=True) if name == "age" else rt.quasi(hierarchy=trees[name]) for name in QUASI}
    columns |= {"occupation": rt.sensitive(), TARGET: rt.sensitive()}
    promised = rt.KAnonymity(int(value)) if promise == "k" else rt.BetaLikeness(value, column="occupation")
    job = rt.Job(columns=columns, promises=[promised], method=rt.Mondrian(cuts="loss"))
    cells = rt.count(job, frame=seen)
    rich = sorted(seen[TARGET].unique())[1]
    truth = (unseen[TARGET] == rich).to_numpy()
    exact = seen.group_by(QUASI).agg(
        (pl.col(TARGET) != rich).sum().alias("no"), (pl.col(TARGET) == rich).sum().alias("yes")
    )
    print("weights", weights)
    print(
        f"as they are: AUC {auc((exact, exact.select('no', 'yes').to_numpy()), unseen, truth, trees):.4f}", flush=True
    )
    for method in (
        rt.Mondrian(cuts="loss"),
        rt.Mosaic(threads=1),
        rt.Mondrian(cuts="loss", weights=weights),
        rt.Mosaic(threads=1, weights=weights),
    ):
        plan = rt.plan(job.at(method=method), cells=cells, seed=1)
        lost = plan.loss_by_column
        said = ", ".join(f"{name} {loss:.2f}" for name, loss in lost.items())
        named = f"{method.name}{', weighted' if method.weights else ''}"
        found = auc((plan.groups, plan.histogram(TARGET)), unseen, truth, trees)
        print(f"{named}: AUC {found:.4f}, loss {sum(lost.values()) / len(lost):.4f} ({said})", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
