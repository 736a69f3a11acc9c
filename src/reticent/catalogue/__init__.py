"""One row for each promise, method, stage, kind, attack, learner and engine: what the rest of the package knows it by.

The catalogue imports nothing of ours, so that every layer may read it, on either side of the wall between planning and
auditing.  A row names classes and functions as "module:attribute"; whoever may import them loads them.  `parameters` are the
words that a manifest may use: a test holds them to the class.
"""

from __future__ import annotations

from reticent.catalogue.parts import (
    ATTACKS,
    ENGINE,
    ENGINES,
    KINDS,
    LEARNERS,
    METHODS,
    PLAIN,
    REPORT,
    REPORTED_BY,
    STAGES,
)
from reticent.catalogue.promises import PROMISES
from reticent.catalogue.rows import AttackRow, EngineRow, KindRow, LearnerRow, PromiseRow, Row, load

__all__ = [
    "ATTACKS",
    "ENGINE",
    "ENGINES",
    "KINDS",
    "LEARNERS",
    "METHODS",
    "PLAIN",
    "PROMISES",
    "REPORT",
    "REPORTED_BY",
    "STAGES",
    "AttackRow",
    "EngineRow",
    "KindRow",
    "LearnerRow",
    "PromiseRow",
    "Row",
    "load",
]
