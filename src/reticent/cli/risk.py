"""`reticent risk DATA|RELEASE`: how likely records are to be re-identified, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reticent.cli.options import (
    Delimiter,
    Empty,
    Encoding,
    FromQuery,
    FromTable,
    Json,
    Missing,
    Quote,
    collect_reading_options,
)

EXAMPLE = "reticent risk patients.csv --quasi age,zip,sex"


def risk(
    table: Annotated[
        Path,
        typer.Argument(metavar="TABLE", help="A raw table, another tool's, or a release folder.", show_default=False),
    ],
    quasi: Annotated[
        str | None,
        typer.Option(
            "--quasi",
            metavar="A,B",
            help="The columns an adversary knows; by default all, or the job's.",
            show_default=False,
        ),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option(
            "--job",
            metavar="JOB",
            help="Roles of a table's columns, and how it, or the source of a release, is read.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="DATA",
            help="Of a release: also the risk before, in the data it was made from.",
            show_default=False,
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population",
            metavar="DATA",
            help="A population table with the same columns: adds the journalist.",
            show_default=False,
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            metavar="COLUMN",
            help="The column that says whose a row is: persons are counted. By default the job's, or the owner's job's.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        str,
        typer.Option("--threshold", metavar="SHARE", help="A record is at risk where its risk is above this share."),
    ] = "0.2",
    missing: Missing = None,
    delimiter: Delimiter = None,
    quote: Quote = None,
    encoding: Encoding = None,
    empty: Empty = None,
    from_table: FromTable = None,
    from_query: FromQuery = None,
    json: Json = False,
) -> None:
    """Measure re-identification risk: prosecutor, journalist, marketer; records at risk, unique records, which columns identify best.

    A record's risk is one over the number of people it could be, persons being counted where they have several rows. It says nothing about sensitive values: see `reticent attack`.
    """
    from reticent.audit.risk import compute_risk_before
    from reticent.audit.risk import risk as measure_risk
    from reticent.cli.output import say, say_json, show_progress
    from reticent.errors import JobError, RequestError, SourceUnreachable
    from reticent.job.job import Job
    from reticent.ledger.source_options import resolve_source
    from reticent.models.rational_bounds import parse_fraction

    if not table.exists():
        raise SourceUnreachable(f"There is no {table}.", attempt="a table, or the folder that `reticent publish` made.")
    limit = parse_fraction(threshold, "--threshold")
    if not 0 <= limit <= 1:
        raise JobError("--threshold must be a share.", attempt="a number from 0 to 1, such as 0.2.")
    if table.is_dir() and (quasi or (job and source is None)):
        raise RequestError("--quasi and --job describe a plain file; a release folder describes itself.")
    if source is not None and not table.is_dir():
        raise RequestError("--source is for a release folder.", attempt="`reticent risk` of the source alone.")
    names = None if quasi is None else [name.strip() for name in quasi.split(",") if name.strip()]
    parsed_job = None if job is None else Job.read(job)
    null_values = tuple(missing or ())
    reading_options = collect_reading_options(
        delimiter=delimiter, quote=quote, encoding=encoding, empty=empty, table=from_table, query=from_query
    )
    if reading_options and table.is_dir() and source is None:
        named = ", ".join(f"--{name}" for name in reading_options)
        raise RequestError(f"{named} say how the source is read, and none is given.", attempt="--source DATA.")
    person_columns = None if person is None else [name.strip() for name in person.split(",") if name.strip()]
    if person_columns and table.is_dir() and source is None:
        raise RequestError("--person is a column of a table, and a release has none.", attempt="--source DATA.")
    arguments: dict[str, Any] = {
        "population": population,
        "threshold": limit,
        "missing": null_values,
        "person": person_columns,
    }
    subject: Any = (
        table
        if table.is_dir()
        else resolve_source(None, table, parsed_job, missing=null_values, options=reading_options)[0]
    )
    with show_progress(json) as progress:
        progress("counting")
        after = measure_risk(subject, quasi=names, job=parsed_job, **arguments)
        before = None
        if source is not None:
            resolved_source = resolve_source(table, source, parsed_job, missing=null_values, options=reading_options)[0]
            before = compute_risk_before(table, resolved_source, job=parsed_job, **arguments)
    if json:
        say_json(after.to_dict() if before is None else {"before": before.to_dict(), "after": after.to_dict()})
        return
    if before is not None:
        say("Before, in the source:", "", *_split_lines(before), "", "After, in the release:", "")
    say(*_split_lines(after))


def _split_lines(risk: Any) -> list[str]:
    return str(risk).splitlines()
