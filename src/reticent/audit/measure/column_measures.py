"""All measures of a sensitive column by name, which an audit reports whether or not they were promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.audit.groups import SensitiveColumn
from reticent.audit.measure import closeness, disclosure, diversity, likeness

MEASURES_WORST_WHEN_LEAST = {"k-anonymity", "distinct-l-diversity", "probabilistic-l-diversity", "entropy-l-diversity"}


def measure_column(column: SensitiveColumn) -> dict[str, Any]:
    """Measure everything a sensitive column achieves, by the measures' names; None where no parameter would hold."""
    views = column.views
    measures: dict[str, Any] = {
        "alpha": diversity.measure_alpha(views),
        "distinct-l-diversity": diversity.measure_distinct_l(views),
        "probabilistic-l-diversity": diversity.measure_probabilistic_l(views),
        "entropy-l-diversity": diversity.measure_entropy_l(views),
        "t-closeness-equal": closeness.measure_equal_distance(views),
        "beta-likeness-basic": likeness.measure_beta(views, enhanced=False, two_sided=False),
        "beta-likeness-enhanced": likeness.measure_beta(views, enhanced=True, two_sided=False),
        "beta-likeness-two-sided": likeness.measure_beta(views, enhanced=True, two_sided=True),
        "delta-disclosure": disclosure.compute_delta(disclosure.find_worst_ratio(views)),
        "delta-disclosure-ignoring-absent": disclosure.compute_delta(
            disclosure.find_worst_ratio(views, absent="ignore")
        ),
    }
    if not column.joint:  # combined values of several columns have no order
        measures["t-closeness-ordered"] = closeness.measure_ordered_distance(views)
    if column.paths is not None:
        measures["t-closeness-hierarchical"] = closeness.measure_hierarchical_distance(views, column.paths)
    return measures


def find_worst_measures(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Combine the measures of several sensitive columns: the worst of each."""
    worst: dict[str, Any] = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        values = [table[name] for table in tables if name in table]
        worst[name] = None if None in values else (min if name in MEASURES_WORST_WHEN_LEAST else max)(values)
    return worst
