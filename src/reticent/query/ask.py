"""A question put to a release: understood, then answered by the reader of the release's kind, once for each group asked for."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from reticent.errors import RequestError
from reticent.query.asked import Asked, understood
from reticent.query.conditions import expression
from reticent.release.answer import Answer
from reticent.release.kind import Question, Reader, Tables, reader
from reticent.release.manifest import Manifest


def ask(tables: Tables, manifest: Manifest, text: str) -> Answer | list[Answer]:
    """The answer to a question; with GROUP BY one for each combination that is selected, sorted."""
    kind = reader(manifest.kind)
    asked = understood(text, manifest)
    refuse_unanswered(kind, manifest, asked)
    question = as_question(kind, tables, manifest, asked)
    if not asked.by:
        return kind.estimate(tables, manifest, question)
    rows = tables[kind.files[0]]
    chosen = rows if question.where is None else rows.filter(question.where)
    found = []
    for keys in chosen.select(asked.by).unique().sort(asked.by, nulls_last=True).iter_rows(named=True):
        here = [pl.col(name).eq_missing(pl.lit(value, rows.schema[name])) for name, value in keys.items()]
        where = pl.all_horizontal(here) if question.where is None else question.where & pl.all_horizontal(here)
        found.append(replace(kind.estimate(tables, manifest, replace(question, where=where)), keys=keys))
    return found


def refuse_unanswered(kind: Reader, manifest: Manifest, asked: Asked) -> None:
    known = kind.aggregates(manifest)
    if asked.aggregate not in known:
        raise RequestError(
            f"{asked.aggregate.upper()} of {manifest.sensitive.name!r} cannot be answered from this {manifest.kind} release.",
            attempt=" or ".join(name.upper() for name in known) + ".",
        )


def as_question(kind: Reader, tables: Tables, manifest: Manifest, asked: Asked) -> Question:
    columns = {column.name: column for column in manifest.columns}
    return Question(expression(asked.where, columns), held(kind, tables, manifest, asked), aggregate=asked.aggregate)


def held(kind: Reader, tables: Tables, manifest: Manifest, asked: Asked) -> tuple[object, ...] | None:
    """The values of the domain that meet the condition on the sensitive column; None where there is no such condition."""
    if asked.holding is None:
        return None
    columns = {column.name: column for column in manifest.columns}
    condition = expression(asked.holding, columns)
    assert condition is not None
    found = kind.domain(tables, manifest).to_frame().filter(condition)
    return tuple(found.to_series().to_list())
