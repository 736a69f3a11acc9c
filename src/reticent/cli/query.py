"""`reticent query RELEASE "SELECT ..."`: a question to a release, answered with bounds, here or where its tables live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from reticent.cli.options import Json

EXAMPLE = 'reticent query patients-release "SELECT AVG(cost) FROM release WHERE age BETWEEN 30 AND 40"'


def query(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL",
            help="SELECT COUNT(*), or SUM, AVG, MIN or MAX of columns, FROM release WHERE ... GROUP BY ... ORDER BY ... LIMIT n",
            show_default=False,
        ),
    ] = None,
    print_sql: Annotated[
        str | None,
        typer.Option(
            "--print-sql",
            metavar="DATABASE",
            help="Print the question as plain SQL of duckdb, sqlite or postgresql over the exported tables.",
            show_default=False,
        ),
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option("--at", metavar="URL", help="Ask a database that `reticent export` wrote to.", show_default=False),
    ] = None,
    table: Annotated[
        str, typer.Option("--table", metavar="NAME", help="What the exported tables are called: NAME_quasi, ...")
    ] = "release",
    level: Annotated[
        float, typer.Option("--level", metavar="SHARE", help="The level of intervals, where answers are random.")
    ] = 0.95,
    by: Annotated[
        str, typer.Option("--by", metavar="inversion|em|shrunk", help="How redrawn values are reconstructed.")
    ] = "inversion",
    density: Annotated[
        str | None,
        typer.Option(
            "--density",
            metavar="likelihood|even",
            help="How people lie within their labels: as all labels together make likely (the default), or evenly.",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="A file of questions, a semicolon after each, instead of SQL.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="DATA",
            help="The data it was made from: what is true stands beside each answer.",
            show_default=False,
        ),
    ] = None,
    analyses: Annotated[
        Path | None,
        typer.Option(
            "--analyses",
            metavar="FILE",
            help="A TOML file of analyses instead of SQL: contingency tables, means by groups, regressions.",
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="CPU seconds that a question may take.")
    ] = 60.0,
    json: Json = False,
) -> None:
    """Ask a release in SQL: an estimate with the least and the greatest value that is possible, or a standard error.

    Conditions are on any published columns: AND, OR, NOT, comparisons, BETWEEN, IN, LIKE, IS NULL.
    """
    from reticent.cli.output import say, say_json
    from reticent.errors import RequestError
    from reticent.release.release import open as open_release

    if not release.is_dir():
        raise RequestError(f"There is no release folder {release}.", attempt="the folder that `reticent publish` made.")
    opened = open_release(release)
    if analyses is not None:
        if question is not None or file is not None or print_sql is not None or database_url is not None:
            raise RequestError("Analyses are asked alone.", attempt="--analyses FILE, and --source DATA with it.")
        results = opened.analyze(analyses, source, by=cast(Any, by), density=cast(Any, density), time_limit=time_limit)
        _print_analyses(results, json)
        return
    if source is not None and (print_sql is not None or database_url is not None):
        raise RequestError(
            "What is true stands beside the answers of a release folder alone.",
            attempt="--source without --at and --print-sql.",
        )
    if question is None or file is not None or source is not None:
        options = {"level": level, "by": by, "density": density, "time_limit": time_limit}
        _answer_file(opened, question, file, source, options, json)
        return
    if density is not None and (print_sql is not None or database_url is not None):
        raise RequestError(
            "A database has no density.",
            why="It is asked about releases whose quasi-identifiers are published as they were, without labels to lie in.",
            attempt="--density without --at and --print-sql.",
        )
    if by != "inversion" and (print_sql is not None or database_url is not None):
        raise RequestError(
            "A database answers by inversion alone.",
            why="The SQL that it is asked multiplies shown values by the inverse of the matrix.",
            attempt="--by inversion, or --by without --at and --print-sql.",
        )
    if print_sql is not None:
        text = opened.sql(question, cast(Any, print_sql), table)
        if json:
            say_json({"sql": text})
        else:
            say(text)
        return
    if database_url is not None:
        from reticent.query.run import ask_database

        answer = ask_database(opened.manifest, question, database_url, table)
    else:
        answer = opened.query(
            question, level=level, by=cast(Any, by), density=cast(Any, density), time_limit=time_limit
        )
    if json:
        say_json(
            [_make_json_ready(line.to_dict()) for line in answer]
            if isinstance(answer, list)
            else _make_json_ready(answer.to_dict())
        )
        return
    _print_answers(answer)


def _answer_file(
    opened: Any, question: str | None, file: Path | None, source: str | None, options: dict[str, Any], json: bool
) -> None:
    """Answer one question or those of a file; with the source, print what is true and how far answers are off."""
    from reticent.cli.output import say, say_json
    from reticent.errors import RequestError, pluralize

    if (file is None) == (question is None):
        raise RequestError(
            "A release is asked one question, or those of a file.",
            attempt="SQL in quotes, or --file FILE, or --analyses FILE; with each, --source DATA.",
        )
    from reticent.query.run import summarize_errors

    answers = opened.measure(file if question is None else [question], source, **options)
    if json:
        say_json([_make_json_ready(line) for line in answers])
        return
    for question_text in dict.fromkeys(line["question"] for line in answers):
        say(question_text)
        _print_rows(
            [
                {name: value for name, value in line.items() if name != "question"}
                for line in answers
                if line["question"] == question_text
            ]
        )
    if errors := summarize_errors(answers):
        say(
            "",
            f"Relative error of {pluralize(errors['answers'], 'answer')}: median {errors['median']:.4g}, mean {errors['mean']:.4g}.",
        )


def _print_analyses(results: list[dict[str, Any]], json: bool) -> None:
    """Print each analysis as a table, and below it how far it is off."""
    from reticent.cli.output import say, say_json

    if json:
        say_json([_make_json_ready(result) for result in results])
        return
    for position, result in enumerate(results):
        if position:
            say("")
        others = result.get("columns") or result.get("by") or result.get("on") or []
        linked = " by " if result["analysis"] == "mean" else " on "
        of = "" if "column" not in result else f" of {result['column']}{linked}"
        say(f"{result['analysis'].capitalize()}{of or ' of '}{', '.join(others)}")
        if "refused" in result:
            say(f"Refused: {result['refused']}")
            continue
        rows = result.get("cells") or result.get("groups") or result.get("coefficients") or []
        _print_rows([dict(row) for row in rows])
        for name in ("total_variation", "largest_difference"):
            if name in result:
                say(f"{name.replace('_', ' ').capitalize()}: {result[name]:.4g}.")
        for name, words in (("cramers_v", "Cramer's V"), ("r_squared", "R squared")):
            if name in result:
                say(f"{words}: {', '.join(f'{value:.4g} {when}' for when, value in result[name].items())}.")


def _print_answers(answer: Any) -> None:
    """Print one answer or several, and below them what is certain, what is assumed, and what else is to be known."""
    lines = answer if isinstance(answer, list) else [answer]
    rows = [line.to_dict() for line in lines]
    for line, row in zip(lines, rows, strict=True):
        row.pop("note", None)
        if "density" not in (line.keys or {}):  # the note says it; a column of GROUP BY may be called so
            row.pop("density", None)
    _print_rows(rows, [answer.note] if answer.note else [])


def _print_rows(rows: list[dict[str, Any]], notes: list[str] | None = None) -> None:
    """Print rows as a table, and their notes below it, each once; the level stands in the name of the interval."""
    from reticent.cli.output import format_number, say, say_table
    from reticent.html_repr import format_share

    own_notes = [row.pop("note") for row in rows if "note" in row]
    level = next((row["level"] for row in rows if "level" in row), None)
    for row in rows:
        row.pop("rest", None)
        row.pop("level", None)
        interval = row.pop("interval", None)
        if interval is not None and level is not None:
            row[f"{format_share(level)} interval"] = interval
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not rows:
        say("No row is selected.")
        return
    say_table(names, [[_format_value(row.get(name), format_number) for name in names] for row in rows])
    for note in dict.fromkeys([*(notes or ()), *own_notes]):
        say(note)


def _make_json_ready(value: Any) -> Any:
    """Return a value with texts in place of dates."""
    if isinstance(value, dict):
        return {name: _make_json_ready(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_make_json_ready(part) for part in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _format_value(value: Any, number: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, dict):
        return _format_published(value, number)
    if isinstance(value, list):
        return " to ".join(number(end) for end in value)
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _format_published(answer: dict[str, Any], number: Any) -> str:
    """Format the answer about published rows in one cell: the estimate, and the bounds if they are others."""
    estimate = answer.get("estimate")
    ends = [answer.get(side) for side in ("lower", "upper")]
    estimate_text = _format_value(estimate, number)
    if ends == [None, None] or ends == [estimate, estimate]:
        return estimate_text
    return f"{estimate_text} ({' to '.join('-' if end is None else number(end) for end in ends)})"
