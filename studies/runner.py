"""Run the figures of a study: each becomes results/<figure>.csv and .svg; one whose data is not there is left out, and said so."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from studies.results import DrawCharts, write_charts

HOW = {"adult.csv": "; from the repository's root: reticent data adult -o ../shared/data/adult.csv"}
"""How to get a file that no clone has."""

Figures = Mapping[str, Callable[[], Iterable[dict[str, Any]]]]


def run(
    about: str | None,
    figures: Figures,
    results: Path,
    *,
    needs: Path,
    of: Collection[str],
    draw_charts: DrawCharts,
) -> None:
    """The figures named on the command line, or all of them; those `of` these names need a file."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(figures))
    parser.add_argument("--out", type=Path, default=results)
    options = parser.parse_args()
    unknown = set(options.figures) - set(figures)
    if unknown:
        parser.error(f"no such figure: {', '.join(sorted(unknown))}; known are {', '.join(figures)}")
    for name in options.figures or figures:
        if name in of and not needs.exists():
            print(f"{name}: left out, {needs.parent.name}/{needs.name} is not there{HOW.get(needs.name, '')}")
            continue
        save(options.out, name, figures, draw_charts)


def save(folder: Path, name: str, figures: Figures, draw_charts: DrawCharts) -> None:
    """Write the rows of a figure, and its charts, which are drawn from what was written."""
    rows = list(figures[name]())
    folder.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows
        )
    write_charts(folder / f"{name}.csv", draw_charts)
    print(f"{name}: {len(rows)} rows", flush=True)
