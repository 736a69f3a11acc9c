"""Anatomy's two groupings: how wide answers are, and how much every attack gains, on real tables; five seeds each.

Tables are samples of 20,000 people with whole columns as quasi-identifiers and an amount cut in ten classes, or a column as
it is, as sensitive values.  Attacks are those of `reticent attack` that take an anatomized release.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

import reticent as rt
from studies.skewed.dealing import learn
from studies.skewed.figures import SHARED, Row

GROUPINGS = ("random", "hilbert")
SEEDS = range(5)
ROWS = 20_000
QUESTIONS = 60
LEVELS = (2, 4)
CLASSES = 10
ATTACKS = ("naive-bayes", "definetti", "skewness", "inference", "minimality", "corruption", "composition")
SMALL_TABLES = ((2, 2, 1), (2, 2, 2), (3, 2, 1), (2, 2, 2, 1), (3, 2, 2), (3, 3, 2))


@dataclass(frozen=True)
class GroupedTable:
    """A table of the study: its file, quasi-identifiers, and the sensitive column; `cut`: in classes of as many people."""

    file_name: str
    quasi: tuple[str, ...]
    sensitive: str
    cut: bool = False

    def read(self) -> pl.DataFrame:
        frame = pl.read_parquet(SHARED / self.file_name, columns=[*self.quasi, self.sensitive]).drop_nulls()
        frame = frame.sample(min(ROWS, len(frame)), seed=1)
        if self.cut:
            rank = pl.col(self.sensitive).rank("ordinal") - 1
            frame = frame.with_columns((rank * CLASSES // len(frame)).cast(pl.Int64).alias(self.sensitive))
        return frame


TABLES = {
    "married women": GroupedTable("acs_married_women_2014.parquet", ("ST", "AGEP", "FER", "LFP"), "PINCP", cut=True),
    "teachers": GroupedTable("acs_teachers_2015_2019.parquet", ("agep", "sex", "schl", "mar", "st"), "wagp", cut=True),
    "time use": GroupedTable("atus_2003_2016.parquet", ("age", "sex", "marital", "state"), "famincome"),
    "Adult": GroupedTable("adult.parquet", ("age", "education-num", "sex", "hours-per-week"), "occupation"),
}


def publish(table: GroupedTable, frame: pl.DataFrame, l: int, grouping: str, seed: int) -> rt.Release:
    columns = {name: rt.quasi() for name in table.quasi} | {table.sensitive: rt.sensitive()}
    method = rt.Anatomy(grouping=grouping)
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(l)], method=method)
    return rt.publish(job, frame=frame, seed=seed)


def list_tables() -> Iterator[tuple[int, str, GroupedTable, pl.DataFrame]]:
    """List the tables that are there, numbered from 1."""
    for number, (name, table) in enumerate(TABLES.items(), start=1):
        if (SHARED / table.file_name).exists():
            yield number, name, table, table.read()


def groupings_answers() -> Iterator[Row]:
    """counts over a range of age and a value, on four tables: width of the guaranteed bounds and error of the estimate, by grouping"""
    for number, name, table, frame in list_tables():
        age = next(column for column in table.quasi if "age" in column.lower())
        questions = draw_questions(frame, age, table.sensitive)
        for l in LEVELS:
            for grouping in GROUPINGS:
                measured = [measure_answers(publish(table, frame, l, grouping, seed), age, questions) for seed in SEEDS]
                widths, errors, covered = (np.array(column) for column in zip(*measured, strict=True))
                yield {
                    "table": number,
                    "method": f"{grouping}, l = {l}",
                    "width": float(widths.mean()),
                    "width low": float(widths.min()),
                    "width high": float(widths.max()),
                    "error": float(errors.mean()),
                    "error low": float(errors.min()),
                    "error high": float(errors.max()),
                    "covered": float(covered.min()),
                    "name": name,
                    "people": len(frame),
                    "questions": len(questions),
                    "seeds": len(SEEDS),
                }


def draw_questions(frame: pl.DataFrame, age: str, sensitive: str) -> list[tuple[int, int, object, int]]:
    """Draw ranges of a third of the ages' span and values that at least 20 people hold there: (from, to, value, true count)."""
    draw = np.random.default_rng(7)
    least, greatest = int(frame[age].min()), int(frame[age].max())
    values = frame[sensitive].unique(maintain_order=True).to_list()
    questions = []
    while len(questions) < QUESTIONS:
        first = int(draw.integers(least, greatest - (greatest - least) // 3))
        last = first + (greatest - least) // 3
        value = values[int(draw.integers(len(values)))]
        true = frame.filter(pl.col(age).is_between(first, last) & (pl.col(sensitive) == value)).height
        if true >= 20:
            questions.append((first, last, value, true))
    return questions


def measure_answers(release: rt.Release, age: str, questions: list) -> tuple[float, float, float]:
    """Return the medians of the bounds' width and of the estimate's error, both by the true count, and how many bounds hold it."""
    widths, errors, held = [], [], 0
    for first, last, value, true in questions:
        answer = release.count(pl.col(age).is_between(first, last), [value])
        widths.append((answer.upper - answer.lower) / true)
        errors.append(abs(answer.estimate - true) / true)
        held += answer.lower <= true <= answer.upper
    return float(np.median(widths)), float(np.median(errors)), held / len(questions)


def groupings_attacks() -> Iterator[Row]:
    """share of people whose value an attack guesses, and its surest belief, on four tables at l = 4, by grouping"""
    for number, name, table, frame in list_tables():
        for grouping in GROUPINGS:
            releases = [publish(table, frame, 4, grouping, seed) for seed in SEEDS]
            for attack in ATTACKS:
                learnt = []
                for seed, release in enumerate(releases):
                    joined = {"joined": [releases[seed - 1]], "force_join": True} if attack == "composition" else {}
                    learnt.append(rt.attack(release, frame, attack, **joined).to_dict())
                success = np.array([outcome["success"] for outcome in learnt])
                control = [outcome["control"] for outcome in learnt if outcome["control"] is not None]
                yield {
                    "table": number,
                    "method": f"{attack}, {grouping}",
                    "success": float(success.mean()),
                    "success low": float(success.min()),
                    "success high": float(success.max()),
                    "control": float(np.mean(control)) if control else "",
                    "surest": max(outcome["worst_posterior"] for outcome in learnt),
                    "name": name,
                    "attack": attack,
                    "grouping": grouping,
                    "people": len(frame),
                    "seeds": len(SEEDS),
                }


def groupings_knowing() -> Iterator[Row]:
    """surest belief of who knows the method and not its key, over all releases of tiny tables, l = 2, by grouping"""
    for number, counts in enumerate(SMALL_TABLES, start=1):
        for grouping in GROUPINGS:
            learnt = learn(counts, 2, grouping)
            yield {
                "table": number,
                "method": grouping,
                "surest": float(learnt.worst),
                "exceeding": float(learnt.exceeding),
                "releases": learnt.releases,
                "counts": " ".join(map(str, counts)),
                "bound": 0.5,
            }


FIGURES: dict[str, Callable[[], Iterator[Row]]] = {
    "groupings-answers": groupings_answers,
    "groupings-attacks": groupings_attacks,
    "groupings-knowing": groupings_knowing,
}
