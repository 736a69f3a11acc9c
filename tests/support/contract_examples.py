"""The tables and parameters of the contract: small, and such that every registered promise can be kept on them.

Nothing here knows a method or a kind: `EXAMPLES` is keyed by promise, and a promise without an entry fails
`test_registries.py`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import polars as pl

import reticent as rt

ROWS = 240
ILLNESS = [
    ["flu", "lungs", "*"],
    ["cold", "lungs", "*"],
    ["asthma", "lungs", "*"],
    ["ulcer", "belly", "*"],
    ["gastritis", "belly", "*"],
    ["colitis", "belly", "*"],
]
CITIES = [["Ulm", "south", "*"], ["Bonn", "west", "*"], ["Kiel", "north", "*"], ["Essen", "west", "*"]]
WAGES = [1000 * step for step in range(1, 7)]
CANARY = "canary"


@dataclass(frozen=True)
class Example:
    """Parameters that a promise is asked with, and which column it is about."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    sensitive: str = "illness"
    of_population: bool = False


EXAMPLES = {
    "k-anonymity": Example({"k": 3}),
    "alpha-k-anonymity": Example({"alpha": "1/2", "k": 3}),
    "k-map": Example({"k": 4}, of_population=True),
    "distinct-l-diversity": Example({"l": 2}),
    "probabilistic-l-diversity": Example({"l": 2}),
    "entropy-l-diversity": Example({"l": 2}),
    "recursive-l-diversity": Example({"c": 2, "l": 2}),
    "l-dichotomy": Example({"l": 2}),
    "t-closeness": Example({"t": 0.4}),
    "delta-disclosure": Example({"delta": 3}),
    "beta-likeness": Example({"beta": 4}),
    "semantic-beta-likeness": Example({"beta": 2, "level": 1}),
    "proximity-beta-likeness": Example({"beta": 4, "width": 1000}, sensitive="wage"),
    "bt-privacy": Example({"bandwidth": 0.3, "t": 0.6}),
    "skyline": Example({"points": [{"bandwidth": 0.3, "t": 0.6}, {"bandwidth": "whole", "t": 0.7}]}),
    "p-privacy": Example({"target": "source"}),
    "rho-guarantee": Example({"rho1": 0.2, "rho2": 0.6, "lambda": 0.4}),
    "delta-growth": Example({"delta": 0.4, "lambda": 0.4}),
}
"""One for each promise of the catalogue."""

ATTACKED_WITH = {"background": {"bandwidth": 0.3, "t": 0.7}, "corruption": {"lambda_": "0.4", "rho1": "0.2"}}
"""What an attack is told where it must be told something."""

AFTER_A_STAGE = {"eligibility"}
"""Attacks on what a stage withheld."""

QUICK = {"mosaic": {"effort": "quick"}, "perturbed-generalization": {"k": 2}}
"""Parameters that make a method fast where the guarantee does not depend on them."""


@cache
def people() -> pl.DataFrame:
    """One row per person; the sensitive values go with age, so that groups differ."""
    draw = random.Random(5)
    ages = [draw.randint(20, 59) for _ in range(ROWS)]
    ranks = [min(int(draw.random() * 4) + (age >= 40) * 2, 5) for age in ages]
    wages = [min(int(draw.random() * 5) + (age >= 30), 5) for age in ages]
    return pl.DataFrame(
        {
            "name": [f"{CANARY}-name-{row:04d}" for row in range(ROWS)],
            "age": ages,
            "city": [draw.choice([city for city, *_ in CITIES]) for _ in range(ROWS)],
            "illness": [ILLNESS[rank][0] for rank in ranks],
            "wage": [WAGES[rank] for rank in wages],
        }
    )


@cache
def skewed() -> pl.DataFrame:
    """The same people, of whom more than half share a value of each sensitive column: a stage must withhold some."""
    draw = random.Random(6)
    common = [draw.random() < 0.6 for _ in range(ROWS)]
    return people().with_columns(
        illness=pl.when(pl.Series(common)).then(pl.lit("flu")).otherwise("illness"),
        wage=pl.when(pl.Series(common)).then(pl.lit(WAGES[0])).otherwise("wage"),
    )


@cache
def population() -> pl.DataFrame:
    """Three people for every row of the table, and more."""
    known = people().select("age", "city")
    return pl.concat([known] * 3)


def columns(sensitive: str, also: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Roles where one column is sensitive; the other sensitive one is not published."""
    declared = {
        "name": rt.identifying(),
        "age": rt.quasi(),
        "city": rt.quasi(hierarchy=CITIES),
        "illness": rt.sensitive(hierarchy=ILLNESS) if sensitive == "illness" else rt.identifying(),
        "wage": rt.sensitive() if sensitive == "wage" else rt.identifying(),
    }
    return {**declared, **(also or {})}
