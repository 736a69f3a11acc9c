"""Adult as the paper uses it, the four tables of section V, and what an adversary learns from each."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent import datasets
from reticent.data.cells import Cells
from reticent.models.background_knowledge.adversary import BackgroundAdversary, BackgroundKnowledge
from reticent.models.background_knowledge.posteriors import (
    POSTERIOR_ROUNDS,
    compute_js_divergence,
    compute_scaled_posteriors,
    smooth_beliefs,
)
from reticent.models.promise import CandidateGroups
from reticent.planning import Plan

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
SMOOTHING = Fraction(3, 5)  # above .5, so that it reaches the family in a hierarchy of height 2 (errata 3.3)
PARAMETERS = {
    1: (3, 3, 0.25, 0.3),
    2: (4, 4, 0.2, 0.3),
    3: (5, 5, 0.15, 0.3),
    4: (6, 6, 0.1, 0.3),
}  # table V: k, l, t, b
METHODS = ("distinct l-diversity", "probabilistic l-diversity", "t-closeness", "(B,t)-privacy")


@cache
def people() -> pl.DataFrame:
    """The 30,162 complete training rows."""
    frame = pl.read_csv(SHARED / "adult.csv", null_values=["?"]).filter(pl.col("split") == "train").drop_nulls()
    return frame.select(*QUASI, "occupation")


def job(promises: list[Any], method: Any = None) -> rt.Job:
    trees = datasets.hierarchies("adult")
    columns = {name: rt.quasi(hierarchy=trees[name]) if name in trees else rt.quasi() for name in QUASI}
    columns["occupation"] = rt.sensitive(hierarchy=trees["occupation"])
    return rt.Job(columns=columns, promises=promises, method=method or rt.Mondrian(cuts="median", labels="sets"))


@cache
def cells(rows: int | None = None) -> Cells:
    frame = people() if rows is None else people().sample(rows, seed=1)
    return rt.count(job([rt.KAnonymity(3)]), frame=frame)


def promise(name: str, para: int, b: Any = None) -> Any:
    _, l, t, own = PARAMETERS[para]  # noqa: E741  the field's own letter
    if name == "distinct l-diversity":
        return rt.DistinctLDiversity(l)
    if name == "probabilistic l-diversity":
        return rt.ProbabilisticLDiversity(l)
    if name == "t-closeness":
        return rt.TCloseness(str(t), distance="hierarchical")
    return rt.BTPrivacy(own if b is None else b, str(t), smoothing=SMOOTHING, posterior="omega")


@cache
def planned(name: str, para: int, b: Any = None) -> Plan:
    """One of the four tables, with k-anonymity, by Mondrian with median cuts."""
    b = dict(b) if isinstance(b, tuple) else b
    return rt.plan(job([rt.KAnonymity(PARAMETERS[para][0]), promise(name, para, b)]), cells=cells(), seed=1)


@cache
def adversary(b: float) -> BackgroundAdversary:
    return BackgroundAdversary(cells(), 0, BackgroundKnowledge(Fraction(str(b)), smoothing=SMOOTHING), -1)


def learned(
    groups: CandidateGroups, known: BackgroundAdversary, posterior: str = "omega"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(risk, greatest posterior belief, people) of every point of every group, membership known."""
    offsets, point = groups.points
    after = compute_scaled_posteriors(
        known.prior[point], offsets, known.people[point], groups.histogram(0), POSTERIOR_ROUNDS[posterior]
    )
    moved = compute_js_divergence(smooth_beliefs(known.prior[point], known.smooth), smooth_beliefs(after, known.smooth))
    return moved, after.max(axis=1), known.people[point]
