"""Random suppressed tables for the eligibility attack."""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

import random

import numpy as np

from reticent.methods.suppression.stage import SUPPRESSION_KINDS


def drawn(number: int, kind: str, most: int = 60) -> tuple[tuple[int, ...], int, int]:
    """A random release: falling counts, |T| and l."""
    draw = random.Random(number)
    while True:
        counts = sorted((1 + int(most * draw.random() ** 3) for _ in range(draw.randint(3, 7))), reverse=True)
        l = draw.randint(2, len(counts))
        if l * counts[0] > sum(counts):
            break
    table = SUPPRESSION_KINDS[kind].draw(np.array(counts), l, np.random.default_rng(number))
    return tuple(sorted(table.tolist(), reverse=True)), sum(counts), l
