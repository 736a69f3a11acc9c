"""A messier hospital's export: everything that kept a steward from a first release without a script.

Birth dates in four formats, some of them missing, five spellings of missing (`NA`, `unknown`, `?`, `N/A` and an empty field), charges in
three currencies and two number formats, sentinel codes (`999` for an age, `-9` and `9999` for others), five spellings of
two sexes, ZIP beside ZIP+4, lines with too few or too many fields and with an open quote, about 900 diagnosis codes of
which many are rare, and one to nine visits of a person.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl

ROWS = 8_000
SEED = 26
MOST_VISITS = 9
DIAGNOSES = 900
DATE_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y")
DATE_SHARES = (0.55, 0.25, 0.12, 0.08)
MISSING_MARKS = ("NA", "unknown", "?", "N/A", "")
SEX_SPELLINGS = {"M": {"M": 0.5, "m": 0.3, "male": 0.2}, "F": {"F": 0.6, "female": 0.4}}
CURRENCY_SHARES = {"$": 0.9, "€": 0.06, "EUR": 0.04}
BROKEN_SHARE = 0.004
AGE_CODE = "999"
STAY_CODE = "-9"
SCORE_CODE = "9999"
FEW_ROWS = 1_500
JOB_OF_FEW_ROWS = """
[source]
path = "hospital.csv"
broken = "set-aside"
missing = ["?", "NA", "N/A", "unknown", "999", "-9", "9999"]

[columns]
patient_id = { role = "identifying", rows_per_person = 9 }
birth_date = { role = "quasi-identifying", format = ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y"] }
sex = { role = "quasi-identifying", map = { female = "F", m = "M", male = "M" } }
zip = { role = "quasi-identifying", hierarchy = { build = "prefixes", keep = [5, 3, 1] } }
charges = { role = "insensitive", acknowledge = true, format = ["1,234.5", "1.234,5 EUR"], rates = { "$" = 1, "€" = 1.08, EUR = 1.08 } }
diagnosis = { role = "sensitive" }

[[promise]]
model = "k-anonymity"
k = 3

[release]
undeclared = "drop"
"""


def messy_hospital(rows: int = ROWS, seed: int = SEED) -> pl.DataFrame:
    """Return the fields of the good lines, all of them as text."""
    rng = np.random.default_rng(seed)
    person = _draw_visits(rng, rows)
    people = int(person.max()) + 1
    born = _draw_births(rng, people)
    sexes = rng.choice(["M", "F"], people)
    areas = np.sort(rng.integers(501, 99_950, 120))
    frame = pl.DataFrame(
        {
            "patient_id": [f"P{number:07d}" for number in rng.permutation(10_000_000)[:people][person]],
            "birth_date": _write_dates(rng, [born[index] for index in person]),
            "sex": [_spell_sex(rng, sexes[index]) for index in person],
            "zip": _write_zips(rng, areas, rng.integers(0, len(areas), people)[person]),
            "age": [str(2024 - born[index].year) for index in person],
            "admitted": _write_days(rng, rows),
            "nights": [str(nights) for nights in np.minimum(rng.geometric(0.25, rows), 60)],
            "triage": [str(score) for score in rng.integers(1, 101, rows)],
            "charges": _write_amounts(rng, rows),
            "diagnosis": _draw_diagnoses(rng, rows),
        }
    )
    frame = frame.select(pl.all().gather(pl.Series(rng.permutation(rows))))
    frame = _replace_some(rng, frame, "age", 0.004, (AGE_CODE,))
    frame = _replace_some(rng, frame, "nights", 0.006, (STAY_CODE,))
    frame = _replace_some(rng, frame, "triage", 0.01, (SCORE_CODE,))
    for name in ("zip", "sex"):
        frame = _replace_some(rng, frame, name, 0.01, MISSING_MARKS)
    return _replace_some(rng, frame, "birth_date", 0.02, MISSING_MARKS)


def write_messy_hospital(path: Path, rows: int = ROWS, seed: int = SEED) -> Path:
    """Write the file, with broken lines among the good ones; return its path."""
    rng = np.random.default_rng(seed + 1)
    header, *lines = messy_hospital(rows, seed).write_csv().splitlines(keepends=True)
    broken = max(3, round(BROKEN_SHARE * rows))
    places = rng.choice(rows, broken, replace=False)
    text = [header]
    for index, line in enumerate(lines):
        if index in places:
            text.append(_break_line(line, int(index) % 3))
        text.append(line)
    path.write_text("".join(text), encoding="utf-8", newline="")
    return path


def count_broken_lines(rows: int = ROWS) -> int:
    """Return the number of broken lines that the file has."""
    return max(3, round(BROKEN_SHARE * rows))


def _spell_sex(rng: np.random.Generator, sex: str) -> str:
    shares = SEX_SPELLINGS[sex]
    return str(rng.choice(list(shares), p=list(shares.values())))


def _draw_visits(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Return the person of each row: most have one visit, few have up to nine, one has nine."""
    visits = rng.choice(np.arange(1, MOST_VISITS + 1), rows, p=[0.8, 0.1, 0.05, 0.03, 0.01, 0.005, 0.003, 0.001, 0.001])
    visits[0] = MOST_VISITS
    return np.repeat(np.arange(rows), visits)[:rows]


def _draw_births(rng: np.random.Generator, people: int) -> list[date]:
    ages = np.clip(rng.normal(52, 21, people), 0, 99)
    return [date(2023, 12, 31) - timedelta(days=int(days)) for days in ages * 365.25]


def _write_dates(rng: np.random.Generator, days: list[date]) -> list[str]:
    """Write each day in one of four formats."""
    choices = rng.choice(len(DATE_FORMATS), len(days), p=DATE_SHARES)
    return [day.strftime(DATE_FORMATS[choice]) for day, choice in zip(days, choices, strict=True)]


def _write_days(rng: np.random.Generator, rows: int) -> list[str]:
    return [(date(2023, 1, 1) + timedelta(days=int(days))).isoformat() for days in rng.integers(0, 365, rows)]


def _write_zips(rng: np.random.Generator, areas: np.ndarray, places: np.ndarray) -> list[str]:
    """Write five digits for most, nine for the others; some begin with a zero."""
    blocks = rng.integers(1, 9_999, len(places))
    are_long = rng.random(len(places)) < 0.3
    return [
        f"{areas[place]:05d}-{block:04d}" if is_long else f"{areas[place]:05d}"
        for place, block, is_long in zip(places, blocks, are_long, strict=True)
    ]


def _write_amounts(rng: np.random.Generator, rows: int) -> list[str]:
    amounts = np.round(2 * rng.lognormal(7.5, 0.9, rows)) / 2
    units = rng.choice(list(CURRENCY_SHARES), rows, p=list(CURRENCY_SHARES.values()))
    return [_write_amount(amount, unit) for amount, unit in zip(amounts, units, strict=True)]


def _write_amount(amount: float, unit: str) -> str:
    if unit == "EUR":
        text = f"{amount:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")
        return f"{text} EUR"
    return f"{unit}{amount:,.2f}"


def _draw_diagnoses(rng: np.random.Generator, rows: int) -> list[str]:
    """Draw codes of falling frequency: the rarest have one row."""
    codes = [
        f"{letter}{number:02d}.{digit}" for letter in "ACEFGIJKMNRSZ" for number in range(40) for digit in range(10)
    ]
    known = [codes[index] for index in np.sort(rng.choice(len(codes), DIAGNOSES, replace=False))]
    share = (20 + rng.permutation(DIAGNOSES).astype(float)) ** -1.2
    counts = np.maximum(1, np.floor(rows * share / share.sum())).astype(int)
    drawn = np.repeat(np.arange(DIAGNOSES), counts)
    if len(drawn) < rows:
        drawn = np.append(drawn, rng.choice(DIAGNOSES, rows - len(drawn), p=share / share.sum()))
    return [known[index] for index in rng.permutation(drawn)[:rows]]


def _replace_some(
    rng: np.random.Generator, frame: pl.DataFrame, name: str, share: float, texts: tuple[str, ...]
) -> pl.DataFrame:
    is_replaced = rng.random(len(frame)) < share
    chosen = rng.choice(texts, len(frame))
    values = [
        (str(text) or None) if replaced else value
        for value, text, replaced in zip(frame[name].to_list(), chosen, is_replaced, strict=True)
    ]
    return frame.with_columns(pl.Series(name, values))


def _break_line(line: str, how: int) -> str:
    """Return a line with fewer fields, with more, or with a quote that is not closed."""
    fields = line.rstrip("\n").split(",")
    if how == 0:
        return ",".join(fields[:4]) + "\n"
    if how == 1:
        return line.rstrip("\n") + ",extra\n"
    return ",".join(fields[:2]) + ',"' + ",".join(fields[2:]) + "\n"
