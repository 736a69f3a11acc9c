"""Releases drawn again and again from one table: values redrawn by a published matrix, or one person of each group drawn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl

import reticent as rt

PAYS = [10, 20, 30, 40, 50]


def people(rows: int = 600, *, uneven: bool = False) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age = rng.integers(20, 60, rows) if not uneven else 20 + (rng.random(rows) ** 3 * 40).astype(int)
    shares = np.array([[0.4, 0.3, 0.1, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3]])[(age > 40).astype(int)]
    pay = [PAYS[rng.choice(5, p=p)] for p in shares]
    return pl.DataFrame({"age": age, "town": rng.choice(["a", "b", "c"], rows), "pay": pay})


COLUMNS = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "pay": rt.sensitive(type="numeric")}


def perturbed(frame: pl.DataFrame):
    """A release's manifest, and a way to redraw its table."""
    made = rt.publish(
        rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(3)], method=rt.BetaPerturbation()), frame=frame, seed=1
    )
    values = [int(text) for text in made.manifest.own["values"]]
    matrix = np.array([[float(Fraction(str(p))) for p in row] for row in made.manifest.own["matrix"]])
    until = np.cumsum(matrix, axis=1)
    place = np.array([values.index(value) for value in frame["pay"]])

    def draw(rng):
        shown = (rng.random(len(place))[:, None] > until[place]).sum(axis=1).clip(0, len(values) - 1)
        return {"data": frame.with_columns(pl.Series("pay", np.array(values)[shown]))}

    return made.manifest, draw


def sampled(frame: pl.DataFrame, p: float = 0.5, k: int = 6):
    """Groups of neighbours in age within a town; one person of each is drawn, and their value kept with probability p."""
    job = rt.Job(
        columns=COLUMNS,
        promises=[rt.DeltaGrowth("0.9", "0.6")],
        method=rt.PerturbedGeneralization(k=4, p=str(p), domain=PAYS, draw="one"),
    )
    manifest = rt.publish(job, frame=frame, seed=1).manifest
    rows = frame.sort("town", "age")
    place = pl.int_range(pl.len()).over("town")
    size = pl.len().over("town")
    rows = rows.with_columns(part=pl.min_horizontal(place // k, size // k - 1))
    group = rows.select(pl.struct("town", "part").rle_id()).to_series().to_numpy()
    rows = rows.with_columns(pl.Series("group", group))
    labels = rows.group_by("group", maintain_order=True).agg(
        low=pl.col("age").min(), high=pl.col("age").max(), town=pl.col("town").first(), G=pl.len()
    )
    shown = labels.select(
        pl.when(pl.col("low") == pl.col("high"))
        .then(pl.col("low").cast(pl.String))
        .otherwise(pl.format("[{}, {}]", "low", "high"))
        .alias("age"),
        "town",
        pl.col("G").cast(pl.Int64),
    )
    pay = rows["pay"].to_numpy()
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    size = labels["G"].to_numpy()

    def draw(rng):
        one = pay[starts + (rng.random(len(size)) * size).astype(int)]
        kept = rng.random(len(size)) < p
        value = np.where(kept, one, np.array(PAYS)[rng.integers(0, len(PAYS), len(size))])
        return {"data": shown.with_columns(pl.Series("pay", value)).select("age", "town", "pay", "G")}

    return manifest, draw
