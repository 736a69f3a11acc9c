"""The result of a query on a release: an estimate, guaranteed bounds where they exist, a standard error where it is random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Answer:
    """`keys` are the values of the GROUP BY columns that this answer is of; `estimate` None is what SQL calls NULL.

    `of` names the aggregate where a question has several; `note` says what no number here does.
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    std_error: float | None = None
    keys: Mapping[str, Any] | None = None
    level: float = LEVEL
    of: str | None = None
    note: str | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the answer lies at the level: the estimate and the normal law's multiple of its standard error; None without one."""
        if self.estimate is None or self.std_error is None:
            return None
        reach = NormalDist().inv_cdf((1 + self.level) / 2) * self.std_error
        return self.estimate - reach, self.estimate + reach

    def to_dict(self) -> dict[str, Any]:
        """Keys that have no value are left out, but for the estimate."""
        found: dict[str, Any] = {"lower": self.lower, "upper": self.upper, "std_error": self.std_error}
        if (interval := self.interval) is not None:
            found |= {"interval": list(interval), "level": self.level}
        found["note"] = self.note
        given = {name: value for name, value in found.items() if value is not None}
        of = {} if self.of is None else {"aggregate": self.of}
        return {**(self.keys or {}), **of, "estimate": self.estimate, **given}


NOTHING = Answer(None)
"""The aggregate of no rows: NULL."""
