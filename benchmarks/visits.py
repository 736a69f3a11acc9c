"""Visits to a hospital, for the benchmarks: 40,000 rows of 20,613 people, who have up to nine each, with about 900 codes.

Persons have an age, a sex, a place and an ethnicity of their own; a visit has a ward and a diagnosis.  Codes fall off by a power of
their rank and go with age, so that attacks find something.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

VISITS = 40_000
PEOPLE = 20_613
MAX_VISITS_PER_PERSON = 9
CODES = 901
SEED = 24


def make_visits(visits: int = VISITS, seed: int = SEED) -> pl.DataFrame:
    """Return one row for each visit; fewer visits have fewer people in proportion, and the same codes."""
    rng = np.random.default_rng(seed)
    people = round(PEOPLE * visits / VISITS)
    person = _assign_visits(rng, people, visits)
    age = np.clip(rng.normal(52, 21, people), 0, 99).astype(np.int64)[person]
    return pl.DataFrame(
        {
            "patient": [f"P{number:07d}" for number in rng.permutation(10_000_000)[:people][person]],
            "age": age,
            "sex": rng.choice(["female", "male"], people)[person],
            "zip": [f"{area:05d}" for area in rng.choice(rng.integers(501, 99_950, 300), people)[person]],
            "ethnicity": _draw_skewed(rng, people, "Group ", 9)[person],
            "ward": _draw_skewed(rng, visits, "Ward ", 30),
            "diagnosis": _draw_codes(rng, age),
        }
    )


def write_visits(path: Path, visits: int = VISITS, seed: int = SEED) -> Path:
    """Write the visits as CSV."""
    make_visits(visits, seed).write_csv(path)
    return path


def _assign_visits(rng: np.random.Generator, people: int, visits: int) -> np.ndarray:
    """Return the person of each visit: everybody has one, the first has nine, the others are drawn."""
    counts = np.ones(people, np.int64)
    counts[0] = MAX_VISITS_PER_PERSON
    while (left := visits - int(counts.sum())) > 0:
        drawn = rng.integers(0, people, left)
        np.add.at(counts, drawn, 1)
        np.minimum(counts, MAX_VISITS_PER_PERSON, out=counts)
    return rng.permutation(np.repeat(np.arange(people), counts))


def _draw_skewed(rng: np.random.Generator, rows: int, word: str, values: int) -> np.ndarray:
    share = np.arange(1, values + 1, dtype=float) ** -0.7
    names = np.array([f"{word}{rank}" for rank in range(values)])
    return names[rng.choice(values, rows, p=share / share.sum())]


def _draw_codes(rng: np.random.Generator, age: np.ndarray) -> np.ndarray:
    """Return a code for each visit; each of them occurs at least once, and the old have others than the young."""
    codes = np.array([f"{'ABCDEFGHIJKLMNOPQRSTZ'[at % 21]}{at // 21:02d}.{at % 10}" for at in range(CODES)])
    share = (20 + rng.permutation(CODES).astype(float)) ** -1.6
    drawn = np.append(np.arange(CODES), rng.choice(CODES, len(age) - CODES, p=share / share.sum()))
    found = np.empty(len(age), codes.dtype)
    found[np.argsort(age + rng.normal(0, 25, len(age)), kind="stable")] = codes[np.sort(drawn)]
    return found
