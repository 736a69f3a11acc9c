"""Reproduce the experiments:  python -m studies.perturbed_generalization.run [table-iii | boxes | sal | teachers | draws | cuts ...] [--groupings a,b]

Each becomes results/<name>.csv, row by row as it is measured.  `sal` takes about half an hour, `teachers` (../shared/data) less,
`draws` (../shared/data) a quarter of an hour, `cuts` (../shared/data) three minutes.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from studies.perturbed_generalization.charts import draw_charts
from studies.perturbed_generalization.cuts import compare_cuts
from studies.perturbed_generalization.draws import compared
from studies.perturbed_generalization.figures import GROUPINGS, SHARED, boxes, figures_of, table_iii
from studies.results import write_charts

RESULTS = Path(__file__).parent / "results"
NAMES = ("table-iii", "teachers", "boxes", "sal", "draws", "cuts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--groupings", default=",".join(GROUPINGS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    groupings = tuple(options.groupings.split(","))
    for name in options.names or NAMES:
        if name in ("teachers", "draws", "cuts") and not SHARED.exists():
            print(f"{name}: left out, ../shared/data is not there")
            continue
        made = {"table-iii": table_iii, "boxes": boxes, "draws": compared, "cuts": compare_cuts}.get(name)
        suffix = "" if len(groupings) > 1 or made else f"-{groupings[0]}"
        save(options.out / f"{name}{suffix}.csv", made() if made else figures_of(name, groupings))
        write_charts(options.out / f"{name}{suffix}.csv", draw_charts)


def save(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        writer = None
        for row in rows:
            writer = writer or csv.DictWriter(handle, list(row), lineterminator="\n")
            if handle.tell() == 0:
                writer.writeheader()
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})
            handle.flush()


if __name__ == "__main__":
    main()
