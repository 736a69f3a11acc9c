"""A question put to a release: understood, then answered by the reader of the release's kind, once for each group asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from reticent.errors import RequestError
from reticent.query.asked import Aggregate, Asked, understood
from reticent.query.conditions import condition
from reticent.query.keys import keyed
from reticent.release.answer import LEVEL, Answer
from reticent.release.asking.condition import both
from reticent.release.kind import Question, Tables, reader
from reticent.release.manifest import Manifest


def ask(
    tables: Tables,
    manifest: Manifest,
    text: str,
    *,
    level: float = LEVEL,
    by: str = "inversion",
    known: dict[str, Any] | None = None,
) -> Answer | list[Answer]:
    """The answer to a question; with GROUP BY or several aggregates a list: by keys, sorted, and then as they are selected.

    `known`: what earlier questions found of the same tables, and later ones need not find again.
    """
    asked = understood(text, manifest)
    found = [answer for answer, _ in answered(tables, manifest, asked, level=level, by=by, known=known)]
    return found if asked.by or len(asked.aggregates) > 1 else found[0]


def answered(
    tables: Tables,
    manifest: Manifest,
    asked: Asked,
    *,
    level: float = LEVEL,
    by: str = "inversion",
    known: dict[str, Any] | None = None,
) -> Iterator[tuple[Answer, Question]]:
    """Every answer beside the question that the kind was asked."""
    if not 0 < level < 1:
        raise RequestError("The level of an interval lies between 0 and 1.", attempt="level = 0.95.")
    kind = reader(manifest.kind)
    where = condition(asked.where, {column.name: column for column in manifest.columns})
    known = {} if known is None else known
    for keys, here in keyed(kind, tables, manifest, asked.by):
        found = []
        for one in asked.aggregates:
            put = Question(by=by, aggregate=one.name, column=one.column, condition=both(where, here), known=known)
            of = str(one) if len(asked.aggregates) > 1 else None
            answer = replace(kind.estimate(tables, manifest, put), keys=keys or None, level=float(level), of=of)
            found.append((answer, put))
        if not keys or not all(_nothing(one, answer) for one, (answer, _) in zip(asked.aggregates, found, strict=True)):
            yield from found


def _nothing(aggregate: Aggregate, answer: Answer) -> bool:
    """No row is selected: SQL has no such group."""
    if aggregate.name == "count":
        return answer.upper == 0
    return answer.estimate is None and answer.upper is None and answer.lower is None
