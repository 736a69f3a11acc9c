"""What a comparison found: rows as they were measured, a flat table of them, and the frontier of privacy and utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from reticent import catalogue, charts
from reticent.door import door, text
from reticent.errors import ColumnError, suggest
from reticent.showing import page, table

SPREADS = ("row_loss", "count_error", "count_error_mean", "average_error", "average_error_mean", "seconds")
PLAIN = ("rows", "groups", "withheld", "kept", "marginal_error", "association_error")
PRIVACY, UTILITY = "attack_gain", "count_error"
WORDS = {
    "attack_gain": "what adversaries gain over the baseline",
    "count_error": "median relative error of counts",
    "count_error_mean": "mean relative error of counts",
    "average_error": "median error of averages, by the span",
    "average_range": "mean width of guaranteed averages, by the span",
    "row_loss": "row loss",
    "loss": "information loss",
    "marginal_error": "mean error of marginals",
    "association_error": "mean error of associations",
    "seconds": "CPU seconds of publishing",
}
"""What a chart calls its figures."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """`rows` as measured: candidates first, then the trivial sanitizations, then the source as it is."""

    rows: tuple[Mapping[str, Any], ...]
    people: int
    runs: int
    seed: int
    of: int  # the rows of the source; `people` of them were drawn where that is fewer
    smaller: Comparison | None = None  # the same of a part of these rows, where it was made for advice

    @property
    def sampled(self) -> bool:
        return self.people < self.of

    def frame(self) -> pl.DataFrame:
        """A row for each candidate and yardstick, a column for each figure; null where there is none."""
        flat = [self._flat(row) for row in self.rows]
        names = list(dict.fromkeys(name for row in flat for name in row if name != "why"))
        return pl.DataFrame(
            {name: [row.get(name) for row in flat] for name in [*names, "why"]}, strict=False, infer_schema_length=None
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything that was measured, with each figure's spread."""
        on = frontier(self.frame(), PRIVACY, UTILITY)
        rows = [{**row, "attack_gain": gain(row), "frontier": at} for row, at in zip(self.rows, on, strict=True)]
        return {
            "people": self.people,
            "of": self.of,
            "runs": self.runs,
            "seed": self.seed,
            "published": False,
            "rows": rows,
        }

    @door(privacy=text, utility=text)
    def chart(self, privacy: str = PRIVACY, utility: str = UTILITY) -> charts.Chart:
        """Every candidate and yardstick by two figures of the table, less being better of both.

        A line joins the candidates that no other candidate beats; a yardstick below and to the left of it beats them all.
        """
        found = self.frame()
        numeric = [name for name, dtype in found.schema.items() if dtype.is_numeric()]
        for name in (privacy, utility):
            if name not in numeric:
                raise ColumnError(f"The comparison measured no {name!r}.", attempt=suggest(name, numeric))
        tried = found.with_columns(pl.when(pl.col("role") != "trivial").then(pl.col(privacy)).alias(privacy))
        found = found.with_columns(pl.Series("frontier", frontier(tried, privacy, utility)))
        shown = found.drop_nulls([privacy, utility])
        up, across = WORDS.get(privacy, privacy), WORDS.get(utility, utility)
        return charts.frontier(shown.rename({privacy: up, utility: across}), across, up, f"{up}, by {across}")

    def _flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {name: row.get(name) for name in ("name", "role", "method", "kind", "reached")}
        found |= {**(row.get("parameters") or {}), **{name: row.get(name) for name in PLAIN}}
        found["loss"] = (row.get("loss") or {}).get("ail")
        for name in SPREADS:
            found[name] = None if row.get(name) is None else row[name]["value"]
        found["average_range"] = (row.get("average_range") or {}).get("mean")
        found |= {"memory": row.get("memory"), "attack_gain": gain(row), "accuracy": accuracy(row)}
        for learner, told in (row.get("classification") or {}).items():
            found[f"accuracy {learner}"] = None if told is None else told["value"]
        for name, value in (row.get("privacy") or {}).items():
            found[name] = value if not isinstance(value, list | dict) else str(value)
        for name, outcome in (row.get("attacks") or {}).items():
            found |= {f"{name} {part}": outcome[part] for part in ("success", "baseline", "worst_posterior")}
        return {**found, "why": row.get("why", "")}

    def _repr_html_(self) -> str:
        shown = ("name", "kind", "kept", "attack_gain", "loss", "count_error", "average_error", "accuracy", "seconds")
        flat = [self._flat(row) for row in self.rows]
        lines = [[row.get(name) for name in shown] for row in flat]
        return page(f"{len(flat)} ways to publish {self.people:,} rows; nothing was published", table(shown, lines))

    def __repr__(self) -> str:
        tried = sum(row["role"] == "candidate" for row in self.rows)
        reached = sum(row["role"] == "candidate" and row["reached"] for row in self.rows)
        return f"<comparison of {tried} candidates on {self.people:,} rows: {reached} reach their promise>"


def gain(row: Mapping[str, Any]) -> float | None:
    """The most that guesses of sensitive values gained over the baseline, by who has the release alone; never below 0."""
    attacks = [one for name, one in (row.get("attacks") or {}).items() if catalogue.ATTACKS[name].guesses]
    return max((max(one["success"] - one["baseline"], 0.0) for one in attacks), default=None)


def accuracy(row: Mapping[str, Any]) -> float | None:
    """Of the best learner."""
    told = [one["value"] for one in (row.get("classification") or {}).values() if one is not None]
    return max(told, default=None)


def frontier(found: pl.DataFrame, privacy: str, utility: str) -> list[bool]:
    """Which rows no other one beats: less in both figures, and in one of them truly less."""
    if privacy not in found.columns or utility not in found.columns:
        return [False] * len(found)
    points: Sequence[tuple[Any, Any]] = list(zip(found[privacy], found[utility], strict=True))

    def beaten(a: Any, b: Any) -> bool:
        return any(c is not None and d is not None and c <= a and d <= b and (c < a or d < b) for c, d in points)

    return [a is not None and b is not None and not beaten(a, b) for a, b in points]
