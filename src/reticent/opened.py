"""A release as its recipient holds it: the folder, its manifest and its rows."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import RequestError
from reticent.owner import store
from reticent.owner.ledger import Ledger
from reticent.release import anatomized, bundle, generalized, perturbed
from reticent.release.answer import Answer
from reticent.release.disk import writing


class Release:
    """Files that can be given away.  Made by `publish`, or opened from a folder by `open`."""

    def __init__(self, folder: str | Path, *, owned: dict[str, Any] | None = None):
        self.folder = Path(folder)
        self.manifest = bundle.verify(self.folder)
        self._owned = owned  # what save() writes to the owner's folder; None for a release that was opened
        if owned is not None and owned.get("temporary"):
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @property
    def kind(self) -> str:
        return self.manifest["kind"]

    @property
    def columns(self) -> list[dict[str, Any]]:
        return self.manifest["columns"]

    @property
    def audited(self) -> dict[str, Any] | None:
        """What the audit found at publication; None for a release that was opened."""
        return None if self._owned is None else self._owned["audit"]

    @property
    def notices(self) -> tuple[str, ...]:
        """What the owner should know and nothing forbade; empty for a release that was opened."""
        return () if self._owned is None else tuple(self._owned.get("notices", ()))

    @property
    def digest(self) -> str:
        return bundle.digest(self.folder)

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every data file by name, typed: `data`, or `quasi` and `sensitive` of an anatomized release."""
        if self.kind == "anatomized":
            return {"quasi": self._anatomy.quasi, "sensitive": self._anatomy.sensitive}
        return {"data": self._data}

    @cached_property
    def _anatomy(self) -> anatomized.Tables:
        return anatomized.Tables.read(self.folder, self.manifest)

    @cached_property
    def _data(self) -> pl.DataFrame:
        if self.kind == "anatomized":
            return self._anatomy.quasi
        reader = perturbed if self.kind == "perturbed" else generalized
        return reader.read_data(self.folder / self.manifest["data"][0], self.columns)

    def frame(self, *, bounds: bool = False) -> pl.DataFrame:
        """What the recipient sees; with `bounds`, typed lower and upper ends beside each range."""
        return generalized.with_bounds(self._data, self.columns) if bounds else self._data

    def count(
        self, where: pl.Expr | None = None, values: Iterable[Any] | None = None, *, by: str = "inversion"
    ) -> Answer:
        """How many people in a selection have one of the sensitive values: of a perturbed release reconstructed, of an
        anatomized one expected, with the least and the most possible."""
        if self.kind == "anatomized":
            return self._anatomy.count(where, values)
        if self.kind != "perturbed":
            raise RequestError(
                f"A {self.kind} release has no matrix to reconstruct counts with.", attempt="its frame()."
            )
        return perturbed.Reconstruction.of(self.manifest).count(self._data, where, values, by=by)

    def save(
        self, target: str | Path, *, force: bool = False, again: bool = False, ledger: str | Path | None = None
    ) -> Path:
        """Put the folder in its place, atomically, and note it in the ledger and in the owner's folder beside it."""
        target = Path(target)
        owned = self._owned or {}
        store.refuse_existing(target, force)
        book = Ledger.of(ledger or owned.get("ledger"))
        book.refuse_again(target, owned.get("source"), again)
        with store.staged(target) as staged:
            with writing(target):
                shutil.copytree(self.folder, staged, dirs_exist_ok=True)
            with store.kept(staged, target, force):
                if self._owned is not None:
                    notes = {key: owned[key] for key in ("source", "audit", "job", "promises", "notices")}
                    book.record(target, digest=bundle.digest(target), **notes)
        return target

    def to_database(self, url: str, table: str) -> list[str]:
        """Write the release as tables of a database (PostgreSQL, SQLite, DuckDB) and its manifest beside them."""
        from reticent.release.database import write

        return write(self.tables, (self.folder / bundle.MANIFEST).read_text(encoding="utf-8"), url, table)

    def __repr__(self) -> str:
        promises = ", ".join(p["model"] for p in self.manifest["promises"])
        return f"<{self.kind} release of {self.manifest['rows']:,} rows: {promises}>"


def open(folder: str | Path) -> Release:
    """A release from its folder, complete and undamaged, types restored from the manifest."""
    return Release(folder)
