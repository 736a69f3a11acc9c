"""Every study by one command:  python -m studies.all [STUDY [FIGURE ...]] [--list] [--redraw]

Without words, all of them on the data that is there; a figure whose data is not says so and is left out.  With a study's
name, that one, and the words behind it are its own: `python -m studies.all beta_likeness 5 --only mosaic`.  `--redraw [STUDY ...]`
measures nothing: it draws the charts of all studies, or of some, again from their results.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.results import DRAWN, redraw_study

STUDIES = tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/run.py")))


def main(words: Sequence[str]) -> int:
    """The number of studies that failed; one that fails does not keep the others from running."""
    if words[:1] == ["--list"]:
        print(*STUDIES, sep="\n")
        return 0
    if words[:1] == ["--redraw"]:
        return redraw(words[1:])
    chosen = words[:1] if words else STUDIES
    if unknown := [name for name in chosen if name not in STUDIES]:
        print(f"no such study: {unknown[0]}; known are {', '.join(STUDIES)}", file=sys.stderr)
        return 1
    failed = 0
    for name in chosen:
        print(f"== {name}", flush=True)
        failed += subprocess.run([sys.executable, "-m", f"studies.{name}.run", *words[1:]]).returncode != 0
    return failed


def redraw(chosen: Sequence[str]) -> int:
    if unknown := [name for name in chosen if name not in DRAWN]:
        print(f"no study with charts: {unknown[0]}; known are {', '.join(DRAWN)}", file=sys.stderr)
        return 1
    for name in chosen or DRAWN:
        print(f"{name}: {redraw_study(name)} charts")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
