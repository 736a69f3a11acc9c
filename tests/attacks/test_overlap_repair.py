"""A repair for overlapping boxes: what it would take, and that it costs loss."""

from __future__ import annotations

import reticent as rt
from reticent import datasets
from reticent.attacks.overlap import attack_by_overlap
from tests.attacks.overlap_repair import repaired


def test_a_repair_takes_every_counted_table_below_the_promise_and_costs_loss():
    names = ("age", "gender", "education", "marital_status", "work_class")
    columns = {name: rt.quasi() for name in names} | {"salary_class": rt.sensitive()}
    promise = rt.ProbabilisticLDiversity(2)
    few = datasets.load("census", rows=500).select(list(columns))
    cells = rt.count(rt.Job(columns=columns, promises=[promise]), frame=few)
    made = rt.plan(rt.Job(columns=columns, promises=[promise], method=rt.Mosaic(effort="quick")), cells=cells, seed=1)
    before = attack_by_overlap(made.to_attack_target())
    mended, rounds = repaired(made)
    assert before.details["tables_exceeds"] > 0 and rounds > 0 and mended.loss > made.loss
    after = attack_by_overlap(mended.to_attack_target())
    assert after.details["tables_exceeds"] == 0 and after.details["worst_group"] <= 0.5
    assert int(mended.sizes.sum()) == 500
