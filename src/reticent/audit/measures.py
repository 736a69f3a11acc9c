"""Everything a sensitive column achieves, by the measures' names: what an audit reports whether or not it was promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.audit.measure import closeness, disclosure, diversity, likeness
from reticent.audit.sensitive import Sensitive


def measures(column: Sensitive) -> dict[str, Any]:
    """Everything a sensitive column achieves, by the measures' names; None where no parameter would hold."""
    views = column.views
    found: dict[str, Any] = {
        "alpha": diversity.alpha(views),
        "distinct-l-diversity": diversity.distinct_l(views),
        "probabilistic-l-diversity": diversity.probabilistic_l(views),
        "entropy-l-diversity": diversity.entropy_l(views),
        "t-closeness-equal": closeness.equal(views),
        "beta-likeness-basic": likeness.beta(views, enhanced=False, two_sided=False),
        "beta-likeness-enhanced": likeness.beta(views, enhanced=True, two_sided=False),
        "beta-likeness-two-sided": likeness.beta(views, enhanced=True, two_sided=True),
        "delta-disclosure": disclosure.delta(disclosure.worst_ratio(views)),
        "delta-disclosure-ignoring-absent": disclosure.delta(disclosure.worst_ratio(views, absent="ignore")),
    }
    if not column.joint:  # combined values of several columns stand in no order
        found["t-closeness-ordered"] = closeness.ordered(views)
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
