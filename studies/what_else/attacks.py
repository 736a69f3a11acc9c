"""All attacks x all methods x usual promises:  python -m studies.what_else.attacks [TABLE ...]

attacks-<table>.csv has a row for each method, promise and attack: what it reached, its control, and how; where an attack does not
apply to a release, `why` says it.  Tables are 4,000 rows drawn at random; `mosaic` is quick; one seed.  Attacks sample by themselves
where they say so: `minimality` draws values anew 24 times, `linkability` tries 2,000 people.  `composition` joins each release with
a Mondrian of the same promise that weighs the first number 3.  by-l-<table>.csv and by-beta-<table>.csv, and their charts, have
guesses against l and beta by Mondrian, five seeds each, which draw the rows and the control's values (`--lines` makes them alone).  `studies.what_else.table` prints the README's table from the files.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from studies.beta_likeness import tables
from studies.results import write_charts
from studies.seeds import SEEDS
from studies.what_else.charts import draw_charts
from studies.what_else.labels import RESULTS, save, time_use

ROWS = 4_000
PROMISES: dict[str, Any] = {
    **{f"k = {k}": rt.KAnonymity(k) for k in (5, 10)},
    **{f"l = {number}": rt.ProbabilisticLDiversity(number) for number in (2, 3, 5)},
    **{f"beta = {beta}": rt.BetaLikeness(beta) for beta in (2, 4)},
    **{f"t = {t}": rt.TCloseness(t) for t in ("0.2", "0.3")},
}
METHODS: dict[str, tuple[Any, str]] = {  # and the promises, by their letters
    "mondrian": (rt.Mondrian(), "klbt"),
    "mondrian, sets": (rt.Mondrian(labels="sets"), "klbt"),
    "mondrian, blind": (rt.Mondrian(cuts="blind"), "lbt"),
    "mosaic": (rt.Mosaic(effort="quick"), "klbt"),
    "burel": (rt.Burel(), "b"),
    "sabre": (rt.Sabre(), "t"),
    "anatomy": (rt.Anatomy(), "l"),
    "beta-perturbation": (rt.BetaPerturbation(), "b"),
}
"""Methods that keep none of these promises (distribution, perturbed-generalization) have studies of their own."""
GIVEN = {"background": {"bandwidth": "0.3", "t": "0.2"}}
ATTACKS = ("naive-bayes", "definetti", "skewness", "similarity", "background", "singling-out", "linkability", "inference",
           "downcoding", "overlap", "composition", "minimality", "corruption", "eligibility", "matrix", "matrix-learned",
           "algorithm")  # fmt: skip
FILES_ALONE = ("eligibility", "algorithm")  # need no source
TABLES = ("adult30k", "teachers", "deaths", "time use")
LINES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "l": (rt.ProbabilisticLDiversity, (2, 3, 4, 5)),
    "beta": (rt.BetaLikeness, (1, 2, 3, 4)),
}
GUESSES = ("naive-bayes", "definetti", "skewness", "inference", "minimality")
ANSWERS = ("targets", "success", "low", "high", "baseline", "control", "control_low", "control_high", "worst_posterior",
           "promised")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--more", action="store_true", help="only the promises that the file lacks: go on after a stop")
    parser.add_argument("--at-most", type=int, default=len(PROMISES), help="so many promises of each table in this run")
    parser.add_argument("--lines", action="store_true", help="only the guesses against l and beta")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or TABLES:
        slug = name.replace(" ", "-")
        if options.lines:
            save_guesses(name, options.out)
            continue
        frame, columns = table(name)
        path = options.out / f"attacks-{slug}.csv"
        had = saved(path) if options.more and path.exists() else []
        left = [promise for promise in PROMISES if promise not in {row["promise"] for row in had}]
        for promise in left[: options.at_most]:  # saved one by one: a run that is stopped leaves what it measured
            had += rows(frame, columns, promise)
            save(path, had)
        if len(left) > options.at_most:
            continue
        save_guesses(name, options.out)


def save_guesses(name: str, folder: Path) -> None:
    """Measure and draw the guesses on a table against l and beta."""
    drawn = {seed: table(name, seed) for seed in SEEDS}
    for letter in LINES:
        found = [row for seed, (frame, columns) in drawn.items() for row in by(letter, frame, columns, seed)]
        if found:
            path = folder / f"by-{letter}-{name.replace(' ', '-')}.csv"
            save(path, found)
            write_charts(path, draw_charts)


def saved(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def table(name: str, seed: int = 1) -> tuple[pl.DataFrame, dict[str, Any]]:
    if name == "time use":
        return time_use(ROWS, seed)
    known = {"teachers": tables.teachers, "deaths": tables.deaths}
    return known[name](ROWS, seed) if name in known else tables.prepared(name, ROWS, seed)


def released(frame: Any, columns: dict[str, Any], promise: Any, method: Any, seed: int = 1) -> rt.Release:
    job = rt.Job(columns=columns, promises=[promise], method=method, release=rt.Output(undeclared="drop"))
    return rt.publish(job, frame=frame, seed=seed)


def rows(frame: Any, columns: dict[str, Any], promised: str) -> Iterator[dict[str, Any]]:
    number = next(name for name, column in columns.items() if column.type == "numeric")
    promise = PROMISES[promised]
    second = None
    for name, (method, kept) in METHODS.items():
        if promised[0] not in kept:
            continue
        named = {"method": name, "promise": promised}
        try:
            made = released(frame, columns, promise, method)
            second = second or released(frame, columns, promise, rt.Mondrian(weights={number: 3}))
        except rt.PromiseUnreachable as error:
            yield row(named, "", why=error.what)
            continue
        for attack in ATTACKS:
            given = {"joined": [second]} if attack == "composition" else GIVEN.get(attack, {})
            yield measured(made, frame, attack, given, named)


def measured(made: rt.Release, frame: Any, attack: str, given: dict[str, Any], named: dict[str, str]) -> dict[str, Any]:
    started = time.process_time()
    source = None if attack in FILES_ALONE else frame
    try:
        found = rt.attack(made, source, attack, **given).to_dict()
    except rt.RequestError as error:
        return row(named, attack, why=error.what)
    return row(named, attack, found, spent=round(time.process_time() - started, 2))


def row(
    named: dict[str, str], attack: str, found: dict[str, Any] | None = None, *, spent: float | str = "", why: str = ""
) -> dict[str, Any]:
    """What an attack answered; empty but for `why` where it did not."""
    known = found or {}
    short = {key: round(value, 4) if isinstance(value := known.get(key, ""), float) else value for key in ANSWERS}
    beside = {"how": known.get("how", ""), "rule": known.get("rule", ""), "CPU s": spent, "why": why}
    print(*named.values(), attack, short["success"], short["control"], spent, why, flush=True)
    return {**named, "attack": attack, **short, **beside}


def by(letter: str, frame: Any, columns: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """How often each adversary's guesses are right as a promise is loosened or tightened; the last line is inference's control."""
    promise, values = LINES[letter]
    for value in values:
        try:
            made = released(frame, columns, promise(value), rt.Mondrian(), seed)
        except rt.PromiseUnreachable:
            continue
        for attack in GUESSES:
            given = {"seed": seed} if attack == "inference" else {}
            found = rt.attack(made, frame, attack, **given).to_dict()
            yield {letter: value, "method": attack, "seed": seed, "right": round(found["success"], 4)}
            if attack == "inference":
                yield {letter: value, "method": "control", "seed": seed, "right": round(found["control"], 4)}


if __name__ == "__main__":
    main()
