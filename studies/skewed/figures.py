"""Figures 4 to 8 of the paper, its linear distributions, and the posterior that the eligibility attack reaches.  Each yields rows with a `method`.

The suppression rate is |T_S| / |T|; that of a randomized method is its exact mean, where the paper averages 100 runs.  A sample
that is eligible has the rate 0.  Where samples are drawn, five seeds draw as many each.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import reticent as rt
from studies.seeds import SEEDS

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
NAMES = {"unsafe": "unsafe D", "safe": "safe D", "randomized": "R-suppression", "calibrated": "calibrated (ours)"}
COLUMNS = ("occupation", "education", "workclass", "marital-status", "relationship", "race", "native-country", "sex")
RATE = "withheld records, share of all"
SAMPLES = 100
SHARES = (0.0025, 0.005, 0.01, 0.02, 0.04)
LEVELS = (3, 4, 5, 6, 7)
Row = dict[str, object]


def occupations() -> np.ndarray:
    """Adult without rows that miss a value, the training split: 30,162 people in 14 occupations, as numbers."""
    frame = pl.read_csv(SHARED / "adult.csv", null_values=["?"]).filter(pl.col("split") == "train").drop_nulls()
    return frame["occupation"].cast(pl.Categorical).to_physical().to_numpy()


def zipf(alpha: float, values: int = 20, scale: int = 1000) -> np.ndarray:
    """F_i = scale / i^alpha, to the nearest whole number, at least 1."""
    return np.maximum(np.rint(scale / np.arange(1, values + 1) ** alpha), 1).astype(np.int64)


def sampled_counts(share: float, seed: int) -> Iterator[np.ndarray]:
    """The falling counts of each of the samples, without replacement."""
    people = occupations()
    rng = np.random.default_rng([seed - 1, round(share * 1e6)])
    for _ in range(SAMPLES):
        counts = np.bincount(rng.choice(people, round(share * len(people)), replace=False))
        yield -np.sort(-counts[counts > 0])


def violated(counts: np.ndarray, l: int) -> bool:
    """Whether some value is held by more than one in l."""
    return bool(l * counts.max() > counts.sum())


def suppression(kind: str, l: int) -> rt.Suppression:
    return rt.Suppression(l=l, kind=kind, acknowledge=True if kind in ("eligible", "unsafe") else None)


def linear(slope: float, values: int = 20, scale: int = 1000) -> np.ndarray:
    """F_i = scale (1 - slope (i - 1)), to the nearest whole number, at least 1."""
    return np.maximum(np.rint(scale * (1 - slope * np.arange(values))), 1).astype(np.int64)


def figure_4() -> Iterator[Row]:
    """share of Adult's people with each value of a column, values by their rank"""
    frame = pl.read_csv(SHARED / "adult.csv", null_values=["?"]).filter(pl.col("split") == "train").drop_nulls()
    for column in COLUMNS:
        counts = frame[column].value_counts(sort=True)["count"].to_list()
        for rank, count in enumerate(counts, start=1):
            yield {
                "rank": rank,
                "method": column,
                "share": count / len(frame),
                "people": count,
                "values": len(counts),
                "greatest l": len(frame) // counts[0],
            }


def linear_slope() -> Iterator[Row]:
    """suppression rate by slope, linear counts, l = 5"""
    for slope in (0.02, 0.04, 0.05, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3):
        for name, rate in rates([linear(slope)], 5):
            yield {"slope": slope, "method": name, "rate": rate}


def linear_l() -> Iterator[Row]:
    """suppression rate by l, linear counts (slope 0.1), and whether Zipf's counts of as many values violate l-eligibility"""
    for l in range(3, 11):
        for name, rate in rates([linear(0.1)], l):
            yield {"l": l, "method": name, "rate": rate, "Zipf violates": int(violated(zipf(1.0), l))}


def figure_5() -> Iterator[Row]:
    """samples of Adult that violate l-eligibility, of 100"""
    for share, seed in product(SHARES, SEEDS):
        drawn = list(sampled_counts(share, seed))
        for l in LEVELS:
            yield {
                "sample %": 100 * share,
                "method": f"l = {l}",
                "seed": seed,
                "violations": sum(violated(counts, l) for counts in drawn),
            }


def rates(drawn: list[np.ndarray], l: int) -> Iterator[tuple[str, float]]:
    """The mean suppression rate of every method over samples."""
    open_ = [counts for counts in drawn if violated(counts, l) and len(counts) >= l]
    for kind, name in NAMES.items():
        yield name, sum(suppression(kind, l).expected(counts) / counts.sum() for counts in open_) / len(drawn)
    yield "suppress all", sum(violated(counts, l) for counts in drawn) / len(drawn)


def figure_6() -> Iterator[Row]:
    """suppression rate by sample size, Adult, l = 6"""
    for share, seed in product(SHARES, SEEDS):
        for name, rate in rates(list(sampled_counts(share, seed)), 6):
            yield {"sample %": 100 * share, "method": name, "seed": seed, "rate": rate}


def figure_7() -> Iterator[Row]:
    """suppression rate by l, Adult, samples of 0.5 %"""
    for seed in SEEDS:
        drawn = list(sampled_counts(0.005, seed))
        for l in LEVELS:
            for name, rate in rates(drawn, l):
                yield {"l": l, "method": name, "seed": seed, "rate": rate}


def figure_8a() -> Iterator[Row]:
    """suppression rate by alpha, Zipf, l = 5"""
    for alpha in (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0):
        for name, rate in rates([zipf(alpha)], 5):
            yield {"alpha": alpha, "method": name, "rate": rate}


def figure_8b() -> Iterator[Row]:
    """suppression rate by l, Zipf, alpha = 1"""
    for l in range(3, 11):
        for name, rate in rates([zipf(1.0)], l):
            yield {"l": l, "method": name, "rate": rate}


def posterior_small() -> Iterator[Row]:
    """worst posterior over all releases of 24 records in 6 values, exactly, uniform prior"""
    for l in range(2, 7):
        found = rt.calibrate("suppression", rows=24, values=6, l=l)
        for kind, name in NAMES.items():
            yield {
                "l": l,
                "method": name,
                "posterior": found[kind]["worst_posterior"],
                "withheld posterior": found[kind]["worst_withheld_posterior"],
                "bound": 1 / l,
            }
        yield {"l": l, "method": "1 / l", "posterior": 1 / l, "withheld posterior": 1 / l, "bound": 1 / l}


def posterior_priors() -> Iterator[Row]:
    """worst posterior over all releases of 18 records in 5 values, l = 3, by prior (1 uniform, 2 shapes, 3 records, 4 plausible)"""
    for at, prior in enumerate(("uniform", "shapes", "records", "plausible"), start=1):
        found = rt.calibrate("suppression", rows=18, values=5, l=3, prior=prior)
        for kind, name in NAMES.items():
            yield {"prior": at, "method": name, "posterior": found[kind]["worst_posterior"], "bound": 1 / 3}


def posterior_zipf() -> Iterator[Row]:
    """worst posterior over all releases of Zipf counts, alpha = 1, uniform prior, exactly"""
    for l in range(4, 11):
        attacked = rt.calibrate("suppression", counts=zipf(1.0).tolist(), l=l)
        for kind, name in NAMES.items():
            found = attacked[kind]
            (low, high), (withheld_low, withheld_high) = ends(found), withheld_ends(found)
            yield {
                "l": l,
                "method": name,
                "posterior": found["worst_posterior"],
                "low": low,
                "high": high,
                "how": found["how"],
                "mean": found.get("mean_posterior", ""),
                "releases": found["releases"],
                "attacked": found["attacked"],
                "bound": 1 / l,
                "withheld low": withheld_low,
                "withheld high": withheld_high,
                "withheld how": found["withheld_how"],
            }
        yield {"l": l, "method": "1 / l", "posterior": 1 / l, "low": 1 / l, "high": 1 / l, "bound": 1 / l}


def posterior_adult() -> Iterator[Row]:
    """worst posterior over all releases of each violating sample of Adult (0.5 %), mean over the samples, uniform prior"""
    for seed, l in product(SEEDS, (5, 6, 7)):
        drawn = list(sampled_counts(0.005, seed))
        open_ = [counts for counts in drawn if violated(counts, l) and len(counts) >= l]
        attacked = [rt.calibrate("suppression", counts=counts.tolist(), l=l) for counts in open_]
        for kind in NAMES:
            found = [each[kind] for each in attacked]
            low, high = np.array([ends(each) for each in found]).T
            withheld_low, withheld_high = np.array([withheld_ends(each) for each in found]).T
            yield {
                "l": l,
                "method": NAMES[kind],
                "seed": seed,
                "posterior": float(high.mean()),
                "low": float(low.mean()),
                "high": float(high.mean()),
                "how": "exact" if all(each["how"] == "exact" for each in found) else "bounds",
                "greatest": float(high.max()),
                "above bound": int((low > 1 / l).sum()),
                "samples": len(found),
                "releases": sum(each["releases"] for each in found),
                "bound": 1 / l,
                "withheld low": float(withheld_low.mean()),
                "withheld high": float(withheld_high.mean()),
                "withheld greatest": float(withheld_high.max()),
                "withheld above bound": int((withheld_low > 1 / l).sum()),
            }


def ends(found: dict) -> tuple[float, float]:
    """Between which ends a posterior lies: both are the posterior where it is exact."""
    worst = found["worst_posterior"]
    return found.get("low", worst), found.get("high", worst)


def withheld_ends(found: dict) -> tuple[float, float]:
    worst = found["worst_withheld_posterior"]
    return found.get("withheld_low", worst), found.get("withheld_high", worst)


FIGURES: dict[str, Callable[[], Iterator[Row]]] = {
    "4": figure_4, "linear-slope": linear_slope, "linear-l": linear_l,
    "5": figure_5, "6": figure_6, "7": figure_7, "8a": figure_8a, "8b": figure_8b,
    "posterior-small": posterior_small, "posterior-priors": posterior_priors,
    "posterior-zipf": posterior_zipf, "posterior-adult": posterior_adult,
}  # fmt: skip
NEED_ADULT = {"4", "5", "6", "7", "posterior-adult"}
