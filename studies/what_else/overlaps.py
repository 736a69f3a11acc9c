"""Whether overlapping boxes say more than was promised, over several releases:

    python -m studies.what_else.overlaps [TABLE ...]

overlap-seeds-<table>.csv has a row for each seed and promise of `mosaic` (quick): how many people every table that fits, taken as
equally likely, puts above all their groups, how sure it is of them, and how often it is right.  4,000 rows of each table.
What a repair costs is measured by `tests/attacks/overlap_repair.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reticent as rt
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
        frame, columns = table(name)
        save(options.out / f"overlap-seeds-{name.replace(' ', '-')}.csv", list(rows(frame, columns)))


def rows(frame: Any, columns: dict[str, Any], seeds: int = SEEDS) -> Iterator[dict[str, Any]]:
    cells = rt.count(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame.select(list(columns)))
    for name, promise in PROMISES.items():
        for seed in range(1, seeds + 1):
            job = rt.Job(columns=columns, promises=[promise], method=rt.Mosaic(effort="quick"))
            made = rt.plan(job, cells=cells, seed=seed)
            beside = rt.attack(made, name="overlap").to_dict()
            right = beside["tables_right"]
            many = beside["tables_above_groups"]
            yield {
                "promise": name,
                "seed": seed,
                "people": beside["targets"],
                "counted": beside["tables_people"],
                "above their groups": many,
                "believed": round(beside["tables_believed"] or 0, 4),
                "right": 0 if right is None else round(right * many),
                "above the promise": beside["tables_exceeds"],
                "worst": round(beside["tables_worst"] or 0, 4),
                "AIL": round(made.loss, 5),
            }
            print(name, seed, many, right, flush=True)


if __name__ == "__main__":
    main()
