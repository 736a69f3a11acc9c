"""What a release teaches, as scikit-learn takes it: labels as numbers, each with the classes that its rows have or may have.

A label covers codes of a column; its weight lies evenly over them.  `places` of a column are the mean position of what is covered (one
number, from 0 to 1) or, of categories, the share of each; `masses` are shares in both cases, numbers cut into stretches.  In groups
that do not say who has which value, everyone counts with the group's shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.release.reading.boxes import Boxes
from reticent.table.cells import Cells
from reticent.table.domain import Domain, RangeDomain
from reticent.utility.classes import Classes

STRETCHES = 16
CATEGORIES = 128
"""More categories than these share one column, the rarest first."""


@dataclass(frozen=True, eq=False)
class Examples:
    """(examples, features) twice, and (examples, classes): how many people each example stands for."""

    places: np.ndarray
    masses: np.ndarray
    people: np.ndarray

    def expanded(
        self, of: np.ndarray, max_lines: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features, class and weight, one line for each class that an example has; of more than `max_lines`, some drawn at random."""
        example, held = np.nonzero(self.people > 0)
        if len(example) > max_lines:
            drawn = np.sort(rng.choice(len(example), max_lines, replace=False))
            example, held = example[drawn], held[drawn]
        return of[example], held, self.people[example, held]


class Encoder:
    """How the codes of each quasi-identifier become features."""

    def __init__(self, cells: Cells):
        self.tables = [_tables(domain, _rows(cells, axis)) for axis, domain in enumerate(cells.quasi)]

    def of_codes(self, codes: np.ndarray, people: np.ndarray) -> Examples:
        """People with exact quasi-identifiers."""
        places, masses = (
            np.concatenate([pair[which][codes[:, axis]] for axis, pair in enumerate(self.tables)], axis=1)
            for which in (0, 1)
        )
        return Examples(places, masses, people)

    def of_boxes(self, boxes: Boxes, people: np.ndarray) -> Examples:
        found: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for axis, (pair, column) in enumerate(zip(self.tables, boxes.covers, strict=True)):
            covered = column.table(np.arange(len(pair[0]))).T.astype(float)
            covered /= np.maximum(covered.sum(axis=1, keepdims=True), 1)
            for parts, table in zip(found, pair, strict=True):
                parts.append((covered @ table)[boxes.label[axis]])
        return Examples(np.concatenate(found[0], axis=1), np.concatenate(found[1], axis=1), people)


def of_sight(sight: Any, encoder: Encoder, classes: Classes) -> Examples:
    """What groups teach."""
    if isinstance(sight, Boxes):
        return encoder.of_boxes(sight, classes.counted(sight.counts))
    points, at = np.unique(sight.codes, axis=0, return_inverse=True)
    people = np.zeros((len(points), len(classes.names)))
    np.add.at(people, at.reshape(-1), sight.people[:, None] * classes.counted(sight.shares)[sight.group])
    return encoder.of_codes(points, people)


def of_cells(cells: Cells, encoder: Encoder, classes: Classes) -> Examples:
    """What the people themselves teach, or are asked about."""
    points, at = np.unique(cells.codes, axis=0, return_inverse=True)
    people = np.zeros((len(points), len(classes.names)))
    np.add.at(people, (at.reshape(-1), classes.of[cells.values[:, 0]]), cells.counts)
    return encoder.of_codes(points, people)


def _rows(cells: Cells, axis: int) -> np.ndarray:
    return np.bincount(cells.codes[:, axis], weights=cells.counts, minlength=cells.quasi[axis].size)


def _tables(domain: Domain, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(codes, places) and (codes, masses)."""
    if isinstance(domain, RangeDomain):
        places = np.full((domain.size, 1), 0.5)
        positions = np.asarray(domain.positions, float)[: len(domain.texts)]
        span = (positions[-1] - positions[0]) if len(positions) else 0
        places[: len(positions), 0] = (positions - positions[0]) / span if span else 0.5
        until = np.cumsum(rows) - rows / 2
        stretch = np.minimum((until / max(rows.sum(), 1) * STRETCHES).astype(int), STRETCHES - 1)
        return places, np.eye(STRETCHES)[stretch]
    order = np.argsort(-rows, kind="stable")
    column = np.empty(domain.size, np.int64)
    column[order] = np.minimum(np.arange(domain.size), CATEGORIES - 1)
    shares = np.eye(min(domain.size, CATEGORIES))[column]
    return shares, shares
