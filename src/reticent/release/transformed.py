"""The transformed kind as its recipient reads it (Koudas, Srivastava, Yu & Zhang, VLDB 2009).

`quasi` has exact quasi-identifiers with a group; `sensitive` the generalized values of each group, permuted and mixed with fakes;
`bounds` the least and greatest SUM, MIN and MAX of any number of selected rows of a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from reticent.errors import RequestError, some
from reticent.release import shape
from reticent.release.annotated import Annotated
from reticent.release.answer import Answer
from reticent.release.asking.put import Put
from reticent.release.bounds import exact_bounds
from reticent.release.data import Schema
from reticent.release.guaranteed import COUNT, GROUP, SELECTED, answer
from reticent.release.kind import AskedColumns, NeededColumns, Question, Sight, Tables, times_counted
from reticent.release.manifest import Manifest
from reticent.release.numbered import refuse_wild
from reticent.release.reading.members import members
from reticent.release.shape import MOST, Checker, Misshapen
from reticent.release.transformed_readme import readme
from reticent.table.cells import Cells
from reticent.table.roles import Role
from reticent.table.types import typed

_WHOLE = "Int32"
_BOUNDS = ("sum_lower", "sum_upper", "min_lower", "min_upper", "max_lower", "max_upper")


@dataclass(frozen=True, slots=True)
class Transformed:
    kind: ClassVar[str] = "transformed"
    files: ClassVar[tuple[str, ...]] = ("quasi", "sensitive", "bounds")
    own: ClassVar[dict[str, Checker]] = {
        "values": shape.listed(shape.text),
        "tree": shape.listed(shape.listed(shape.count)),
        "targets": shape.listed(shape.listed(shape.count)),
        "assigned": shape.listed(shape.listed(shape.count)),
    }
    optional: ClassVar[frozenset[str]] = frozenset()
    labelled: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    def check(self, manifest: Manifest) -> None:
        if not manifest.named(Role.QUASI) or len(manifest.named(Role.SENSITIVE)) != 1:
            raise Misshapen("a transformed release has quasi-identifiers and one sensitive column", inside=True)
        if len(set(manifest.own["values"])) != len(manifest.own["values"]):
            raise Misshapen("a value of the domain is listed twice", inside=True)
        try:
            Annotated.of(manifest)
        except (ValueError, IndexError) as error:
            raise (
                error if isinstance(error, Misshapen) else Misshapen("the targets cannot be read", inside=True)
            ) from None

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        rows = {column.name: column.dtype for column in manifest.columns if column.role != Role.SENSITIVE}
        held = manifest.sensitive
        numeric = held.type == "numeric"
        end = held.dtype if numeric else "String"
        wide = "Int64" if held.dtype.startswith(("Int", "UInt")) else "Float64"
        return {
            "quasi": {**rows, GROUP: _WHOLE},
            "sensitive": {GROUP: _WHOLE, "lower": end, "upper": end, "label": "String", COUNT: _WHOLE},
            "bounds": {GROUP: _WHOLE, SELECTED: _WHOLE, **(dict.fromkeys(_BOUNDS, wide) if numeric else {})},
        }

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        column = manifest.sensitive
        return typed(list(manifest.own["values"]), column.dtype).alias(column.name)

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        for table in tables.values():
            if GROUP in table.columns:
                refuse_wild(table, GROUP, 0, manifest.rows - 1)
        if "sensitive" in tables:
            refuse_wild(tables["sensitive"], COUNT, 1, MOST)
        if "bounds" in tables:
            refuse_wild(tables["bounds"], SELECTED, 1, manifest.rows)

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        """The rows with their group; the groups' values are the table `sensitive`."""
        return exact_bounds(tables["quasi"], manifest) if bounds else tables["quasi"]

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> Sight:
        """Of every group its target: what a release says of the values of its people."""
        annotated, column = Annotated.of(manifest), cells.sensitive[0]
        rows = np.bincount(tables["quasi"][GROUP].to_numpy())
        known = {text: at for at, text in enumerate(annotated.texts)}
        place = [known.get(text, -1) for text in column.texts]
        if -1 in place:
            raise RequestError(
                f"Column {column.name!r} of the source holds {some(place.count(-1), 'value')} that the target lacks."
            )
        shares = np.zeros((len(annotated.weights), column.size))
        shares[:, : len(place)] = annotated.floats[:, place]
        counts = shares[annotated.target_of(np.arange(len(rows)))] * rows[:, None]
        return members(tables["quasi"], tables["quasi"][GROUP], counts, cells)

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        raise RequestError(
            "In a transformed release values are generalized and mixed with fakes: how many people hold each is not published.",
            attempt="release.query, which bounds it.",
        )

    def needed(self, manifest: Manifest, asked: AskedColumns) -> dict[str, NeededColumns]:
        """Of the sensitive column, which row is in which group, and the bounds of groups for what they bound; else counts suffice."""
        sensitive = manifest.sensitive.name
        if sensitive not in asked.names:
            return {"quasi": NeededColumns(asked.names, counted=True)}
        files = {"quasi": NeededColumns((asked.names - {sensitive}) | {GROUP}, counted=False)}
        schemas = self.schemas(manifest)
        for name in ("sensitive", "bounds") if sensitive in asked.aggregated else ("sensitive",):
            files[name] = NeededColumns(frozenset(schemas[name]), counted=False)
        return files

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """The mean under the groups' targets, with bounds over all choices of nodes and values."""
        times = times_counted(tables["quasi"])
        put = Put.of(tables["quasi"], manifest, question, people=times)
        if not put.sensitive:
            return put.one_by_one(times)
        return answer(tables, manifest, put)

    def readme(self, manifest: Manifest) -> str:
        return readme(manifest)


READER = Transformed()
