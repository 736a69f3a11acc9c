"""Evidence that a promise's judge is given, and the judgement that it returns.

A judge is a function (parameters, evidence, column) -> Judgement, in `audit/measure/`, named by the promise's row of the
catalogue. It sees what was recounted from the files and, where there is one, the source: never a model, a method or a
recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import polars as pl

from reticent.audit.groups import NumberedColumn, PublishedGroups, SensitiveColumn
from reticent.errors import BundleDamaged, pluralize
from reticent.format.manifest import ColumnEntry, ComponentEntry

RECOUNTED = "recounted"
NEEDS_SOURCE = "needs source"
FROM_PARAMETERS = "from parameters"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer.

    `kept` is None where the evidence cannot show it; `why` then states why no file could, and what was checked instead.
    """

    achieved: Mapping[str, Any]
    kept: bool | None
    evidence: str = RECOUNTED
    why: str = ""


@dataclass(frozen=True, eq=False)
class Perturbation:
    """How sensitive values were redrawn: `matrix[i][v]` is the probability that values[i] was published as values[v].

    `distribution` is that of the published people, None where it is not known; `handed` if `publish` gave it and no
    file has it. `proven`: compared with the source, the values were redrawn so (True), were not (False), or neither can
    be shown (None).
    """

    values: Sequence[str]
    matrix: Sequence[Sequence[Fraction]]
    distribution: Sequence[Fraction] | None
    handed: bool = False
    proven: bool | None = None

    def with_distribution_of(self, counts: Sequence[int]) -> Perturbation:
        """Return the same with the distribution of these people, which is in no file."""
        total = sum(counts)
        if not total:
            return self
        return replace(self, distribution=[Fraction(count, total) for count in counts], handed=True)


@dataclass(frozen=True, slots=True)
class SamplingParameters:
    """Parameters of a release of one perturbed tuple of each group: retention `p`, least group `k`, size of the `domain`.

    `counted_on` is the k that promises may count on: 1 where groups were made by looking at perturbed values. `proven`
    is as in `Perturbation`. `declared`: the domain is stated to be declared, whatever values occur. `fewest_holders`
    is, where the source is known, how many people have the rarest value that occurs. A person has at most
    `rows_per_person` rows.
    """

    p: Fraction
    k: int
    domain: int
    counted_on: int
    proven: bool | None = None
    declared: bool = True
    fewest_holders: int | None = None
    rows_per_person: int = 1


@dataclass(frozen=True, eq=False)
class TargetedGroups:
    """What groups publish of a hierarchy: `group` has `count` values at a `node`; node i has the parent `parent[i]`.

    `weights` are those of each different target, `target[g]` is the number of group g's target; `shares` are its
    probabilities by value. `rows` are those of each group, `values` the domain. `names` are those of groups where a
    promise names targets by group, and they can be determined.
    """

    group: np.ndarray
    node: np.ndarray
    count: np.ndarray
    parent: np.ndarray
    weights: Sequence[Sequence[int]]
    target: np.ndarray
    shares: Sequence[Sequence[Fraction]]
    rows: np.ndarray
    values: Sequence[str]
    names: Mapping[int, str] | None = None


class SourceRows:
    """The source, row by row or each distinct row with how many `times` it occurs; counted when first needed."""

    def __init__(self, counted: Callable[[], tuple[pl.DataFrame, np.ndarray | None]]):
        self._count = counted

    @cached_property
    def _counted(self) -> tuple[pl.DataFrame, np.ndarray | None]:
        return self._count()

    @property
    def frame(self) -> pl.DataFrame:
        return self._counted[0]

    @property
    def times(self) -> np.ndarray | None:
        return self._counted[1]


class LabelledRows(Protocol):
    """The published rows, for judges that need the label of each and the groups they form."""

    @property
    def frame(self) -> pl.DataFrame: ...

    @property
    def times(self) -> np.ndarray | None: ...

    @property
    def labelled(self) -> bool: ...

    @property
    def foreign(self) -> bool: ...

    @property
    def labels(self) -> Mapping[str, NumberedColumn]: ...

    @property
    def groups(self) -> PublishedGroups: ...


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything a judge may look at.

    `class_sizes` counts the rows that agree in all quasi-identifiers, `sizes` those of each group.
    """

    class_sizes: np.ndarray
    sizes: np.ndarray
    sensitive: Sequence[SensitiveColumn]
    withheld: int = 0
    stages: Sequence[ComponentEntry] = ()
    rows_per_person: int = 1
    population: np.ndarray | None = None  # people of a population table under each group's labels
    perturbation: Perturbation | None = None
    columns: Sequence[ColumnEntry] = ()
    published: LabelledRows | None = None
    source: SourceRows | None = None
    sampling: SamplingParameters | None = None
    targeted: TargetedGroups | None = None

    def column(self, name: str | None) -> SensitiveColumn:
        """Return the column of a promise: the one it names, else the only one or the combination of all."""
        if name is None and self.sensitive and (len(self.sensitive) == 1 or self.sensitive[0].joint):
            return self.sensitive[0]
        for column in self.sensitive:
            if column.name == name:
                return column
        if self.perturbation is not None and not self.sensitive:
            raise BundleDamaged(
                "A promise about the values that groups hold cannot be judged: in this release every row's value was redrawn.",
                attempt="a promise about redrawn values, such as beta-likeness.",
            )
        if self.sampling is not None and not self.sensitive:
            raise BundleDamaged(
                "A promise about the values that groups hold cannot be judged: this release shows one perturbed value of each.",
                attempt="a promise against corruption, such as rho-guarantee.",
            )
        raise BundleDamaged(
            "A promise names no sensitive column of the table.",
            why=f"{pluralize(len(self.sensitive), 'column', 'is', 'are')} sensitive.",
        )
