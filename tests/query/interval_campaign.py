"""Random questions to releases drawn again and again: how often the stated interval has the answer of the source's people.

The truth is the oracle's, which imports nothing of ours.  A question is counted by what its answer says of itself: where its note
says that it cuts boxes, its interval stands on an assumption.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import polars as pl

import reticent as rt
from reticent.query import QueryOptions, ask
from reticent.release.sampled import CUT_GROUPS_NOTE
from tests.oracle import query_answers as oracle
from tests.query import questions

AGGREGATES = (
    ("count", None),
    ("count", "pay"),
    ("count", "town"),
    ("sum", "pay"),
    ("avg", "pay"),
    ("sum", "age"),
    ("avg", "age"),
)
TOWNS = ["a", "b", "c", "d"]
FULL = os.environ.get("RETICENT_QUERIES") == "all"
DRAWS, QUESTIONS = (40, 100) if FULL else (4, 40)
LEAST, MOST = (0.93, 0.97) if FULL else (0.9, 0.99)
PERTURBED = [(600, 5, 3), (2000, 12, 2), (150, 6, 1)]


def make_people(rows: int, values: int, seed: int) -> pl.DataFrame:
    """Pay goes with age and is skewed: its least values are frequent, its greatest is held by nobody, some towns are missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    shares = np.array([0.75**place for place in range(values)])
    shares[-1] = 0
    pay = rng.choice(values, rows, p=shares / shares.sum())
    pay = np.where((age > 45) & (rng.random(rows) < 0.3), values // 2, pay)
    town = rng.choice([*TOWNS, None], rows, p=[0.4, 0.3, 0.17, 0.03, 0.1])
    return pl.DataFrame({"age": age, "town": pl.Series(town.tolist(), dtype=pl.String), "pay": 10 * pay})


def draw_sampled(people: pl.DataFrame, values: int, p: str, k: int) -> tuple[object, Callable]:
    """A manifest, and a way to draw its table again: neighbours in age within a town, one person each, pay kept with p."""
    domain = [10 * value for value in range(values)]
    columns = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "pay": rt.sensitive(type="numeric")}
    method = rt.PerturbedGeneralization(k=k, p=p, domain=domain, draw="one")
    job = rt.Job(columns=columns, promises=[rt.DeltaGrowth("0.99", "0.9")], method=method)
    manifest = rt.publish(job, frame=people, seed=1).manifest
    rows = people.sort("town", "age", nulls_last=True)
    place = pl.int_range(pl.len()).over("town")
    size = pl.len().over("town")
    rows = rows.with_columns(part=pl.min_horizontal(place // k, (size // k - 1).clip(0)))
    group = rows.select(pl.struct("town", "part").rle_id()).to_series().to_numpy()
    labels = (
        rows.with_columns(pl.Series("group", group))
        .group_by("group", maintain_order=True)
        .agg(low=pl.col("age").min(), high=pl.col("age").max(), town=pl.col("town").first(), G=pl.len())
    )
    alone = pl.col("low") == pl.col("high")
    label = pl.when(alone).then(pl.col("low").cast(pl.String)).otherwise(pl.format("[{}, {}]", "low", "high"))
    shown = labels.select(label.alias("age"), "town", pl.col("G").cast(pl.Int64))
    pay = rows["pay"].to_numpy()
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = labels["G"].to_numpy()

    def draw(rng: np.random.Generator) -> dict[str, pl.DataFrame]:
        one = pay[starts + (rng.random(len(sizes)) * sizes).astype(int)]
        kept = rng.random(len(sizes)) < float(Fraction(p))
        value = np.where(kept, one, np.array(domain)[rng.integers(0, values, len(sizes))])
        return {"data": shown.with_columns(pl.Series("pay", value)).select("age", "town", "pay", "G")}

    return manifest, draw


def draw_sampled_many(people: pl.DataFrame, values: int, p: str, k: int) -> tuple[object, Callable]:
    """A manifest, and a way to draw its table again: of people of a town and five years of age one in k, pay kept with p."""
    domain = [10 * value for value in range(values)]
    columns = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "pay": rt.sensitive(type="numeric")}
    method = rt.PerturbedGeneralization(k=k, p=p, domain=domain)
    job = rt.Job(columns=columns, promises=[rt.DeltaGrowth("0.99", "0.9")], method=method)
    manifest = rt.publish(job, frame=people, seed=1).manifest
    years = pl.col("age") // 5
    enough = (pl.len().over("town", years)).min().over("town") >= k
    rows = people.with_columns(part=pl.when(enough).then(years).otherwise(0)).sort("town", "part", nulls_last=True)
    group = rows.select(pl.struct("town", "part").rle_id()).to_series().to_numpy()
    labels = (
        rows.with_columns(pl.Series("group", group))
        .group_by("group", maintain_order=True)
        .agg(low=pl.col("age").min(), high=pl.col("age").max(), town=pl.col("town").first(), G=pl.len())
    )
    label = pl.format("[{}, {}]", "low", "high")
    sizes = labels["G"].to_numpy()
    assert sizes.min() >= k and (sizes >= 2 * k).any()
    shown = labels.select(label.alias("age"), "town", pl.col("G").cast(pl.Int64))[
        np.repeat(np.arange(len(sizes)), sizes // k)
    ]
    pay = rows["pay"].to_numpy()

    def draw(rng: np.random.Generator) -> dict[str, pl.DataFrame]:
        drawn = [rng.choice(pay[group == number], size // k, replace=False) for number, size in enumerate(sizes)]
        true = np.concatenate(drawn)
        kept = rng.random(len(true)) < float(Fraction(p))
        value = np.where(kept, true, np.array(domain)[rng.integers(0, values, len(true))])
        return {"data": shown.with_columns(pl.Series("pay", value)).select("age", "town", "pay", "G")}

    return manifest, draw


def draw_perturbed(people: pl.DataFrame, beta: object) -> tuple[object, Callable]:
    """A manifest, and a way to draw its table again: every pay redrawn by the manifest's matrix."""
    columns = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "pay": rt.sensitive(type="numeric")}
    job = rt.Job(columns=columns, promises=[rt.BetaLikeness(beta)], method=rt.BetaPerturbation())
    manifest = rt.publish(job, frame=people, seed=1).manifest
    values = [int(text) for text in manifest.own["values"]]
    until = np.cumsum([[float(Fraction(str(entry))) for entry in row] for row in manifest.own["matrix"]], axis=1)
    place = np.array([values.index(value) for value in people["pay"]])

    def draw(rng: np.random.Generator) -> dict[str, pl.DataFrame]:
        shown = (rng.random(len(place))[:, None] > until[place]).sum(axis=1).clip(0, len(values) - 1)
        return {"data": people.with_columns(pl.Series("pay", np.array(values)[shown]))}

    return manifest, draw


def draw_questions(rng: np.random.Generator, values: int, number: int, *, ages: bool) -> list[tuple]:
    """(aggregate, column, condition, key), every one about the sensitive column; a key is a column of GROUP BY, or None."""
    constants = {"town": TOWNS, "pay": [10 * value for value in range(values)]}
    if ages:
        constants["age"] = [24, 30, 38, 45, 52]
    found = []
    while len(found) < number:
        name, column = AGGREGATES[rng.integers(len(AGGREGATES))]
        if column == "age" and not ages:
            continue
        condition = None if rng.random() < 0.1 else questions.condition(rng, constants)
        key = [None, None, None, "town", "pay"][rng.integers(5)]
        mentioned = {column, key} | (questions.columns_of(condition) if condition is not None else set())
        if "pay" in mentioned:
            found.append((name, column, condition, key))
    return found


def write_sql(name: str, column: str | None, condition: tuple | None, key: str | None) -> str:
    selected = f"{key}, " if key else ""
    where = "" if condition is None else f" WHERE {questions.sql(condition)}"
    return f"SELECT {selected}{name}({column or '*'}) FROM release{where}{f' GROUP BY {key}' if key else ''}"


def true_answer(rows: list[dict], name: str, column: str | None, condition: tuple | None, keys: dict) -> float | None:
    held = [row for row in rows if all(row[key] == value for key, value in keys.items())]
    outcomes = [oracle.outcome(condition, column, row) for row in held]
    if name == "count" and column is not None:
        outcomes = [1 if outcome is not None else None for outcome in outcomes]
    found = oracle.aggregated(name, outcomes)
    return None if found is None else float(found)


def judge_answers(
    people: pl.DataFrame, manifest: object, draw: Callable, asked: list, draws: int, seed: int, by: str = "inversion"
) -> Iterator[tuple]:
    """(question, whether boxes were cut, whether the interval has the truth, whether the guaranteed bounds have it)."""
    rng = np.random.default_rng(seed)
    rows = list(people.iter_rows(named=True))
    known = {}
    for _ in range(draws):
        tables = draw(rng)
        for one in asked:
            found = ask(tables, manifest, write_sql(*one), QueryOptions(by=by))
            for answer in found if isinstance(found, list) else [found]:
                keys = dict(answer.keys or {})
                place = (one, tuple(keys.values()))
                if place not in known:
                    known[place] = true_answer(rows, *one[:3], keys)
                true = known[place]
                if answer.interval is None or true is None:
                    continue
                low, high = answer.interval
                if low == high:
                    assert low == true, f"an answer without an interval is not exact: {write_sql(*one)}"
                    continue
                bounded = all(
                    (answer.lower is None or answer.lower <= true, answer.upper is None or true <= answer.upper)
                )
                yield one, CUT_GROUPS_NOTE in (answer.note or ""), low <= true <= high, bounded


def count_covered(judged: Iterator[tuple]) -> dict[bool, tuple[int, int, int]]:
    """By whether boxes were cut: answers, intervals that have the truth, bounds that do not."""
    found: dict[bool, list[int]] = defaultdict(lambda: [0, 0, 0])
    for _, cut, covered, bounded in judged:
        found[cut][0] += 1
        found[cut][1] += covered
        found[cut][2] += not bounded
    return {cut: tuple(counts) for cut, counts in found.items()}
