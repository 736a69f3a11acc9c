"""A release kind in one file: labels as in a generalized release, and a ticket beside every row, with its prefix in the manifest.

Its writer, its reader, its eyes, and a method that makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.audit.generalized import Generalized as Eyes
from reticent.audit.kind import Recounted
from reticent.audit.subject import Subject
from reticent.catalogue import METHODS, KindRow, Row
from reticent.errors import BundleDamaged
from reticent.methods.mondrian import Mondrian
from reticent.recipe.generalized import Generalized as Writer
from reticent.release import shape
from reticent.release.data import Schema
from reticent.release.generalized import Generalized as Reader
from reticent.release.kind import tables
from reticent.release.manifest import Manifest
from reticent.release.rows import Coded, Pieces, Rows

HERE, TICKET = "tests.contract.toy_kind", "ticket"
KIND = KindRow(f"{HERE}:WRITER", f"{HERE}:READER", f"{HERE}:EYES")
METHOD = Row(f"{HERE}:TicketOffice", METHODS["mondrian"].fields)


@dataclass(frozen=True, eq=False)
class TicketedWriter(Writer):
    kind: ClassVar[str] = "ticketed"

    def frames(self, pieces: Pieces) -> dict[str, Rows]:
        rows = super().frames(pieces)["data"]
        same = Coded.of(pl.Series(TICKET, ["T"]), np.zeros(len(self.recipe.cell), np.int32), self.recipe.shown)
        return {"data": Rows({**rows.columns, TICKET: same}, pieces)}

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        return {**super().fields(types), "prefix": "T"}


@dataclass(frozen=True, slots=True)
class TicketedReader(Reader):
    kind: ClassVar[str] = "ticketed"
    own: ClassVar[dict[str, shape.Checker]] = {"prefix": shape.text}

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        return {"data": {**Reader.schemas(self, manifest)["data"], TICKET: "String"}}


@dataclass(frozen=True, slots=True)
class TicketedEyes(Eyes):
    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> Recounted:
        assert subject.path is not None and subject.manifest is not None
        drawn = tables(subject.path, subject.manifest)["data"][TICKET]
        if (drawn != subject.manifest.own["prefix"]).any():
            raise BundleDamaged("A ticket has another prefix than the manifest says.")
        return Eyes.recount(self, subject, each_row=each_row, thorough=thorough)


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketOffice(Mondrian):
    name: ClassVar[str] = "ticket-office"
    kind: ClassVar[str] = "ticketed"


WRITER, READER, EYES = TicketedWriter, TicketedReader(), TicketedEyes()
