"""Reproduce figures:  python -m studies.background.run [FIGURE ...]

Without a figure, all of them.  Each becomes results/<figure>.csv and .svg.  All of them need ../shared/data/adult.csv; `inference`,
`auto` and `bucketized` need the other tables of ../shared/data too.
"""

from __future__ import annotations

from pathlib import Path

from studies import runner
from studies.background import choices, figures
from studies.background.charts import draw_charts
from studies.background.figures import SHARED

FIGURES = {**figures.FIGURES, **choices.FIGURES}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    runner.run(__doc__, FIGURES, RESULTS, needs=SHARED / "adult.csv", of=FIGURES, draw_charts=draw_charts)


def save(folder: Path, name: str) -> None:
    runner.save(folder, name, FIGURES, draw_charts)


if __name__ == "__main__":
    main()
