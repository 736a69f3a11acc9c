"""The result of a query on a release: an estimate, guaranteed bounds where they exist, a standard error where it is random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """`keys` are the values of the GROUP BY columns that this answer is of; `estimate` None is what SQL calls NULL."""

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    std_error: float | None = None
    keys: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Keys that have no value are left out, but for the estimate."""
        found = {"lower": self.lower, "upper": self.upper, "std_error": self.std_error}
        given = {name: value for name, value in found.items() if value is not None}
        return {**(self.keys or {}), "estimate": self.estimate, **given}


NOTHING = Answer(None)
"""The aggregate of no rows: NULL."""
