"""err = (u - l) / r of AVG(loss) over random age ranges (section 6), from the tables of a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

import reticent as rt

QUERIES = 100


def publish(
    frame: pl.DataFrame, target: Any = "source", *, exact: bool = False, domain: Any = None, seed: int = 1, **how: Any
) -> rt.Release:
    columns = {"age": rt.quasi(), "loss": rt.sensitive()}
    promise = rt.PPrivacy(target, exact=exact, domain=domain)
    return rt.publish(
        rt.Job(columns=columns, promises=[promise], method=rt.Distribution(**how)), frame=frame, seed=seed
    )


def errors(release: rt.Release, frame: pl.DataFrame, ranges: Sequence[int], seed: int = 1) -> dict[int, float]:
    """The mean error of each range over 100 random places; ranges that select nobody are drawn again."""
    quasi = release.tables["quasi"]
    bounds = release.tables["bounds"]
    low = int(frame["age"].min())
    high = int(frame["age"].max())
    groups = int(quasi["group"].max()) + 1
    people = np.zeros((groups, high - low + 1), np.int64)
    np.add.at(people, (quasi["group"].to_numpy(), quasi["age"].to_numpy() - low), 1)
    until = np.pad(np.cumsum(people, axis=1), ((0, 0), (1, 0)))
    age = frame["age"].to_numpy() - low
    loss = frame["loss"].to_numpy()
    rng = np.random.default_rng(6 + seed)
    found = {}
    for width in ranges:
        each: list[float] = []
        while len(each) < QUERIES:
            first = int(rng.integers(0, max(high - low - width, 0) + 1))
            chosen = (age >= first) & (age <= first + width)
            if chosen.any():
                met = until[:, min(first + width + 1, high - low + 1)] - until[:, first]
                lower, upper = _sums(bounds, met)
                each.append(float((upper - lower) / loss[chosen].sum()))
        found[width] = float(np.mean(each))
    return found


def _sums(bounds: pl.DataFrame, met: np.ndarray) -> tuple[int, int]:
    group, selected = (bounds[name].to_numpy().astype(np.int64) for name in ("group", "selected"))
    wide = int(selected.max()) + 1
    at = np.flatnonzero(met)
    place = np.searchsorted(group * wide + selected, at * wide + met[at])
    short = selected[place] - met[at]
    lower = bounds["sum_lower"].to_numpy()[place] - short * bounds["max_lower"].to_numpy()[place]
    upper = bounds["sum_upper"].to_numpy()[place] - short * bounds["min_upper"].to_numpy()[place]
    return int(lower.sum()), int(upper.sum())


def naive(frame: pl.DataFrame, ranges: Sequence[int]) -> dict[int, float]:
    """Values redrawn from the target (section 1): every person may have any value, and only the trivial bounds hold."""
    spread = int(frame["loss"].max()) - int(frame["loss"].min())
    mean = float(frame["loss"].mean())
    return dict.fromkeys(ranges, spread / mean)
