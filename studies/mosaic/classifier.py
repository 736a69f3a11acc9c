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
TARGET, ROWS = "income", 30_000


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


def features(domains: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Each label as equal shares of the values it covers; an age as its mean and that squared."""
    parts = []
    for at, domain in enumerate(domains):
        codes = np.arange(domain.size)
        held = (codes >= low[:, [at]]) & (codes <= high[:, [at]])
        shares = held / held.sum(1, keepdims=True)
        mean = shares @ codes / domain.size
        parts.append(np.column_stack([mean, mean**2]) if domain.name == "age" else shares)
    return np.hstack(parts)


def grouped(plan: Any, target: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high) codes that the labels of each part of a group cover, its target, and its rows."""
    recipe = plan.recipe
    codes, groups = recipe.cells.codes[recipe.cell], int(recipe.group.max()) + 1
    low, high = np.full((groups, codes.shape[1]), 1 << 30), np.full((groups, codes.shape[1]), -1)
    np.minimum.at(low, recipe.group, codes)
    np.maximum.at(high, recipe.group, codes)
    for at, domain in enumerate(recipe.cells.quasi):
        ends = domain.covered(low[:, at], high[:, at])
        low[:, at], high[:, at] = (np.clip(end, 0, domain.size - 1) for end in ends)
    return low[recipe.group], high[recipe.group], recipe.cells.values[recipe.cell, target], recipe.quota


def auc(domains: Any, learned: tuple[np.ndarray, ...], tested: np.ndarray, truth: np.ndarray) -> float:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    low, high, target, rows = learned
    parts, of = np.unique(np.column_stack([low, high, target]), axis=0, return_inverse=True)
    width = low.shape[1]
    model = LogisticRegression(max_iter=300).fit(
        features(domains, parts[:, :width], parts[:, width : 2 * width]), parts[:, -1],
        sample_weight=np.bincount(of.ravel(), weights=rows),
    )  # fmt: skip
    return float(roc_auc_score(truth, model.decision_function(features(domains, tested, tested))))


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
    domains, target = cells.quasi, cells.sensitive_at(TARGET)
    code = [{text: at for at, text in enumerate(domain.texts)} for domain in domains]
    tested = np.column_stack(
        [[code[at].get(str(value), 0) for value in unseen[domain.name]] for at, domain in enumerate(domains)]
    )
    truth = (unseen[TARGET] == cells.sensitive[target].texts[1]).to_numpy()
    print("weights", weights)
    print(
        f"as they are: AUC {auc(domains, (cells.codes, cells.codes, cells.values[:, target], cells.counts), tested, truth):.4f}"
    )
    for method in (rt.Mondrian(cuts="loss"), rt.Mosaic(threads=1), rt.Mondrian(cuts="loss", weights=weights),
                   rt.Mosaic(threads=1, weights=weights)):  # fmt: skip
        plan = rt.plan(job.at(method=method), cells=cells, seed=1)
        lost = plan.loss_by_column
        said = ", ".join(f"{name} {loss:.2f}" for name, loss in lost.items())
        named = f"{method.name}{', weighted' if method.weights else ''}"
        found = auc(domains, grouped(plan, target), tested, truth)
        print(f"{named}: AUC {found:.4f}, loss {sum(lost.values()) / len(lost):.4f} ({said})", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
