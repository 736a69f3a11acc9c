"""As many different sensitive values as rows: every method with every promise finishes, or refuses them, within ten CPU seconds; two promises take mosaic up to thirty.

python -m tests.hostile.many_values [ROWS [SECONDS]]    a line for each method, promise and type of the values
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

import reticent as rt
from reticent import registry
from reticent.errors import ReticentError
from tests.support import method_promise_pairs
from tests.support.contract_examples import EXAMPLES, QUICK
from tests.support.method_promise_pairs import Pair

ROWS = 20_000
SECONDS = 10
LONGER = {("mosaic", "t-closeness"): 30, ("mosaic", "delta-disclosure"): 30}  # measured: 12 and 20
FORMS = ("names", "numbers", "a tree")
_DISTANCES = {"names": "equal", "numbers": "ordered", "a tree": "hierarchical"}


@dataclass(frozen=True)
class Case:
    """A method, a promise, and what the values of the sensitive column are."""

    pair: Pair
    form: str

    def __str__(self) -> str:
        return f"{self.pair}, {self.form}"


def cases() -> Iterator[Case]:
    for pair in method_promise_pairs.pairs():
        for form in FORMS:
            if pair.promise == "proximity-beta-likeness" and form != "numbers":
                continue
            if pair.promise == "semantic-beta-likeness" and form != "a tree":
                continue
            yield Case(pair, form)


def table(form: str, rows: int) -> pl.DataFrame:
    place = pl.int_range(rows, eager=True)
    held = place * 7 % rows if form == "numbers" else pl.Series([f"v{at}" for at in range(rows)])
    ages = 20 + place * 11 % 60
    cities = pl.Series(["Ulm", "Bonn", "Kiel", "Essen", "Jena"])[place % 5]
    return pl.DataFrame({"age": ages, "city": cities, "s": held})


def job(case: Case, rows: int) -> rt.Job:
    pair = case.pair
    tree = [[f"v{at}", f"g{at % 40}", "*"] for at in range(rows)] if case.form == "a tree" else None
    asked = []
    for name in pair.promises:
        of = (
            {"population": pl.concat([table("names", rows).select("age", "city")] * 3)}
            if EXAMPLES[name].of_population
            else {}
        )
        also: dict[str, Any] = {"distance": _DISTANCES[case.form]} if name == "t-closeness" else {}
        asked.append(registry.make_promise({"model": name, **EXAMPLES[name].parameters, **of, **also}))
    return rt.Job(
        columns={"age": rt.quasi(numeric=True), "city": rt.quasi(), "s": rt.sensitive(hierarchy=tree)},
        promises=asked,
        method=registry.make_method({"name": pair.method, **QUICK.get(pair.method, {})}),
        prepare=[registry.make_stage({"name": stage, "l": 2}) for stage in pair.stages],
    )


def outcome(case: Case, rows: int) -> str:
    """What publishing made of it: published, or refused by one of our errors."""
    try:
        release = rt.publish(job(case, rows), frame=table(case.form, rows))
    except ReticentError as error:
        return f"{'CRASHED' if error.exit_code == 70 else 'refused'}: {type(error).__name__}: {error.what[:140]}"
    except Exception as error:
        return f"CRASHED: {type(error).__name__}"
    return f"published, {release.manifest.rows:,} rows"


def forked(asked: Callable[[], Any], seconds: int = 60) -> tuple[Any, float]:
    """What a function gives in a process of its own with so many CPU seconds, None where it took more; and how many it took.

    This process computes nothing itself: Polars' threads, once started, are not in a child.
    """
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + seconds + 1, resource.RLIM_INFINITY))
        with os.fdopen(writing, "wb") as told:
            pickle.dump(asked(), told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        raw = told.read()
    _, _, used = os.wait4(number, 0)
    return pickle.loads(raw) if raw else None, used.ru_utime + used.ru_stime


def main() -> int:
    given = list(map(int, sys.argv[1:3]))
    rows = given[0] if given else ROWS
    seconds = given[1] if len(given) > 1 else SECONDS
    wrong = 0
    for case in forked(lambda: list(cases()))[0]:
        most = max(seconds, LONGER.get((case.pair.method, case.pair.promise), 0))
        said, used = forked(partial(outcome, case, rows), most)
        bad = said is None or said.startswith("CRASHED") or used > most
        wrong += bad
        sys.stdout.write(f"{'!' if bad else ' '} {used:6.1f}  {case}: {said or 'not finished'}\n")
        sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
