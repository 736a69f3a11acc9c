"""A table and a job that comparisons and advice are tried on."""

from __future__ import annotations

import reticent as rt

PEOPLE = rt.datasets.load("census", rows=900, seed=2)


COLUMNS = {"age": rt.quasi(), "education": rt.quasi(), "salary_class": rt.sensitive(type="numeric")}


def job(**changes) -> rt.Job:
    return rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(4)], release=rt.Output(undeclared="drop")).at(**changes)
