"""Two columns of ranges: the density of both together beside that of each alone, by the same prior and without known ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

PAIRS = (
    ("adult", "age", "hours-per-week"),
    ("adult", "age", "education-num"),
    ("teachers", "agep", "schl"),
    ("time use", "age", "weekly_earn"),
)
STEPS = 60
QUESTIONS = 60


def measure_joint(seeds: Iterable[int], publish: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """The median error of counts over rectangles, by how rows are spread within their boxes."""
    for name, *columns in PAIRS:
        for method in ("mondrian", "mosaic", "burel"):
            for seed in seeds:
                release, frame = publish(name, method, seed)
                boxes = release.frame(bounds=True)
                first, last = (
                    [boxes[f"{column}_{side}"].cast(pl.Int64).to_numpy() for column in columns]
                    for side in ("lower", "upper")
                )
                fitted = {
                    "even": None,
                    "each alone": [fit([first[at]], [last[at]]) for at in (0, 1)],
                    "both together": [fit(first, last)],
                }
                rng = np.random.default_rng(seed)
                errors: dict[str, list[float]] = {way: [] for way in (*fitted, "as answered")}
                while len(errors["even"]) < QUESTIONS:
                    ends = [
                        sorted(int(value) for value in rng.choice(frame[column].to_numpy(), 2)) for column in columns
                    ]
                    chosen = [pl.col(column).is_between(*pair) for column, pair in zip(columns, ends, strict=True)]
                    true = frame.filter(pl.all_horizontal(chosen)).height
                    if true < len(frame) / 400:
                        continue
                    for way, densities in fitted.items():
                        errors[way].append(abs(count(first, last, ends, densities) - true) / true)
                    where = " AND ".join(f'"{c}" BETWEEN {a} AND {b}' for c, (a, b) in zip(columns, ends, strict=True))
                    answer = release.query(f"SELECT COUNT(*) FROM release WHERE {where}")
                    errors["as answered"].append(abs(answer.estimate - true) / true)
                for way, of_way in errors.items():
                    yield {
                        "table": name,
                        "columns": " and ".join(columns),
                        "method": method,
                        "seed": seed,
                        "density": way,
                        "median_error": float(np.median(of_way)),
                    }
            print(name, *columns, method, flush=True)


Fitted = tuple[list[np.ndarray], np.ndarray]  # the breaks of each axis, and the mass of each cell


def fit(first: list[np.ndarray], last: list[np.ndarray]) -> Fitted:
    """Turnbull's estimate over boxes of one or two columns; half of the mass is that of boxes spread evenly."""
    breaks = [np.unique(np.concatenate([low, high + 1])) for low, high in zip(first, last, strict=True)]
    start, stop = cells_of(breaks, first, last)
    mass = np.ones([len(of_axis) - 1 for of_axis in breaks])
    for axis, of_axis in enumerate(breaks):
        mass = mass * np.diff(of_axis).reshape([-1 if axis == other else 1 for other in range(mass.ndim)])
    mass = mass / mass.sum()
    prior = None
    for _ in range(STEPS):
        mass = mass * scatter(start, stop, 1 / box_sums(mass, start, stop), mass.shape) / len(first[0])
        prior = mass if prior is None else prior
        mass = mass / 2 + prior / 2
    return breaks, mass


def count(
    first: list[np.ndarray], last: list[np.ndarray], ends: list[list[int]], densities: list[Fitted] | None
) -> float:
    """How many rows are expected between the ends of each column."""
    if densities is None:
        share = np.ones(len(first[0]))
        for low, high, (least, most) in zip(first, last, ends, strict=True):
            share = share * np.maximum(np.minimum(high, most) - np.maximum(low, least) + 1, 0) / (high - low + 1)
        return float(share.sum())
    share = np.ones(len(first[0]))
    axes = [[0], [1]] if len(densities) == 2 else [[0, 1]]
    for (breaks, mass), columns in zip(densities, axes, strict=True):
        start, stop = cells_of(breaks, [first[at] for at in columns], [last[at] for at in columns])
        chosen = mass
        for axis, at in enumerate(columns):
            inside = np.minimum(breaks[axis][1:], ends[at][1] + 1) - np.maximum(breaks[axis][:-1], ends[at][0])
            part = np.maximum(inside, 0) / np.diff(breaks[axis])
            chosen = chosen * part.reshape([-1 if axis == other else 1 for other in range(mass.ndim)])
        share = share * box_sums(chosen, start, stop) / box_sums(mass, start, stop)
    return float(share.sum())


def cells_of(
    breaks: list[np.ndarray], first: list[np.ndarray], last: list[np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    start = [np.searchsorted(of_axis, low) for of_axis, low in zip(breaks, first, strict=True)]
    stop = [np.searchsorted(of_axis, high + 1) for of_axis, high in zip(breaks, last, strict=True)]
    return start, stop


def box_sums(mass: np.ndarray, start: list[np.ndarray], stop: list[np.ndarray]) -> np.ndarray:
    """The mass within each box, from sums over all cells before a corner."""
    before = np.pad(mass, [(1, 0)] * mass.ndim)
    for axis in range(mass.ndim):
        before = before.cumsum(axis=axis)
    if mass.ndim == 1:
        return before[stop[0]] - before[start[0]]
    both = before[stop[0], stop[1]] + before[start[0], start[1]]
    return both - before[start[0], stop[1]] - before[stop[0], start[1]]


def scatter(start: list[np.ndarray], stop: list[np.ndarray], amount: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The amounts of boxes added up in every cell that they cover."""
    steps = np.zeros([size + 1 for size in shape])
    corners = [((start[0],), 1), ((stop[0],), -1)]
    if len(shape) == 2:
        corners = [
            ((*place, side), sign * turn) for place, sign in corners for side, turn in ((start[1], 1), (stop[1], -1))
        ]
    for place, sign in corners:
        np.add.at(steps, place, sign * amount)
    for axis in range(len(shape)):
        steps = steps.cumsum(axis=axis)
    return steps[tuple(slice(size) for size in shape)]
