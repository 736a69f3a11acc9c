"""A release kind in one file: labels as in a generalized release, and a ticket beside every row, with its prefix in the manifest.

Its writer, its reader, its eyes, and a method that makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.audit.generalized import GeneralizedAuditor as Eyes
from reticent.audit.kind import RecomputedRelease
from reticent.audit.subject import Subject
from reticent.catalogue import METHODS, KindRow, MethodRow
from reticent.errors import BundleDamaged
from reticent.format import schema_checks
from reticent.format.data_files import Schema
from reticent.format.manifest import Manifest
from reticent.format.row_batches import CodedColumn, FileRows, RowBatches
from reticent.methods.mondrian import Mondrian
from reticent.recipe.generalized import GeneralizedWriter as Writer
from reticent.release.generalized import GeneralizedReader as Reader
from reticent.release.kind import read_tables

HERE = "tests.contract.toy_kind"
TICKET = "ticket"
KIND = KindRow(f"{HERE}:WRITER", f"{HERE}:READER", f"{HERE}:AUDITOR")
METHOD = MethodRow(f"{HERE}:TicketOffice", METHODS["mondrian"].fields)


@dataclass(frozen=True, eq=False)
class TicketedWriter(Writer):
    kind: ClassVar[str] = "ticketed"

    def frames(self, pieces: RowBatches) -> dict[str, FileRows]:
        rows = super().frames(pieces)["data"]
        same = CodedColumn.from_entries(
            pl.Series(TICKET, ["T"]), np.zeros(len(self.recipe.cell), np.int32), self.recipe.published_entries
        )
        return {"data": FileRows({**rows.columns, TICKET: same}, pieces)}

    def fields(self, types: Mapping[str, str]) -> dict[str, Any]:
        return {**super().fields(types), "prefix": "T"}


@dataclass(frozen=True, slots=True)
class TicketedReader(Reader):
    kind: ClassVar[str] = "ticketed"
    own: ClassVar[dict[str, schema_checks.Checker]] = {"prefix": schema_checks.check_text}

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        return {"data": {**Reader.schemas(self, manifest)["data"], TICKET: "String"}}


@dataclass(frozen=True, slots=True)
class TicketedEyes(Eyes):
    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> RecomputedRelease:
        assert subject.path is not None and subject.manifest is not None
        drawn = read_tables(subject.path, subject.manifest)["data"][TICKET]
        if (drawn != subject.manifest.own["prefix"]).any():
            raise BundleDamaged("A ticket has another prefix than the manifest says.")
        return Eyes.recount(self, subject, each_row=each_row, thorough=thorough)


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketOffice(Mondrian):
    name: ClassVar[str] = "ticket-office"
    kind: ClassVar[str] = "ticketed"


WRITER = TicketedWriter
READER = TicketedReader()
AUDITOR = TicketedEyes()
