"""l-dichotomy (Xu, Wang, Fu & Wong, definition 1): a table with withheld records does not reveal which value led.

    P-eligibility   no value is held by more than one in l published rows
    S-ambiguity     Pr(S'_i = S_1 | published table, algorithm, |T|) <= 1/l for every published value

S_1 is the most frequent value of the table as it was.  The second part is a property of how records were withheld, not
of groups, and holds for a prior.  It is kept by the stage `suppression`: kind "safe" for every prior that knows no value
by name, kind "calibrated" for equal weight on all violating tables of as many records in the same values alone; the
groups of the release need a promise of their own.
Both kinds also bound by 1/l the posterior that a withheld person has a value, which is another question and not part of
the definition.
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from reticent.catalogue import PROMISES
from reticent.errors import JobError
from reticent.models.promise import Promise
from reticent.validation import check_parameters, document_parameters

SOUND_KINDS = ("safe", "calibrated")  # kinds of suppression whose posterior of which value led is at most 1/l


@document_parameters(PROMISES["l-dichotomy"])
@dataclass(frozen=True, slots=True)
class LDichotomy(Promise):
    """Of the published values at least l could have been the most frequent one, each with a posterior of at most 1/l."""

    l: int
    column: str | None = None
    name: ClassVar[str] = "l-dichotomy"
    needs_sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self)

    def given_by(self, parameters: Mapping[str, Any]) -> bool:
        """Tell whether suppression of this `kind`, `l` and `column` gives the promise."""
        of = parameters.get("column")
        same_column = self.column == of or None in (self.column, of)
        return parameters["kind"] in SOUND_KINDS and self.l <= parameters["l"] and same_column

    def verify(self, parameters: Mapping[str, Any]) -> None:
        if not self.given_by(parameters):
            raise JobError(
                f"l-dichotomy with l = {self.l} is not given by suppression of kind {parameters['kind']!r} with "
                f"l = {parameters['l']}.",
                attempt=f'kind = "safe" and l = {self.l} on the same column.',
            )
