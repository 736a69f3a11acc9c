"""Reproduce figures:  python -m studies.distribution.run [FIGURE ...]

Without a figure, all of them.  Each becomes results/<figure>.csv and .svg.  Figures 5a, 5d, 6a and 11 need ../shared/data/adult.csv.
"""

from __future__ import annotations

from pathlib import Path

from studies import runner
from studies.distribution.charts import draw_charts
from studies.distribution.data import SHARED
from studies.distribution.figures import FIGURES, NEED_ADULT

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    runner.run(__doc__, FIGURES, RESULTS, needs=SHARED / "adult.csv", of=NEED_ADULT, draw_charts=draw_charts)


def save(folder: Path, name: str) -> None:
    runner.save(folder, name, FIGURES, draw_charts)


if __name__ == "__main__":
    main()
