"""What an attack reaches beyond chance: one rule and one sentence, for the report and for the studio.

Chance is what the same adversary reaches where groups say nothing (the control), and what always guessing the most
frequent value reaches.  An attack exceeds it if the whole 95 % interval of its success lies beyond both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

WHO_GUESSES = ("who knows the describing columns alone", "who know the describing columns alone")
WHO_KNOWS_MORE = ("who knows more, or asks for something else", "who know more, or ask for something else")
"""What adversaries of a picture have in common: said of one, and of several."""
ATTACKS_DRAWN = (
    "Share of guesses that are right. Filled: with this release, and its 95 % interval. Hollow: its control, the same adversary "
    "where groups say nothing. Upright line: always guessing the most frequent value. More than chance is beyond both, by the "
    "whole interval."
)
"""How a picture of attacks is read."""


def find_control(outcome: Mapping[str, Any]) -> float | None:
    """Find what the same adversary reaches where groups say nothing; where nobody computed it, what guessing reaches."""
    control = outcome.get("control")
    return outcome.get("baseline") if control is None else control


def find_guessing(outcome: Mapping[str, Any]) -> float | None:
    """Find what always guessing the most frequent value reaches, where this is not the control."""
    return None if outcome.get("control") is None else outcome.get("baseline")


def measure_excess(outcome: Mapping[str, Any]) -> float:
    """Measure how far the success lies beyond chance; below 0 where it does not."""
    return float(outcome["success"] - _find_chance(outcome))


def exceeds_chance(outcome: Mapping[str, Any]) -> bool:
    """Tell whether the whole interval of the success lies beyond chance."""
    if outcome.get("success") is None:
        return False
    low = outcome.get("low")
    return bool((outcome["success"] if low is None else low) > _find_chance(outcome))


def describe_excess(outcomes: Iterable[Mapping[str, Any]], who: tuple[str, str]) -> str:
    """Describe how many of the attacks that guess somebody exceed chance; `who` says what their adversaries have in common."""
    reached = [outcome for outcome in outcomes if outcome.get("success") is not None]
    exceeding = sum(map(exceeds_chance, reached))
    one, several = who
    if not reached:
        return f"No adversary {one} guesses anybody here"
    if len(reached) == 1:
        return f"The one adversary {one} reaches {'' if exceeding else 'no '}more than chance"
    if not exceeding:
        return f"None of {len(reached)} adversaries {several} reaches more than chance"
    return f"{exceeding} of {len(reached)} adversaries {several} {'reaches' if exceeding == 1 else 'reach'} more than chance"


def _find_chance(outcome: Mapping[str, Any]) -> float:
    return max(find_control(outcome) or 0.0, find_guessing(outcome) or 0.0)
