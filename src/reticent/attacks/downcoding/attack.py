"""Downcoding (Cohen, "Attacks on Deidentification's Defenses", USENIX Security 2022): what hidden quasi-identifiers does a release tell?

The adversary has the release and knows nobody's quasi-identifiers.  A group was left whole because no cut of it leaves k people on
both sides: where a group has 2k people or more, most of them must then share one value in *every* column.  For Mondrian with cuts
by loss that promises k-anonymity alone, this is certain (`provable`).  Of other methods and tools' files nothing is claimed: the same
inequalities are supposed, and `holds` says of how many groups they are true.

    success     how often the likeliest value of each range, guessed for everybody of the group, is right, with Wilson's interval
    control     the same without the inequalities: ranges and their tight ends alone; the baseline is a random value of the range
    bits        what the inequalities tell, on average over groups and columns that could be cut by their size
    possible    by a linear programme (`programme`) with the table's totals known: the share of the values of a range that remain
                possible for a person, beside `possible_control`, without the inequalities; of `programmes` ranges, drawn at random

Targets are hidden values: (person, column) pairs under a range.  No promise of this library speaks of this adversary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.attacks.downcoding.compositions import alike, composition, holds
from reticent.attacks.downcoding.programme import Column, possible
from reticent.attacks.membership import Membership, membership
from reticent.attacks.score import Outcome, wilson
from reticent.attacks.seen import Seen
from reticent.errors import RequestError
from reticent.release.reading.boxes import Boxes

RANGES = 20
"""So many ranges of each column are asked about by linear programmes."""


@dataclass(frozen=True, eq=False)
class Downcoded(Outcome):
    """What an attack answers, and beside it the control, and what the inequalities tell."""

    beside: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**Outcome.to_dict(self), **self.beside}


@dataclass(eq=False)
class Tally:
    """Hidden values that were guessed, over columns."""

    targets: int = 0
    hits: float = 0.0
    control: float = 0.0
    chance: float = 0.0
    worst: float = 0.0
    bits: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    skipped: int = 0
    possible: list[float] = field(default_factory=list)
    possible_control: list[float] = field(default_factory=list)


def downcoding(seen: Seen, *, k: int | None = None, programme: bool = False, seed: int = 0) -> Downcoded:
    """`k`: what groups were to have, by default as promised, else the size of the smallest; `programme` solves (c) too."""
    sight = seen.sight
    if not isinstance(sight, Boxes):
        raise RequestError(
            "This attack asks for quasi-identifiers that labels hide; this release publishes them as they are.",
            attempt="another attack.",
        )
    lines = [axis for axis, ends in enumerate(sight.ends) if ends is not None]
    sizes = sight.counts.sum(axis=1)
    least = _promised(seen) or int(sizes.min(initial=1)) if k is None else k
    if least < 1 or isinstance(least, bool):
        raise RequestError("k is a whole number of at least 1.", attempt="k = 5.")
    tally, who, rng = Tally(), membership(seen), np.random.default_rng(seed)
    for axis in lines:
        _column(seen, sight, axis, who, least, tally)
        if programme:
            _programme(seen, sight, axis, least, tally, rng)
    if not tally.targets:
        raise RequestError(
            "This attack asks for values that ranges hide; this release has no range.",
            attempt="another attack: every label is a category, a single value or `*`.",
        )
    return _outcome(seen, sight, tally, least)


def _promised(seen: Seen) -> int | None:
    found = [int(promise.parameters["k"]) for promise in seen.promises if "k" in promise.parameters]
    return max(found, default=None)


def _ranges(sight: Boxes, axis: int) -> np.ndarray:
    """Groups with a range of several values there."""
    ends = sight.ends[axis]
    assert ends is not None
    label, cover = sight.label[axis], sight.covers[axis]
    return np.flatnonzero(ends.ranged[label] & (cover.upper[label] > cover.lower[label]) & (cover.holes[label] < 0))


def _column(seen: Seen, sight: Boxes, axis: int, who: Membership, k: int, tally: Tally) -> None:
    cover, ends, sizes = sight.covers[axis], sight.ends[axis], sight.counts.sum(axis=1)
    assert ends is not None
    code = seen.points[who.point, axis]
    starts = np.searchsorted(who.group, np.arange(who.groups + 1))
    for group in _ranges(sight, axis).tolist():
        label, people = int(sight.label[axis][group]), int(sizes[group])
        first, values = int(cover.lower[label]), int(cover.upper[label] - cover.lower[label] + 1)
        tight = bool(ends.known[label, 0]), bool(ends.known[label, 1])
        without = composition(people, values, None, *tight) or alike(people, values)
        knowing = composition(people, values, k, *tight)
        if knowing is None:  # too many people, or the group could have been cut: nothing is known of it
            tally.skipped, knowing = tally.skipped + people, without
        entries = slice(starts[group], starts[group + 1])
        true = np.bincount(code[entries] - first, weights=who.people[entries], minlength=values)
        tally.targets += people
        tally.hits += float(true[_likeliest(knowing.expected)])
        tally.control += float(true[_likeliest(without.expected)])
        tally.chance += people / values
        tally.worst = max(tally.worst, float(knowing.expected.max() / people))
        if people >= 2 * k:
            tally.bits.append(knowing.bits - without.bits)
            if (who.shares[entries] == 1).all() and true.sum() == people:  # its people are known
                tally.held.append(holds(true, k))


def _likeliest(expected: np.ndarray) -> int:
    """The middle one of the likeliest values: chances are alike from both ends, and rounding must not choose."""
    near = np.flatnonzero(expected >= expected.max() * (1 - 1e-9))
    return int(near[len(near) // 2])


def _programme(seen: Seen, sight: Boxes, axis: int, k: int, tally: Tally, rng: np.random.Generator) -> None:
    cover, ends, label = sight.covers[axis], sight.ends[axis], sight.label[axis]
    assert ends is not None
    ranged = _ranges(sight, axis)
    if (cover.holes[label] >= 0).any() or not len(ranged):
        return
    sizes = sight.counts.sum(axis=1).astype(np.float64)
    totals = np.bincount(seen.points[:, axis], weights=seen.people, minlength=seen.quasi[axis].size)
    width = cover.upper[label] - cover.lower[label] + 1
    column = Column(cover.lower[label], width, sizes, ends.known[label] & ends.ranged[label][:, None], totals)
    asked = np.sort(rng.choice(ranged, min(RANGES, len(ranged)), replace=False)).tolist()
    with_, without = possible(column, asked, k), possible(column, asked, None)
    if with_ is not None and without is not None:
        tally.possible += [float(one.mean()) for one in with_]
        tally.possible_control += [float(one.mean()) for one in without]


def _outcome(seen: Seen, sight: Boxes, tally: Tally, k: int) -> Downcoded:
    many = tally.targets
    low, high = wilson(round(tally.hits), many)
    control = wilson(round(tally.control), many)
    beside = {
        "control": tally.control / many,
        "control_low": control[0],
        "control_high": control[1],
        "k": k,
        "provable": _provable(seen, sight),
        "holds": float(np.mean(tally.held)) if tally.held else None,
        "holds_of": len(tally.held),
        "bits": float(np.mean(tally.bits)) if tally.bits else None,
        "ranges": len(tally.bits),
        "skipped": tally.skipped,
        "possible": float(np.mean(tally.possible)) if tally.possible else None,
        "possible_control": float(np.mean(tally.possible_control)) if tally.possible_control else None,
        "programmes": len(tally.possible),
    }
    nothing = np.zeros(0)
    return Downcoded("downcoding", many, tally.hits / many, low, high, tally.chance / many, min(tally.worst, 1.0), None,
                     nothing, nothing, beside)  # fmt: skip


def _provable(seen: Seen, sight: Boxes) -> bool:
    """Whether the method cannot have left a group that can be cut: Mondrian by loss, for k alone, and no two groups read the same."""
    made, named = seen.made_by, {promise.name for promise in seen.promises}
    if made is None or made.name != "mondrian" or made.parameters.get("cuts", "loss") != "loss":
        return False
    apart = made.parameters.get("labels") == "sets" or all(ends is not None for ends in sight.ends)
    return named == {"k-anonymity"} and apart
