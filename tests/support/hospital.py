"""A hospital's export as stewards have it: one CSV by a seeded generator, with every habit that stops a newcomer.

Dates in three formats (`03/14/1962`, `2023-04-05 13:22:10`, `05.04.2023`), missing written as `NA` and as `unknown`,
about 1,200 ICD-10 codes of which some two hundred have one row, ZIP mixed with ZIP+4, free text with names in it, one
to four rows per person, survey weights, amounts as `$1,234.50`, latin-1 with semicolons.  Twelve columns read like
quasi-identifiers; at 50,000 rows three of them (`zip`, `birthplace`, `employer`) have 5,000 to 33,000 categories.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

ROWS = 50_000
SEED = 15
MOST_ROWS_PER_PERSON = 4
QUASI = (
    "birth_date", "discharged", "zip", "birthplace", "employer", "sex",
    "ethnicity", "marital", "language", "insurance", "ward", "charges",
)  # fmt: skip

_FIRST = (
    "Zoë",
    "José",
    "Anaïs",
    "Günter",
    "Mary",
    "Li",
    "Priya",
    "Óscar",
    "Noémie",
    "Sam",
    "Åsa",
    "Ivan",
    "Renée",
    "Ana",
)
_LAST = (
    "Núñez",
    "Müller",
    "O'Neill",
    "Smith",
    "Ødegård",
    "Lefèvre",
    "Kowalski",
    "Begum",
    "Ngô",
    "Brown",
    "Peña",
    "Roux",
)
_MARKS = ("NA", "unknown")


def hospital(rows: int = ROWS, seed: int = SEED) -> pl.DataFrame:
    """All fields as text, as the CSV has them."""
    rng = np.random.default_rng(seed)
    person = _persons(rng, rows)
    people = int(person[-1]) + 1
    born = _born(rng, people)
    once = {  # what a person has once
        "patient_id": [f"P{number:07d}" for number in rng.permutation(10_000_000)[:people]],
        "patient_name": _names(rng, people),
        "birth_date": [day.strftime("%m/%d/%Y") for day in born],
        "zip": _zips(rng, people),
        "birthplace": _skewed(rng, people, "Town", max(rows // 4, 50), 0.25),
        "employer": _skewed(rng, people, "Firm", max(rows // 9, 40), 0.35),
        "sex": rng.choice(["female", "male"], people).tolist(),
        "ethnicity": _skewed(rng, people, "Group ", 9, 0.9),
        "marital": _skewed(rng, people, "Status ", 6, 0.7),
        "language": _skewed(rng, people, "Language ", 40, 1.4),
    }
    frame = pl.DataFrame(once).select(pl.all().gather(pl.Series(person)))
    admitted = [datetime(2020, 1, 1) + timedelta(seconds=int(s)) for s in rng.integers(0, 4 * 365 * 86_400, rows)]
    left = [at + timedelta(days=int(nights)) for at, nights in zip(admitted, rng.geometric(0.2, rows), strict=True)]
    frame = frame.with_columns(
        admitted=pl.Series([at.strftime("%Y-%m-%d %H:%M:%S") for at in admitted]),
        discharged=pl.Series([at.strftime("%d.%m.%Y") for at in left]),
        insurance=pl.Series(_skewed(rng, rows, "Plan ", 25, 0.9)),
        ward=pl.Series(_skewed(rng, rows, "Ward ", 30, 0.5)),
        charges=pl.Series([f"${amount:,.2f}" for amount in np.round(2 * rng.lognormal(7.5, 1.1, rows)) / 2]),
        weight=pl.Series([f"{weight:.6f}" for weight in rng.gamma(9, 0.11, rows)]),
        note=pl.Series(_notes(rng, rows)),
        diagnosis=pl.Series(_codes(rng, [born[p].year for p in person])),
    )
    order = rng.permutation(rows)
    return _with_missing(rng, frame.select(pl.all().gather(pl.Series(order))))


def write(path: Path, rows: int = ROWS, seed: int = SEED) -> Path:
    """The file: latin-1, semicolons."""
    path.write_bytes(hospital(rows, seed).write_csv(separator=";").encode("latin-1"))
    return path


def _persons(rng: np.random.Generator, rows: int) -> np.ndarray:
    """The person of each row, one to four rows each, four at least once."""
    visits = rng.choice([1, 2, 3, 4], rows, p=[0.86, 0.09, 0.035, 0.015])
    visits[0] = MOST_ROWS_PER_PERSON
    return np.repeat(np.arange(rows), visits)[:rows]


def _born(rng: np.random.Generator, people: int) -> list[date]:
    ages = np.clip(rng.normal(52, 21, people), 0, 99)
    return [date(2020, 1, 1) - timedelta(days=int(days)) for days in ages * 365.25]


def _names(rng: np.random.Generator, people: int) -> list[str]:
    first = rng.integers(0, len(_FIRST), people)
    last = rng.integers(0, len(_LAST), people)
    return [f"{_FIRST[a]} {_LAST[b]}" for a, b in zip(first, last, strict=True)]


def _zips(rng: np.random.Generator, people: int) -> list[str]:
    """Nine digits for most, five for the rest; some begin with a zero."""
    areas = rng.integers(501, 99_950, 900)
    area = rng.choice(areas, people)
    block = rng.integers(1, 240, people)
    long = rng.random(people) < 0.84
    return [f"{a:05d}-{b:04d}" if whole else f"{a:05d}" for a, b, whole in zip(area, block, long, strict=True)]


def _skewed(rng: np.random.Generator, rows: int, word: str, values: int, power: float) -> list[str]:
    """Values of falling frequency (a power of the rank)."""
    share = np.arange(1, values + 1, dtype=float) ** -power
    return [f"{word}{rank}" for rank in rng.choice(values, rows, p=share / share.sum())]


def _notes(rng: np.random.Generator, rows: int) -> list[str]:
    said = (
        "was seen again, wound dry, next week",
        "came with her brother",
        "asked for a letter to the employer",
        "slept well",
    )
    picks = rng.integers(0, len(said), rows)
    beds = rng.integers(1, 40, rows)
    return [f"{name} {said[at]}, bed {bed}" for name, at, bed in zip(_names(rng, rows), picks, beds, strict=True)]


def _codes(rng: np.random.Generator, years: list[int]) -> list[str]:
    """ICD-10: 21 chapters of categories with a decimal; the old have other chapters than the young."""
    codes = [
        f"{letter}{number:02d}.{digit}"
        for letter in "ABCDEFGHIJKLMNOPQRSTZ"
        for number in range(40)
        for digit in range(10)
    ]
    kept = [codes[i] for i in np.sort(rng.choice(len(codes), 1_420, replace=False))]
    share = (25 + rng.permutation(len(kept)).astype(float)) ** -2.0
    draws = np.sort(rng.choice(len(kept), len(years), p=share / share.sum()))
    by_age = np.argsort(np.asarray(years) + rng.normal(0, 25, len(years)), kind="stable")
    found = np.empty(len(years), object)
    found[by_age] = [kept[at] for at in draws]
    return found.tolist()


def _with_missing(rng: np.random.Generator, frame: pl.DataFrame) -> pl.DataFrame:
    """Two of a hundred fields of some columns say `NA` or `unknown`; the codes are never missing."""
    for at, name in enumerate(("birth_date", "zip", "employer", "ethnicity", "insurance", "charges")):
        gone = pl.Series(rng.random(len(frame)) < 0.02)
        frame = frame.with_columns(pl.when(gone).then(pl.lit(_MARKS[at % 2])).otherwise(pl.col(name)).alias(name))
    return frame
