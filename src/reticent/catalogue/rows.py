"""What a row of the catalogue holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from reticent.catalogue.fields import Field, Relation


@dataclass(frozen=True, slots=True)
class PromiseRow:
    """A promise: its class for planning, its judge in the audit, and what is said of it."""

    model: str
    judge: str
    fields: Mapping[str, Field]  # what each parameter may be
    sentence: str  # for the recipient's README; {parameters} are filled in
    together: str  # why several releases no longer promise it together
    believed: str = ""  # the greatest belief it leaves in a value, as an attack may be told
    relations: tuple[Relation, ...] = ()  # what parameters must be to each other

    @property
    def parameters(self) -> tuple[str, ...]:
        """The words that a job or a manifest may use."""
        return tuple(self.fields)


@dataclass(frozen=True, slots=True)
class Row:
    """A method or a preparing stage: its class and its parameters, and of a method the kind of its releases."""

    made_by: str
    fields: Mapping[str, Field]  # what each parameter may be
    kind: str = ""
    relations: tuple[Relation, ...] = ()  # what parameters must be to each other

    @property
    def parameters(self) -> tuple[str, ...]:
        """The words that a job or a manifest may use."""
        return tuple(self.fields)


@dataclass(frozen=True, slots=True)
class KindRow:
    """A release kind: three modules of one name, and in each the object that knows the kind.

    `answers` makes, of a release, what a workload of questions is put to; `gives_up` is what a recipient no longer has.
    """

    writer: str
    reader: str
    eyes: str
    answers: str = "reticent.utility.answering:over_groups"
    gives_up: str = ""


@dataclass(frozen=True, slots=True)
class LearnerRow:
    """What learns to classify: its function, and whether it learns from redrawn values (and then from nothing else)."""

    function: str
    reconstructs: bool = False


@dataclass(frozen=True, slots=True)
class AttackRow:
    """An attack: its function, and whether it needs the source or the release's files alone.

    `reads_people`: it is given the release and the source as they are, with lists of people of its own, not what groups show.
    `apart`: what is believed of a person does not depend on who else is asked about.
    `adversary` says who it is, and `promises` which promises speak of that adversary at all.  `guesses`: from the release and the
    targets' quasi-identifiers alone it guesses their sensitive values, so that its success and another's can be compared.
    `cost`: where all are tried, those of lower cost are tried first; how long they take was measured.
    """

    function: str
    adversary: str = ""
    promises: tuple[str, ...] = ()
    needs_source: bool = True
    reads_people: bool = False
    guesses: bool = True
    apart: bool = False
    cost: int = 1

    def spoken_of(self, promised: Iterable[str]) -> list[str]:
        """The promises among these that speak of this adversary."""
        return [name for name in dict.fromkeys(promised) if name in self.promises]


@dataclass(frozen=True, slots=True)
class EngineRow:
    """An engine: the object that counts rows and applies recipes, and for which tables it is."""

    made_by: str
    purpose: str


def load(dotted: str) -> Any:
    """What "module:attribute" names."""
    module, _, attribute = dotted.partition(":")
    return getattr(import_module(module), attribute)
