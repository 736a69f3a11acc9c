"""Figures on four real tables, ours: what balanced inference costs, what a chosen bandwidth sees, what bucketization keeps.

Each is drawn for five seeds, a draw of rows each; a row of a figure has the mean, and the least and the most of the five.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import mean
from typing import Any

import reticent as rt
from reticent.errors import PromiseUnreachable
from studies.background.real_tables import READERS, SEEDS, count_cells, draw_rows, make_job, read_table

Row = dict[str, Any]
THRESHOLDS = ("0.1", "0.2", "0.3")
K = 4
QUESTION_ROWS = 2_000


def summarize(fixed: Row, runs: Iterable[Row]) -> Row:
    """Summarize runs as one row: the mean of each figure, and of the first the least and the most."""
    listed = list(runs)
    first = next(iter(listed[0]))
    values = [run[first] for run in listed]
    spread = {first: mean(values), "least": min(values), "most": max(values)}
    others = {name: mean(run[name] for run in listed) for name in listed[0] if name != first}
    return {**fixed, **spread, **others, "runs": len(listed)}


def figure_inference() -> Iterator[Row]:
    """the worst risk by exact inference where t is promised by omega or by balanced inference, b = 0.3, k = 4, 5,000 rows"""
    for name in READERS:
        for inference in ("omega", "balanced"):
            for t in THRESHOLDS:
                promise = rt.BTPrivacy("0.3", t, posterior=inference)
                runs = [run for seed in SEEDS if (run := _measure_inference(name, seed, promise))]
                if runs:
                    yield summarize({"t": float(t), "method": f"{name}, {inference}"}, runs)


def _measure_inference(name: str, seed: int, promise: rt.BTPrivacy) -> Row:
    try:
        planned = rt.plan(_make_plan_job(name, promise), cells=count_cells(name, seed), seed=1)
    except PromiseUnreachable:
        return {}
    exact = rt.attack(planned, name="background", posterior="exact").to_dict()
    return {
        "worst exact risk": exact["worst_risk"],
        "people above t": exact["vulnerable"],
        "exact share": exact["exact_share"],
        "loss": planned.loss,
        "groups": len(planned.sizes),
        "CPU s": planned.seconds,
    }


def figure_auto() -> Iterator[Row]:
    """the risk that is left to the best predictor where t is held against bandwidth 0.3 or against that predictor, k = 4, 5,000 rows"""
    for name in READERS:
        for bandwidth in ("0.3", "auto"):
            for t in THRESHOLDS:
                promise = rt.BTPrivacy(bandwidth, t)
                runs = [run for seed in SEEDS if (run := _measure_chosen(name, seed, promise))]
                if runs:
                    yield summarize({"t": float(t), "method": f"{name}, {bandwidth}"}, runs)


def _measure_chosen(name: str, seed: int, promise: rt.BTPrivacy) -> Row:
    cells = count_cells(name, seed)
    try:
        planned = rt.plan(_make_plan_job(name, promise), cells=cells, seed=1)
    except PromiseUnreachable:
        return {}
    predictor = rt.BTPrivacy("auto", promise.t)
    choice = predictor.choose_bandwidths(cells)
    chosen = dict(choice.bandwidths)
    found = rt.attack(planned, name="background", bandwidth=chosen, t=promise.t, posterior="balanced").to_dict()
    return {
        "risk by the best predictor": found["worst_risk"],
        "people above t": found["vulnerable"],
        "loss": planned.loss,
        "groups": len(planned.sizes),
        "bits of a held-out person": -choice.bits,
        "bits without knowledge": -choice.bits_without,
    }


def figure_bucketized() -> Iterator[Row]:
    """median relative error of count questions by (B,t) releases, generalized and bucketized, b = 0.3, 2,000 rows"""
    for name in READERS:
        for method in ("mondrian", "anatomy"):
            for t in THRESHOLDS:
                promise = rt.BTPrivacy("0.3", t)
                runs = [run for seed in SEEDS if (run := _measure_questions(name, seed, promise, method))]
                if runs:
                    yield summarize({"t": float(t), "method": f"{name}, {method}"}, runs)


def _measure_questions(name: str, seed: int, promise: rt.BTPrivacy, method: str) -> Row:
    frame, columns = draw_rows(name, seed, QUESTION_ROWS)
    job = make_job(
        columns, [promise, rt.ProbabilisticLDiversity(2)], rt.Mondrian() if method == "mondrian" else rt.Anatomy()
    )
    compared = rt.compare(job, frame=frame, methods=[method], runs=1, seed=seed, attacks=[], classification=False)
    (row,) = [row for row in compared.rows if row["name"] == method]
    if not row["reached"]:
        return {}
    return {"median count error": row["count_error"]["value"], "mean": row["count_error_mean"]["value"]}


def _make_plan_job(name: str, promise: rt.BTPrivacy) -> rt.Job:
    return make_job(read_table(name)[1], [rt.KAnonymity(K), promise])


FIGURES = {"inference": figure_inference, "auto": figure_auto, "bucketized": figure_bucketized}
