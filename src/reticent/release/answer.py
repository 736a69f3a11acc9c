"""The result of a query on a release: an estimate, guaranteed bounds where they exist, a standard error where it is random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from reticent.release.spread import Spread

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Answer:
    """`lower` and `upper` hold of the people of the source, published or withheld; `published` is the answer about published rows, as they
    are published, where that is another: rows were withheld, or a column has a top or bottom or was rounded.

    `keys` are the values of the GROUP BY columns that this answer is of; `estimate` None is what SQL calls NULL.

    `of` names the aggregate where a question has several; `note` says what no number here does.  `rest` marks the line of a question by
    groups that stands for all groups without a line of their own.
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    std_error: float | None = None
    keys: Mapping[str, Any] | None = None
    level: float = LEVEL
    of: str | None = None
    note: str | None = None
    published: Answer | None = None
    rest: bool = False
    spread: Spread | None = field(default=None, repr=False)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the answer lies at the level, by its `spread`; without one, by the normal law's multiple of its standard error."""
        if self.estimate is None or self.std_error is None:
            return None
        z = NormalDist().inv_cdf((1 + self.level) / 2)
        if self.spread is not None and (ends := self.spread.ends(z)) is not None:
            return ends
        return self.estimate - z * self.std_error, self.estimate + z * self.std_error

    def to_dict(self) -> dict[str, Any]:
        """Keys that have no value are left out, but for the estimate."""
        found: dict[str, Any] = {"lower": self.lower, "upper": self.upper, "std_error": self.std_error}
        if (interval := self.interval) is not None:
            found |= {"interval": list(interval), "level": self.level}
        found["published"] = None if self.published is None else self.published.to_dict()
        found["rest"] = self.rest or None
        found["note"] = self.note
        given = {name: value for name, value in found.items() if value is not None}
        of = {} if self.of is None else {"aggregate": self.of}
        return {**(self.keys or {}), **of, "estimate": self.estimate, **given}


NOTHING = Answer(None)
"""The aggregate of no rows: NULL."""
