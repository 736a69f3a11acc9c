"""The answers to a question by groups, or to one of several aggregates: a list that is also a table, a page and a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from reticent.errors import RequestError, pluralize
from reticent.estimate.answer import Answer

if TYPE_CHECKING:
    import pandas as pd

    from reticent.charts import Chart

MAX_LINES_SHOWN = 30
MAX_CHART_LINES = 60
MEASURE_NAMES = ("estimate", "lower", "upper", "std_error", "interval_lower", "interval_upper", "level")
MEASURES_ALWAYS_SHOWN = ("estimate", "lower", "upper")
"""Columns of a frame of answers, and those of them that are there even if no answer has a value."""


class Answers(list[Answer]):
    """The answers to a question with GROUP BY or several aggregates, in the order of its lines.

    `certainty` is one line that says what is certain of them and what is assumed; `note` is this line, and what else
    is to be known about the whole: in which order lines stand, and how many of them LIMIT left out.
    """

    def __init__(self, answers: Iterable[Answer] = (), *, certainty: str | None = None, note: str | None = None):
        super().__init__(answers)
        self.certainty = certainty
        self.note = note

    def frame(self) -> pl.DataFrame:
        """Return a Polars data frame: a row for each answer, with its keys, estimate, bounds, interval and note."""
        return make_answer_frame(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return `frame()` as a pandas data frame."""
        return convert_to_pandas(self.frame())

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each answer as plain values."""
        return [answer.to_dict() for answer in self]

    def chart(self, target: str | Path | None = None) -> Chart:
        """Draw the estimates with a bar from `lower` to `upper`, and a thick one over the interval if there is one.

        With `target`, write the SVG there too.  Needs the extra `charts`.

        Raises:
            RequestError: if there is nothing to draw, or more lines than a chart shows.
        """
        from reticent.charts import draw_estimates

        drawn = [answer for answer in self if not answer.rest and answer.estimate is not None]
        if not drawn:
            raise RequestError("There is no estimate to draw.", attempt="the numbers themselves: .frame().")
        lines = len({_make_label(answer) for answer in drawn})
        if lines > MAX_CHART_LINES:
            raise RequestError(
                f"{lines:,} lines are more than a chart shows; {MAX_CHART_LINES} are the most.",
                attempt=f"ORDER BY and LIMIT {MAX_CHART_LINES}, or a condition on a column.",
            )
        rows = [_make_chart_row(answer) for answer in drawn]
        title = self.certainty or "Estimates"
        chart = draw_estimates(rows, title)
        if target is not None:
            chart.save(target)
        return chart

    def _repr_html_(self) -> str:
        from reticent.html_repr import render_answers

        return render_answers(pluralize(len(self), "answer"), self, self.note)

    def __repr__(self) -> str:
        shown = [f" {answer!r}" for answer in self[:MAX_LINES_SHOWN]]
        if len(self) > MAX_LINES_SHOWN:
            shown.append(f" and {len(self) - MAX_LINES_SHOWN:,} more")
        return "\n".join([f"<{pluralize(len(self), 'answer')}>", *shown, *([self.note] if self.note else [])])


def make_answer_frame(answers: Sequence[Answer]) -> pl.DataFrame:
    """Make the table of answers; a measure that none of them has is left out, except estimate and bounds.

    A column of GROUP BY that is called as a measure is, such as `level`, stands under `key_level`.
    """
    key_names = list(dict.fromkeys(name for answer in answers for name in answer.keys or ()))
    columns: dict[str, list[Any]] = {}
    taken = {*MEASURE_NAMES, "aggregate", "note", "rest"}
    for name in key_names:
        columns[f"key_{name}" if name in taken else name] = [(answer.keys or {}).get(name) for answer in answers]
    if any(answer.of is not None for answer in answers):
        columns["aggregate"] = [answer.of for answer in answers]
    measures = [_list_measures(answer) for answer in answers]
    for name in MEASURE_NAMES:
        values = [measure[name] for measure in measures]
        if name in MEASURES_ALWAYS_SHOWN or any(value is not None for value in values):
            columns[name] = values
    if any(answer.published is not None for answer in answers):
        columns["published"] = [None if answer.published is None else answer.published.estimate for answer in answers]
    if any(answer.rest for answer in answers):
        columns["rest"] = [answer.rest for answer in answers]
    columns["note"] = [answer.note for answer in answers]
    return pl.DataFrame([_make_column(name, values) for name, values in columns.items()])


def convert_to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    try:
        return frame.to_pandas()
    except ImportError:
        raise RequestError("pandas is not installed.", attempt="pip install pandas, or .frame().") from None


def _list_measures(answer: Answer) -> dict[str, Any]:
    interval = answer.interval
    ends: tuple[float | None, float | None] = (None, None) if interval is None else interval
    return {
        "estimate": answer.estimate,
        "lower": answer.lower,
        "upper": answer.upper,
        "std_error": answer.std_error,
        "interval_lower": ends[0],
        "interval_upper": ends[1],
        "level": None if interval is None or answer.is_exact else answer.level,
    }


def _make_column(name: str, values: list[Any]) -> pl.Series:
    """Make a column: of one type if all values have it; numbers together; otherwise texts, as a key `80 or more` among numbers."""
    present = [value for value in values if value is not None]
    if name in MEASURE_NAMES and not present:
        return pl.Series(name, values, dtype=pl.Float64)
    if present and all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        is_whole = all(isinstance(value, int) and -(1 << 63) <= value < 1 << 63 for value in present)
        return pl.Series(name, values, dtype=pl.Int64 if is_whole else pl.Float64, strict=False)
    if len({type(value) for value in present}) <= 1:
        return pl.Series(name, values)
    return pl.Series(name, [None if value is None else format_key(value) for value in values], dtype=pl.String)


def format_key(value: Any) -> str:
    """Format a key for people."""
    if value is None:
        return "NULL"
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _make_label(answer: Answer) -> str:
    keys: Mapping[str, Any] = answer.keys or {}
    return ", ".join(map(format_key, keys.values()))


def _make_chart_row(answer: Answer) -> dict[str, Any]:
    measures = _list_measures(answer)
    row = {name: _make_chart_value(measures[name]) for name in MEASURE_NAMES if name not in ("std_error", "level")}
    return {"line": _make_label(answer), "aggregate": answer.of or "", **row}


def _make_chart_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date | time) else value
