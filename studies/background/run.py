"""Reproduce figures:  python -m studies.background.run [FIGURE ...]

Without a figure, all of them.  Each becomes results/<figure>.csv and .svg.  All of them need ../shared/data/adult.csv.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from studies.background.figures import FIGURES, SHARED
from studies.chart import line_chart

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    unknown = set(options.figures) - set(FIGURES)
    if unknown:
        parser.error(f"no such figure: {', '.join(sorted(unknown))}; known are {', '.join(FIGURES)}")
    for name in options.figures or FIGURES:
        if not (SHARED / "adult.csv").exists():
            print(f"{name}: left out, {SHARED.name}/adult.csv is not there")
            continue
        save(options.out, name)


def save(folder: Path, name: str) -> None:
    rows = list(FIGURES[name]())
    folder.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows
        )
    title = (FIGURES[name].__doc__ or name).splitlines()[0]
    (folder / f"{name}.svg").write_text(line_chart(rows, columns[0], columns[2], f"{name}: {title}"), encoding="utf-8")
    print(f"{name}: {len(rows)} rows", flush=True)


if __name__ == "__main__":
    main()
