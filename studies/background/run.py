"""Reproduce figures:  python -m studies.background.run [FIGURE ...]

Without a figure, all of them.  Each becomes results/<figure>.csv and .svg.  All of them need ../shared/data/adult.csv; `inference`,
`auto` and `bucketized` need the other tables of ../shared/data too.
"""

from __future__ import annotations

from pathlib import Path

from studies import runner
from studies.background import choices, figures
from studies.background.bands import band_chart
from studies.background.figures import SHARED
from studies.chart import line_chart

FIGURES = {**figures.FIGURES, **choices.FIGURES}
CHARTS = dict.fromkeys(choices.FIGURES, band_chart)
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    runner.run(__doc__, FIGURES, RESULTS, needs=SHARED / "adult.csv", of=FIGURES, charts=CHARTS)


def save(folder: Path, name: str) -> None:
    runner.save(folder, name, FIGURES, CHARTS.get(name, line_chart))


if __name__ == "__main__":
    main()
