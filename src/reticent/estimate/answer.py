"""The answer to a query on a release: an estimate, guaranteed bounds if they exist, a standard error if it is random.

`EstimateSpread` is how far an estimate may lie from the truth if the variance is itself a function of the truth. The
truths x that an estimate does not rule out at z standard deviations are those with

    scale (x - center)^2 <= z^2 (constant + slope (x - center) + curvature (x - center)^2)

For a count the right side is the variance that the estimate would have if x were the truth, as in Wilson's interval;
for a mean it is the variance of the sum less x times the count, as in Fieller's.  Both are quadratic, and so the truths
are those between two roots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist
from typing import Any

CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class EstimateSpread:
    """The inequality above; `otherwise` is where the truth lies if the inequality bounds nothing: None, and the normal law decides."""

    center: float
    constant: float
    slope: float = 0.0
    curvature: float = 0.0
    scale: float = 1.0
    otherwise: tuple[float, float] | None = None

    def multiply(self, share: float) -> EstimateSpread:
        """Return the spread of the estimate multiplied by a number."""
        otherwise = None
        if self.otherwise is not None:
            otherwise = self.otherwise[0] * share, self.otherwise[1] * share
        return EstimateSpread(
            self.center * share,
            self.constant * share * share,
            self.slope * share,
            self.curvature,
            self.scale,
            otherwise,
        )

    def ends(self, z: float) -> tuple[float, float] | None:
        """Return the least and the greatest truth within z standard deviations."""
        square = self.scale - z * z * self.curvature
        linear = -z * z * self.slope
        free = -z * z * self.constant
        discriminant = linear * linear - 4 * square * free
        if square <= 0 or discriminant < 0 or self.constant < 0:
            return self.otherwise
        root = sqrt(discriminant)
        return self.center + (-linear - root) / (2 * square), self.center + (-linear + root) / (2 * square)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one aggregate of a question.

    `lower` and `upper` hold for the people of the source, published or withheld; `published` is the answer about
    published rows, as they are published, if that is different: rows were withheld, or a column has a top or bottom or
    was rounded.

    `keys` are the values of the GROUP BY columns of this answer; `estimate` None is SQL's NULL.

    `of` names the aggregate if a question has several; `note` adds what no number here expresses.  `rest` marks the
    line of a GROUP BY question that stands for all groups without a line of their own.
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    std_error: float | None = None
    keys: Mapping[str, Any] | None = None
    level: float = CONFIDENCE_LEVEL
    of: str | None = None
    note: str | None = None
    published: Answer | None = None
    rest: bool = False
    spread: EstimateSpread | None = field(default=None, repr=False)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the answer at the level, by its `spread`; without one, by the normal law's multiple of its standard error."""
        if self.estimate is None or self.std_error is None:
            return None
        z = NormalDist().inv_cdf((1 + self.level) / 2)
        if self.spread is not None and (ends := self.spread.ends(z)) is not None:
            return ends
        return self.estimate - z * self.std_error, self.estimate + z * self.std_error

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values; keys without a value are left out, except the estimate."""
        optional: dict[str, Any] = {"lower": self.lower, "upper": self.upper, "std_error": self.std_error}
        if (interval := self.interval) is not None:
            optional |= {"interval": list(interval), "level": self.level}
        optional["published"] = None if self.published is None else self.published.to_dict()
        optional["rest"] = self.rest or None
        optional["note"] = self.note
        present = {name: value for name, value in optional.items() if value is not None}
        aggregate = {} if self.of is None else {"aggregate": self.of}
        return {**(self.keys or {}), **aggregate, "estimate": self.estimate, **present}


NO_ANSWER = Answer(None)
"""The aggregate of no rows: NULL."""
