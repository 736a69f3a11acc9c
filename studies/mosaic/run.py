"""Mosaic's loss against CPU seconds, promise by promise:  python -m studies.mosaic.run [TABLE ...]

One search for each promise, one thread, one seed, watched: what it would publish if it were stopped after so many CPU seconds.  Each
table becomes results/<table>.csv and .svg.  Beside `census` there are the tables of `studies.beta_likeness.tables`.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reticent as rt
from studies.beta_likeness.tables import available, cells, most_quasi
from studies.jobs import job_for
from studies.mosaic.charts import draw_charts
from studies.results import write_charts

RESULTS = Path(__file__).parent / "results"
SECONDS = (0.25, 0.5, 1, 2, 4, 8, 16)
ROWS = {"census": 100_000}
PROMISES = {
    "k 5": [rt.KAnonymity(5)],
    "distinct l 4, k 5": [rt.KAnonymity(5), rt.DistinctLDiversity(4)],
    "enhanced beta 2": [rt.BetaLikeness(2)],
    "enhanced beta 4": [rt.BetaLikeness(4)],
    "two-sided beta 4": [rt.BetaLikeness(4, two_sided=True)],
    "t 0.2": [rt.TCloseness("0.2")],
    "t 0.5": [rt.TCloseness("0.5")],
    "entropy l 3": [rt.EntropyLDiversity(3)],
    "recursive (3, 3)": [rt.RecursiveLDiversity(c=3, l=3)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(available()))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for table in options.tables or ["census"]:
        save(options.out, table, list(curves(cells(table, ROWS.get(table), most_quasi(table)), SECONDS)))


def curves(table: Any, seconds: tuple[float, ...], asked: dict[str, Any] = PROMISES) -> Iterator[dict]:
    for name, promises in asked.items():
        mondrian = rt.plan(job_for(table, promises, rt.Mondrian(cuts="loss")), cells=table, seed=1)
        reference = mondrian.loss
        for moment, loss in sorted(watched(table, promises, seconds).items()):
            yield {
                "method": name,
                "CPU seconds": moment,
                "share of Mondrian's loss": loss / reference,
                "loss": loss,
                "Mondrian's loss": reference,
                "Mondrian's CPU seconds": mondrian.seconds,
            }


def watched(table: Any, promises: list[Any], seconds: tuple[float, ...]) -> dict[float, float]:
    """The loss at each moment, from the first one at which there is something to publish."""
    found: dict[float, float] = {}

    def watch(now) -> None:
        found.update({moment: now.loss for moment in seconds if now.cpu_seconds <= moment})

    job = job_for(table, promises, rt.Mosaic(effort=max(seconds), threads=1))
    rt.plan(job, cells=table, seed=1, watch=watch)
    return found


def save(folder: Path, name: str, rows: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows
        )
    write_charts(folder / f"{name}.csv", draw_charts)
    print(f"{name}: {len(rows)} rows", flush=True)


if __name__ == "__main__":
    main()
