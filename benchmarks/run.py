"""`make bench`: one table of ratios, each measured within this run.

Every `benchmarks/rows_*.py` has a list `ROWS` of (name, function); a function measures and returns a `Row`.
`make bench ARGS=publish` runs the rows with that word in their name; `--json` prints one object per row, `--list` only the
names.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.row import Row

LAYOUT = "{:<52} {:>10} {:>10}  {:<5}  {:>8}  {:>8}  {:<4} {}"


def listed_rows() -> Iterator[tuple[str, Callable[[], Row]]]:
    """The rows of every module, in the order of the modules' names."""
    for path in sorted(Path(__file__).parent.glob("rows_*.py")):
        yield from importlib.import_module(f"benchmarks.{path.stem}").ROWS


def asked_for(name: str, words: list[str]) -> bool:
    return not words or any(word in name for word in words)


def show(name: str, row: Row) -> None:
    """Print one line of the table."""
    met = {True: "yes", False: "NO", None: ""}[row.met]
    note = f"{row.against}{'; ' if row.note else ''}{row.note}"
    digits = 5 if row.unit == "loss" else 3
    figures = (f"{row.ours:.{digits}f}", f"{row.reference:.{digits}f}", row.unit, f"{row.ratio:.2f}", row.asked)
    print(LAYOUT.format(name, *figures, met, note), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only rows whose name has one of these words")
    parser.add_argument("--json", action="store_true", help="one JSON object per row")
    parser.add_argument("--list", action="store_true", help="the names of these rows; nothing is measured")
    options = parser.parse_args()
    chosen = [(name, function) for name, function in listed_rows() if asked_for(name, options.words)]
    if not chosen:
        parser.error(f"no row has {' or '.join(map(repr, options.words))} in its name; --list shows them")
    if options.list:
        print(*(name for name, _ in chosen), sep="\n")
        return
    if not options.json:
        print(LAYOUT.format("what", "ours", "reference", "unit", "ratio", "asked", "met", "against"))
    for name, function in chosen:
        row = function()
        if options.json:
            print(json.dumps({"name": name, **asdict(row), "ratio": row.ratio, "met": row.met}), flush=True)
        else:
            show(name, row)


if __name__ == "__main__":
    main()
