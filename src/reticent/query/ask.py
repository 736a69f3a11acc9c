"""A question put to a release: understood, then answered by the reader of the release's kind, once for each group asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from reticent.deadline import check_deadline, limit_cpu_time
from reticent.errors import RequestError
from reticent.query.asked import Asked, understood
from reticent.query.conditions import condition
from reticent.query.keys import Line, keyed
from reticent.release.answer import LEVEL, Answer
from reticent.release.asking.condition import atoms, both
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

        def question(aggregate: str, column: str | None, line: Line = line) -> Question:
            return Question(
                by=how.by,
                aggregate=aggregate,
                column=column,
                condition=both(where, line.condition),
                unlisted=line.rest,
                empty=line.empty,
                outside=where,
                known=how.known,
            )

        found = []
        for one in asked.aggregates:
            check_deadline()
            put = question(one.name, one.column)
            of = str(one) if len(asked.aggregates) > 1 else None
            answer = _set_level(kind.estimate(tables, manifest, put), float(how.level))
            found.append((replace(answer, keys=line.keys or None, of=of, rest=line.rest), put))
        if line.keys and all(_says_nothing(answer) for answer, _ in found):
            people = kind.estimate(tables, manifest, question("count", None))
            if _is_nobody(replace(people, rest=line.rest)):
                continue
        yield from found


def _set_level(answer: Answer, level: float) -> Answer:
    published = None if answer.published is None else replace(answer.published, level=level)
    return replace(answer, level=level, published=published)


def _says_nothing(answer: Answer) -> bool:
    """Whether an answer is one that a group without rows has: no number, or none but zero."""
    return not any((answer.estimate, answer.lower, answer.upper, answer.std_error))


def _is_nobody(people: Answer) -> bool:
    """Whether a group's number of rows is certainly none: SQL has no line for such a group."""
    is_certain = people.rest and people.estimate == 0 and people.std_error == 0 and people.published is None
    return people.upper == 0 or is_certain
