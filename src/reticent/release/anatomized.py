"""The anatomized kind as its recipient reads it: exact quasi-identifiers with a group, sensitive values by group.

A question is answered with every way to match the rows and the values of a group being equally likely, and bounded over all ways.
For a count of rows that meet a condition on quasi-identifiers and hold one of some values, of group g, with a_g rows that meet the
condition, c_g that hold one of the values and s_g in all, that is

    estimate   sum of a_g c_g / s_g
    lower      sum of max(0, a_g + c_g - s_g)
    upper      sum of min(a_g, c_g)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import polars as pl

from reticent.release.answer import Answer
from reticent.release.asking.alike import Triple
from reticent.release.asking.grouped import Grouped
from reticent.release.asking.laid import compact
from reticent.release.asking.put import Put
from reticent.release.asking.rows import Rows
from reticent.release.asking.selection import Chances
from reticent.release.bounds import exact_bounds
from reticent.release.data import Schema
from reticent.release.kind import AskedColumns, NeededColumns, Question, Sight, Tables, times_counted
from reticent.release.manifest import Manifest
from reticent.release.markup import code, page
from reticent.release.numbered import refuse_wild
from reticent.release.reading.members import codes_of, members
from reticent.release.shape import Checker, Misshapen
from reticent.release.wording import (
    EXACT,
    coarser_columns,
    counting,
    heading,
    holding,
    not_promised,
    persons,
    promised,
    several_rows,
    withheld,
)
from reticent.table.cells import Cells
from reticent.table.roles import Role

GROUP, COUNT = "group", "count"
_WHOLE = "Int32"
FEW = 8  # types of rows for which values are counted one type after the other


def value_type(values: int) -> np.dtype:
    """The type in which an owner's witness numbers so many distinct values."""
    return np.dtype("<u1" if values <= 1 << 8 else "<u2" if values <= 1 << 16 else "<u4")


@dataclass(frozen=True, slots=True)
class Anatomized:
    kind: ClassVar[str] = "anatomized"
    files: ClassVar[tuple[str, ...]] = ("quasi", "sensitive")
    own: ClassVar[dict[str, Checker]] = {}
    optional: ClassVar[frozenset[str]] = frozenset()
    labelled: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    def check(self, manifest: Manifest) -> None:
        if not manifest.named(Role.QUASI) or len(manifest.named(Role.SENSITIVE)) != 1:
            raise Misshapen("an anatomized release has quasi-identifiers and one sensitive column", inside=True)
        if manifest.weights is not None:
            raise Misshapen("an anatomized release loses nothing that columns could be weighted by", inside=True)

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        rows = {column.name: column.dtype for column in manifest.columns if column.role != Role.SENSITIVE}
        held = manifest.sensitive
        return {
            "quasi": {**rows, GROUP: _WHOLE},
            "sensitive": {GROUP: _WHOLE, held.name: held.dtype, COUNT: _WHOLE},
        }

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        for table in tables.values():
            if GROUP in table.columns:  # a group may be withheld whole
                refuse_wild(table, GROUP, 0, manifest.rows + manifest.withheld - 1)
        if "sensitive" in tables:
            refuse_wild(tables["sensitive"], COUNT, 1, manifest.rows)

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        """The rows with their group; the groups' values are the table `sensitive`."""
        return exact_bounds(tables["quasi"], manifest) if bounds else tables["quasi"]

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> Sight:
        held, column = tables["sensitive"], cells.sensitive[0]
        counts = np.zeros((_groups(held), column.size), np.int64)
        places = (held[GROUP].to_numpy(), codes_of(column, held[column.name]))
        np.add.at(counts, places, held[COUNT].to_numpy())
        return members(tables["quasi"], tables["quasi"][GROUP], counts, cells)

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        return tables["sensitive"].group_by(column).agg(pl.col(COUNT).cast(pl.Int64).sum().alias("count"))

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        return tables["sensitive"][manifest.sensitive.name].unique()

    def needed(self, manifest: Manifest, asked: AskedColumns) -> dict[str, NeededColumns]:
        """Of the sensitive column, which row is in which group; else counts of the columns asked about suffice."""
        if manifest.sensitive.name not in asked.names:
            return {"quasi": NeededColumns(asked.names, counted=True)}
        own = asked.names - {manifest.sensitive.name}
        held = frozenset({GROUP, manifest.sensitive.name, COUNT})
        return {"quasi": NeededColumns(own | {GROUP}, counted=False), "sensitive": NeededColumns(held, counted=False)}

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Every matching of a group's rows and values alike, with bounds over all of them."""
        times = times_counted(tables["quasi"])
        put = Put.of(tables["quasi"], manifest, question, people=times)
        if not put.sensitive:
            return put.one_by_one(times)
        if "held" not in question.known:
            question.known["held"] = _held(tables["sensitive"], manifest.sensitive.name)
        held, values = question.known["held"]
        if "groups" not in put.known:
            places, group = np.arange(len(values)), tables["quasi"][GROUP].to_numpy().astype(np.int64)
            put.known["groups"] = Grouped(
                put.rows, group, values, places, places, held, max(map(_groups, tables.values()))
            )
        groups: Grouped = put.known["groups"]

        def ask(asked: Put) -> Answer:
            return groups.over(asked.rows).answer(
                asked.condition, asked.aggregate, asked.column, _Alike(), asked.beside
            )

        return put.about_source(ask)

    def readme(self, manifest: Manifest) -> str:
        column = manifest.sensitive.name
        quasi, sensitive = holding(manifest)
        parts = heading(manifest)
        parts += [
            f"{quasi} {persons(manifest)}: every column but {code(column)} as it was, and the row's `group`.",
            f"{sensitive}, for each group, which values of {code(column)} its rows have, and how many of them have each (`count`).",
            "Which row of a group has which value is not said. Counts can be estimated, with the least and the most possible:",
            "",
            *counting('pl.col("...") == ...', "estimate, lower, upper"),
            *coarser_columns(manifest),
            "",
            *promised(manifest),
            *withheld(manifest),
        ]
        return page([*parts, *_limits(manifest)])


def _limits(manifest: Manifest) -> list[str]:
    return not_promised(
        EXACT,
        "- The promise is about one row's group, for an adversary to whom all ways to match rows and values are equally likely.",
        "  One who knows how the values go with the other columns, or learns it from this release, or reasons why the method made",
        "  just these groups, can do better.",
        "- Where values go with the other columns, estimates lean towards what independence would give; the bounds hold all the same.",
        f"- It is about this release alone, and it assumes {persons(manifest)}.",
        *several_rows(manifest, "who knows that their rows share a value can compare the groups of these rows"),
    )


class _Alike:
    """Every row of a group holds each of its values with their share."""

    def chances(self, rows: Triple, held: Triple, _: np.ndarray | None) -> Chances:
        return _alike(rows, held)

    def shares(self, groups: Grouped, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        group, value, number = groups.held
        found = np.bincount(group, weights=number * wanted[value], minlength=groups.many).astype(np.int64)
        return _shares(found, groups.people + groups.spare)


def _shares(number: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of groups with so many values of which so many are meant: the kind of each, and the share in each kind."""
    great = int(size.max(initial=0)) + 1
    kind, many = compact(number * great + size, great * great)
    share = np.zeros(many)
    share[kind] = number / np.maximum(size, 1)
    return kind, share


def _alike(rows: Triple, held: Triple) -> Chances:
    """The same by types of rows and of values.  Both sides are sorted by group."""
    group, value, number = held
    size = np.bincount(group, weights=number).astype(np.int64)
    few = np.flatnonzero(np.bincount(value))
    if len(few) <= FEW:
        return _one_value_after_the_other(rows, held, size, few)
    if int(rows[1].max(initial=0)) < FEW:
        return _together(rows, held, size)
    entries = np.bincount(group)
    first, many = (np.cumsum(entries) - entries)[rows[0]], entries[rows[0]]
    row = np.repeat(np.arange(len(many)), many)
    at = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many) + first[row]
    return Chances(rows[1][row], value[at], number[at] / size[group[at]], rows[2][row])


def _one_value_after_the_other(rows: Triple, held: Triple, size: np.ndarray, values: np.ndarray) -> Chances:
    """The same where there are few values: rows of a type to which a value has the same share are taken together."""
    found = []
    for value in values:
        here = held[1] == value
        kind, share = _shares(np.bincount(held[0], weights=held[2] * here, minlength=len(size)).astype(np.int64), size)
        counted = np.bincount(rows[1] * len(share) + kind[rows[0]], weights=rows[2])
        some = np.flatnonzero(counted)
        found.append((some // len(share), np.full(len(some), value), share[some % len(share)], counted[some]))
    kind, value, chance, people = (np.concatenate(part) for part in zip(*found, strict=True))
    return Chances(kind, value, chance, people)


def _together(rows: Triple, held: Triple, size: np.ndarray) -> Chances:
    """The same, a value of equal share in many groups being taken once, with the rows of all of them."""
    group, value, number = held
    most, great = int(number.max(initial=0)) + 1, int(size.max(initial=0)) + 1
    word, room = compact(value * most + number, (int(value.max(initial=0)) + 1) * most)
    word, many = compact(word * great + size[group], room * great)
    last = np.zeros(many, np.int64)
    last[word] = np.arange(len(word))
    people = [np.zeros(len(size)) for _ in range(int(rows[1].max(initial=0)) + 1)]
    for kind, has in enumerate(people):
        has[rows[0][rows[1] == kind]] = rows[2][rows[1] == kind]
    counted = np.concatenate([np.bincount(word, has[group], minlength=many) for has in people])
    some = np.flatnonzero(counted)
    last = last[some % many]
    return Chances(some // many, value[last], number[last] / size[group[last]], counted[some])


def _held(sensitive: pl.DataFrame, column: str) -> tuple[Triple, pl.Series]:
    """Group, value and number of the published values, and which values these are."""
    value, values = Rows(sensitive, {}).codes(column)
    return (sensitive[GROUP].to_numpy().astype(np.int64), value, sensitive[COUNT].to_numpy().astype(np.int64)), values


def _groups(sensitive: pl.DataFrame) -> int:
    return cast("int", sensitive[GROUP].max() or 0) + 1


READER = Anatomized()
