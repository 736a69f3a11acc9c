"""The result of a query on a release: an estimate, guaranteed bounds where they exist, a standard error where it is random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    estimate: float
    lower: float | None = None
    upper: float | None = None
    std_error: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Keys that have no value are left out."""
        found = {"estimate": self.estimate, "lower": self.lower, "upper": self.upper, "std_error": self.std_error}
        return {name: value for name, value in found.items() if value is not None}
