"""Where advice from small samples of real tables is what the study of the whole tables ranks first.

These cases were chosen after the study, which also has cases in which a sample names another method and says that it may be overtaken:
they keep what works from breaking, and are no evidence that a sample suffices.
"""

from __future__ import annotations

import csv

import pytest

import reticent as rt
from studies.choosing.run import PROMISES, RESULTS, table


@pytest.mark.parametrize(
    ("name", "promised"), [("adult", "probabilistic l-diversity 4"), ("teachers", "probabilistic l-diversity 4")]
)
@pytest.mark.parametrize("purpose", ["counts"])
def test_advice_from_a_small_sample_is_that_of_the_full_comparison(data, name, promised, purpose):
    if not (RESULTS / f"advice-{name}.csv").is_file():
        pytest.skip(f"the full run on {name} is not written down: python -m studies.choosing.run {name}")
    frame, columns = table(name)
    job = rt.Job(columns=columns, promises=[PROMISES[promised]], release=rt.Output(undeclared="drop"))
    methods = ["mondrian", "mosaic", "beta-perturbation", "anatomy"]
    advice = rt.advise(job, frame=frame, purpose=purpose, methods=methods, rows=1_500, runs=1)
    written = RESULTS / f"advice-{name}.csv"
    with written.open(newline="", encoding="utf-8") as file:
        full = next(
            row["full"] for row in csv.DictReader(file) if (row["promise"], row["purpose"]) == (promised, purpose)
        )
    assert advice.best["name"] == full
