"""A steward's own list of questions: a file of SQL, each statement answered, and measured against the table it was made from."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, median
from typing import Any

import polars as pl

from reticent.errors import RequestError, SourceUnreachable, listed, some
from reticent.limits import whole_text
from reticent.query.ask import How, answered, limit_question
from reticent.query.asked import SHAPE, understood
from reticent.query.parsed import parsed
from reticent.release.asking.condition import atoms
from reticent.release.asking.put import Put
from reticent.release.asking.rows import Rows
from reticent.release.asking.source_values import AS_PUBLISHED
from reticent.release.kind import Question, Tables
from reticent.release.manifest import Manifest
from reticent.table.types import dtype_named
from reticent.table.written import as_stated


def questions_in(path: str | Path) -> list[str]:
    """The statements of a file, one after the other; a semicolon ends each."""
    try:
        text = whole_text(path, "utf-8")
    except (OSError, UnicodeDecodeError):
        raise SourceUnreachable(
            f"The questions {Path(path).name!r} cannot be read.", attempt="a text file of SQL."
        ) from None
    trees = parsed(text, "The list of questions", f"{SHAPE}; a semicolon after each.")
    found = [tree.sql(dialect="duckdb") for tree in trees if tree is not None]
    if not found:
        raise RequestError("The list has no question.", attempt=SHAPE + ".")
    return found


def measured(
    tables: Tables, manifest: Manifest, questions: list[str], source: pl.DataFrame | None = None, how: How | None = None
) -> list[dict[str, Any]]:
    """Each answer with its question; with the source, the `true` answer and the relative `error` of the estimate too.

    Every question is understood before the first is answered.
    """
    asked = [understood(question, manifest) for question in questions]
    rows = None if source is None else as_published(source, manifest)
    found, how = [], how or How()
    for question, one in zip(questions, asked, strict=True):
        with limit_question(how):
            answers = list(answered(tables, manifest, one, how))
        for answer, put in answers:
            line = {"question": question, **answer.to_dict()}
            if rows is not None and not answer.rest and not _asks_rounded_values(put):
                line["true"] = true = exact(rows, put)
                if true and answer.estimate is not None:
                    line["error"] = abs(answer.estimate - true) / abs(true)
            found.append(line)
    return found


def _asks_rounded_values(question: Question) -> bool:
    """Whether a line is of numbers that are rounded to one: the source has them as they were."""
    return any(atom.column.startswith(AS_PUBLISHED) for atom in atoms(question.condition))


def as_published(source: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """The release's columns of the source, in the types that the release says; numbers that were rounded are not."""
    missing = [column.name for column in manifest.columns if column.name not in source.columns]
    if missing:
        raise RequestError(f"The source lacks {some(len(missing), 'column')} of the release: {listed(missing)}.",
                           attempt="the data that the release was made from.")  # fmt: skip
    entries = {column.name: column for column in manifest.columns}
    source = as_stated(source, entries, {name: column.dtype for name, column in entries.items()})
    found = []
    for column in manifest.columns:
        dtype = dtype_named(column.dtype) if column.round_to is None else pl.Float64()
        written = _fill_missing(source[column.name])
        read = _read_values(written, dtype)
        if bad := read.null_count() - written.null_count():
            raise RequestError(f"{bad:,} values of column {column.name!r} of the source do not read as the release has them.",
                               attempt="the data that the release was made from, read as its job says.")  # fmt: skip
        found.append(read)
    return pl.DataFrame(found)


def _fill_missing(values: pl.Series) -> pl.Series:
    """Values as they are compared: categories as texts, and what is not a number as missing."""
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        return values.cast(pl.String)
    return values.fill_nan(None) if values.dtype.is_float() else values


def _read_values(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Values in the type that a release has them in, null where they do not read as that."""
    if values.dtype == dtype:
        return values
    try:
        if values.dtype == pl.String:
            return _read_texts(values.str.strip_chars(), dtype)
        if not dtype.is_temporal() or values.dtype.is_temporal() or values.dtype == pl.Null:
            return values.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        pass  # no value of the one type is one of the other, as no number is a day
    return pl.Series(values.name, [None] * len(values), dtype=dtype)


def _read_texts(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    if dtype == pl.Date:
        return texts.str.to_date("%Y-%m-%d", strict=False)
    if isinstance(dtype, pl.Datetime):
        pattern = "%+" if dtype.time_zone else "%Y-%m-%dT%H:%M:%S%.f"
        moments = texts.str.replace(" ", "T", literal=True)
        return moments.str.to_datetime(pattern, time_unit=dtype.time_unit, strict=False).cast(dtype)
    if dtype == pl.Time:
        return texts.str.to_time("%H:%M:%S%.f", strict=False)
    if dtype == pl.Boolean:
        truth_values = {"true": True, "false": False}
        return texts.str.to_lowercase().replace_strict(truth_values, default=None, return_dtype=pl.Boolean)
    if dtype.is_integer():  # a whole number may be written 25.0
        numbers = texts.cast(pl.Float64, strict=False)
        whole = numbers.set((numbers != numbers.floor()).fill_null(False), None).cast(dtype, strict=False)
        return texts.cast(dtype, strict=False).fill_null(whole)
    return texts.cast(dtype, strict=False)


def summed_up(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """How many answers have an error, and the median and the mean of these; empty where none has."""
    errors = [line["error"] for line in lines if "error" in line]
    return {"answers": len(errors), "median": median(errors), "mean": fmean(errors)} if errors else {}


def exact(source: pl.DataFrame, question: Question) -> float | None:
    """What the table itself answers: nothing in it is uncertain."""
    put = Put(Rows(source, {}), question.condition, question.aggregate, question.column, sensitive=False)
    return put.one_by_one().upper
