"""A question put to a release: understood, then answered by the reader of the release's kind, once for each group asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from reticent.deadline import check_deadline, limit_cpu_time
from reticent.errors import RequestError
from reticent.query.asked import Aggregate, Asked, understood
from reticent.query.conditions import condition
from reticent.query.keys import keyed
from reticent.release.answer import LEVEL, Answer
from reticent.release.asking.condition import atoms, both
from reticent.release.asking.redrawn import NOBODY
from reticent.release.kind import AskedColumns, Question, Tables, reader
from reticent.release.manifest import Manifest

TIME_LIMIT = 60.0
"""CPU seconds that one question may take, unless it is asked with another limit."""


@dataclass(frozen=True, eq=False, kw_only=True)
class How:
    """The level of intervals, how redrawn values are reconstructed, and what earlier questions found of the same tables.

    `time_limit` is in CPU seconds, for each question; None sets no limit.
    """

    level: float = LEVEL
    by: str = "inversion"
    known: dict[str, Any] = field(default_factory=dict)
    time_limit: float | None = TIME_LIMIT

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise RequestError("The level of an interval lies between 0 and 1.", attempt="level = 0.95.")
        if self.time_limit is not None and not self.time_limit > 0:
            raise RequestError("The time limit is a number of CPU seconds above 0.", attempt="time_limit = 60.")


def ask(tables: Tables, manifest: Manifest, text: str, how: How | None = None) -> Answer | list[Answer]:
    """The answer to a question; with GROUP BY or several aggregates a list: by keys, sorted, and then as they are selected."""
    asked = understood(text, manifest)
    how = how or How()
    with limit_question(how):
        found = [answer for answer, _ in answered(tables, manifest, asked, how)]
    return found if asked.by or len(asked.aggregates) > 1 else found[0]


def columns_asked(texts: Iterable[str], manifest: Manifest) -> AskedColumns:
    """The columns that some questions name."""
    names: set[str] = set()
    aggregated: set[str] = set()
    for text in texts:
        asked = understood(text, manifest)
        where = condition(asked.where, {column.name: column for column in manifest.columns})
        names |= {one.column for one in asked.aggregates if one.column is not None}
        names |= set(asked.by) | {atom.column for atom in atoms(where)}
        aggregated |= {one.column for one in asked.aggregates if one.column is not None and one.name != "count"}
    return AskedColumns(frozenset(names), frozenset(aggregated))


def limit_question(how: How) -> AbstractContextManager[None]:
    """Let the body, which answers one question, take no longer than its time limit."""

    def make_error() -> RequestError:
        return RequestError(
            f"The question was not answered within {how.time_limit:g} CPU seconds.",
            why="Work grows with its different constants, with the combinations of GROUP BY and with the rows.",
            attempt="BETWEEN in place of a list, fewer constants or groups, or --time-limit 600 (time_limit=600).",
        )

    return limit_cpu_time(how.time_limit, make_error)


def answered(tables: Tables, manifest: Manifest, asked: Asked, how: How) -> Iterator[tuple[Answer, Question]]:
    """Every answer beside the question that the kind was asked."""
    kind = reader(manifest.kind)
    where = condition(asked.where, {column.name: column for column in manifest.columns})
    for line in keyed(kind, tables, manifest, asked.by):
        found = []
        for one in asked.aggregates:
            check_deadline()
            put = Question(
                by=how.by,
                aggregate=one.name,
                column=one.column,
                condition=both(where, line.condition),
                unlisted=line.rest,
                empty=line.empty,
                outside=where,
                known=how.known,
            )
            of = str(one) if len(asked.aggregates) > 1 else None
            answer = _set_level(kind.estimate(tables, manifest, put), float(how.level))
            found.append((replace(answer, keys=line.keys or None, of=of, rest=line.rest), put))
        empty = all(_nothing(one, answer) for one, (answer, _) in zip(asked.aggregates, found, strict=True))
        if not line.keys or not empty:
            yield from found


def _set_level(answer: Answer, level: float) -> Answer:
    published = None if answer.published is None else replace(answer.published, level=level)
    return replace(answer, level=level, published=published)


def _nothing(aggregate: Aggregate, answer: Answer) -> bool:
    """No row is selected: SQL has no such group.  Where nothing can be told of a group, its note says why."""
    if aggregate.name == "count":
        certain = answer.rest and answer.estimate == 0 and answer.std_error == 0 and answer.published is None
        return answer.upper == 0 or certain
    nobody = answer.note is None or (answer.rest and answer.published is None and answer.note == NOBODY)
    return answer.estimate is None and answer.upper is None and answer.lower is None and nobody
