"""Tables that other tools made (tests/peers/made)."""

from __future__ import annotations

import csv
from pathlib import Path

MADE = Path(__file__).parents[1] / "peers" / "made"


TABLES = {
    "anjana_k.csv": (["age", "town"], {"town": str(MADE / "town.csv")}, "people.csv"),
    "anjana_suppressed.csv": (["age", "town"], {"town": str(MADE / "town.csv")}, "people.csv"),
    "anjana_t.csv": (["age", "town"], {"town": str(MADE / "town.csv")}, "people.csv"),
    "arx.csv": (["age", "zip"], {"zip": str(MADE / "zip.csv")}, "arx_source.csv"),
}


def rows(name):
    with open(MADE / name, newline="", encoding="utf-8") as handle:
        text = handle.read().splitlines()
    return list(csv.DictReader(text, delimiter=";" if ";" in text[0] else ","))
