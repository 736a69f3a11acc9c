"""A table whose illnesses follow age, and a release of it: what tests of attacks share."""

from __future__ import annotations

import numpy as np
import polars as pl

import reticent as rt
from reticent.methods.burel import Burel
from reticent.models.beta_likeness import BetaLikeness

ILLS = [["flu", "lung", "*"], ["cold", "lung", "*"], ["gout", "joint", "*"], ["ache", "joint", "*"]]


COLUMNS = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "illness": rt.sensitive(hierarchy=ILLS)}


def people(rows: int = 600, tied: float = 0.7) -> pl.DataFrame:
    """The older, the more joints: `tied` of the people follow their age."""
    rng = np.random.default_rng(4)
    age = rng.integers(20, 60, rows)
    by_age = np.array(["flu", "cold", "gout", "ache"])[(age - 20) // 10]
    anyhow = rng.choice(["flu", "cold", "gout", "ache"], rows, p=[0.4, 0.3, 0.2, 0.1])
    return pl.DataFrame(
        {"age": age, "town": rng.choice(["a", "b"], rows), "illness": np.where(rng.random(rows) < tied, by_age, anyhow)}
    )


def published(frame: pl.DataFrame, beta: object = 2) -> rt.Release:
    return rt.publish(rt.Job(columns=COLUMNS, promises=[BetaLikeness(beta)], method=Burel()), frame=frame, seed=1)
