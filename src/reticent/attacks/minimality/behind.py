"""The tables that may lie behind a release, whatever its method: values are dealt anew within blocks of people.

A block is all people who are linked by the labels of groups that may hold them: the values that those groups publish are theirs.
Where no two labels cover one person a block is a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import factorial, prod

import numpy as np

from reticent.attacks.membership import Membership, linked
from reticent.attacks.seen import Seen


@dataclass(frozen=True, eq=False)
class Tables:
    """`true` are the values of the people, in the order of their points; `blocks` are the people among whom values are dealt."""

    true: np.ndarray
    blocks: tuple[np.ndarray, ...]
    values: int

    @classmethod
    def of(cls, seen: Seen, who: Membership) -> Tables:
        point, value, many = seen.truth.point, seen.truth.value, seen.truth.people
        component = linked(who.point, who.group, who.points)[np.repeat(point, many)]
        order = np.argsort(component, kind="stable")
        starts = np.flatnonzero(np.diff(component[order], prepend=-1))
        return cls(np.repeat(value, many), tuple(np.split(order, starts[1:])), seen.truth.values)

    @property
    def many(self) -> int:
        """How many tables there are, exactly."""
        return prod(arrangements(np.bincount(self.true[block])) for block in self.blocks)

    def all(self) -> Iterator[np.ndarray]:
        """Every one of them."""
        dealt = [list(deals(np.bincount(self.true[block], minlength=self.values).tolist())) for block in self.blocks]
        for chosen in product(*dealt):
            table = self.true.copy()
            for block, values in zip(self.blocks, chosen, strict=True):
                table[block] = values
            yield table


def arrangements(counts: np.ndarray) -> int:
    """In how many ways a block's values can be dealt to its people."""
    return factorial(int(counts.sum())) // prod(factorial(int(count)) for count in counts)


def deals(left: list[int]) -> Iterator[list[int]]:
    """Every order of values of which so many are left."""
    if not any(left):
        yield []
        return
    for value, count in enumerate(left):
        if count:
            left[value] -= 1
            for rest in deals(left):
                yield [value, *rest]
            left[value] += 1
