"""The sampled kind as its recipient reads it: one row for each group, labels, a perturbed sensitive value, and the group's size G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from reticent.catalogue import METHODS
from reticent.errors import RequestError
from reticent.release import shape
from reticent.release.answer import Answer
from reticent.release.asking.put import Put
from reticent.release.asking.redrawn import Scores, bounds_of_any_value, refuse_extremes
from reticent.release.asking.redrawn import with_bounds as with_guarantee
from reticent.release.bounds import with_bounds
from reticent.release.data import Schema
from reticent.release.domain_declaration import declaration_of
from reticent.release.kind import AskedColumns, NeededColumns, Question, Sight, Tables
from reticent.release.manifest import Manifest
from reticent.release.markup import code, page
from reticent.release.numbered import refuse_more, refuse_unlisted, refuse_wild
from reticent.release.parameters import checker
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
DECLARATIONS = {
    "hierarchy": "The domain is the leaves of the publisher's hierarchy, whichever of them occur.",
    "order": "The domain is the publisher's list of ordered values, whichever of them occur.",
    "range": "The domain is every whole number of a range that the publisher declared, whichever of them occur.",
    "list": "The domain was listed by the publisher, whichever of its values occur.",
}
"""What may have declared a domain, and what a README says of it."""


_FIELDS = METHODS["perturbed-generalization"].fields


@dataclass(frozen=True, slots=True)
class Sampled:
    kind: ClassVar[str] = "sampled"
    files: ClassVar[tuple[str, ...]] = ("data",)
    own: ClassVar[dict[str, Checker]] = {
        "p": checker(_FIELDS["p"]),
        "k": lambda value: checker(_FIELDS["k"])(shape.count(value)),
        "domain": shape.listed(shape.text),
        "declared": shape.one_of(*DECLARATIONS),
    }
    optional: ClassVar[frozenset[str]] = frozenset({"declared"})
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
        _refuse_false_declaration(manifest)
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

    def needed(self, manifest: Manifest, asked: AskedColumns) -> dict[str, NeededColumns] | None:
        """Every row is a group of its own, and it has no column that is not needed."""
        return None

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Reconstructed, weighted by G; over quasi-identifiers alone G is exact, and so are the bounds."""
        data, column = tables["data"], manifest.sensitive.name
        if question.where is not None and column in question.where.meta.root_names():
            raise RequestError(
                f"{column!r} was perturbed: a condition on it would select by noise.",
                attempt="values=[...], which reconstructs how many have them.",
            )
        shown = None if question.where is None else self.frame(tables, manifest, bounds=True)
        sizes = data[SIZE].to_numpy()
        put = Put.of(data, manifest, question, shown, labels=True, people=sizes)
        if not put.sensitive:
            return put.one_by_one(sizes)
        if "sampled" not in question.known:
            question.known["sampled"] = SampledCounts.of(data, manifest)
        counts: SampledCounts = question.known["sampled"]

        refuse_extremes(put.aggregate)

        def ask(asked: Put) -> Answer:
            scores = Scores.of(asked.rows, counts.domain, asked.condition, asked.column)
            bounds = bounds_of_any_value(asked, counts.domain, sizes)
            if not scores.depend_on_value(asked.aggregate):
                return bounds
            return with_guarantee(counts.answer(scores, asked.aggregate, by=question.by, bounds=bounds), bounds)

        return put.about_source(ask)

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


def _refuse_false_declaration(manifest: Manifest) -> None:
    """A domain that a hierarchy or an order declares is the one that the manifest has of the column."""
    column, domain, said = manifest.sensitive, manifest.own["domain"], manifest.own.get("declared")
    stated: list[str] | None = None
    if said == "hierarchy":
        stated = [row[0] for row in column.hierarchy or ()]
    elif said == "order":
        stated = list(column.order or ())
    elif said == "list" and "domain" in manifest.method.parameters:
        stated = [str(value) for value in manifest.method.parameters["domain"]]
    elif said == "range":
        stated = _whole_numbers(domain)
    if stated is not None and sorted(stated) != sorted(domain):
        raise Misshapen("a domain is not the one that is said to declare it", inside=True)


def _whole_numbers(domain: list[str]) -> list[str]:
    """Every whole number from the first to the last of a domain; none where these are no such numbers."""
    try:
        least, greatest = int(domain[0]), int(domain[-1])
    except ValueError:
        return []
    return [str(number) for number in range(least, greatest + 1)] if greatest - least < 2 * len(domain) else []


def _domain(manifest: Manifest) -> str:
    if "declared" in manifest.own:
        return DECLARATIONS[manifest.own["declared"]]
    if declaration_of(manifest) is not None:
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
