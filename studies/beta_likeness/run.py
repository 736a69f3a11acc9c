"""Reproduce figures:  python -m studies.beta_likeness.run [FIGURE ...] [--table census] [--rows 500000] [--queries 10000]

Without a figure, all of them.  Each becomes results/<table>-<figure>.csv and .svg.  Five seeds each.  `--only mosaic` measures the methods
whose names begin so, and leaves the other rows of figures 5 and claim as they were saved.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from studies.beta_likeness.charts import draw_charts
from studies.beta_likeness.figures import BY_METHOD, FIGURES
from studies.beta_likeness.tables import available
from studies.results import write_charts
from studies.seeds import SEEDS

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--table", default="census", choices=available())
    parser.add_argument("--rows", type=int, default=None, help="how many rows; all of them, or 500,000 of the census")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=len(SEEDS), choices=range(1, len(SEEDS) + 1), metavar="N")
    parser.add_argument("--only", default="", metavar="METHOD", help=f"of the figures {' and '.join(BY_METHOD)}")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    unknown = set(options.figures) - set(FIGURES)
    if unknown:
        parser.error(f"no such figure: {', '.join(sorted(unknown))}; known are {', '.join(FIGURES)}")
    if options.only and not (options.figures and set(options.figures) <= set(BY_METHOD)):
        parser.error(f"--only is for the figures {' and '.join(BY_METHOD)}")
    for name in options.figures or FIGURES:
        only = {"only": options.only} if options.only else {}
        seeds = SEEDS[: options.seeds]
        rows = list(FIGURES[name](options.table, options.rows, options.queries, seeds=seeds, **only))
        file = f"{options.table}-{name}"
        rows = beside(options.out / f"{file}.csv", rows) if options.only else rows
        save(options.out, file, rows)


def beside(path: Path, fresh: list[dict]) -> list[dict]:
    """The rows saved before, with those measured again in their places and new ones after the others of the same x.

    Rows that were saved without a seed are those of the first.
    """
    if not path.exists():
        return fresh
    with open(path, newline="", encoding="utf-8") as handle:
        rows: list[dict] = [{**row, "seed": row.get("seed", SEEDS[0])} for row in csv.DictReader(handle)]
    x = next(iter(rows[0]))
    for row in fresh:
        same = [at for at, old in enumerate(rows) if float(old[x]) == row[x]]
        again = [at for at in same if (rows[at]["method"], int(rows[at]["seed"])) == (row["method"], row["seed"])]
        if again:
            rows[again[0]] = row
        else:
            rows.insert(same[-1] + 1 if same else len(rows), row)
    return rows


def save(folder: Path, name: str, rows: list[dict]) -> None:
    if not rows:
        print(f"{name}: nothing to show")
        return
    folder.mkdir(exist_ok=True)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows
        )
    write_charts(folder / f"{name}.csv", draw_charts)
    print(f"{name}: {len(rows)} rows", flush=True)


if __name__ == "__main__":
    main()
