"""A privacy researcher measures: groups without publishing, every measure of the audit, adversaries and query errors.

Run it anywhere:  python examples/privacy_researcher.py

Nothing is written.  `rt.count` counts a table into cells once; plans of several methods are then made on the same cells.  At the end
two methods stand beside what needs none.
"""

from __future__ import annotations

import numpy as np
import polars as pl

import reticent as rt


def main() -> pl.DataFrame:
    people = rt.datasets.load("census", rows=2_000, seed=5)
    job = rt.Job(
        columns={"age": rt.quasi(), "education": rt.quasi(), "gender": rt.quasi(), "salary_class": rt.sensitive()},
        promises=[rt.BetaLikeness(4)],
        release=rt.Output(undeclared="drop"),
    )
    cells = rt.count(job, frame=people)
    workload = rt.Workload.draw(cells, predicates=2, selectivity=0.1, queries=500, rng=np.random.default_rng(1))
    true = workload.exact(cells)

    rows = []
    for method in (rt.Mondrian(), rt.Mondrian(cuts="median"), rt.Burel(), rt.Mosaic(effort="quick")):
        planned = rt.plan(job.at(method=method), cells=cells, seed=1)
        measured = rt.measure(planned)
        attacked = rt.attack(planned, name="naive-bayes")
        rows.append(
            {
                "method": f"{method.name} {getattr(method, 'cuts', '')}".strip(),
                "loss": planned.loss,
                "beta": measured["beta-likeness-enhanced"],
                "t": measured["t-closeness-equal"],
                "query error": workload.median_error(workload.generalized(planned.boxes), true),
                "guessed": attacked.success,
                "baseline": attacked.baseline,
                "CPU s": planned.seconds,
            }
        )
    found = pl.DataFrame(rows)
    with pl.Config(tbl_cols=20, float_precision=3):
        print(found)
    beside_what_needs_no_method(job, people)
    return found


def beside_what_needs_no_method(job: rt.Job, people: pl.DataFrame) -> None:
    """Is a method worth its trouble?  Candidates beside tables that anybody could publish (Brickell & Shmatikov 2008)."""
    compared = rt.compare(
        job,
        frame=people,
        methods=["mondrian", "beta-perturbation"],
        attacks=["naive-bayes", "matrix"],
        classification=False,
    )
    shown = compared.frame().select("name", "count_error", "average_error", "row_loss", "attack_gain")
    with pl.Config(tbl_cols=20, tbl_rows=20, float_precision=3):
        print(shown)


if __name__ == "__main__":
    main()
