"""A condition over several axes: true or not at every combination of their pieces, and added up over what labels cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from reticent.deadline import check_deadline
from reticent.errors import RequestError
from reticent.release.asking.axis import Axis
from reticent.release.asking.condition import Atom, Condition, Truth, judged

MOST = 1 << 20  # combinations of pieces
ROOM = 1 << 22  # numbers held at once


@dataclass(frozen=True, eq=False)
class Pieces:
    """`met`: whether the condition is true, by the pieces of each axis."""

    axes: tuple[Axis, ...]
    met: np.ndarray

    @classmethod
    def of(cls, axes: Sequence[Axis], condition: Condition | None) -> Pieces:
        shape = tuple(axis.pieces for axis in axes)
        if prod(shape) > MOST:
            raise RequestError(
                f"The condition cuts {len(axes)} columns into {prod(shape):,} pieces together; {MOST:,} are the most that are judged.",
                attempt="a question with fewer different constants.",
            )
        if condition is None:
            return cls(tuple(axes), np.ones(shape, bool))
        place = {axis.name: at for at, axis in enumerate(axes)}

        def of(atom: Atom) -> Truth:
            at = place[atom.column]
            around = [1] * len(axes)
            around[at] = -1
            true, false = axes[at].truth[atom]
            return true.reshape(around), false.reshape(around)

        return cls(tuple(axes), np.broadcast_to(judged(condition, of)[0], shape).copy())

    def added(
        self,
        cells: Mapping[str, np.ndarray],
        weights: Mapping[str, np.ndarray],
        keep: str | None,
        *,
        unmet: bool = False,
    ) -> np.ndarray:
        """(cells,), or (cells, pieces of the axis kept): the weights of the pieces at which the condition is met, multiplied over axes.

        `cells` has the label of each cell on every axis but the one kept, `weights` (labels, pieces) of each axis.
        """
        order = [axis.name for axis in self.axes if axis.name != keep]
        places = {axis.name: at for at, axis in enumerate(self.axes)}
        met = ~self.met if unmet else self.met
        met = met.transpose([places[name] for name in order] + ([places[keep]] if keep is not None else [])).astype(
            np.float64
        )
        tail = met.shape[-1] if keep is not None else 1
        many = len(next(iter(cells.values()))) if cells else 1
        found = np.empty((many, tail))
        step = max(ROOM // max(met.size, 1), 1)
        for start in range(0, many, step):
            check_deadline()
            here = slice(start, start + step)
            held = met.reshape(1, -1)
            for name in order:
                weight = weights[name][cells[name][here]]
                held = np.einsum(
                    "cp,cpr->cr",
                    weight,
                    np.broadcast_to(
                        held.reshape(len(held), weight.shape[1], -1),
                        (len(weight), weight.shape[1], held.shape[1] // weight.shape[1]),
                    ),
                )
            found[here] = held if order else np.broadcast_to(held, found[here].shape)
        return found if keep is not None else found[:, 0]
