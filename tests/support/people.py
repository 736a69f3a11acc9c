"""A small table with a canary in it, and a job over it: what tests of the command line publish, and spoil."""

from __future__ import annotations

import random
from pathlib import Path

CANARY = "Zquxcanary7741"
CITIES = {"Ulm": "south", "Bonn": "west", "Kiel": "north", "Jena": "east"}
JOB = """\
[source]
path = "people.csv"

[columns]
person  = "identifying"
age     = { role = "quasi-identifying", type = "numeric" }
city    = { role = "quasi-identifying", hierarchy = "city.csv" }
illness = "sensitive"

[[promise]]
model = "k-anonymity"
k = 5
"""


def people(rows: int, seed: int = 5) -> list[list[str]]:
    """Rows of text; the canary is the name of one person, who is in no way remarkable otherwise."""
    draw = random.Random(seed)
    names = [f"p{i:04d}" for i in range(rows - 1)] + [CANARY]
    illnesses = ["flu", "flu", "cold", "gout", "mumps"]
    return [[name, str(draw.randint(20, 60)), draw.choice(list(CITIES)), draw.choice(illnesses)] for name in names]


def csv_text(rows: list[list[str]], head: str = "person,age,city,illness") -> str:
    return "\n".join([head, *map(",".join, rows)]) + "\n"


def write_files(folder: Path, rows: int, job: str = JOB) -> None:
    """people.csv, city.csv and job.toml."""
    (folder / "people.csv").write_text(csv_text(people(rows)))
    (folder / "city.csv").write_text("".join(f"{city};{part};*\n" for city, part in CITIES.items()))
    (folder / "job.toml").write_text(job)
