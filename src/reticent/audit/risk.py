"""Re-identification risk of a raw table or of a release (El Emam & Dankar 2008; the measures ARX reports).

A record's risk is 1 / F, with F the number of people it could be:
    prosecutor   the adversary knows that the target is in the table: F = rows of the record's group
    journalist   he does not: F = people of a population table who fit the group's labels
    marketer     the share of all records he re-identifies on average: the mean risk
A record is at risk if its risk exceeds the threshold.  A sample unique is a group of one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from reticent.audit.forged import counting
from reticent.audit.kind import Recounted, eyes
from reticent.audit.measure.comparison import exact
from reticent.audit.population import population_sizes
from reticent.audit.separation import Identifying, identifying
from reticent.audit.subject import of_folder, of_table
from reticent.door import a_job, door, flag, marks, names, optional, place, share
from reticent.owner.reading import reading_of
from reticent.table.declaring import columns as columns_of
from reticent.table.roles import Column, Role

THRESHOLD = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class Adversary:
    """`highest` and `average` risk of a record, and how many records are at risk."""

    highest: float
    average: float
    at_risk: int

    def to_dict(self) -> dict[str, Any]:
        return {"highest": self.highest, "average": self.average, "at_risk": self.at_risk}


@dataclass(frozen=True, eq=False)
class Risk:
    rows: int
    groups: int
    threshold: float
    prosecutor: Adversary
    journalist: Adversary | None
    sample_uniques: int
    population_uniques: int | None
    columns: tuple[Identifying, ...]

    @property
    def marketer(self) -> float:
        """By the population where there is one, by the table itself otherwise."""
        return (self.journalist or self.prosecutor).average

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"rows": self.rows, "groups": self.groups, "threshold": self.threshold, "prosecutor": self.prosecutor.to_dict(),
                                 "marketer": self.marketer, "sample_uniques": self.sample_uniques,
                                 "columns": [{"columns": list(one.columns), "distinction": one.distinction, "separation": one.separation}
                                             for one in self.columns]}  # fmt: skip
        if self.journalist is not None:
            found |= {"journalist": self.journalist.to_dict(), "population_uniques": self.population_uniques}
        return found

    def __str__(self) -> str:
        lines = [f"{self.rows:,} records in {self.groups:,} groups; {self.sample_uniques:,} are unique", "",
                 f"  {'':<12}{'highest':>10}{'average':>10}   records at risk (above {self.threshold:.3g})"]  # fmt: skip
        for name, one in (("prosecutor", self.prosecutor), ("journalist", self.journalist)):
            if one is not None:
                lines.append(
                    f"  {name:<12}{one.highest:>10.4g}{one.average:>10.4g}   {one.at_risk:,} ({one.at_risk / self.rows:.1%})"
                )
        lines += [f"  {'marketer':<12}{'':>10}{self.marketer:>10.4g}", ""]
        lines += [f"  {' and '.join(one.columns):<40} separates {one.separation:.4%} of pairs, {one.distinction:.4g} distinct per row"
                  for one in self.columns[:12]]  # fmt: skip
        return "\n".join(lines)


@door(table=place, quasi=optional(names), columns=optional(columns_of), job=optional(a_job), population=optional(place),
      threshold=share, missing=marks, pairs=flag)  # fmt: skip
def risk(table: Any, *, quasi: Iterable[str] | None = None, columns: Mapping[str, Column] | None = None, job: Any = None,
         population: Any = None, threshold: object = THRESHOLD, missing: Sequence[str] = (), pairs: bool = True) -> Risk:  # fmt: skip
    """Risk of a release folder, an opened release, or any table: a path or a frame with the quasi-identifiers by name (all columns if none)."""
    found = _recounted(table, quasi, columns, job, missing)
    people = None
    if population is not None:
        read, frame = reading_of(table, population, job, missing=missing)
        people = population_sizes(found, read if frame is None else frame, read.missing)
    return of_groups(list(found.labels), found.groups.labels, found.groups.sizes, people, threshold, pairs=pairs)


def of_groups(names: Sequence[str], labels: np.ndarray, sizes: np.ndarray, people: np.ndarray | None = None, threshold: object = THRESHOLD,
              *, pairs: bool = True) -> Risk:  # fmt: skip
    """From groups alone.  A population is never smaller than what the table itself shows of it."""
    limit = exact(threshold)
    largest = None if people is None else np.maximum(people, sizes)
    return Risk(int(sizes.sum()), len(sizes), float(limit), _adversary(sizes, sizes, limit),
                None if largest is None else _adversary(sizes, largest, limit), int((sizes == 1).sum()),
                None if largest is None else int((largest == 1).sum()), tuple(identifying(names, labels, sizes, pairs=pairs)))  # fmt: skip


def _adversary(sizes: np.ndarray, people: np.ndarray, limit: Fraction) -> Adversary:
    exposed = people * limit.numerator < limit.denominator  # 1 / F > threshold
    return Adversary(1 / int(people.min()), float((sizes / people).sum() / sizes.sum()), int(sizes[exposed].sum()))


def _recounted(
    table: Any, quasi: Iterable[str] | None, columns: Mapping[str, Column] | None, job: Any, missing: Sequence[str]
) -> Recounted:
    folder = getattr(table, "folder", table)
    if isinstance(folder, str | Path) and Path(folder).is_dir():
        subject = of_folder(folder)
    else:
        declared = dict(columns or (job.columns if job is not None else {}))
        declared |= {name: Column(Role.QUASI) for name in quasi or () if name not in declared}
        given, frame = reading_of(None, folder, job, missing=missing)
        table = given if frame is None else frame
        subject = of_table(table, declared or {"*": Column(Role.QUASI)}, missing=given.missing)
    with counting(subject, staged=False):
        return eyes(subject.kind).recount(subject, each_row=False, thorough=False)
