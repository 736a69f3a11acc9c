"""Reproduce figures:  python -m studies.background.run [FIGURE ...]

Without a figure, all of them.  Each becomes results/<figure>.csv and .svg.  All of them need ../shared/data/adult.csv; `inference`,
`auto` and `bucketized` need the other tables of ../shared/data too.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from studies import runner
from studies.background import choices, figures
from studies.background.figures import SHARED
from studies.labelled_chart import draw_labelled_lines

FIGURES = {**figures.FIGURES, **choices.FIGURES}
RESULTS = Path(__file__).parent / "results"


def draw_bands(name: str, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Draw the chart of a figure whose rows have a least and a greatest of several runs."""
    columns = list(rows[0])
    title = (FIGURES[name].__doc__ or name).splitlines()[0]
    return {
        name: draw_labelled_lines(
            rows,
            columns[0],
            columns[2],
            f"{name}: {title}",
            x_label=columns[0],
            y_label=columns[2],
            ends=("least", "most"),
        )
    }


CHARTS = {name: partial(draw_bands, name) for name in choices.FIGURES}


def main() -> None:
    runner.run(__doc__, FIGURES, RESULTS, needs=SHARED / "adult.csv", of=FIGURES, charts=CHARTS)


def save(folder: Path, name: str) -> None:
    runner.save(folder, name, FIGURES, CHARTS)


if __name__ == "__main__":
    main()
