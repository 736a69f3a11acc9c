"""The answer to a query on a release: an estimate, guaranteed bounds if they exist, a standard error if it is random.

`EstimateSpread` is how far an estimate may lie from the truth if the variance is itself a function of the truth. The
truths x that an estimate does not rule out at z standard deviations are those with

    scale (x - center)^2 <= z^2 (constant + slope (x - center) + curvature (x - center)^2)

For a count the right side is the variance that the estimate would have if x were the truth, as in Wilson's interval;
for a mean it is the variance of the sum less x times the count, as in Fieller's.  Both are quadratic, and so the truths
are those between two roots.

An interval ends where the guaranteed bounds do: the truth is never beyond them, so nothing is lost by that.  The
estimate is left as it is, for it is unbiased only if it may fall outside of what is possible; `note` says where it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from reticent.estimate.shrinkage import ShrunkSpread

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


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """The answer to one aggregate of a question.

    `lower` and `upper` hold for the people of the source, published or withheld; `published` is the answer about
    published rows, as they are published, if that is different: rows were withheld, or a column has a top or bottom or
    was rounded.

    `estimate`, `lower` and `upper` are numbers; of MIN and MAX of dates they are dates.  `estimate` None is SQL's NULL.

    `keys` are the values of the GROUP BY columns of this answer.

    `density` is how people are taken to lie within their labels, where the estimate rests on it: "likelihood" or "even".

    `of` names the aggregate if a question has several.  `certainty` is one line that says what is certain and what is
    assumed; `note` is this line, and what else no number here expresses.  `rest` marks the line of a GROUP BY question
    that stands for all groups without a line of their own.
    """

    estimate: Any
    lower: Any = None
    upper: Any = None
    std_error: float | None = None
    keys: Mapping[str, Any] | None = None
    level: float = CONFIDENCE_LEVEL
    of: str | None = None
    note: str | None = None
    published: Answer | None = None
    rest: bool = False
    spread: EstimateSpread | ShrunkSpread | None = None
    certainty: str | None = None
    density: str | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the answer at the level, within the guaranteed bounds; None if nothing about it is random."""
        if (ends := self.unlimited_interval) is None:
            return None
        low = ends[0] if self.lower is None else max(ends[0], self.lower)
        high = ends[1] if self.upper is None else min(ends[1], self.upper)
        return (low, high) if low <= high else ends

    @property
    def unlimited_interval(self) -> tuple[float, float] | None:
        """The interval by the answer's `spread`, wherever bounds are; without one, by the normal law's multiple of its standard error."""
        if self.estimate is None or self.std_error is None:
            return None
        z = NormalDist().inv_cdf((1 + self.level) / 2)
        if self.spread is not None and (ends := self.spread.ends(z)) is not None:
            return ends
        return self.estimate - z * self.std_error, self.estimate + z * self.std_error

    @property
    def is_exact(self) -> bool:
        """Whether every table that fits the release has this answer."""
        return self.lower is not None and self.lower == self.upper

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values; keys without a value are left out, except the estimate."""
        optional = self._list_numbers()
        optional["density"] = None if "density" in (self.keys or {}) else self.density
        optional["published"] = None if self.published is None else self.published.to_dict()
        optional["rest"] = self.rest or None
        optional["note"] = self.note
        present = {name: value for name, value in optional.items() if value is not None}
        return {**self._list_names(), "estimate": self.estimate, **present}

    def frame(self) -> pl.DataFrame:
        """Return the answer as a Polars data frame of one row, with the columns that `Answers.frame` has."""
        from reticent.estimate.answers import make_answer_frame

        return make_answer_frame([self])

    def to_pandas(self) -> pd.DataFrame:
        """Return `frame()` as a pandas data frame."""
        from reticent.estimate.answers import convert_to_pandas

        return convert_to_pandas(self.frame())

    def _list_names(self) -> dict[str, Any]:
        aggregate = {} if self.of is None else {"aggregate": self.of}
        return {**(self.keys or {}), **aggregate}

    def _list_numbers(self) -> dict[str, Any]:
        """List what stands beside the estimate; a level only beside the interval that it belongs to."""
        numbers: dict[str, Any] = {"lower": self.lower, "upper": self.upper, "std_error": self.std_error}
        if (interval := self.interval) is not None:
            numbers["interval"] = list(interval)
            numbers["level"] = None if self.is_exact else self.level
        return numbers

    def __repr__(self) -> str:
        hidden = ("std_error", "interval") if self.is_exact else ()
        numbers = {
            name: value for name, value in self._list_numbers().items() if value is not None and name not in hidden
        }
        shown = {**self._list_names(), "estimate": self.estimate, **numbers}
        if self.published is not None:
            shown["published"] = self.published
        return f"Answer({', '.join(f'{name}={_format_part(value)}' for name, value in shown.items())})"

    def __str__(self) -> str:
        return "\n".join(part for part in (repr(self), self.note) if part)

    def _repr_html_(self) -> str:
        from reticent.html_repr import render_answers

        return render_answers("One answer", [self], self.note)


def _format_part(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.1f}"
    if isinstance(value, list):
        return f"({', '.join(map(_format_part, value))})"
    return value.isoformat() if hasattr(value, "isoformat") else repr(value)


NO_ANSWER = Answer(None)
"""The aggregate of no rows: NULL."""
