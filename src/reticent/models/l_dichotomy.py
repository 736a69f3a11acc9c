"""l-dichotomy (Xu, Wang, Fu & Wong, definition 1): a table from which records were withheld does not say which value led.

    P-eligibility   no value is held by more than one in l published rows
    S-ambiguity     Pr(S'_i = S_1 | published table, algorithm, |T|) <= 1/l for every published value

S_1 is the most frequent value of the table as it was.  The second part is a property of how records were withheld, not of
groups, and holds for a prior: equal weight on all violating tables of as many records in the same values.  It is kept by the
stage `suppression`, kind "calibrated" or "safe"; the groups of the release need a promise of their own.  Both kinds also bound by
1/l the posterior that a withheld person has a value, which is another question and not part of the definition.
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reticent.errors import JobError
from reticent.models.exact import whole


@dataclass(frozen=True, slots=True)
class LDichotomy:
    """Of the published values at least l could have been the most frequent one, each with a posterior of at most 1/l."""

    l: int
    column: str | None = None
    name: ClassVar[str] = "l-dichotomy"
    needs_sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole(self.l, "l"))
        self.verify()

    def verify(self) -> None:
        if self.l < 2:
            raise JobError(f"l-dichotomy needs l >= 2; l = {self.l} promises nothing.", attempt="l = 2 or more.")
