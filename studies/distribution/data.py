"""The tables of section 6: Adult's people with a capital loss, and synthetic ones with the same schema."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
LEAST = 1024
MOST = 3072
STEP = 16
AGES = (17, 79)
ROWS = 10_000


def adult() -> pl.DataFrame:
    """The training split, complete rows with a capital loss: 1,427 people, 89 values, up to 4,356 (errata 4.8)."""
    frame = pl.read_csv(SHARED / "adult.csv", null_values=["?"]).filter(pl.col("split") == "train").drop_nulls()
    frame = frame.rename({name: name.replace("-", "_") for name in frame.columns})
    return frame.filter(pl.col("capital_loss") > 0).select("age", loss="capital_loss")


def grid(values: np.ndarray) -> np.ndarray:
    """On the grid of the domain, whose values the paper does not give: every 16th of 1024 .. 3072."""
    return (np.clip(np.rint((values - LEAST) / STEP), 0, (MOST - LEAST) // STEP) * STEP + LEAST).astype(np.int64)


def ages(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.integers(AGES[0], AGES[1] + 1, rows)


def uncorrelated(rows: int = ROWS, seed: int = 1) -> pl.DataFrame:
    """Normal losses whatever the age."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": ages(rng, rows), "loss": grid(rng.normal((LEAST + MOST) / 2, 250, rows))})


def correlated(rows: int = ROWS, seed: int = 1) -> pl.DataFrame:
    """Normal losses whose mean rises with age."""
    rng = np.random.default_rng(seed)
    age = ages(rng, rows)
    mean = LEAST + 200 + (age - AGES[0]) / (AGES[1] - AGES[0]) * (MOST - LEAST - 400)
    return pl.DataFrame({"age": age, "loss": grid(rng.normal(mean, 150))})


def uniform(rows: int = ROWS, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": ages(rng, rows), "loss": grid(rng.uniform(LEAST, MOST, rows))})


def zipf(s: float, *, by_age: bool = False, rows: int = ROWS, seed: int = 1) -> pl.DataFrame:
    """Zipf's law over the order of the domain; `by_age`: the older, the greater, up to some noise."""
    rng = np.random.default_rng(seed)
    domain = np.arange(LEAST, MOST + 1, STEP)
    share = np.arange(1, len(domain) + 1) ** -s
    loss = rng.choice(domain, rows, p=share / share.sum())
    age = ages(rng, rows)
    if by_age:
        rank = np.argsort(np.argsort(loss + rng.normal(0, 100, rows), kind="stable"), kind="stable")
        age = np.sort(age)[rank]
    return pl.DataFrame({"age": age, "loss": loss})
