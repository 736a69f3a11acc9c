"""What a method and a preparing stage supply: parameters in the constructor, one verb to run, and what they can keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, runtime_checkable

from reticent.models.promises import Promises
from reticent.models.shapes import Promise
from reticent.randomness import Random
from reticent.recipe.prepared import Prepared
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells


class Method(Protocol):
    """A dataclass of parameters.  Its groups have `labels` of one style where it has that attribute, `weights` likewise.

    `strict` methods say so: no combination of values is in two of their groups.  So do `deterministic` ones, which draw nothing.
    """

    name: ClassVar[str]
    kind: ClassVar[str]  # of the release it plans
    keeps: ClassVar[tuple[type, ...]]  # promises, or shapes of promises, that its plans keep
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        """Groups of the cells that keep every promise; `PromiseUnreachable` where there are none."""


@runtime_checkable
class Anytime(Protocol):
    """A method that improves as long as it may; `watch` is told its state on the way."""

    anytime: ClassVar[bool]

    def plan(
        self, cells: Cells, promises: Promises, rng: Random, watch: Callable[[Any], bool | None] | None = None
    ) -> Recipe: ...


class Stage(Protocol):
    """A dataclass of parameters that prepares cells for a method; with `finish` it also splits the quotas after it."""

    name: ClassVar[str]
    can_keep: ClassVar[tuple[type, ...]]  # promises that some parameters of the stage keep
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def keeps(self, promise: Promise) -> bool:
        """Whether the stage keeps a promise by itself, with these parameters."""

    def prepare(self, cells: Cells, promises: Promises, rng: Random) -> Prepared:
        """Which rows of each cell go on to the method, and which are withheld."""

    @classmethod
    def advice(cls, cells: Cells, promises: Promises) -> list[dict[str, Any]]:
        """What the stage could do for these promises, whether or not the job has it."""
