"""What the ends of ranges give away, and what it costs to hide it:  python -m studies.what_else.labels [TABLE ...]

For each table, method and style of labels at k = 5: AIL beside that of tight labels, the share of predicates "the published labels
and the value at an end" that isolate one person, beside a random value inside the label, and the share of hidden values that are
certain.  One seed.  The tables are those of `studies.beta_likeness.tables`; each becomes results/labels-<table>.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import reticent as rt
from studies.beta_likeness import tables
from studies.jobs import job_for

RESULTS = Path(__file__).parent / "results"
METHODS = {"mosaic": rt.Mosaic(), "mondrian": rt.Mondrian()}
STYLES: dict[str, Any] = {
    "tight": "tight",
    **{f"snapped {step}": {"style": "snapped", "step": step} for step in (2, 3, 5)},
    **{f"padded {width}": {"style": "padded", "width": width} for width in (1, 2, 3)},
}
ROWS = {"census": 100_000, "teachers": 100_000, "deaths": None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(tables.available()))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or ["census"]:
        save(options.out / f"labels-{name}.csv", list(rows(*table(name))))


def table(name: str) -> tuple[Any, dict[str, Any]]:
    """The rows, and the columns' declarations."""
    known = {"census": tables.census, "teachers": tables.teachers, "deaths": tables.deaths}
    load = known.get(name) or partial(tables.prepared, name)
    return load(ROWS.get(name))


def rows(
    frame: Any, columns: dict[str, Any], promises: tuple[Any, ...] = (rt.KAnonymity(5),)
) -> Iterator[dict[str, Any]]:
    """A row for each method and style, in the order of the tables above."""
    for method in METHODS.values():
        tight = 0.0
        for style, labels in STYLES.items():
            made = planned(frame, columns, promises, method, labels)
            tight = tight or made.loss
            found = rt.attack(made, name="singling-out").to_dict()
            yield {
                "method": method.name,
                "labels": style,
                "groups": len(made.sizes),
                "AIL": round(made.loss, 5),
                "more than tight": round(made.loss / tight - 1, 4),
                "isolated": round(found["success"], 4),
                "from": round(found["low"], 4),
                "to": round(found["high"], 4),
                "control": round(found["control"], 4),
                "certain": round(found["certain"], 4),
            }


def planned(frame: Any, columns: dict[str, Any], promises: Any, method: Any, labels: Any) -> Any:
    """A plan whose numbers are printed in a style; their range is declared, so that all losses are measured against the same."""
    styled = dict(columns)
    for name, column in columns.items():
        if column.type == "numeric" and column.role == "quasi-identifying":
            held = frame[name].cast(float).drop_nulls()
            styled[name] = replace(column, labels=labels, domain=(int(held.min()), int(held.max())))
    cells = rt.count(rt.Job(columns=styled, promises=promises), frame=frame.select(list(styled)))
    return rt.plan(job_for(cells, promises, method), cells=cells, seed=1)


def save(path: Path, found: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()
