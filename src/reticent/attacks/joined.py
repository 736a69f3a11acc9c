"""What several releases say of each person together: the product rule, and the balanced one that fits every group's counts.

    product    Pr(v | t)  ~  p_1(v | t) p_2(v | t) ... / p(v)^(R - 1)       p_r(. | t) mixes release r's groups over t
    balanced   x(t, v) = c(t) A_1(t, v) A_2(t, v) ...,   A_r(t, v) = sum over g of share(t, g) a_r(g, v)

The product takes the groups of a person in different releases as independent, given the value.  The balanced one starts there and
scales the factors a_r until every group of every release holds what it publishes and every point its people (iterative
proportional fitting): among all tables of expected counts that fit, the one of greatest entropy.  For one release both are that
release's own posterior.  Nothing here is exact but for one release: `joined_exactly` counts tables.

People who are in the same groups to the same shares in every release are one atom, and of an atom only the values that its groups in
the first release publish are held: what the others say of another value adds nothing to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.attacks.beliefs import Beliefs, list_stretches
from reticent.attacks.membership import Membership
from reticent.attacks.score import Guesses
from reticent.table.cells import distinct_rows

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

    def shares(self, prior: np.ndarray) -> np.ndarray:
        """(groups + 1, values): each group's distribution; the table's for people who are in none."""
        sizes = self.counts.sum(axis=1, keepdims=True)
        return np.vstack([np.divide(self.counts, sizes, out=np.zeros(self.counts.shape), where=sizes > 0), prior])

    def guess(self, prior: np.ndarray) -> Guesses:
        """What the release alone lets guess of each point, some atoms at a time."""
        shares, atoms = self.shares(prior), self.membership.atoms
        most = shares.max(axis=0)
        parts = [Guesses.of_beliefs(_capped(part, most)) for _, part in atoms.mix_in_parts(shares)]
        return Guesses.join(parts).take(atoms.of_point)

    def believe(self, prior: np.ndarray) -> Beliefs:
        """The release's own posterior of each atom; a mixture, which no rounding takes above what it mixes."""
        shares = self.shares(prior)
        return _capped(self.membership.atoms.mix(shares), shares.max(axis=0))

    def own(self, prior: np.ndarray) -> np.ndarray:
        """(points, values): the same as a table."""
        return self.believe(prior).to_dense()[self.membership.atoms.of_point]


@dataclass(frozen=True, eq=False)
class Terms:
    """One release's terms of A_r(t, v): the `key` (an atom with a value) that each counts for, its place among (groups, values)
    and the atom's share of the group."""

    key: np.ndarray
    place: np.ndarray
    share: np.ndarray

    def mix(self, factor: np.ndarray, keys: int) -> np.ndarray:
        return np.bincount(self.key, weights=factor.reshape(-1)[self.place] * self.share, minlength=keys)

    def add_up(self, rest: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """(groups + 1, values): what the keys hold, in every group by its share."""
        added = np.bincount(self.place, weights=rest[self.key] * self.share, minlength=int(np.prod(shape)))
        return added.reshape(shape)


@dataclass(frozen=True, eq=False)
class Joint:
    """Several releases over the atoms of all of them; `of_point` is the atom of each point, `chosen` a point of each atom."""

    parts: tuple[Part, ...]
    prior: np.ndarray
    of_point: np.ndarray
    chosen: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[Part], prior: np.ndarray) -> Joint:
        atoms = np.column_stack([part.membership.atoms.of_point for part in parts])
        distinct, of_point = distinct_rows(atoms)
        chosen = np.empty(len(distinct), np.int64)
        chosen[of_point] = np.arange(len(of_point))
        return cls(tuple(parts), prior, of_point, chosen)

    @cached_property
    def own(self) -> Beliefs:
        """What the first release alone says: its values are the keys of all that is computed."""
        part = self.parts[0]
        return part.believe(self.prior).take(part.membership.atoms.of_point[self.chosen])

    @cached_property
    def terms(self) -> tuple[Terms, ...]:
        keys = self.own.row * self.own.values + self.own.value
        return tuple(self._terms(part, keys) for part in self.parts)

    def _terms(self, part: Part, keys: np.ndarray) -> Terms:
        """Every group of every atom with each value that the group publishes and that is a key."""
        atoms, values = part.membership.atoms, self.own.values
        of_atom = atoms.of_point[self.chosen]
        first = np.searchsorted(atoms.atom, of_atom)
        entries = np.searchsorted(atoms.atom, of_atom, side="right") - first
        entry = list_stretches(first, entries)
        atom = np.repeat(np.arange(len(of_atom)), entries)
        published = Beliefs.of_table(np.vstack([part.counts, self.prior]))
        lengths = np.diff(published.starts)[atoms.group[entry]]
        index = list_stretches(published.starts[:-1][atoms.group[entry]], lengths)
        pair = np.repeat(atom, lengths) * values + published.value[index]
        key = np.searchsorted(keys, pair)
        held = np.flatnonzero(keys[np.minimum(key, len(keys) - 1)] == pair) if len(keys) else key[:0]
        place = np.repeat(atoms.group[entry] * values, lengths)[held] + published.value[index[held]]
        return Terms(key[held], place, np.repeat(atoms.weight[entry], lengths)[held])

    def multiply(self) -> Beliefs:
        """The product rule."""
        found = self.own.belief
        prior = self.prior[self.own.value]
        for part, terms in zip(self.parts[1:], self.terms[1:], strict=True):
            shares = part.shares(self.prior)
            mixed = np.minimum(terms.mix(shares, len(found)), shares.max(axis=0)[self.own.value])
            found = found * np.divide(mixed, prior, out=np.zeros_like(found), where=prior > 0)
        return self._scaled(found)

    def balance(self, people: np.ndarray) -> tuple[Beliefs, float]:
        """The balanced rule, and how far a belief moved in the last round; `people` are those of each point."""
        if len(self.parts) == 1:
            return self.own, 0.0
        of_atom = np.bincount(self.of_point, weights=people, minlength=len(self.chosen))
        factors = [part.shares(self.prior) for part in self.parts]
        for factor in factors[1:]:
            np.divide(factor, self.prior, out=factor, where=self.prior > 0)
        keys, row = len(self.own.belief), self.own.row
        mixed = [terms.mix(factor, keys) for terms, factor in zip(self.terms, factors, strict=True)]
        belief, moved = self._scaled(_times(mixed)), np.inf
        for _ in range(min(ROUNDS, max(10, WORK // (max(keys, 1) * len(self.parts))))):
            for at, (part, terms) in enumerate(zip(self.parts, self.terms, strict=True)):
                scale = of_atom / self._whole(_times(mixed))
                rest = scale[row] * _times([one for other, one in enumerate(mixed) if other != at])
                _fit(part, factors[at], terms.add_up(rest, factors[at].shape))
                mixed[at] = terms.mix(factors[at], keys)
            after = self._scaled(_times(mixed))
            moved = float(np.abs(after.belief - belief.belief).max(initial=0.0))
            belief = after
            if moved < SETTLED:
                break
        return belief, moved

    def to_dense(self, belief: Beliefs) -> np.ndarray:
        """(points, values)."""
        return belief.to_dense()[self.of_point]

    def _whole(self, found: np.ndarray) -> np.ndarray:
        whole = np.bincount(self.own.row, weights=found, minlength=len(self.chosen))
        return np.where(whole > 0, whole, 1.0)

    def _scaled(self, found: np.ndarray) -> Beliefs:
        """Beliefs that add up to 1; the first release's where releases contradict each other: they are not of the same people."""
        whole = np.bincount(self.own.row, weights=found, minlength=len(self.chosen))[self.own.row]
        scaled = np.where(whole > 0, found / np.where(whole > 0, whole, 1), self.own.belief)
        return Beliefs(self.own.starts, self.own.value, scaled, self.own.values)


def product(parts: Sequence[Part], prior: np.ndarray) -> np.ndarray:
    """(points, values) by the product rule."""
    joint = Joint.of(parts, prior)
    return joint.to_dense(joint.multiply())


def balanced(parts: Sequence[Part], people: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, float]:
    """(points, values) by the balanced rule, and how far a belief moved in the last round."""
    joint = Joint.of(parts, prior)
    belief, moved = joint.balance(people)
    return joint.to_dense(belief), moved


def _fit(part: Part, factor: np.ndarray, inside: np.ndarray) -> None:
    """Scale one release's factors until its groups hold what they publish, `inside` being what the others' factors put there."""
    groups = part.membership.groups
    held = inside[:groups] * factor[:groups]
    sizes = part.counts.sum(axis=1)
    wanted = (
        part.counts * np.divide(part.membership.held[:groups], sizes, out=np.zeros(groups), where=sizes > 0)[:, None]
    )
    factor[:groups] *= np.divide(wanted, held, out=np.ones(wanted.shape), where=held > 0)


def _times(mixed: Sequence[np.ndarray]) -> np.ndarray:
    found = mixed[0]
    for one in mixed[1:]:
        found = found * one
    return found


def _capped(beliefs: Beliefs, most: np.ndarray) -> Beliefs:
    return Beliefs(beliefs.starts, beliefs.value, np.minimum(beliefs.belief, most[beliefs.value]), beliefs.values)
