"""What the attacks on joined releases and on overlapping boxes say beside their guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.errors import some

WITHOUT_SOURCE = "This attack needs the data that the release was made from (--source DATA)."


def left_out(skipped: Mapping[str, Sequence[str]]) -> list[str]:
    """One line for each reason, with the attacks that were not tried for it."""
    return [f"Not tried: {', '.join(names)}. {reason}" for reason, names in skipped.items()]


def targets_of(found: Mapping[str, Any]) -> str:
    """What the targets of an attack are: people, or rows where people have several."""
    return "people" if found.get("rows_per_person", 1) == 1 else "rows"


def counts_persons(found: Mapping[str, Any]) -> bool:
    """Whether who is alone was counted in persons: everybody has one row, or a column says whose a row is."""
    return found.get("rows_per_person", 1) == 1 or found.get("persons") is not None


def tell_rows(outcomes: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line that says that targets are rows, where a person may have several."""
    several = [found for found in outcomes if found.get("rows_per_person", 1) > 1]
    if not several:
        return []
    most, persons = several[0]["rows_per_person"], several[0]["persons"]
    people = "How many people that are is not known" if persons is None else f"They are those of {persons:,} people"
    return [f"Targets are rows, and a person may have {most:,} of them. {people}."]


def beside(found: dict[str, Any]) -> list[str]:
    told = _TOLD.get(found["attack"])
    return [] if told is None else told(found)


def _redrawn(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['attack']}: the belief in a value exceeds its overall frequency by {found['growth']:.4f} times that frequency at"
        " the most."
    ]


def _joined(found: dict[str, Any]) -> list[str]:
    others = found["releases"] - 1
    if not others:
        return ["composition: joined with no other release (--with OTHER); this is what the release says alone."]
    above = (
        ""
        if found["exceeds"] is None
        else f" {found['exceeds']:,} {targets_of(found)} stand above what one of them promises."
    )
    return [
        f"composition: joined with {some(others, 'other release')}, {found['half']:.1%} of {found['targets']:,} {targets_of(found)} have a value"
        f" that is believed at .5 or more (from one alone: {found['half_alone']:.1%}); the worst belief is"
        f" {found['worst_posterior']:.4f} (alone: {found['worst_alone']:.4f}).{above} Guesses are right {found['success']:.1%} of the"
        f" time (alone: {found['alone']:.1%}; joined with shuffled values: {found['control']:.1%}). Counted exactly for"
        f" {found['exact']:,} {targets_of(found)}, balanced for the others. No promise speaks of several releases."
    ]


def _overlapping(found: dict[str, Any]) -> list[str]:
    tables = (
        "of nobody: no component is small enough to count"
        if found["tables_worst"] is None
        else f"of {found['tables_people']:,} {targets_of(found)} the worst is {found['tables_worst']:.4f}"
    )
    return [
        f"overlap: {found['shared']:.1%} of {found['targets']:,} {targets_of(found)} lie under the labels of several groups. If every assignment"
        f" to rows is equally likely, the worst belief is {found['worst_posterior']:.4f} (in a group: {found['worst_group']:.4f});"
        f" if every table is, {tables}. Promises that are convex in a group's distribution survive the first reading, and speak"
        " of neither of them."
    ]


def _knowing(found: dict[str, Any]) -> list[str]:
    if found["why"]:
        return [f"minimality: knowing the method adds nothing that could be computed: {found['why']}."]
    how = {
        "exact": f"every table was published again ({found['runs']:,} runs; {found['behind']:,} tables lead to this release)",
        "walked": f"a walk of {found['runs']:,} steps met {found['behind']:,} tables that publish this release",
        "left whole": f"values were dealt anew {found['runs']:,} times, and groups that would have been cut ruled out",
    }[found["how"]]
    return [
        f"minimality: {how}. Of {found['looked_at']:,} of {found['targets']:,} {targets_of(found)} something was concluded; the worst belief is"
        f" {found['worst_posterior']:.4f} (95 %: {found['worst_low']:.4f} to {found['worst_high']:.4f}; in a group:"
        f" {found['worst_group']:.4f}). Guesses are right {found['success']:.1%} of the time (who does not know the method:"
        f" {found['control']:.1%}). No promise speaks of this adversary."
    ]


def _downcoded(found: dict[str, Any]) -> list[str]:
    sure = "cannot have left" if found["provable"] else "is supposed not to have left"
    bits = (
        ""
        if found["bits"] is None
        else f" In {found['ranges']:,} ranges that tells {found['bits']:.2f} bits on average."
    )
    held = "" if found["holds"] is None else f" It is true of {found['holds']:.1%} of {found['holds_of']:,} of them."
    return [
        f"downcoding: {found['success']:.1%} of {found['targets']:,} values that ranges hide are guessed by who supposes k ="
        f" {found['k']} and that the method {sure} a group that can be cut (without that: {found['control']:.1%}; a random value"
        f" of the range: {found['baseline']:.1%}).{bits}{held} No promise speaks of this adversary."
    ]


def _linked(found: dict[str, Any]) -> list[str]:
    one, other = (", ".join(names) for names in found["lists"])
    whose = f", those of {found['people']:,} people," if found["people"] not in (None, found["rows"]) else ""
    return [
        f"linkability: a list with {one} and one with {other}: of {found['targets']:,} of {found['rows']:,} {targets_of(found)}{whose} {found['success']:.1%}"
        f" are linked by one group (of strangers: {found['control']:.1%}). No promise speaks of this adversary."
    ]


def _inferred(found: dict[str, Any]) -> list[str]:
    outside = "" if found["others"] is None else f"; of people who are not in the data: {found['others']:.1%}"
    return [
        f"inference: {found['success']:.1%} of guesses are right (groups with shuffled values: {found['control']:.1%}{outside})."
    ]


_TOLD = {
    "composition": _joined,
    "overlap": _overlapping,
    "minimality": _knowing,
    "downcoding": _downcoded,
    "linkability": _linked,
    "inference": _inferred,
    "matrix": _redrawn,
    "matrix-learned": _redrawn,
}
