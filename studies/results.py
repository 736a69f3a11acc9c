"""The files of a study's results: a CSV of rows, and the charts that are drawn from it alone.

Each study with charts has a module `charts` whose `draw_charts(name, rows)` returns the drawings of one CSV by their names.
A chart is drawn from the rows as they were read back from disk, so that it can be drawn again without measuring anything.  READMEs show the charts in galleries, which are filled when all are drawn.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from importlib import import_module
from pathlib import Path

Rows = Sequence[Mapping[str, str]]
DrawCharts = Callable[[str, Rows], Mapping[str, str]]

STUDIES = Path(__file__).parent
DRAWN = tuple(sorted(path.parent.name for path in STUDIES.glob("*/charts.py")))
"""The studies that have charts."""
GALLERY_END = "<!-- end of charts -->"
GALLERY = rf"(?P<head><!-- charts: (?P<names>[^>]*?) -->).*?{GALLERY_END}"


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def list_charts(study: str, folder: Path | None = None) -> dict[str, str]:
    """Draw every chart of a study from its results, by the charts' names."""
    draw_charts: DrawCharts = import_module(f"studies.{study}.charts").draw_charts
    results = folder or STUDIES / study / "results"
    return {
        name: chart
        for path in sorted(results.glob("*.csv"))
        for name, chart in draw_charts(path.stem, read_rows(path)).items()
    }


def write_charts(path: Path, draw_charts: DrawCharts) -> None:
    """Draw the charts of one CSV beside it."""
    for name, chart in draw_charts(path.stem, read_rows(path)).items():
        (path.parent / f"{name}.svg").write_text(chart, encoding="utf-8")


def redraw_study(study: str) -> int:
    """Write every chart of a study and the galleries of its README anew, from its results as they are; return how many charts."""
    charts = list_charts(study)
    for name, chart in charts.items():
        (STUDIES / study / "results" / f"{name}.svg").write_text(chart, encoding="utf-8")
    readme = STUDIES / study / "README.md"
    readme.write_text(fill_galleries(readme.read_text(encoding="utf-8"), charts), encoding="utf-8")
    return len(charts)


def fill_galleries(text: str, charts: Mapping[str, str]) -> str:
    """Put an image of each chart that a page names in `<!-- charts: NAME ... -->` behind it; its title is the text beside it."""

    def fill(match: re.Match[str]) -> str:
        images = [f"![{read_title(charts[name])}](results/{name}.svg)" for name in match["names"].split()]
        return "\n\n".join([match["head"], *images, GALLERY_END])

    return re.sub(GALLERY, fill, text, flags=re.DOTALL)


def read_title(chart: str) -> str:
    """Return the title of a chart as the text of a link in Markdown."""
    found = re.search(r"<title[^>]*>(.*?)</title>", chart, re.DOTALL)
    assert found is not None, "every chart has a title"
    return re.sub(r"([\[\]])", r"\\\1", unescape(found[1]))
