"""The README's tables, from the files:  python -m studies.what_else.table

Prints what every attack reached of every method at k = 5, l = 3, beta = 2 and t = 0.3, and writes it into README.md.  Other parameters
are in the files alone.
"""

from __future__ import annotations

import csv
from pathlib import Path

from studies.what_else.attacks import METHODS, TABLES
from studies.what_else.labels import RESULTS

README = Path(__file__).parent / "README.md"
BEGIN = "<!-- printed by studies.what_else.table -->\n"
END = "<!-- end -->"
SHOWN = ("k = 5", "l = 3", "beta = 2", "t = 0.3")
Key = tuple[str, str, str]


def main() -> None:
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    README.write_text(before + BEGIN + "\n" + printed() + "\n" + END + rest.partition(END)[2], encoding="utf-8")


def saved(table: str) -> list[dict[str, str]]:
    path = RESULTS / f"attacks-{table.replace(' ', '-')}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def printed() -> str:
    """A row for each attack, method and promise that some table has a figure of."""
    found: dict[Key, dict[str, str]] = {}
    for table in TABLES:
        for row in saved(table):
            if row["promise"] in SHOWN and row["attack"]:
                key = row["attack"], row["promise"], row["method"]
                found.setdefault(key, {})[table] = cell(row)
    lines = [f"| attack | promise | method | {' | '.join(TABLES)} |", "|---|---|---|" + "---|" * len(TABLES)]
    for attack, promise, method in sorted(found, key=_place):
        cells = found[attack, promise, method]
        if any(one != "-" for one in cells.values()):
            lines.append(
                f"| `{attack}` | {promise} | {method} | {' | '.join(cells.get(table, '-') for table in TABLES)} |"
            )
    return "\n".join(lines) + "\n"


def cell(row: dict[str, str]) -> str:
    if not row["success"]:
        return "-"
    reached = f"{float(row['success']):.3f}".removeprefix("0")
    return f"{reached} ({float(row['control']):.3f})".replace("(0.", "(.") if row["control"] else reached


def _place(key: Key) -> tuple[int, int, int]:
    from studies.what_else.attacks import ATTACKS

    attack, promise, method = key
    return ATTACKS.index(attack), SHOWN.index(promise), list(METHODS).index(method)


if __name__ == "__main__":
    main()
