"""The lines of an answer in the order that ORDER BY asks for, and as many as LIMIT leaves.

An aggregate is sorted by its estimate: where bounds overlap, the true order may be another, and that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reticent.errors import pluralize
from reticent.estimate.answer import Answer
from reticent.query.sql import OrderTerm, ParsedQuestion

ORDER_REMARK = "Lines stand in the order of their estimates; the true order may be another."


@dataclass(frozen=True, eq=False)
class AnswerLine:
    """One line of SQL's result: the answer to each aggregate, and what its keys are sorted by."""

    answers: tuple[Answer, ...]
    sort_keys: dict[str, Any]
    rest: bool = False


def arrange_lines(lines: Sequence[AnswerLine], question: ParsedQuestion) -> tuple[list[int], list[str]]:
    """Return the places of the lines that remain, in order, and what is to be said about that.

    The line of all other groups is the last in any order.
    """
    places = [place for place, line in enumerate(lines) if not line.rest]
    for term in reversed(question.order):
        places = _sort_places(places, lines, question, term)
    order_rests_on_estimates = len(places) > 1 and any(
        _rests_on_estimates(lines, question, term) for term in question.order
    )
    remarks = [ORDER_REMARK] if order_rests_on_estimates else []
    rest_places = [place for place, line in enumerate(lines) if line.rest]
    arranged = [*places, *rest_places]
    if question.limit is None or len(arranged) <= question.limit:
        return arranged, remarks
    left_out = len(arranged) - question.limit
    others = ", that of all other values among them" if rest_places else ""
    remarks.append(f"LIMIT leaves out {left_out:,} of {pluralize(len(arranged), 'line')}{others}.")
    return arranged[: question.limit], remarks


def _sort_places(
    places: list[int], lines: Sequence[AnswerLine], question: ParsedQuestion, term: OrderTerm
) -> list[int]:
    values = {place: _find_sort_value(lines[place], question, term) for place in places}
    present = [place for place in places if values[place] is not None]
    missing = [place for place in places if values[place] is None]
    present.sort(key=lambda place: values[place], reverse=term.descending)
    return [*missing, *present] if term.nulls_first else [*present, *missing]


def _find_sort_value(line: AnswerLine, question: ParsedQuestion, term: OrderTerm) -> Any:
    if isinstance(term.by, str):
        return line.sort_keys[term.by]
    estimate = line.answers[question.aggregates.index(term.by)].estimate
    return float(f"{estimate:.10g}") if isinstance(estimate, float) else estimate  # what rounding parts is equal


def _rests_on_estimates(lines: Sequence[AnswerLine], question: ParsedQuestion, term: OrderTerm) -> bool:
    if isinstance(term.by, str):
        return False
    position = question.aggregates.index(term.by)
    return any(not line.rest and not line.answers[position].is_exact for line in lines)
