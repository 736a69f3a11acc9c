"""What each measure of an audit means, and which direction tells recipients less or leaves them more, by question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reticent.drawing.plots import format_count


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure's meaning in words, and its direction."""

    meaning: str
    direction: str


LESS_TOLD = "less tells less"
MORE_HIDDEN = "more tells less"
LESS_LOST = "less loses less"
MORE_KEPT = "more keeps more"
MORE_EXACT = "more is more exact"
NO_DIRECTION = "neither"

QUESTIONS: Mapping[str, Mapping[str, Measure]] = {
    "Can a person be found?": {
        "k-anonymity": Measure("people in the smallest group: how many share all labels, at the least", MORE_HIDDEN),
        "prosecutor highest": Measure("chance to find somebody who is known to be in the release, at worst", LESS_TOLD),
        "prosecutor average": Measure("the same for a person at random", LESS_TOLD),
        "prosecutor at_risk": Measure("share of people whose chance to be found is above the threshold", LESS_TOLD),
        "threshold": Measure("the chance above which a person counts as at risk", NO_DIRECTION),
        "marketer": Measure("share of all people who would be found if each were looked for", LESS_TOLD),
        "sample_uniques": Measure("groups of one person alone", LESS_TOLD),
    },
    "What is learned of a sensitive value?": {
        "alpha": Measure("greatest share of one value in a group", LESS_TOLD),
        "distinct-l-diversity": Measure("different values in the group that has fewest", MORE_HIDDEN),
        "probabilistic-l-diversity": Measure("one over the greatest share of one value in a group", MORE_HIDDEN),
        "entropy-l-diversity": Measure(
            "as many equally likely values would be as uncertain, in the surest group", MORE_HIDDEN
        ),
        "t-closeness-equal": Measure(
            "distance of a group's values from everybody's, all values as far apart", LESS_TOLD
        ),
        "t-closeness-ordered": Measure("the same distance over the order of the values", LESS_TOLD),
        "t-closeness-hierarchical": Measure("the same distance over the tree of the values", LESS_TOLD),
        "beta-likeness-basic": Measure(
            "by how many times its own frequency a value is more frequent in a group", LESS_TOLD
        ),
        "beta-likeness-enhanced": Measure("the same, and no frequent value may become certain", LESS_TOLD),
        "beta-likeness-two-sided": Measure("the same, and no value may become that much rarer either", LESS_TOLD),
        "delta-disclosure": Measure("greatest logarithm of a value's frequency in a group over its own", LESS_TOLD),
        "delta-disclosure-ignoring-absent": Measure("the same for values that the group has", LESS_TOLD),
        "retention": Measure("chance that a published value is the person's own", LESS_TOLD),
        "fakes": Measure("share of the published values that are nobody's", MORE_HIDDEN),
    },
    "What is lost?": {
        "ail": Measure(
            "detail lost of the description, from 0 (exact) to 1 (nothing left); a row keeps the rest", LESS_LOST
        ),
        "precision": Measure("how little labels climb their trees, from 0 to 1", MORE_KEPT),
        "dm": Measure("squared group sizes, added up, with a penalty for rows withheld", LESS_LOST),
        "dm_star": Measure("the same without the penalty", LESS_LOST),
        "c_avg": Measure("mean group size, over k where k is promised", LESS_LOST),
        "entropy": Measure("bits that labels hide, all rows together", LESS_LOST),
        "rce": Measure("squared error of reading a row as its group's shares", LESS_LOST),
        "sum_of_ranges": Measure("widths of all published values, added up", LESS_LOST),
        "published_share": Measure("share of people of whom a row is published", MORE_EXACT),
        "rows_per_group": Measure("rows of a group that are published, on average", MORE_EXACT),
    },
}
OTHER_QUESTION = "What else was measured?"


def group_measures(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Group the measures of an audit by question: each with its value, its meaning and its direction."""
    values = {**_flatten_risk(report.get("risk") or {}), **report["achieved"], **report.get("utility", {})}
    single = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    groups = []
    for question, measures in QUESTIONS.items():
        rows = [
            {
                "name": name,
                "value": format_measure(single.pop(name)),
                "meaning": measure.meaning,
                "direction": measure.direction,
            }
            for name, measure in measures.items()
            if name in single
        ]
        if rows:
            groups.append({"question": question, "rows": rows})
    others = [
        {"name": name, "value": format_measure(value), "meaning": "", "direction": ""} for name, value in single.items()
    ]
    return [*groups, {"question": OTHER_QUESTION, "rows": others}] if others else groups


def format_measure(value: Any) -> str:
    """Format a measure: none holds, a count, or a number of few digits."""
    if value is None:
        return "none holds"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return format_count(round(value, 4) if isinstance(value, float) else value)
    if isinstance(value, list):
        return "; ".join(map(format_measure, value)) or "none"
    return str(value)


def _flatten_risk(risk: Mapping[str, Any]) -> dict[str, Any]:
    """Return the single figures of re-identification risk; those of an adversary under the adversary's name."""
    flat: dict[str, Any] = {}
    for name, value in risk.items():
        if isinstance(value, Mapping):
            flat |= {f"{name} {part}": each for part, each in value.items()}
        elif name not in ("rows", "groups", "columns"):
            flat[name] = value
    return flat
