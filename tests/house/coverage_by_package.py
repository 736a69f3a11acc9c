"""Print which share of lines and branches the suite runs, by package:  python -m tests.house.coverage_by_package FILE

`FILE` is what `coverage json` wrote (`make coverage`). A package is a folder of `src/reticent/`, the modules beside them
are "root". Lines and branches count alike, as coverage.py counts them together. Kernels are compiled and have none. Ends
with 1 where a package that a guarantee rests on is below its least.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LEAST = dict.fromkeys(("models", "methods", "audit", "ledger"), 95.0)
"""Percent that each of these packages must reach."""
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def sum_by_package(files: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Sum the counts of the files of each package."""
    sums: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for name, measured in files.items():
        parts = Path(name).parts
        inner = parts[len(parts) - 1 - parts[::-1].index("reticent") + 1 :]
        package = inner[0] if len(inner) > 1 else "root"
        for count in COUNTS:
            sums[package][count] += measured["summary"][count]
    return dict(sums)


def compute_percent(counts: Mapping[str, int]) -> float:
    """Return lines and branches that were run, in percent of all; 100 where there are none."""
    every = counts["num_statements"] + counts["num_branches"]
    return 100 * (counts["covered_lines"] + counts["covered_branches"]) / every if every else 100.0


def format_table(sums: Mapping[str, Mapping[str, int]]) -> str:
    """Format a Markdown table, a row for each package, the total last."""
    lines = ["| package | lines | branches | run |", "|---|---|---|---|"]
    total = {count: sum(counts[count] for counts in sums.values()) for count in COUNTS}
    for package, counts in [*sorted(sums.items()), ("all", total)]:
        percent = compute_percent(counts)
        lines.append(f"| `{package}` | {counts['num_statements']:,} | {counts['num_branches']:,} | {percent:.1f} % |")
    return "\n".join(lines)


def list_shortfalls(sums: Mapping[str, Mapping[str, int]]) -> list[str]:
    """List the packages that are below their least, each as a sentence."""
    return [
        f"{package}: {compute_percent(sums[package]):.1f} % of lines and branches are run, less than {least:g} %."
        for package, least in LEAST.items()
        if package in sums and compute_percent(sums[package]) < least
    ]


def main(path: Path) -> int:
    sums = sum_by_package(json.loads(path.read_text(encoding="utf-8"))["files"])
    shortfalls = list_shortfalls(sums)
    sys.stdout.write("\n".join([format_table(sums), *shortfalls]) + "\n")
    return int(bool(shortfalls))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
