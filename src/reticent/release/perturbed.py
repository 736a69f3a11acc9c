"""The perturbed kind as its recipient reads it: exact quasi-identifiers, redrawn sensitive values, and the counts behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import polars as pl

from reticent.errors import RequestError
from reticent.exact import is_whole
from reticent.release import shape
from reticent.release.answer import Answer
from reticent.release.asking.put import Put
from reticent.release.asking.redrawn import Redrawn, Scores, bounds_of_any_value, refuse_extremes, with_bounds
from reticent.release.bounds import exact_bounds
from reticent.release.data import Schema
from reticent.release.kind import AskedColumns, NeededColumns, Question, Sight, Tables, times_counted
from reticent.release.manifest import Described, Manifest
from reticent.release.markup import code, page
from reticent.release.numbered import refuse_unlisted
from reticent.release.numbers import fraction
from reticent.release.reconstruction import Reconstruction
from reticent.release.shape import Checker, Misshapen
from reticent.release.wording import (
    EXACT,
    coarser_columns,
    counting,
    heading,
    holding,
    not_promised,
    persons,
    promise_sentence,
    promised,
    several_rows,
    withheld,
)
from reticent.table.cells import Cells
from reticent.table.roles import Role
from reticent.table.types import typed

WHOLE = 10**9  # probabilities are so many parts
SHORT = 32  # characters of a number that is remembered


def _ninth(value: Any) -> Any:
    """A probability of nine digits, as values are drawn by: sums of such have nine digits too, however many there are."""
    if isinstance(value, float) or (isinstance(value, str) and len(value) <= SHORT):
        _of_nine_digits(value)
    else:
        _of_nine_digits.__wrapped__(value)
    return value


@lru_cache(maxsize=1 << 14)  # few of a matrix's entries are different
def _of_nine_digits(value: Any) -> None:
    if not is_whole(WHOLE * fraction(shape.number(value))):
        raise Misshapen("no number of nine digits")


@dataclass(frozen=True, slots=True)
class Perturbed:
    kind: ClassVar[str] = "perturbed"
    files: ClassVar[tuple[str, ...]] = ("data",)
    own: ClassVar[dict[str, Checker]] = {
        "values": shape.listed(shape.text),
        "matrix": shape.listed(shape.listed(_ninth)),
        "distribution": shape.listed(shape.number),
    }
    optional: ClassVar[frozenset[str]] = frozenset({"distribution"})
    labelled: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    def check(self, manifest: Manifest) -> None:
        if not manifest.named(Role.QUASI) or len(manifest.named(Role.SENSITIVE)) != 1:
            raise Misshapen("a perturbed release has quasi-identifiers and one sensitive column", inside=True)
        if manifest.weights is not None:
            raise Misshapen("a perturbed release loses nothing that columns could be weighted by", inside=True)
        if len(set(manifest.own["values"])) != len(manifest.own["values"]):
            raise Misshapen("a value of the domain is listed twice", inside=True)

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        return {"data": {column.name: column.dtype for column in manifest.columns}}

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        """Every published value is one that the manifest lists."""
        if manifest.sensitive.name in tables["data"].columns:
            refuse_unlisted(tables["data"], manifest.sensitive.name, manifest.own["values"])

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        return exact_bounds(tables["data"], manifest) if bounds else tables["data"]

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> Sight:
        raise RequestError(
            "This attack reads the values that groups hold; in a perturbed release every row's value was redrawn.",
            attempt="--as matrix, or reticent audit, which judges the matrix that values were redrawn by.",
        )

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        raise RequestError(
            "In a perturbed release every row's value was redrawn: the published counts are not those of the people.",
            attempt="release.count, which estimates them.",
        )

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        column = manifest.sensitive
        return typed(list(manifest.own["values"]), column.dtype).alias(column.name)

    def needed(self, manifest: Manifest, asked: AskedColumns) -> dict[str, NeededColumns]:
        """Values were redrawn row by row: how often each combination is shown suffices."""
        return {"data": NeededColumns(asked.names, counted=True)}

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Reconstructed, with a standard error; exact where the sensitive column is not asked about."""
        times = times_counted(tables["data"])
        put = Put.of(tables["data"], manifest, question, people=times)
        if not put.sensitive:
            return put.about_source(lambda asked: _exactly(asked.of_rows(times)))
        if "shown" not in question.known:
            model = Reconstruction.of(manifest)
            question.known["shown"] = model, model.shown(tables["data"])
        model, shown = question.known["shown"]

        refuse_extremes(put.aggregate)

        def ask(asked: Put) -> Answer:
            scores = Scores.of(asked.rows, model.values, asked.condition, asked.column)
            bounds = bounds_of_any_value(asked, model.values, times)
            if not scores.depend_on_value(asked.aggregate):
                return _exactly(bounds)
            redrawn = Redrawn(asked.rows, model.values, shown, model, times)
            answer = redrawn.answer(
                asked.condition, asked.aggregate, asked.column, by=question.by, scores=scores, bounds=bounds
            )
            return with_bounds(answer, bounds)

        return put.about_source(ask)

    def readme(self, manifest: Manifest) -> str:
        column = manifest.sensitive.name
        parts = heading(manifest)
        parts += [
            f"{holding(manifest)[0]} {persons(manifest)}. Every column but {code(column)} is as it was. {code(column)} was redrawn",
            "at random, row by row, by the probabilities in `manifest.json`: `matrix[i][v]` is that of publishing `values[v]`",
            "for a row that had `values[i]`. So no single row says what a person has; counts over many rows can be estimated:",
            "",
            *counting('pl.col("...") == ...', "estimate and standard error"),
            *coarser_columns(manifest),
            "",
            *promised(manifest, partial(_sentence, column)),
            *withheld(manifest),
        ]
        return page([*parts, *_limits(manifest)])


def _exactly(found: Answer) -> Answer:
    """An answer in which nothing is random has no error; where rows or values are not told, bounds stand in its place."""
    if found.lower is None or found.lower != found.upper:
        return found
    return replace(found, std_error=0.0)


def _limits(manifest: Manifest) -> list[str]:
    return not_promised(
        EXACT,
        "- The promise assumes an adversary who knows the overall distribution and these probabilities, and nothing else about",
        f"  the person's value. It is about one row of a person; it assumes {persons(manifest)}.",
        *several_rows(manifest, "values were redrawn row by row, and all their rows together say more"),
        "- It is about this release alone: if the same people's values were redrawn in a second release, both together say more.",
    )


def _sentence(column: str, promise: Described) -> str:
    """What beta-likeness means where values are redrawn: it is about belief, not about groups."""
    given = promise.parameters
    form = ", less for frequent values (enhanced)" if given.get("enhanced", True) else ""
    form += ", nor fall by as much" if given.get("two_sided") else ""
    return (
        f"Seeing a person's row lifts the belief that they have any one value of {code(column)} above its overall frequency by at most "
        f"{given['beta']} times that frequency{form} (beta-likeness by perturbation)."
        if promise.name == "beta-likeness"
        else promise_sentence(promise)
    )


READER = Perturbed()
