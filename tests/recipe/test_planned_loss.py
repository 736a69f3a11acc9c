"""What the owner is told of wider labels: the release's own loss, and that of the same groups under tight labels."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

import reticent as rt
from reticent.planning import _resolve_columns
from reticent.recipe.group_labels import build_group_labels
from reticent.recipe.planned_loss import measure_recipe_loss
from tests.support.loss_jobs import draw_table

PADDED = {"style": "padded", "width": 60, "share": 0.5}


@pytest.mark.parametrize("options", [{"labels": "snapped"}, {"labels": PADDED}], ids=["snapped", "padded"])
@pytest.mark.parametrize("withheld", [0, 0.1], ids=["all", "withheld"])
def test_the_notice_has_the_loss_of_the_release_and_that_of_tight_labels(options, withheld):
    frame = draw_table(random.Random(3), 300)
    job = rt.Job(
        columns={"wage": rt.quasi(**options), "age": rt.quasi(**options), "s": rt.sensitive()},
        promises=[rt.KAnonymity(5)],
        release=rt.Output(undeclared="drop", suppress_at_most=withheld),
    )
    release = rt.publish(job, frame=frame, seed=1)
    notice = next(line for line in release.notices if "wider than their groups" in line)
    printed, tight = map(float, re.findall(r"0\.\d{4}", notice))
    assert printed == round(release.audited.utility["ail"], 4)
    recipe = rt.plan(job, frame=frame, seed=1).recipe
    cells = replace(recipe.cells, quasi=tuple(domain.tight for domain in recipe.cells.quasi))
    same_groups = replace(recipe, cells=cells, padded={})
    labels = build_group_labels(same_groups)
    measured = measure_recipe_loss(same_groups, labels, _resolve_columns(job, cells))
    assert tight == round(measured.ail, 4)
