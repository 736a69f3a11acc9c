"""What several releases say of each person together: the product rule, and the balanced one that fits every group's counts.

    product    Pr(v | t)  ~  p_1(v | t) p_2(v | t) ... / p(v)^(R - 1)       p_r(. | t) mixes release r's groups over t
    balanced   x(t, v) = c(t) A_1(t, v) A_2(t, v) ...,   A_r(t, v) = sum over g of share(t, g) a_r(g, v)

The product takes the groups of a person in different releases as independent, given the value.  The balanced one starts there and
scales the factors a_r until every group of every release holds what it publishes and every point its people (iterative
proportional fitting): among all tables of expected counts that fit, the one of greatest entropy.  For one release both are that
release's own posterior.  Nothing here is exact but for one release: `joined_exactly` counts tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.attacks.membership import Membership

ROUNDS = 200
WORK = 55_000_000
"""So many beliefs are computed at most, in ten rounds or more: large tables end earlier, and say how far beliefs still moved."""
SETTLED = 1e-6
"""The balancing ends when no belief moves further in a round."""


@dataclass(frozen=True, eq=False)
class Part:
    """One release of several: who is in which of its groups, and how many rows its groups publish of each value."""

    membership: Membership
    counts: np.ndarray  # (groups, values)
    believed: dict[bytes, np.ndarray] = field(default_factory=dict, init=False, repr=False)  # what `own` found before

    def shares(self, prior: np.ndarray) -> np.ndarray:
        """(groups + 1, values): each group's distribution; the table's for people who are in none."""
        sizes = self.counts.sum(axis=1, keepdims=True)
        return np.vstack([np.divide(self.counts, sizes, out=np.zeros(self.counts.shape), where=sizes > 0), prior])

    def own(self, prior: np.ndarray) -> np.ndarray:
        """(points, values): the release's own posterior; a mixture, which no rounding takes above what it mixes."""
        known = self.believed.get(prior.tobytes())
        if known is None:
            shares = self.shares(prior)
            known = np.minimum(self.membership.mixed(shares), shares.max(axis=0))
            self.believed[prior.tobytes()] = known
        return known.copy()


def product(parts: Sequence[Part], prior: np.ndarray) -> np.ndarray:
    """(points, values)."""
    found = parts[0].own(prior)
    for part in parts[1:]:
        found = found * np.divide(part.own(prior), prior, out=np.zeros_like(found), where=prior > 0)
    return _normal(found, parts[0].own(prior))


def balanced(parts: Sequence[Part], people: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, float]:
    """(points, values), and how far a belief moved in the last round."""
    own = parts[0].own(prior)
    if len(parts) == 1:
        return own, 0.0
    factors = [part.shares(prior) for part in parts]
    for factor in factors[1:]:
        np.divide(factor, prior, out=factor, where=prior > 0)
    mixed = [part.membership.mixed(factor) for part, factor in zip(parts, factors, strict=True)]
    belief, moved = _normal(_times(mixed), own), np.inf
    for _ in range(min(ROUNDS, max(10, WORK // (belief.size * len(parts))))):
        for at, part in enumerate(parts):
            scale = people / _whole(_times(mixed))
            _fit(part, factors[at], _times([one for other, one in enumerate(mixed) if other != at]) * scale[:, None])
            mixed[at] = part.membership.mixed(factors[at])
        after = _normal(_times(mixed), own)
        moved = float(np.abs(np.subtract(after, belief, out=belief), out=belief).max(initial=0.0))
        belief = after
        if moved < SETTLED:
            break
    return belief, moved


def _fit(part: Part, factor: np.ndarray, rest: np.ndarray) -> None:
    """Scale one release's factors until its groups hold what they publish, the other releases' factors being `rest`."""
    who, groups = part.membership, part.membership.groups
    inside = rest[who.point]
    held = who.by_group(inside if who.single else inside * who.shares[:, None]) * factor
    sizes = part.counts.sum(axis=1)
    wanted = part.counts * np.divide(who.held[:groups], sizes, out=np.zeros(groups), where=sizes > 0)[:, None]
    factor[:groups] *= np.divide(wanted, held[:groups], out=np.ones(wanted.shape), where=held[:groups] > 0)


def _times(mixed: Sequence[np.ndarray]) -> np.ndarray:
    found = mixed[0]
    for one in mixed[1:]:
        found = found * one
    return found


def _whole(found: np.ndarray) -> np.ndarray:
    whole = found.sum(axis=1)
    return np.where(whole > 0, whole, 1.0)


def _normal(found: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Beliefs that add up to 1; another's where releases contradict each other: they are not of the same people."""
    whole = found.sum(axis=1, keepdims=True)
    if (whole > 0).all():
        return found / whole
    return np.where(whole > 0, found / np.where(whole > 0, whole, 1), otherwise)
