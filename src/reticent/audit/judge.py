"""Each promise of a manifest against what the groups achieve: the measure's own formula, compared with the parameter exactly.

Needs only a promise's fields, as a manifest has them.  `kept` is None where the published files cannot show it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.audit.measure import anonymity, closeness, disclosure, diversity, families, likeness
from reticent.audit.measure.comparison import exact
from reticent.audit.sensitive import Sensitive
from reticent.errors import BundleDamaged

RECOUNTED, NEEDS_SOURCE = "recounted", "needs source"
Measured = tuple[dict[str, Any], bool | None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One promise: what was asked, what is achieved, whether it is kept, and by what evidence."""

    model: str
    column: str | None
    asked: Mapping[str, Any]
    achieved: Mapping[str, Any]
    kept: bool | None
    evidence: str


@dataclass(frozen=True, eq=False)
class Recount:
    """A table as its promises see it: group sizes, sensitive columns, and the population under each group if one was given."""

    sizes: np.ndarray
    sensitive: Sequence[Sensitive]
    population: np.ndarray | None = None
    rows_per_person: int = 1

    def column(self, name: str | None) -> Sensitive:
        """The column a promise speaks of: the one it names; where it names none, the only one or the combination of all."""
        if name is None and self.sensitive and (len(self.sensitive) == 1 or self.sensitive[0].joint):
            return self.sensitive[0]
        for column in self.sensitive:
            if column.name == name:
                return column
        raise BundleDamaged(
            "A promise names no sensitive column of the table.", why=f"{len(self.sensitive)} column(s) are sensitive."
        )


def judge(promise: Mapping[str, Any], table: Recount) -> Verdict:
    asked = {name: value for name, value in promise.items() if name not in ("model", "column")}
    column = promise.get("column")
    measure = JUDGES.get(promise["model"])
    if measure is None or (promise["model"] == "k-map" and table.population is None):
        return Verdict(promise["model"], column, asked, {}, None, NEEDS_SOURCE)
    try:
        achieved, kept = measure(asked, table, column)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise BundleDamaged(f"The promise {promise['model']} has parameters that cannot be read.",
                            attempt="the parameters that the model takes.") from None  # fmt: skip
    if promise["model"] not in ("k-anonymity", "k-map"):
        column = table.column(column).name
    return Verdict(promise["model"], column, asked, achieved, kept, RECOUNTED)


def _k(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    found = anonymity.k(table.sizes, table.rows_per_person)
    return {"k": found}, found >= exact(asked["k"])


def _k_map(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    found = anonymity.k(table.population)  # type: ignore[arg-type]
    return {"k": found}, found >= exact(asked["k"])


def _alpha_k(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    k, alpha = anonymity.k(table.sizes, table.rows_per_person), diversity.alpha(table.column(column).views)
    return {"alpha": alpha, "k": k}, k >= exact(asked["k"]) and alpha <= exact(asked["alpha"])


def _distinct(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    found = diversity.distinct_l(table.column(column).views)
    return {"l": found}, found >= exact(asked["l"])


def _probabilistic(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    found = diversity.probabilistic_l(table.column(column).views)
    return {"l": found}, found >= exact(asked["l"])


def _entropy(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    views = table.column(column).views
    return {"l": diversity.entropy_l(views)}, diversity.entropy_holds(views, exact(asked["l"]))


def _recursive(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    least_l = exact(asked["l"])
    if least_l.denominator != 1 or least_l < 1:
        raise ValueError("l is a number of values")
    found = diversity.recursive_c(table.column(column).views, int(least_l))
    return {"c": found, "l": int(least_l)}, found is not None and found <= exact(asked["c"])


def _closeness(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    found = distance(table.column(column), asked.get("distance", "equal"))
    return {"t": found}, found <= exact(asked["t"])


def distance(column: Sensitive, name: str) -> Fraction:
    """The greatest earth mover's distance of a group, by ground distance."""
    if name == "hierarchical":
        if column.paths is None:
            raise BundleDamaged(f"Hierarchical t-closeness is promised for {column.name!r}, which has no hierarchy.")
        return closeness.hierarchical(column.views, column.paths)
    return {"equal": closeness.equal, "ordered": closeness.ordered}[name](column.views)


def _likeness(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    found = likeness.beta(
        table.column(column).views, enhanced=asked.get("enhanced", True), two_sided=asked.get("two_sided", False)
    )
    return {"beta": found}, found is not None and found <= exact(asked["beta"])


def _semantic(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    found, level = table.column(column), int(asked.get("level", 1))
    if found.paths is None or not 1 <= level < found.paths.shape[1] - 1:
        raise BundleDamaged(f"A promise speaks of level {level} of the hierarchy of {found.name!r}, which has none.")
    form = {"enhanced": asked.get("enhanced", True), "two_sided": asked.get("two_sided", False)}
    beta = families.semantic_beta(found.views, found.paths[:, level], **form)
    return {"beta": beta, "level": level}, beta is not None and beta <= exact(asked["beta"])


def _proximity(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    found, width = table.column(column), exact(asked["width"])
    if found.positions is None:
        raise BundleDamaged(f"A promise speaks of windows of {found.name!r}, which has no order.")
    beta = families.proximity_beta(found.views, found.positions, width, enhanced=asked.get("enhanced", True))
    return {"beta": beta, "width": width}, beta is not None and beta <= exact(asked["beta"])


def _disclosure(asked: Mapping[str, Any], table: Recount, column: str | None) -> Measured:
    ratio = disclosure.worst_ratio(table.column(column).views, absent=asked.get("absent", "break"))
    base = asked.get("base", "e")
    return {"delta": disclosure.delta(ratio, base)}, disclosure.delta_holds(ratio, exact(asked["delta"]), base)


JUDGES: dict[str, Callable[[Mapping[str, Any], Recount, str | None], Measured]] = {
    "k-anonymity": _k,
    "k-map": _k_map,
    "alpha-k-anonymity": _alpha_k,
    "distinct-l-diversity": _distinct,
    "probabilistic-l-diversity": _probabilistic,
    "entropy-l-diversity": _entropy,
    "recursive-l-diversity": _recursive,
    "t-closeness": _closeness,
    "beta-likeness": _likeness,
    "delta-disclosure": _disclosure,
    "semantic-beta-likeness": _semantic,
    "proximity-beta-likeness": _proximity,
}


def measures(column: Sensitive) -> dict[str, Any]:
    """Everything a sensitive column achieves, by the measures' names; None where no parameter would hold."""
    views = column.views
    found: dict[str, Any] = {
        "alpha": diversity.alpha(views),
        "distinct-l-diversity": diversity.distinct_l(views),
        "probabilistic-l-diversity": diversity.probabilistic_l(views),
        "entropy-l-diversity": diversity.entropy_l(views),
        "t-closeness-equal": closeness.equal(views),
        "t-closeness-ordered": closeness.ordered(views),
        "beta-likeness-basic": likeness.beta(views, enhanced=False, two_sided=False),
        "beta-likeness-enhanced": likeness.beta(views, enhanced=True, two_sided=False),
        "beta-likeness-two-sided": likeness.beta(views, enhanced=True, two_sided=True),
        "delta-disclosure": disclosure.delta(disclosure.worst_ratio(views)),
        "delta-disclosure-ignoring-absent": disclosure.delta(disclosure.worst_ratio(views, absent="ignore")),
    }
    if column.paths is not None:
        found["t-closeness-hierarchical"] = closeness.hierarchical(views, column.paths)
    return found


LEAST_IS_WORST = {"k-anonymity", "distinct-l-diversity", "probabilistic-l-diversity", "entropy-l-diversity"}


def worst(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Measures of several sensitive columns as one: the worst of each."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        values = [table[name] for table in tables if name in table]
        found[name] = None if None in values else (min if name in LEAST_IS_WORST else max)(values)
    return found
