"""Random jobs and tables on which every way to a loss must give the same: kinds, label styles, types, nulls, withheld rows."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import polars as pl

import reticent as rt

WORK = [[leaf, leaf[0], "*"] for leaf in ("a1", "a2", "b1", "b2", "b3", "c1", "d1")]
VALUES = tuple("abcdef")
DROP: dict[str, Any] = {"undeclared": "drop"}
BANDS = {"build": "intervals", "width": [5, 20]}
PREFIXES = {"build": "prefixes"}
STYLES: dict[str, tuple[dict[str, Any], ...]] = {
    "age": (
        {},
        {"labels": "snapped"},
        {"labels": {"style": "padded", "width": 3}},
        {"labels": "tight"},
        {"hierarchy": BANDS},
        {"top": 70},
        {"bottom": 30, "top": 70},
        {"domain": [0, 100]},
    ),
    "born": (
        {},
        {"labels": "snapped"},
        {"labels": "tight"},
        {"labels": {"style": "snapped", "step": "year"}},
        {"labels": {"style": "padded", "width": 40}},
    ),
    "grade": ({"order": ["low", "mid", "high", "top"]},),
    "work": ({}, {"hierarchy": WORK}, {"hierarchy": WORK, "labels": "sets"}),
    "town": ({}, {"labels": "sets"}, {"labels": "nodes"}),
    "zip": ({"type": "categorical"}, {"type": "categorical", "hierarchy": PREFIXES}, {"type": "numeric"}),
    "wage": (
        {},
        {"labels": "snapped"},
        {"labels": "tight"},
        {"labels": {"style": "padded", "width": 100, "share": 0.3}},
    ),
}
METHODS: tuple[Callable[[str, random.Random], tuple[Any, Any]], ...] = (
    lambda name, rng: (rt.Mondrian(), rt.KAnonymity(rng.choice([2, 5, 15]))),
    lambda name, rng: (rt.Mondrian(labels="sets"), rt.KAnonymity(4)),
    lambda name, rng: (rt.Mondrian(weights={name: rng.choice([3, 0.7])}), rt.KAnonymity(5)),
    lambda name, rng: (rt.Mosaic(effort="quick"), rt.KAnonymity(5)),
    lambda name, rng: (rt.Mosaic(effort="quick", weights={name: 2}), rt.DistinctLDiversity(2)),
    lambda name, rng: (rt.Burel(), rt.BetaLikeness(2)),
    lambda name, rng: (rt.Sabre(), rt.TCloseness(".4")),
    lambda name, rng: (rt.PerturbedGeneralization(), rt.RhoGuarantee(rho1=".2", rho2=".7", lambda_=".3")),
)


def draw_job(rng: random.Random) -> rt.Job:
    """A job over one to five quasi-identifiers, each with a style of labels of its own."""
    names = rng.sample(list(STYLES), rng.randint(1, 5))
    method, promise = rng.choice(METHODS)(names[0], rng)
    # The method that samples takes tight labels alone.
    options = {
        name: STYLES[name][0] if method.name == rt.PerturbedGeneralization.name else rng.choice(STYLES[name])
        for name in names
    }
    columns = {name: rt.quasi(**options[name]) for name in names}
    output = {"format": rng.choice(["csv", "parquet"]), **DROP}
    if method.name in ("mondrian", "mosaic") and rng.random() < 0.4:
        output["suppress_at_most"] = rng.choice([0.02, 0.1])
    if method.name == "mondrian" and rng.random() < 0.3:
        columns["person"] = rt.identifying(rows_per_person=3)
    return rt.Job(
        columns={**columns, "s": rt.sensitive(domain=list(VALUES))},
        promises=[promise],
        method=method,
        release=rt.Output(**output),
    )


def draw_table(rng: random.Random, rows: int) -> pl.DataFrame:
    """A table with all columns of `STYLES`; some of them hold nulls."""
    has_nulls = rng.random() < 0.6

    def draw_or_null(share: float, draw: Callable[[], Any]) -> list[Any]:
        return [None if has_nulls and rng.random() < share else draw() for _ in range(rows)]

    return pl.DataFrame(
        {
            "age": draw_or_null(0.03, lambda: rng.randint(18, 80)),
            "born": draw_or_null(0.02, lambda: date(1950, 1, 1) + timedelta(days=rng.randint(0, 20_000))),
            "grade": draw_or_null(0, lambda: rng.choice(["low", "mid", "high", "top"])),
            "work": draw_or_null(0.1, lambda: rng.choice([row[0] for row in WORK[:6]])),
            "town": draw_or_null(0.1, lambda: rng.choice(["x", "y", "z", "w w", "v,v"])),
            "zip": draw_or_null(0, lambda: f"{rng.randint(0, 9)}{rng.randint(0, 3)}{rng.randint(0, 9)}"),
            "wage": draw_or_null(0, lambda: rng.randint(0, 400) * 50 + rng.choice([0, 7])),
            "s": [rng.choice(VALUES) for _ in range(rows)],
            "person": [f"p{row // 3}" for row in range(rows)],
        }
    )
