"""Whether overlapping boxes say more than was promised, over many releases, and what a repair costs:

    python -m studies.what_else.overlaps [TABLE ...]

overlap-seeds-<table>.csv has a row for each seed and promise of `mosaic` (quick): how many people every table that fits, taken as
equally likely, puts above all their groups, how sure it is of them, and how often it is right.  Beside it the repair: the groups of every
component whose counted tables exceed the promise are put into one, again and again until none does, and the loss before and after.
Adult whole, of the other tables 4,000 rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import reticent as rt
from reticent.attacks.membership import linked, membership
from reticent.attacks.overlap import overlap
from reticent.recipe.group_labels import coalesce
from studies.beta_likeness import tables
from studies.what_else.attacks import TABLES, table
from studies.what_else.labels import RESULTS, save

SEEDS = 4
PROMISES = {f"l = {number}": rt.ProbabilisticLDiversity(number) for number in (2, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or TABLES:
        frame, columns = tables.prepared(name, None) if name == "adult30k" else table(name)
        save(options.out / f"overlap-seeds-{name.replace(' ', '-')}.csv", list(rows(frame, columns)))


def rows(frame: Any, columns: dict[str, Any], seeds: int = SEEDS) -> Iterator[dict[str, Any]]:
    cells = rt.count(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame.select(list(columns)))
    for name, promise in PROMISES.items():
        for seed in range(1, seeds + 1):
            job = rt.Job(columns=columns, promises=[promise], method=rt.Mosaic(effort="quick"))
            made = rt.plan(job, cells=cells, seed=seed)
            found = overlap(made.seen())
            beside = found.to_dict()
            right = beside["tables_right"]
            many = beside["tables_above_groups"]
            mended, rounds = repaired(made)
            yield {
                "promise": name,
                "seed": seed,
                "people": found.targets,
                "counted": beside["tables_people"],
                "above their groups": many,
                "believed": round(beside["tables_believed"] or 0, 4),
                "right": 0 if right is None else round(right * many),
                "above the promise": beside["tables_exceeds"],
                "worst": round(beside["tables_worst"] or 0, 4),
                "AIL": round(made.loss, 5),
                "AIL repaired": round(mended.loss, 5),
                "rounds": rounds,
            }
            print(name, seed, many, right, made.loss, mended.loss, rounds, flush=True)


def repaired(made: Any) -> tuple[Any, int]:
    """The plan with the groups of each component that exceeds the promise put into one, and how many rounds that took.

    Promises of l-diversity that hold of parts hold of their union.  A union's label may cover people of other groups, so that
    everything is looked at again.
    """
    for rounds in range(100):
        seen = made.seen()
        who = membership(seen)
        if who.known:
            return made, rounds
        beliefs = overlap(seen).tables
        beyond = [point for point, row in beliefs.items() if float(max(row)) > float(seen.promised or 1)]
        if not beyond:
            return made, rounds
        component = linked(who.point, who.group, who.points)
        first = np.arange(who.groups + 1)
        inside = np.isin(component[who.point], component[beyond])
        least = np.full(who.points, who.groups + 1)
        np.minimum.at(least, component[who.point[inside]], who.group[inside])
        first[who.group[inside]] = least[component[who.point[inside]]]
        number = np.unique(first[: who.groups], return_inverse=True)[1].reshape(-1)
        made = replace(made, recipe=coalesce(made.recipe.renumbered(number))[0])
    raise RuntimeError("the repair does not end")


if __name__ == "__main__":
    main()
