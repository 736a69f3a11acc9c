"""A question put to a release: understood, then answered by the reader of the release's kind, once for each group asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from reticent.errors import RequestError
from reticent.query.asked import Aggregate, Asked, understood
from reticent.query.conditions import condition
from reticent.query.keys import keyed
from reticent.release.answer import LEVEL, Answer
from reticent.release.asking.condition import both
from reticent.release.kind import Question, Tables, reader
from reticent.release.manifest import Manifest


@dataclass(frozen=True, eq=False, kw_only=True)
class How:
    """The level of intervals, how redrawn values are reconstructed, and what earlier questions found of the same tables."""

    level: float = LEVEL
    by: str = "inversion"
    known: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise RequestError("The level of an interval lies between 0 and 1.", attempt="level = 0.95.")


def ask(tables: Tables, manifest: Manifest, text: str, how: How | None = None) -> Answer | list[Answer]:
    """The answer to a question; with GROUP BY or several aggregates a list: by keys, sorted, and then as they are selected."""
    asked = understood(text, manifest)
    found = [answer for answer, _ in answered(tables, manifest, asked, how or How())]
    return found if asked.by or len(asked.aggregates) > 1 else found[0]


def answered(tables: Tables, manifest: Manifest, asked: Asked, how: How) -> Iterator[tuple[Answer, Question]]:
    """Every answer beside the question that the kind was asked."""
    kind = reader(manifest.kind)
    where = condition(asked.where, {column.name: column for column in manifest.columns})
    for keys, here in keyed(kind, tables, manifest, asked.by):
        found, met = [], both(where, here)
        for one in asked.aggregates:
            put = Question(by=how.by, aggregate=one.name, column=one.column, condition=met, known=how.known)
            of = str(one) if len(asked.aggregates) > 1 else None
            answer = replace(kind.estimate(tables, manifest, put), keys=keys or None, level=float(how.level), of=of)
            found.append((answer, put))
        if not keys or not all(_nothing(one, answer) for one, (answer, _) in zip(asked.aggregates, found, strict=True)):
            yield from found


def _nothing(aggregate: Aggregate, answer: Answer) -> bool:
    """No row is selected: SQL has no such group."""
    if aggregate.name == "count":
        return answer.upper == 0
    return answer.estimate is None and answer.upper is None and answer.lower is None
