"""The sampled kind as its recipient reads it: one row for each group, labels, a perturbed sensitive value, and the group's size G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from reticent.errors import RequestError
from reticent.release import shape
from reticent.release.answer import Answer
from reticent.release.asking.put import Put
from reticent.release.asking.redrawn import Scores
from reticent.release.bounds import with_bounds
from reticent.release.data import Schema
from reticent.release.kind import Question, Sight, Tables
from reticent.release.manifest import Manifest
from reticent.release.markup import code, page
from reticent.release.numbered import refuse_more, refuse_unlisted, refuse_wild
from reticent.release.numbers import fraction
from reticent.release.sampled_counts import SampledCounts
from reticent.release.shape import Checker, Misshapen
from reticent.release.wording import (
    coarser_columns,
    counting,
    heading,
    holding,
    not_promised,
    persons,
    promised,
    several_rows,
)
from reticent.table.cells import Cells
from reticent.table.roles import Role
from reticent.table.types import typed

SIZE = "G"


def _probability(value: Any) -> Any:
    try:
        if isinstance(value, float | str) and 0 < fraction(value) < 1:
            return value
    except (ValueError, ArithmeticError):
        pass
    raise Misshapen("no probability between 0 and 1")


def _least(value: Any) -> int:
    if shape.count(value) < 1:
        raise Misshapen("no group size")
    return value


@dataclass(frozen=True, slots=True)
class Sampled:
    kind: ClassVar[str] = "sampled"
    files: ClassVar[tuple[str, ...]] = ("data",)
    own: ClassVar[dict[str, Checker]] = {"p": _probability, "k": _least, "domain": shape.listed(shape.text)}
    optional: ClassVar[frozenset[str]] = frozenset()
    labelled: ClassVar[bool] = True
    elsewhere: ClassVar[bool] = True

    def check(self, manifest: Manifest) -> None:
        if not manifest.named(Role.QUASI) or len(manifest.named(Role.SENSITIVE)) != 1:
            raise Misshapen("a sampled release has quasi-identifiers and one sensitive column", inside=True)
        if len(manifest.columns) != len(manifest.named(Role.QUASI)) + 1:
            raise Misshapen("a sampled release carries no other column", inside=True)
        domain = manifest.own["domain"]
        if len(set(domain)) != len(domain) or len(domain) < 2:
            raise Misshapen("a domain has two different values or more", inside=True)
        if SIZE in {column.name for column in manifest.columns}:
            raise Misshapen(f"a column is named {SIZE}", inside=True)

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        rows = {c.name: "String" if c.role == Role.QUASI else c.dtype for c in manifest.columns}
        return {"data": {**rows, SIZE: "Int64"}}

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        refuse_wild(tables["data"], SIZE, 1, shape.MOST)
        refuse_more(tables["data"][SIZE])
        refuse_unlisted(tables["data"], manifest.sensitive.name, manifest.own["domain"])

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        data = tables["data"]
        return with_bounds(data, manifest).with_columns(data[SIZE]) if bounds else data

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> Sight:
        raise RequestError(
            "This attack reads the values that groups hold; a sampled release shows one perturbed value of each group.",
            attempt="--as corruption, the attack that it is made against.",
        )

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        raise RequestError(
            "In a sampled release one perturbed value of each group is published: counts of them are not those of the people.",
            attempt="release.count, which estimates them.",
        )

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        column = manifest.sensitive
        return typed(list(manifest.own["domain"]), column.dtype).alias(column.name)

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Reconstructed, weighted by G; over quasi-identifiers alone G is exact, and so are the bounds."""
        data, column = tables["data"], manifest.sensitive.name
        if question.where is not None and column in question.where.meta.root_names():
            raise RequestError(
                f"{column!r} was perturbed: a condition on it would select by noise.",
                attempt="values=[...], which reconstructs how many have them.",
            )
        shown = None if question.where is None else self.frame(tables, manifest, bounds=True)
        put = Put.of(data, manifest, question, shown, labels=True)
        if not put.sensitive:
            return put.one_by_one(data[SIZE].to_numpy())
        if "sampled" not in question.known:
            question.known["sampled"] = SampledCounts.of(data, manifest)
        counts: SampledCounts = question.known["sampled"]
        scores = Scores.of(put.rows, counts.domain, put.condition, put.column)
        return counts.answer(scores, put.aggregate, by=question.by)

    def readme(self, manifest: Manifest) -> str:
        column, own = manifest.sensitive.name, manifest.own
        parts = heading(manifest)
        parts += [
            f"{holding(manifest)[0]} one row for each group of at least {_groups_of(manifest)} people. The labels are those of the whole",
            f"group; {code(column)} is that of one person of it, drawn at random, and was kept with probability p = {own['p']} or else drawn",
            f"from the {len(own['domain'])} values of its domain, each being equally likely; `{SIZE}` is how many rows the group has. {_domain(manifest)}",
            "",
            f"Absurd rows, such as a value that nobody with these labels can have, are expected: a perturbed {code(column)} goes with anything.",
            f"So no single row says what a person has. Weight each row by `{SIZE}`, and reconstruct counts of many rows: of N people, those with",
            f"one of v values are estimated as (the sum of `{SIZE}` over rows that show one - (1 - p) N v / {len(own['domain'])}) / p.",
            "",
            *counting('pl.col("...") == "..."', "estimate and standard error"),
            *coarser_columns(manifest),
            "",
            *promised(manifest),
        ]
        return page([*parts, *_limits(manifest)])


def _groups_of(manifest: Manifest) -> str:
    each = manifest.rows_per_person
    return f"{manifest.own['k']}" + (
        "" if each == 1 else f" ({manifest.own['k'] * each} rows: at most {each} of one person)"
    )


def _domain(manifest: Manifest) -> str:
    column = manifest.sensitive
    if column.hierarchy is not None or column.order is not None or "domain" in manifest.method.parameters:
        return "The domain was declared by the publisher."
    return "The domain is the values that occur in the data: `manifest.json` tells which they are."


def _limits(manifest: Manifest) -> list[str]:
    corrupted = "- Corruption is meant: an adversary who has learned the true values of any other people, of everyone else even, is within the"
    looked = (
        "- Groups were made by looking at perturbed values; the promise is calibrated as if each group were one person."
    )
    grouping = manifest.method.parameters.get("grouping", "mondrian")
    return not_promised(
        corrupted,
        "  promise, whoever they are. It assumes that this person's value is believed independently of theirs.",
        "- A prior that believes more strongly in one value than lambda is outside of it.",
        *([looked] if grouping == "specialization" else []),
        "- Whether someone is in the data is not hidden: labels and group sizes are those of everybody in it.",
        "- Ends and members of labels are values that people have, drawn or not.",
        f"- It is about this release alone, and it assumes {persons(manifest)}: a second release draws again, and both say more.",
        *several_rows(
            manifest, "rows that lie in different groups are drawn and perturbed apart, and together say more"
        ),
    )


READER = Sampled()
