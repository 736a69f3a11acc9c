"""Columns whose numbers are codes: texts that spell numbers, and numbers that stand for "not known"."""

from __future__ import annotations

import random

import polars as pl

ROWS = 240
_draw = random.Random(17)
AGES = [_draw.randint(18, 90) for _ in range(ROWS)]
SEXES = [_draw.choice("12") for _ in range(ROWS)]
PEOPLE = pl.DataFrame(
    {
        "sex": SEXES,
        "age": AGES,
        "ward": [str(1 + at % 6) for at in range(ROWS)],
        "day": [f"d{at % 3}" for at in range(ROWS)],
        "illness": [_draw.choice(["10", "20", "30", "40"]) for _ in range(ROWS)],
    }
)
"""Of these `sex`, `ward` and `illness` are text, and every one of their values is a number."""

SENTINELS: dict[str, tuple[list[int | float], list[int | float]]] = {
    "999 among ages": (list(range(18, 91)), [999]),
    "998 and 999 among ages": (list(range(18, 91)), [998, 999]),
    "9999 among years": (list(range(1930, 2006)), [9999]),
    "8888 and 9999 among years": (list(range(1930, 2006)), [8888, 9999]),
    "99 among the ages of children": (list(range(13)), [99]),
    "9 among yes and no": ([1, 2], [9]),
    "8 and 9 among yes and no": ([1, 2], [8, 9]),
    "-1 among ages": (list(range(91)), [-1]),
    "-9 and -8 among ages": (list(range(18, 91)), [-9, -8]),
    "-99 among degrees": ([at / 2 for at in range(10, 60)], [-99]),
    "-9 and 999 among ages": (list(range(18, 91)), [-9, 999]),
    "999 where 88 is an age": ([*range(18, 87), 87, 88], [999]),
}
"""Values that are true, and the codes among them."""

NO_SENTINELS: dict[str, list[int | float]] = {
    "ages up to 99": list(range(100)),
    "a scale from 1 to 9": list(range(1, 10)),
    "a scale from 1 to 6 and 9": [*range(1, 7), 9],
    "degrees around zero": list(range(-9, 31)),
    "yes and no": [1, 2],
    "one value and 9": [1, 9],
    "years": list(range(1900, 2020)),
}

STRETCHED: dict[str, tuple[list[int | float], int]] = {
    "one income of a million": ([*range(10_000, 60_000, 500), 1_000_000], 1),
    "two debts": ([-900_000, -800_000, *range(0, 60_000, 500)], 2),
}
"""True values of which a few stretch the range, and how many distinct ones do."""
