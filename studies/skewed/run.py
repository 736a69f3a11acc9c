"""Reproduce figures:  python -m studies.skewed.run [FIGURE ...]

Without a figure, all of them.  Each becomes results/<figure>.csv and .svg.  Figures 5 to 7 need ../shared/data/adult.csv.
"""

from __future__ import annotations

from pathlib import Path

from studies import runner
from studies.skewed.figures import FIGURES, NEED_ADULT, SHARED

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    runner.run(__doc__, FIGURES, RESULTS, needs=SHARED / "adult.csv", of=NEED_ADULT)


def save(folder: Path, name: str) -> None:
    runner.save(folder, name, FIGURES)


if __name__ == "__main__":
    main()
