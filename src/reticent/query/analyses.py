"""A steward's own list of analyses, on the source and on the release: contingency tables, means by groups, regressions.

    {"table": ["town", "illness"]}             how many have each combination of values
    {"mean": "income", "by": ["town"]}         the mean of a column in each group
    {"regression": "income", "on": ["age"]}    a linear model by least squares, numbers as they are, others by categories

Each is answered from the release by its own estimates, as a question with GROUP BY is; a regression from the estimated
number of rows at each combination of its columns.  Estimates of redrawn values may be negative: sums over them are right
on the average, and are taken as they are.  What is before is computed from the source, and stays with its owner.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.parsing import parse_dtype
from reticent.errors import RequestError, SourceUnreachable, quote_list
from reticent.estimate.answer import Answer
from reticent.estimate.question import Question
from reticent.format.data_files import Tables
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.limits import read_text_file
from reticent.query.line_order import AnswerLine
from reticent.query.run import (
    QueryOptions,
    answer_exactly,
    cast_source,
    iterate_lines,
    limit_question_time,
    require_density_applies,
)
from reticent.query.sql import Aggregate, ParsedQuestion, find_column
from reticent.utility.resemblance import compute_cramers_v

MAX_ANALYSIS_LINES = 5_000  # combinations of values: each is a question of its own
MAX_CATEGORIES = 100  # of one column of a regression
ANALYSIS_SHAPES = (
    '{table = ["town", "illness"]}, {mean = "income", by = ["town"]} or {regression = "income", on = ["age", "sex"]}'
)
ANALYSIS_KEYS = {"table": None, "mean": "by", "regression": "on"}
"""What an analysis is called, and the key of its other columns."""
INTERCEPT = "(intercept)"
LINE_MEASURES = ("before", "after", "difference", "lower", "upper")
"""What stands in a line beside its values; a column that is called so stands under `key_before`."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis: `column` is what a mean or a regression is of, `others` what it is by or on; of a table all columns."""

    kind: str
    column: str | None
    others: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.others if self.column is None else (*self.others, self.column)


@dataclass(frozen=True, eq=False)
class MeasuredLine:
    """A combination of values: the answer of the release and, with a source, the true one."""

    values: dict[str, Any]
    answer: Answer
    before: float | None


def read_analyses(path: str | Path) -> list[Any]:
    """Read the tables [[analysis]] of a TOML file."""
    try:
        listed = tomllib.loads(read_text_file(path, "utf-8")).get("analysis")
    except (OSError, UnicodeDecodeError):
        raise SourceUnreachable(
            f"The analyses {Path(path).name!r} cannot be read.", attempt="a TOML file with tables [[analysis]]."
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError):
        raise RequestError(
            f"The analyses {Path(path).name!r} are no TOML.",
            attempt=f"[[analysis]], and below it one of {ANALYSIS_SHAPES}.",
        ) from None
    if not isinstance(listed, list) or not listed:
        raise RequestError(
            "The file has no [[analysis]].", attempt=f"[[analysis]], and below it one of {ANALYSIS_SHAPES}."
        )
    return listed


def measure_analyses(
    tables: Tables,
    manifest: Manifest,
    listed: Iterable[Any],
    source: pl.DataFrame | None = None,
    options: QueryOptions | None = None,
) -> list[dict[str, Any]]:
    """Carry out each analysis on the release and, if it is given, on the source.

    All are checked before the first is carried out.  One that this release cannot answer has the reason as `refused`.
    """
    options = options or QueryOptions()
    require_density_applies(manifest, options.density)
    columns = {column.name: column for column in manifest.columns}
    analyses = [_parse_analysis(given, columns) for given in listed]
    rows = None if source is None else cast_source(source, manifest)
    results = []
    for analysis in analyses:
        described = _describe_analysis(analysis)
        try:
            with limit_question_time(options):
                results.append({**described, **_carry_out(analysis, tables, manifest, rows, options)})
        except RequestError as error:
            results.append({**described, "refused": " ".join(str(error).split())})
    return results


def _parse_analysis(given: Any, columns: Mapping[str, ColumnEntry]) -> Analysis:
    kinds = [kind for kind in ANALYSIS_KEYS if isinstance(given, Mapping) and kind in given]
    if len(kinds) != 1:
        raise RequestError("An analysis is a table, a mean or a regression.", attempt=f"{ANALYSIS_SHAPES}.")
    kind = kinds[0]
    others_key = ANALYSIS_KEYS[kind]
    unknown = [key for key in given if key not in (kind, others_key)]
    others = _list_names(given[kind] if others_key is None else given.get(others_key))
    column = None if others_key is None else given[kind]
    if unknown or not others or not (column is None or isinstance(column, str)):
        raise RequestError(
            f"The analysis {kind!r} is not understood"
            + (f": it has {quote_list([str(key) for key in unknown])}." if unknown else ": a column is lacking."),
            attempt=f"{ANALYSIS_SHAPES}.",
        )
    names = tuple(dict.fromkeys(find_column(name, columns) for name in others))
    target = None if column is None else find_column(column, columns)
    if target in names:
        raise RequestError(f"The {kind} of {target!r} is by itself.", attempt="other columns.")
    if target is not None and not parse_dtype(columns[target].dtype).is_numeric():
        raise RequestError(
            f"The {kind} of {target!r} cannot be computed: its values are no numbers.",
            attempt=f"{{table = [...]}} with {target!r} among the columns.",
        )
    return Analysis(kind, target, names)


def _list_names(given: Any) -> list[str]:
    listed = [given] if isinstance(given, str) else given
    is_list = isinstance(listed, list | tuple)
    return list(listed) if is_list and all(isinstance(name, str) for name in listed) else []


def _describe_analysis(analysis: Analysis) -> dict[str, Any]:
    others_key = ANALYSIS_KEYS[analysis.kind]
    if others_key is None:
        return {"analysis": analysis.kind, "columns": list(analysis.others)}
    return {"analysis": analysis.kind, "column": analysis.column, others_key: list(analysis.others)}


def _carry_out(
    analysis: Analysis, tables: Tables, manifest: Manifest, source: pl.DataFrame | None, options: QueryOptions
) -> dict[str, Any]:
    entries = {column.name: column for column in manifest.columns}
    rounded = [name for name in analysis.columns if entries[name].round_to is not None]
    if rounded and (analysis.kind == "regression" or set(rounded) & set(analysis.others)):
        raise RequestError(
            f"{quote_list(rounded)}: values were rounded, and stand for others.",
            attempt="other columns, or a mean of them.",
        )
    if analysis.kind == "mean":
        lines = _measure_lines(Aggregate("avg", analysis.column), analysis.others, tables, manifest, source, options)
        return _compare_means(lines)
    lines = _measure_lines(Aggregate("count", None), analysis.columns, tables, manifest, source, options)
    if analysis.kind == "table":
        return _compare_tables(lines, analysis, source)
    return _compare_regressions(lines, analysis, entries, source)


def _measure_lines(
    aggregate: Aggregate,
    by: Sequence[str],
    tables: Tables,
    manifest: Manifest,
    source: pl.DataFrame | None,
    options: QueryOptions,
) -> list[MeasuredLine]:
    """Ask for an aggregate by groups; each line with what is true in the source."""
    question = ParsedQuestion((aggregate,), None, tuple(by))
    lines: list[MeasuredLine] = []
    for line, questions in iterate_lines(tables, manifest, question, options):
        if len(lines) >= MAX_ANALYSIS_LINES:
            raise RequestError(
                f"The columns have more than {MAX_ANALYSIS_LINES:,} combinations of values.",
                attempt="fewer columns, or coarser ones.",
            )
        lines.append(_measure_line(line, questions[0], source))
    return lines


def _measure_line(line: AnswerLine, question: Question, source: pl.DataFrame | None) -> MeasuredLine:
    (answer,) = line.answers
    before = None if source is None or line.rest else answer_exactly(source, question)
    values = dict(answer.keys or {}) if line.rest else line.sort_keys
    return MeasuredLine(values, answer, before)


def _show_line(line: MeasuredLine) -> dict[str, Any]:
    answer = line.answer
    shown: dict[str, Any] = {
        f"key_{name}" if name in LINE_MEASURES else name: value for name, value in (answer.keys or {}).items()
    }
    if line.before is not None:
        shown["before"] = line.before
    shown["after"] = answer.estimate
    if line.before is not None and answer.estimate is not None:
        shown["difference"] = answer.estimate - line.before
    return shown | {name: end for name, end in (("lower", answer.lower), ("upper", answer.upper)) if end is not None}


def _compare_means(lines: Sequence[MeasuredLine]) -> dict[str, Any]:
    groups = [_show_line(line) for line in lines]
    differences = [abs(group["difference"]) for group in groups if "difference" in group]
    return {"groups": groups, **({"largest_difference": max(differences)} if differences else {})}


def _compare_tables(lines: Sequence[MeasuredLine], analysis: Analysis, source: pl.DataFrame | None) -> dict[str, Any]:
    """Compare tables: half the sum of the differences of shares and, of two columns, Cramer's V before and after."""
    result: dict[str, Any] = {"cells": [_show_line(line) for line in lines]}
    listed = [line for line in lines if not line.answer.rest]
    after = np.array([max(line.answer.estimate or 0.0, 0.0) for line in listed])
    before = np.array([line.before or 0.0 for line in listed])
    if source is not None and after.sum() > 0 and len(source):
        unlisted = 1 - before.sum() / len(source)  # rows that only the line of all other values stands for
        distance = np.abs(before / len(source) - after / after.sum()).sum() + unlisted
        result["total_variation"] = float(min(distance / 2, 1.0))
    if len(analysis.others) == 2:
        association = {"after": compute_cramers_v(_arrange_table(listed, analysis, after))}
        if source is not None:
            association = {"before": compute_cramers_v(_arrange_table(listed, analysis, before)), **association}
        result["cramers_v"] = association
    return result


def _arrange_table(lines: Sequence[MeasuredLine], analysis: Analysis, counts: np.ndarray) -> np.ndarray:
    """Arrange the counts of two columns as a table."""
    places: list[dict[Any, int]] = [{}, {}]
    cells = []
    for line in lines:
        values = [line.values[name] for name in analysis.others]
        cells.append([place.setdefault(value, len(place)) for place, value in zip(places, values, strict=True)])
    table = np.zeros((max(len(places[0]), 1), max(len(places[1]), 1)))
    for (row, column), count in zip(cells, counts, strict=True):
        table[row, column] += count
    return table


def _compare_regressions(
    lines: Sequence[MeasuredLine],
    analysis: Analysis,
    entries: Mapping[str, ColumnEntry],
    source: pl.DataFrame | None,
) -> dict[str, Any]:
    """Compare the coefficients of two least-squares fits; rows with a missing value are in neither."""
    assert analysis.column is not None
    complete = [
        line for line in lines if not line.answer.rest and all(value is not None for value in line.values.values())
    ]
    frame_after = pl.DataFrame({name: [line.values[name] for line in complete] for name in analysis.columns})
    weights_after = np.array([line.answer.estimate or 0.0 for line in complete], float)
    frame_before = None if source is None else source.select(analysis.columns).drop_nulls()
    frames = [frame_after] if frame_before is None else [frame_after, frame_before]
    categories = {
        name: _list_categories(name, entries[name], frames)
        for name in analysis.others
        if not parse_dtype(entries[name].dtype).is_numeric()
    }
    terms = [INTERCEPT, *_list_terms(analysis, categories)]
    after = _fit(frame_after, weights_after, analysis, categories)
    fits = {"after": after}
    if frame_before is not None:
        fits = {"before": _fit(frame_before, np.ones(len(frame_before)), analysis, categories), **fits}
    coefficients = []
    for position, term in enumerate(terms):
        row: dict[str, Any] = {"term": term, **{name: fit[0][position] for name, fit in fits.items()}}
        if "before" in fits:
            row["difference"] = row["after"] - row["before"]
        coefficients.append(row)
    return {"coefficients": coefficients, "r_squared": {name: fit[1] for name, fit in fits.items()}}


def _list_categories(name: str, entry: ColumnEntry, frames: Sequence[pl.DataFrame]) -> list[Any]:
    if parse_dtype(entry.dtype).is_temporal():
        raise RequestError(
            f"A regression on {name!r} is not computed: dates are no numbers.", attempt="a column of numbers."
        )
    found = sorted({value for frame in frames for value in frame[name].unique().to_list()}, key=str)
    if len(found) > MAX_CATEGORIES:
        raise RequestError(
            f"A regression on {name!r} is not computed: it has more than {MAX_CATEGORIES} categories.",
            attempt="a coarser column.",
        )
    return found


def _list_terms(analysis: Analysis, categories: Mapping[str, Sequence[Any]]) -> list[str]:
    terms = []
    for name in analysis.others:
        terms += [f"{name} = {value}" for value in categories[name][1:]] if name in categories else [name]
    return terms


def _fit(
    frame: pl.DataFrame, weights: np.ndarray, analysis: Analysis, categories: Mapping[str, Sequence[Any]]
) -> tuple[list[float], float]:
    """Fit by weighted least squares: the coefficients, and the share of the variance that they explain."""
    assert analysis.column is not None
    columns = [np.ones(len(frame))]
    for name in analysis.others:
        if name in categories:
            columns += [(frame[name] == value).to_numpy().astype(float) for value in categories[name][1:]]
        else:
            columns.append(frame[name].cast(pl.Float64).to_numpy())
    design = np.column_stack(columns)
    scale = np.maximum(np.abs(design).max(axis=0, initial=0.0), 1e-300)
    design = design / scale
    outcome = frame[analysis.column].cast(pl.Float64).to_numpy()
    moments = design.T @ (design * weights[:, None])
    if not len(frame) or np.linalg.eigvalsh(moments).min() <= 1e-9 * max(np.abs(moments).max(), 1e-300):
        raise RequestError(
            "The regression is not determined: too few different rows are expected at its values, or columns follow "
            "from one another.",
            attempt="fewer columns.",
        )
    coefficients = np.linalg.solve(moments, design.T @ (outcome * weights))
    total = float(weights.sum())
    mean = float(weights @ outcome) / total
    variance = float(weights @ (outcome - mean) ** 2)
    residual = float(weights @ (outcome - design @ coefficients) ** 2)
    explained = 1 - residual / variance if variance > 0 else 0.0
    return [float(number) for number in coefficients / scale], float(min(max(explained, 0.0), 1.0))
