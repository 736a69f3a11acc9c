"""A steward's own list of questions: a file of SQL, each statement answered, and measured against the table it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import RequestError, SourceUnreachable, listed
from reticent.limits import whole_text
from reticent.query.ask import answered
from reticent.query.asked import SHAPE, understood
from reticent.query.parsed import parsed
from reticent.release.asking.put import Put
from reticent.release.asking.rows import Rows
from reticent.release.kind import Question, Tables
from reticent.release.manifest import Manifest


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
    tables: Tables, manifest: Manifest, questions: list[str], source: pl.DataFrame | None = None
) -> list[dict[str, Any]]:
    """Each answer with its question; with the source, the `true` answer and the relative `error` of the estimate too.

    Every question is understood before the first is answered.
    """
    asked = [understood(question, manifest) for question in questions]
    missing = (
        [] if source is None else [column.name for column in manifest.columns if column.name not in source.columns]
    )
    if missing:
        raise RequestError(f"The source lacks {len(missing)} column(s) of the release: {listed(missing)}.")
    found = []
    for question, one in zip(questions, asked, strict=True):
        for answer, put in answered(tables, manifest, one):
            line = {"question": question, **answer.to_dict()}
            if source is not None:
                line["true"] = true = exact(source, put)
                if true and answer.estimate is not None:
                    line["error"] = abs(answer.estimate - true) / abs(true)
            found.append(line)
    return found


def exact(source: pl.DataFrame, question: Question) -> float | None:
    """What the table itself answers: nothing in it is uncertain."""
    put = Put(Rows(source, {}), question.condition, question.aggregate, question.column, sensitive=False)
    return put.one_by_one().upper
