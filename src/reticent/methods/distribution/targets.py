"""From what a job says of a target to whole-number masses over the domain, for each group (section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.errors import InternalError, JobError, some
from reticent.exact import common_denominator
from reticent.methods.distribution.domain import Values, listed_weights
from reticent.methods.distribution.generalize import Held, generalized, sum_of_ranges
from reticent.methods.distribution.nearest import keeps, nearest
from reticent.methods.distribution.rounding import exact_weights, schemes, shares
from reticent.methods.distribution.tree import Tree
from reticent.models.exact import exact
from reticent.models.p_privacy import NEAREST, PPrivacy

FINE = 10**9  # what the densest value of a curve weighs
WIDE = 1 << 40
HAIR = Fraction(1, 10**6)


@dataclass(frozen=True, eq=False)
class Wanted:
    """Masses that a target asks for, whether the job declares them, and the classic promise that they keep when rounded."""

    masses: np.ndarray
    declared: bool
    keeping: Mapping[str, Any] | None = None


def wanted(promise: PPrivacy, values: Values, own: np.ndarray, names: Sequence[str]) -> list[Wanted]:
    """One for each group; `own` are (groups, values) counts."""
    target, overall = promise.target, own.sum(axis=0)
    if not (isinstance(target, Mapping) and "groups" in target):
        return [_masses(target, values, own[group], overall) for group in range(len(own))]
    listed = target["groups"]
    extra, lacking = sorted(set(listed) - set(names)), sorted(set(names) - set(listed))
    if extra or lacking:
        raise JobError(
            f"The target names {some(len(extra), 'group')} that the data lacks, and lacks {len(lacking)} of the data's {len(names)}.",
            why="A group is named by its values, such as North, or North / F where two columns make it; bands print as 18 to 40.",
            attempt="a target for each group that occurs, and for no other.",
        )
    return [_masses(listed[name], values, own[group], overall) for group, name in enumerate(names)]


def _masses(target: Any, values: Values, own: np.ndarray, overall: np.ndarray) -> Wanted:
    """Of one group, which holds `own` of each value."""
    kind: str = target if isinstance(target, str) else next(iter(target))
    given: Mapping[str, Any] = {} if isinstance(target, str) else target[kind]
    keeping = None
    if kind == "source":
        masses = overall
    elif kind == "group":
        masses = own
    elif kind == "uniform":
        masses = np.ones(len(values.texts), np.int64)
    elif kind == "nearest":
        keeping = given
        masses = _nearest(given, own.tolist(), overall.tolist())
    elif kind in ("weights", "file"):
        masses = _listed(target, values)
    else:
        masses = _curve(kind, given, values)
    bare = int(((masses == 0) & (own > 0)).sum())
    if bare:
        raise JobError(
            f"The target gives no mass to {some(bare, 'value')} of {values.name!r} that somebody in a group has.",
            why="Whoever has such a value would be said not to have it.",
            attempt="a weight above 0 for every value that occurs.",
        )
    return Wanted(np.asarray(masses, np.int64), kind not in ("source", "group", "nearest"), keeping)


def _nearest(given: Mapping[str, Any], own: list[int], overall: list[int]) -> np.ndarray:
    """Whole numbers in the ratio of the nearest distribution; where they had to be rounded, that of a hair's breadth less."""
    masses = _whole(nearest(given, own, overall))
    total = int(masses.sum())
    if keeps(given, [Fraction(mass, total) for mass in masses.tolist()], overall):
        return masses
    name = NEAREST[given["model"]][0]
    hair = 1 + HAIR if name == "l" else 1 - HAIR
    return _whole(nearest({**given, name: exact(given[name], name) * hair}, own, overall))


def _curve(kind: str, given: Mapping[str, Any], values: Values) -> np.ndarray:
    """A normal density at each number, or Zipf's law over the order of the domain; every value keeps a mass."""
    if kind == "zipf":
        density = np.arange(1, len(values.texts) + 1, dtype=np.float64) ** -float(exact(given["s"], "s"))
    elif values.positions is None:
        raise JobError(
            f"A normal target is over numbers, and {values.name!r} is categorical.",
            attempt='"uniform" or { zipf = ... }.',
        )
    else:
        density = np.exp(
            -(((values.positions - float(exact(given["mean"], "mean"))) / float(exact(given["std"], "std"))) ** 2) / 2
        )
    peak = density.max()
    if not peak > 0:
        raise JobError(
            "The normal target has no mass on the domain.", why="Its mean lies too many deviations away.",
            attempt="a mean within the domain, or a greater std.",
        )  # fmt: skip
    return np.maximum(np.round(density / peak * FINE), 1).astype(np.int64)


def _listed(target: Any, values: Values) -> np.ndarray:
    listed = listed_weights(target) or {}
    keys: list[Any] = list(values.texts) if values.units is None else [Fraction(text) for text in values.texts]
    try:
        given = listed if values.units is None else {Fraction(text): weight for text, weight in listed.items()}
    except ValueError:
        raise JobError(f"A target over {values.name!r} lists a value that is no number.") from None
    unknown = len(set(given) - set(keys))
    if unknown:
        raise JobError(
            f"The target lists {some(unknown, 'value')} that the domain of {values.name!r} lacks.",
            attempt="values of the domain, or domain = [least, greatest, step] that holds them.",
        )
    return _whole([given.get(key, Fraction(0)) for key in keys])


def _whole(weights: Sequence[Fraction]) -> np.ndarray:
    """In the ratio of these weights where that takes numbers below 2^40, else rounded to within 2^-40, none to 0."""
    unit = common_denominator(weights)
    total = sum(weights)
    if unit * total < WIDE:
        return np.array([int(weight * unit) for weight in weights], np.int64)
    return np.array([max(int(weight * WIDE / total), 1) if weight else 0 for weight in weights], np.int64)


def weights_for(
    want: Wanted, promise: PPrivacy, tree: Tree, held: Held, observed: np.ndarray, overall: np.ndarray
) -> np.ndarray:
    """The weights that are used, promised and published: exact, or of the roundings the one with the least sum of ranges."""
    exactly = exact_weights(tree, want.masses)
    if promise.exact:
        return exactly
    found = [
        weights
        for weights in schemes(tree, want.masses, observed, promise.distance)
        if _still(want, tree, weights, overall)
    ]
    tried = [*found, exactly] if want.declared or not found else found
    costs = [sum_of_ranges(generalized(held, tree, weights), tree) for weights in tried]
    best = tried[int(np.argmin(costs))]
    if not _still(want, tree, best, overall):
        raise InternalError("A target does not keep the promise that it is the nearest to.")
    return best


def _still(want: Wanted, tree: Tree, weights: np.ndarray, overall: np.ndarray) -> bool:
    return want.keeping is None or keeps(want.keeping, shares(tree, weights), overall.tolist())
