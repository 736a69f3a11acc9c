"""Seeds: whatever a study draws is drawn five times, and a chart says so; what draws nothing says that."""

from __future__ import annotations

from studies.results import Rows

Seeds = tuple[int, ...]
SEEDS: Seeds = (1, 2, 3, 4, 5)
NUMBERS = {1: "one seed", 2: "two seeds", 3: "three seeds", 4: "four seeds", 5: "five seeds"}


def say_seeds(rows: Rows, shown: str = "bands", series: str = "method") -> str:
    """Say of how many seeds a chart's means are, and of which lines of fewer; `shown` is what reaches from the least to the most."""
    seeds: dict[str, set[str]] = {}
    for row in rows:
        seeds.setdefault(str(row[series]), set()).add(str(row.get("seed", "")))
    most = max(map(len, seeds.values()))
    if most == 1:
        return "One seed."
    fewer = "".join(f"; {name}: {NUMBERS[len(drawn)]}" for name, drawn in seeds.items() if len(drawn) < most)
    return f"Means of {NUMBERS[most]}, {shown} from the least to the greatest{fewer}."
