"""All attacks x all methods x usual promises:  python -m studies.what_else.attacks [TABLE ...]

attacks-<table>.csv has a row for each method, promise and attack that applies: what it reached, its control, and how.  Tables are
4,000 rows drawn at random, because overlaps and joins take minutes on more; `mosaic` is quick; one seed.  Attacks sample by themselves
where they say so: `minimality` draws values anew 24 times, `linkability` tries 2,000 people.  `composition` joins each release with
a Mondrian of the same promise that weighs the first number 3.  by-l-<table>.csv and its chart have guesses against l by Mondrian.
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
from studies.chart import line_chart
from studies.what_else.labels import RESULTS, save, time_use

ROWS = 4_000
PROMISES: dict[str, Any] = {
    "k = 5": rt.KAnonymity(5),
    "l = 3": rt.ProbabilisticLDiversity(3),
    "beta = 2": rt.BetaLikeness(2),
    "t = 0.3": rt.TCloseness("0.3"),
}
METHODS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "mondrian": (rt.Mondrian(), tuple(PROMISES)),
    "mondrian, blind": (rt.Mondrian(cuts="blind"), tuple(PROMISES)[1:]),
    "mosaic": (rt.Mosaic(effort="quick"), tuple(PROMISES)),
    "burel": (rt.Burel(), ("beta = 2",)),
    "sabre": (rt.Sabre(), ("t = 0.3",)),
    "anatomy": (rt.Anatomy(), ("l = 3",)),
}
GIVEN = {"background": {"bandwidth": "0.3", "t": "0.2"}}
ATTACKS = ("naive-bayes", "definetti", "skewness", "background", "singling-out", "linkability", "inference", "downcoding",
           "overlap", "composition", "minimality")  # fmt: skip
"""The others are of releases with withheld, perturbed or transformed values; similarity needs families of values, which these lack."""
UNJOINED = {("composition", "burel"), ("composition", "sabre"), ("overlap", "sabre")}
"""Nearly every label of these covers nearly everybody: balancing takes minutes for some thousand people."""
TABLES = ("adult30k", "teachers", "deaths", "time use")
DIVERSITIES = (2, 3, 4, 5)
BY_L = ("naive-bayes", "definetti", "skewness", "inference", "minimality")
ANSWERS = (
    "targets",
    "success",
    "low",
    "high",
    "baseline",
    "control",
    "control_low",
    "control_high",
    "worst_posterior",
    "promised",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or TABLES:
        frame, columns = table(name)
        slug = name.replace(" ", "-")
        save_each(options.out / f"attacks-{slug}.csv", rows(frame, columns))
        found = list(by_l(frame, columns))
        if found:
            save(options.out / f"by-l-{slug}.csv", found)
            title = f"{name}: how often guesses are right by Mondrian's releases, and a control with shuffled values"
            (options.out / f"by-l-{slug}.svg").write_text(line_chart(found, "l", "right", title), encoding="utf-8")


def save_each(path: Path, found: Iterator[dict[str, Any]]) -> None:
    """Row by row: a run that is stopped leaves what it measured."""
    with path.open("w", newline="") as file:
        writer = None
        for row in found:
            writer = writer or csv.DictWriter(file, list(row), lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
            file.flush()


def table(name: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    if name == "time use":
        return time_use(ROWS)
    known = {"teachers": tables.teachers, "deaths": tables.deaths}
    return known[name](ROWS) if name in known else tables.prepared(name, ROWS)


def released(frame: Any, columns: dict[str, Any], promise: Any, method: Any) -> rt.Release:
    job = rt.Job(columns=columns, promises=[promise], method=method, release=rt.Output(undeclared="drop"))
    return rt.publish(job, frame=frame, seed=1)


def rows(frame: Any, columns: dict[str, Any]) -> Iterator[dict[str, Any]]:
    number = next(name for name, column in columns.items() if column.type == "numeric")
    for promised in PROMISES:
        second = None
        for name, (method, kept) in METHODS.items():
            if promised not in kept:
                continue
            try:
                made = released(frame, columns, PROMISES[promised], method)
                second = second or released(frame, columns, PROMISES[promised], rt.Mondrian(weights={number: 3}))
            except rt.PromiseUnreachable:
                continue
            for attack in ATTACKS:
                if (attack, method.name) not in UNJOINED:
                    given = {"joined": [second]} if attack == "composition" else GIVEN.get(attack, {})
                    yield from measured(made, frame, attack, given, {"method": name, "promise": promised})


def measured(
    made: rt.Release, frame: Any, attack: str, given: dict[str, Any], named: dict[str, str]
) -> Iterator[dict[str, Any]]:
    started = time.process_time()
    try:
        found = rt.attack(made, frame, attack, **given).to_dict()
    except rt.RequestError as error:
        print(named, attack, error.what, flush=True)
        return
    spent = round(time.process_time() - started, 2)
    short = {key: round(found[key], 4) if isinstance(found[key], float) else found[key] for key in ANSWERS}
    print(named, attack, short["success"], short["control"], spent, flush=True)
    yield {**named, "attack": attack, **short, "how": found.get("how", ""), "CPU s": spent}


def by_l(frame: Any, columns: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """How often each adversary's guesses are right at each l; the last line is inference's control."""
    for number in DIVERSITIES:
        try:
            made = released(frame, columns, rt.ProbabilisticLDiversity(number), rt.Mondrian())
        except rt.PromiseUnreachable:
            return
        for attack in BY_L:
            found = rt.attack(made, frame, attack).to_dict()
            yield {"l": number, "method": attack, "right": round(found["success"], 4)}
            if attack == "inference":
                yield {"l": number, "method": "control", "right": round(found["control"], 4)}


if __name__ == "__main__":
    main()
