"""Reproduce figures:  python -m studies.skewed.run [FIGURE ...]

Without a figure, all of them.  Each becomes results/<figure>.csv and .svg.  Figures 4 to 7 need ../shared/data/adult.csv;
real-kinds and the groupings leave out a table that is not in ../shared/data.
"""

from __future__ import annotations

from pathlib import Path

from studies import runner
from studies.skewed import figures, groupings, real_tables
from studies.skewed.charts import draw_charts
from studies.skewed.figures import NEED_ADULT, SHARED

FIGURES = figures.FIGURES | real_tables.FIGURES | groupings.FIGURES
NEED_TABLES = NEED_ADULT | {"real-kinds", "groupings-answers", "groupings-attacks"}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    runner.run(__doc__, FIGURES, RESULTS, needs=SHARED / "adult.csv", of=NEED_TABLES, draw_charts=draw_charts)


def save(folder: Path, name: str) -> None:
    runner.save(folder, name, FIGURES, draw_charts)


if __name__ == "__main__":
    main()
