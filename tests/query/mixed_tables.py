"""Tables drawn with everything that a column can have, a job for each kind, and what the source itself answers.

The truth is found from the drawn rows alone, in whole numbers and fractions: nothing of the package is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from tests.oracle import query_answers as oracle

KINDS = ("generalized", "anatomized", "perturbed", "transformed", "sampled")
TOWNS = ["Ayr", "Bath", "Cork", "Dover", "Ely"]
REGIONS = [
    ["Ayr", "north", "*"],
    ["Bath", "south", "*"],
    ["Cork", "west", "*"],
    ["Dover", "south", "*"],
    ["Ely", "south", "*"],
    ["Fife", "north", "*"],
]
ILLNESSES = ["flu", "cold", "gout", "mumps", "acne"]
GRADES = ["low", "mid", "high", "top"]
BEGIN = date(2000, 1, 1)
MOMENT = datetime(2001, 3, 1)
BUILT_BANDS = {"build": "intervals", "width": [5, 10, 20]}


@dataclass
class Drawn:
    """A release and the rows of its source.

    `numbers` are the columns that can be summed, `dates` those of which a least and a greatest is asked, `rounded` the
    steps of rounded ones.
    """

    kind: str
    release: Any
    rows: list[dict[str, Any]]
    numbers: list[str]
    columns: list[str]
    rounded: dict[str, Any]
    dates: list[str]


def chance(rng: np.random.Generator, share: float) -> bool:
    return bool(rng.random() < share)


def pick(rng: np.random.Generator, options: list[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def with_missing(rng: np.random.Generator, values: list[Any], share: float) -> list[Any]:
    return [None if chance(rng, share) else value for value in values]


def drawn_age(rng: np.random.Generator, rows: int) -> tuple[pl.Series, dict[str, Any]]:
    """Whole numbers, some of them large, below zero, with a code such as 999, with missing ones, and coded or declared ends."""
    base = pick(rng, [20, 20, -15, 2**53 + 1, 2**60 + 3])
    values = [base + int(step) for step in rng.integers(0, 60, rows)]
    if chance(rng, 0.2):
        values = [base + 999 if chance(rng, 0.05) else value for value in values]
    options: dict[str, Any] = {"numeric": True}
    if chance(rng, 0.3):
        options["top"] = base + int(rng.integers(30, 50))
    if chance(rng, 0.2):
        options["bottom"] = base + int(rng.integers(2, 20))
    if chance(rng, 0.4):
        options["domain"] = [base - int(rng.integers(0, 9)), base + 1100]
    if chance(rng, 0.4):
        options["labels"] = pick(
            rng, ["tight", "snapped", {"style": "snapped", "step": 5}, {"style": "padded", "width": 3}]
        )
    if base in (20, -15) and chance(rng, 0.2):
        options.pop("labels", None)
        options["hierarchy"] = pick(
            rng, [BUILT_BANDS, [[str(age), str(age // 10), "*"] for age in range(min(base, 0) - 5 * (base < 0), 1200)]]
        )
    if chance(rng, 0.4):
        values = with_missing(rng, values, pick(rng, [0.02, 0.2]))
    kind = pl.Int64 if base < 0 or base > 1000 or chance(rng, 0.7) else pl.UInt16
    return pl.Series("age", values, dtype=kind), options


def drawn_weight(rng: np.random.Generator, rows: int) -> tuple[pl.Series, dict[str, Any]]:
    """Decimals."""
    values: list[Any] = [round(float(value), int(rng.integers(0, 3))) for value in rng.normal(60, 12, rows)]
    options: dict[str, Any] = {"numeric": True}
    if chance(rng, 0.2):
        options["top"] = 75.5
    if chance(rng, 0.3):
        options["domain"] = [-50, 200]
    if chance(rng, 0.5):
        options["labels"] = pick(rng, ["tight", "snapped"])
    if chance(rng, 0.3):
        values = with_missing(rng, values, 0.05)
    return pl.Series("weight", values, dtype=pick(rng, [pl.Float64, pl.Float64, pl.Float32])), options


def drawn_town(rng: np.random.Generator, rows: int) -> tuple[pl.Series, dict[str, Any]]:
    """Texts, with and without a hierarchy or an order."""
    shares = rng.dirichlet(np.ones(len(TOWNS)))
    values: list[Any] = [TOWNS[at] for at in rng.choice(len(TOWNS), rows, p=shares)]
    options = pick(rng, [{}, {}, {"labels": "sets"}, {"hierarchy": REGIONS}, {"order": sorted([*TOWNS, "Fife"])}])
    if chance(rng, 0.4):
        values = with_missing(rng, values, pick(rng, [0.03, 0.3]))
    return pl.Series("town", values, dtype=pl.String), dict(options)


def drawn_born(rng: np.random.Generator, rows: int) -> tuple[pl.Series, dict[str, Any]]:
    """Days."""
    values: list[Any] = [BEGIN + timedelta(days=int(step)) for step in rng.integers(0, 400, rows)]
    options: dict[str, Any] = {"type": "date"}
    if chance(rng, 0.3):
        options["top"] = "2000-10-01"
    if chance(rng, 0.2):
        options["bottom"] = "2000-02-01"
    if chance(rng, 0.2):
        options["hierarchy"] = {"build": "dates", "levels": ["month", "year"]}
    if chance(rng, 0.3):
        values = with_missing(rng, values, 0.05)
    return pl.Series("born", values, dtype=pl.Date), options


def drawn_seen(rng: np.random.Generator, rows: int) -> tuple[pl.Series, dict[str, Any]]:
    """Moments, some of them midnights."""
    step = timedelta(hours=int(pick(rng, [1, 6, 24])))
    values: list[Any] = [MOMENT + step * int(steps) for steps in rng.integers(0, 60, rows)]
    if chance(rng, 0.3):
        values = with_missing(rng, values, 0.05)
    return pl.Series("seen", values, dtype=pl.Datetime(pick(rng, ["us", "us", "ms", "ns"]))), {"type": "date"}


def drawn_place(rng: np.random.Generator, rows: int) -> tuple[pl.Series, dict[str, Any]]:
    """Codes, as texts under a hierarchy of their beginnings, or as numbers that are categories; yes and no."""
    style = pick(rng, ["texts", "numbers", "decimals", "flags"])
    codes = [int(code) for code in 10 * rng.integers(10, 13, rows) + rng.integers(0, 4, rows)]
    options: dict[str, Any] = {"type": "categorical"}
    if style == "texts":
        values: list[Any] = [str(code) for code in codes]
        options["hierarchy"] = {"build": "prefixes", "keep": [2]}
    elif style == "flags":
        values = [code % 3 == 0 for code in codes]
    else:
        values = codes if style == "numbers" else [code / 8 for code in codes]
    if chance(rng, 0.3):
        values = with_missing(rng, values, 0.1)
    return pl.Series("place", values), options


QUASI = {
    "age": drawn_age,
    "weight": drawn_weight,
    "town": drawn_town,
    "born": drawn_born,
    "seen": drawn_seen,
    "place": drawn_place,
}


def drawn_sensitive(rng: np.random.Generator, kind: str, rows: int) -> tuple[pl.Series, dict[str, Any]]:
    """Numbers or texts, one of them frequent, so that suppression withholds rows."""
    first = pick(rng, [0.3, 0.3, 0.45, 0.6])
    shares = [first, *[(1 - first) / 4] * 4]
    codes = rng.choice(5, rows, p=shares)
    style = pick(rng, ["numbers", "numbers", "texts", "grades"])
    if kind == "transformed":
        style = pick(rng, ["numbers", "texts"])
    if style == "texts":
        values: list[Any] = [ILLNESSES[at] for at in codes]
        options: dict[str, Any] = {"type": "categorical"}
        if chance(rng, 0.3):
            options = {"hierarchy": [[illness, "any"] for illness in [*ILLNESSES, "none"]]}
    elif style == "grades":
        values = [GRADES[at % 4] for at in codes]
        options = {"order": GRADES}
    else:
        scale = pick(rng, [1, 10, 10, 2**55])
        values = [(int(at) - 1) * scale for at in codes]
        options = {"type": "numeric"}
        if scale == 10 and chance(rng, 0.4):
            options["domain"] = [-50, 90]
        if scale == 1 and chance(rng, 0.5):
            values = [value + 0.25 for value in values]
    if kind in ("generalized", "anatomized") and chance(rng, 0.2):
        values = with_missing(rng, values, 0.05)
        options["missing"] = "category"
    return pl.Series("value", values), options


def drawn_note(rng: np.random.Generator, rows: int) -> tuple[pl.Series, dict[str, Any]]:
    """Numbers that are carried, some of them rounded."""
    if chance(rng, 0.5):
        values: list[Any] = [int(value) for value in rng.integers(-40, 300, rows)]
        step = pick(rng, [None, 25, 7, 10])
    else:
        values = [round(float(value), 2) for value in rng.normal(5, 40, rows)]
        step = pick(rng, [None, 25, 0.5])
    values = with_missing(rng, values, pick(rng, [0, 0.1]))
    options: dict[str, Any] = {"acknowledge": True}
    if step is not None:
        options["round_to"] = step
    return pl.Series("note", values), options


def job_for(rng: np.random.Generator, kind: str, columns: dict[str, Any], skewed: bool) -> rt.Job:
    """A method of the kind; rows are withheld by suppression, or where that lowers the loss."""
    output: dict[str, Any] = {"format": pick(rng, ["parquet", "csv"])}
    given: dict[str, Any] = {}
    if kind in ("generalized", "anatomized", "perturbed") and chance(rng, 0.5):
        withholding = pick(rng, ["safe", "calibrated"])
        prior = "uniform" if withholding == "calibrated" else None
        given["prepare"] = [rt.Suppression(l=3, kind=withholding, prior=prior)]
    if kind == "generalized":
        promises = [rt.ProbabilisticLDiversity(3)] if given else [rt.KAnonymity(int(rng.integers(2, 6)))]
        if not given and chance(rng, 0.6):
            output["suppress_at_most"] = "0.1"
        given["method"] = rt.Mondrian()
    elif kind == "anatomized":
        promises, given["method"] = [rt.ProbabilisticLDiversity(3 if given else 2)], rt.Anatomy()
        if not given and skewed:
            given["prepare"] = [rt.Suppression(l=2, kind="safe")]
    elif kind == "perturbed":
        promises, given["method"] = [rt.BetaLikeness(3)], rt.BetaPerturbation()
    elif kind == "transformed":
        promises, given["method"] = [rt.PPrivacy("uniform")], rt.Distribution()
    else:
        promises = [rt.DeltaGrowth("0.9", "0.6")]
        given["method"] = rt.PerturbedGeneralization(k=4, p="0.5")
    return rt.Job(columns=columns, promises=promises, release=rt.Output(**output), **given)


def draw(rng: np.random.Generator, kind: str, folder: Any) -> Drawn | None:
    """A release of the kind and its source; None where the job is refused for what was drawn."""
    rows = int(rng.integers(30, 140))
    names = [name for name in QUASI if chance(rng, 0.5)] or ["age"]
    series = []
    columns = {}
    for name in names:
        values, options = QUASI[name](rng, rows)
        series.append(values)
        columns[name] = rt.quasi(**options)
    values, options = drawn_sensitive(rng, kind, rows)
    skewed = values.value_counts()["count"].max() * 2 > rows
    series.append(values)
    columns["value"] = rt.sensitive(**options)
    rounded = {}
    if kind != "sampled" and chance(rng, 0.6):
        note, options = drawn_note(rng, rows)
        series.append(note)
        columns["note"] = rt.insensitive(**options)
        if "round_to" in options:
            rounded["note"] = options["round_to"]
    if kind == "generalized" and chance(rng, 0.3):
        series.append(pl.Series("person", [at // 2 for at in range(rows)]))
        columns["person"] = rt.identifying(rows_per_person=2)
    frame = pl.DataFrame(series)
    try:
        job = job_for(rng, kind, columns, skewed)
        rt.publish(job, frame=frame, to=folder, seed=int(rng.integers(1 << 30)), again=True)
    except rt.ReticentError:
        return None
    published = [name for name in frame.columns if name != "person"]
    numbers = [name for name in published if frame[name].dtype.is_numeric()]
    dates = [name for name in published if frame[name].dtype in (pl.Date, pl.Datetime)]
    return Drawn(kind, rt.open(folder), frame.select(published).to_dicts(), numbers, published, rounded, dates)


def constants_for(rng: np.random.Generator, drawn: Drawn) -> dict[str, list[Any]]:
    """Values of each column to compare with: those that occur, their neighbours, and some that do not."""
    found: dict[str, list[Any]] = {}
    for name in drawn.columns:
        held = [row[name] for row in drawn.rows if row[name] is not None]
        some = [pick(rng, held) for _ in range(4)] if held else [0]
        first = some[0]
        if isinstance(first, str):
            some.append("nowhere")
        elif isinstance(first, bool):
            some = [True, False]
        elif isinstance(first, datetime):
            some += [
                first + timedelta(minutes=1),
                datetime(first.year, first.month, first.day),
                MOMENT + timedelta(3000),
            ]
        elif isinstance(first, date):
            some += [first + timedelta(days=1), BEGIN + timedelta(days=3000)]
        elif isinstance(first, float):
            some += [first + 0.5, first - 0.125, -1e6]
        else:
            some += [first + 1, first - 1, first + 5000]
        found[name] = some
    return found


def truth(aggregate: str, column: str | None, condition: Any, rows: list[dict[str, Any]]) -> Any:
    """What SQL answers, exactly: a fraction, or a date."""
    kept = [row for row in rows if oracle.holds(condition, row) is True]
    held = [1 if column is None else row[column] for row in kept]
    held = [value for value in held if value is not None]
    if aggregate == "count":
        return Fraction(len(held))
    if not held:
        return None
    if isinstance(held[0], date):
        return min(held) if aggregate == "min" else max(held)
    numbers = [Fraction(value) for value in held]
    if aggregate == "sum":
        return sum(numbers, Fraction(0))
    if aggregate == "avg":
        return sum(numbers, Fraction(0)) / len(numbers)
    return min(numbers) if aggregate == "min" else max(numbers)


def has_key(row: dict[str, Any], name: str, key: Any, drawn: Drawn) -> bool:
    """Whether a row of the source belongs to a line of GROUP BY, by what the line is called."""
    value = row[name]
    if key is None or value is None:
        return key is None and value is None
    if name in drawn.rounded:
        step = drawn.rounded[name]
        shown = round(value / step) * step
        shown = shown or abs(shown)  # -0.0 is 0
        return str(key) == f"{shown}, rounded to {step}"
    for words, beyond in ((" or more", 1), (" or later", 1), (" or less", -1), (" or earlier", -1)):
        if isinstance(key, str) and key.endswith(words):
            end = key.removesuffix(words)
            limit = (
                date.fromisoformat(end[:10])
                if isinstance(value, date)
                else type(value)(float(end) if "." in end else int(end))
            )
            return value >= limit if beyond > 0 else value <= limit
    if isinstance(value, date):
        return bool(as_moment(value) == as_moment(key))
    return bool(value == key)


def as_moment(value: Any) -> Any:
    """A day as its midnight: moments that are all midnights are published as days."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    return value


def holds_between(answer: rt.Answer, true: Any) -> bool:
    """Whether the truth lies within the bounds, without any slack."""
    if true is None:
        return True
    if isinstance(true, date):
        lower, upper, true = (as_moment(end) for end in (answer.lower, answer.upper, true))
        return (lower is None or lower <= true) and (upper is None or true <= upper)
    if answer.lower is not None and Fraction(answer.lower) > true:
        return False
    return answer.upper is None or Fraction(answer.upper) >= true
