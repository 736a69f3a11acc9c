"""The settings, the methods and the promises of the study, and its table: a row for each method, promise and set of people.

Tables are tiny because every one of them is published: six people in three values of two are 90 tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import reticent as rt
from studies.minimality.adversary import attacked, exceeds, people

Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """So many sets of so many people with so many quasi-identifiers; how often each value is held; the keys that may be."""

    sets: int
    people: int
    columns: int
    counts: tuple[int, ...]
    keys: tuple[int, ...] = (1,)


SETTINGS = {
    "line": Setting(6, 6, 1, (2, 2, 2)),
    "plane": Setting(6, 6, 2, (2, 2, 2)),
    "skewed": Setting(6, 6, 1, (3, 2, 1)),
    "eight": Setting(3, 8, 1, (3, 3, 2)),
    "secret": Setting(6, 6, 1, (2, 2, 2), tuple(range(1, 21))),
}
METHODS = {
    "mondrian": rt.Mondrian(),
    "mondrian (median)": rt.Mondrian(cuts="median"),
    "mondrian (blind)": rt.Mondrian(cuts="blind"),
    "mosaic": rt.Mosaic(effort="quick", threads=1),
    "burel": rt.Burel(),
    "sabre": rt.Sabre(),
    "anatomy": rt.Anatomy(),
}
DRAWS_NOTHING = (
    "mondrian",
    "mondrian (median)",
    "mondrian (blind)",
)  # a secret key hides nothing of these: their rows would be those of `line`
PROMISES = {
    "probabilistic l = 2": rt.ProbabilisticLDiversity(2),
    "basic beta = 1": rt.BetaLikeness(1, enhanced=False),
    "t = 1/3, equal": rt.TCloseness("1/3"),
}


ANY_DEAL = ("anatomy",)
"""Twenty keys are few of what these draw, and leave beliefs off by chance; tests/methods/test_anatomy_deals.py tries every deal."""


def pairs(setting: str) -> Iterator[tuple[str, str]]:
    """(promise, method) for every method that keeps the promise; with a secret key those that use one."""
    left_out = DRAWS_NOTHING + ANY_DEAL if len(SETTINGS[setting].keys) > 1 else ()
    for promise, asked in PROMISES.items():
        for name, method in METHODS.items():
            if isinstance(asked, method.keeps) and name not in left_out:
                yield promise, name


def measured(setting: str, promise: str, method: str, number: int) -> Row:
    """One set of people.  Sums are over (table, key) pairs, so that rows of several sets can be added."""
    given = SETTINGS[setting]
    asked = PROMISES[promise]
    overall = tuple(Fraction(count, given.people) for count in given.counts)
    row: Row = {"setting": setting, "promise": promise, "method": method, "set": number, "releases": 0, "published": 0,
                "exceeding": 0, "exceeding_unknowing": 0, "surest": Fraction(0), "surest_unknowing": Fraction(0),
                "worst": Fraction(0)}  # fmt: skip
    points = people(number, given.people, given.columns)
    for found in attacked(METHODS[method], asked, points, given.counts, given.keys):
        row["releases"] += 1
        row["published"] += found.weight
        for adversary, beliefs in (("", found.knowing), ("_unknowing", found.unknowing)):
            if any(exceeds(asked, belief, overall) for belief in beliefs):
                row[f"exceeding{adversary}"] += found.weight
            row[f"surest{adversary}"] += found.weight * max(max(belief) for belief in beliefs)
        row["worst"] = max(row["worst"], max(max(belief) for belief in found.knowing))
    return row


def figure(setting: str, asked: Iterable[tuple[str, str]] | None = None) -> Iterator[Row]:
    """Every set of people of a setting, for the (promise, method) asked for: by default for all."""
    for promise, method in pairs(setting) if asked is None else asked:
        for number in range(SETTINGS[setting].sets):
            yield measured(setting, promise, method, number)


def summary(rows: Iterable[Row]) -> Iterator[Row]:
    """Over the sets of people: shares of all (table, key) pairs, the mean surest guess, and the worst."""
    together: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        together.setdefault((row["promise"], row["method"]), []).append(row)
    for (promise, method), sets in together.items():
        total = {
            name: sum(Fraction(row[name]) for row in sets)
            for name in ("published", "exceeding", "exceeding_unknowing", "surest", "surest_unknowing")
        }
        yield {
            "promise": promise,
            "method": method,
            **{name: float(total[name] / total["published"]) for name in total if name != "published"},
            "worst": float(max(Fraction(row["worst"]) for row in sets)),
        }
