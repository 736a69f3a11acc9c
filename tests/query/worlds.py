"""Small releases drawn at random beside what they leave possible: tables in the shape of a kind, under the manifest of a real release.

`possible(condition, column)` lists the outcomes of every table that fits, for the oracle; `original` is one of these tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import polars as pl

import reticent as rt
from tests.oracle import query_answers as oracle

LEAST = -2
MOST = 3  # of ages, which are degrees below and above zero, as good as years
CONSTANTS = {
    "age": [-2, -1, 0, 1, 2, 3, -0.5],
    "town": ["a", "b", "c", "zz"],
    "note": [-1, 0, 1],
    "pay": [-10, 10, 20, 30],
}
TOWNS = ["a", "b", "c", "d"]
PAYS = [-10, 10, 20, 30]


ANYTHING = {
    "age": [*range(LEAST, MOST + 1), None],
    "town": [*TOWNS, "zz", "other", None],
    "note": [-9, -1, 0, 1, 9, None],
    "pay": [-99, -10, 0, 10, 15, 20, 25, 30, 99],
}
"""What a withheld row may have: any age of the declared domain, any town, note or pay that a question can tell from others."""


@dataclass
class World:
    tables: dict
    manifest: object
    original: list[dict]
    possible: Callable
    numbers: tuple[str, ...]  # columns of numbers that end somewhere


def drawn(rng, rows: int) -> list[dict]:
    return [
        {
            "age": int(rng.integers(LEAST, MOST + 1)),
            "town": TOWNS[rng.integers(4)],
            "note": None if rng.random() < 0.2 else int(rng.integers(-1, 2)),
            "pay": PAYS[rng.integers(4)],
        }
        for _ in range(rows)
    ]


@cache
def manifest(kind: str):
    frame = pl.DataFrame(drawn(np.random.default_rng(1), 60))
    columns = {
        "age": rt.quasi(numeric=True),
        "town": rt.quasi(),
        "note": rt.insensitive(),
        "pay": rt.sensitive(type="numeric"),
    }
    if kind == "generalized":
        job = rt.Job(columns=columns, promises=[rt.KAnonymity(2)])
    elif kind == "sampled":
        frame = frame.drop("note")
        columns = {name: columns[name] for name in columns if name != "note"}
        method = rt.PerturbedGeneralization(k=4, p="0.5", domain=PAYS, draw="one")
        job = rt.Job(columns=columns, promises=[rt.DeltaGrowth("0.9", "0.6")], method=method)
    elif kind == "anatomized":
        job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    else:
        job = rt.Job(columns=columns, promises=[rt.PPrivacy("uniform")], method=rt.Distribution())
    return rt.publish(job, frame=frame, seed=1).manifest


def with_withheld(made: World, rows: int) -> World:
    """The same release of a source that has more rows, of which nothing is published but their number; ages have a declared domain."""
    columns = tuple(
        entry.with_changes(domain=[LEAST, MOST], declared=True) if entry.name == "age" else entry
        for entry in made.manifest.columns
    )

    def possible(condition, column):
        points = [dict(zip(ANYTHING, point, strict=True)) for point in product(*ANYTHING.values())]
        outcomes = {oracle.outcome(condition, column, point) for point in points}
        for table in made.possible(condition, column):
            for more in product(outcomes, repeat=rows):
                yield [*table, *more]

    changed = replace(made.manifest, columns=columns, withheld=rows)
    return World(made.tables, changed, made.original, possible, ("age",))


def generalized(rng, rows: int, *, stars: bool = True) -> World:
    original = drawn(rng, rows)
    shown = []
    may = []
    for row in original:
        low = int(rng.integers(LEAST, row["age"] + 1))
        high = int(rng.integers(row["age"], MOST + 1))
        towns = sorted({row["town"], *(town for town in TOWNS if rng.random() < 0.4)})
        label = {"age": str(low) if low == high else f"[{low}, {high}]"}
        label["town"] = towns[0] if len(towns) == 1 else "{" + ", ".join(towns) + "}"
        point = {"age": list(range(low, high + 1)), "town": towns, "note": [row["note"]], "pay": [row["pay"]]}
        if stars and rng.random() < 0.15:
            label["town"], point["town"] = "*", [*TOWNS, "zz", "other", None]
        shown.append({**label, "note": row["note"], "pay": row["pay"]})
        may.append(point)
    schema = {"age": pl.String, "town": pl.String, "note": pl.Int64, "pay": pl.Int64}
    return World(
        {"data": pl.DataFrame(shown, schema=schema)},
        manifest("generalized"),
        original,
        lambda condition, column: oracle.labelled(may, condition, column),
        ("age", "note", "pay"),
    )


def sampled(rng, sizes: list[int]) -> World:
    """One row for each group, with the labels of all its people; its value, which was redrawn, says nothing about quasi-identifiers."""
    original = []
    shown = []
    may = []
    for size in sizes:
        people = drawn(rng, size)
        ages = [row["age"] for row in people]
        towns = sorted({row["town"] for row in people})
        low = int(rng.integers(LEAST, min(ages) + 1))
        high = int(rng.integers(max(ages), MOST + 1))
        label = {"age": str(low) if low == high else f"[{low}, {high}]"}
        label["town"] = towns[0] if len(towns) == 1 else "{" + ", ".join(towns) + "}"
        shown.append({**label, "pay": PAYS[rng.integers(4)], "G": size})
        original += [{name: row[name] for name in ("age", "town")} for row in people]
        may += [{"age": list(range(low, high + 1)), "town": towns}] * size
    schema = {"age": pl.String, "town": pl.String, "pay": pl.Int64, "G": pl.Int64}
    return World(
        {"data": pl.DataFrame(shown, schema=schema)},
        manifest("sampled"),
        original,
        lambda condition, column: oracle.labelled(may, condition, column),
        ("age",),
    )


def grouped(rng, sizes: list[int], kind: str) -> World:
    known = manifest(kind)
    nodes = [[at, at] for at in range(4)] if kind == "anatomized" else known.own["tree"]
    original = []
    quasi = []
    sensitive = []
    groups = []
    for group, size in enumerate(sizes):
        rows = drawn(rng, size)
        held = []
        for row in rows:
            fits = [span for span in nodes if PAYS[span[0]] <= row["pay"] <= PAYS[span[1]]]
            held.append(fits[rng.integers(len(fits))])
        if kind == "transformed" and rng.random() < 0.4:
            held.append(nodes[rng.integers(len(nodes))])
        original += rows
        quasi += [{"age": row["age"], "town": row["town"], "note": row["note"], "group": group} for row in rows]
        sensitive += [(group, *span) for span in held]
        exact = [{name: row[name] for name in ("age", "town", "note")} for row in rows]
        groups.append((exact, [PAYS[first : last + 1] for first, last in held]))
    tables = {
        "quasi": pl.DataFrame(quasi, schema={"age": pl.Int64, "town": pl.String, "note": pl.Int64, "group": pl.Int32})
    }
    counted: dict = {}
    for entry in sensitive:
        counted[entry] = counted.get(entry, 0) + 1
    tables["sensitive"] = _sensitive(counted, kind)
    return World(
        tables,
        known,
        original,
        lambda condition, column: oracle.matched(groups, "pay", condition, column),
        ("age", "note", "pay"),
    )


def _sensitive(counted: dict, kind: str) -> pl.DataFrame:
    rows = [
        (group, PAYS[first], count) if kind == "anatomized" else (group, PAYS[first], PAYS[last], "", count)
        for (group, first, last), count in sorted(counted.items())
    ]
    names = ["group", "pay", "count"] if kind == "anatomized" else ["group", "lower", "upper", "label", "count"]
    types = {
        "group": pl.Int32,
        "pay": pl.Int64,
        "lower": pl.Int64,
        "upper": pl.Int64,
        "label": pl.String,
        "count": pl.Int32,
    }
    return pl.DataFrame(rows, schema={name: types[name] for name in names}, orient="row")
