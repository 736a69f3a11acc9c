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
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="A raw table, another tool's, or a release folder; by default the source of --job.",
            show_default=False,
        ),
    ] = None,
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
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            metavar="FILE",
            help="Also write the risk of each record, of the table or of the source, to a .csv or .parquet file for you alone.",
            show_default=False,
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="COLUMN",
            help="The column of survey weights, which estimate the population: adds the journalist's risk of records.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file of records.")] = False,
    singling_out: Annotated[
        bool,
        typer.Option(
            "--singling-out",
            help="Of a table: also who is alone by each column, by pairs of columns, and by one column more each time.",
        ),
    ] = False,
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
    from reticent.audit.record_risk import record_risk
    from reticent.audit.risk import compute_risk_before, count_singled_out
    from reticent.audit.risk import risk as measure_risk
    from reticent.cli.output import say, say_json, show_progress
    from reticent.errors import JobError
    from reticent.job.job import Job
    from reticent.ledger.source_options import resolve_source
    from reticent.models.rational_bounds import parse_fraction

    _require_subject(table, job)
    limit = parse_fraction(threshold, "--threshold")
    if not 0 <= limit <= 1:
        raise JobError("--threshold must be a share.", attempt="a number from 0 to 1, such as 0.2.")
    names = None if quasi is None else [name.strip() for name in quasi.split(",") if name.strip()]
    parsed_job = None if job is None else Job.read(job)
    null_values = tuple(missing or ())
    reading_options = collect_reading_options(
        delimiter=delimiter, quote=quote, encoding=encoding, empty=empty, table=from_table, query=from_query
    )
    _require_record_options(records, force, weights, population)
    person_columns = None if person is None else [name.strip() for name in person.split(",") if name.strip()]
    is_folder = table is not None and table.is_dir()
    if is_folder:
        _require_release_options(quasi, job, source, reading_options, person_columns, records or weights, singling_out)
    else:
        _require_table_options(source, weights, quasi or job)
    arguments: dict[str, Any] = {
        "population": population,
        "threshold": limit,
        "missing": null_values,
        "person": person_columns,
    }
    given: Any = table if table is not None or parsed_job is None else parsed_job.source
    subject: Any = given
    if not is_folder:
        subject = resolve_source(None, given, parsed_job, missing=null_values, options=reading_options)[0]
    with show_progress(json) as progress:
        progress("counting")
        after = measure_risk(subject, quasi=names, job=parsed_job, **arguments)
        before = None
        if source is not None:
            resolved_source = resolve_source(table, source, parsed_job, missing=null_values, options=reading_options)[0]
            before = compute_risk_before(table, resolved_source, job=parsed_job, **arguments)
        each = None
        if records is not None or weights is not None:
            progress("measuring each record")
            of_source = None if source is None else resolved_source
            each = record_risk(subject, source=of_source, quasi=names, job=parsed_job, weights=weights, **arguments)
            if records is not None:
                each.save(records, force=force)
        alone = None
        if singling_out:
            progress("counting who is alone")
            alone = count_singled_out(subject, quasi=names, job=parsed_job, missing=null_values, person=person_columns)
    if json:
        document = _make_document(after, before, each, records)
        say_json(document if alone is None else {**document, "alone": alone.to_dict()})
        return
    lines = _split_lines(after)
    if before is not None:
        lines = ["Before, in the source:", "", *_split_lines(before), "", "After, in the release:", "", *lines]
    if each is not None:
        lines += ["", *_format_records(each, records)]
    if alone is not None:
        lines += ["", *_format_singling_out(alone)]
    say(*lines)


def _require_subject(table: Path | None, job: Path | None) -> None:
    """Refuse a run without a table, and one whose table is not there."""
    from reticent.errors import JobError, SourceUnreachable

    if table is None and job is None:
        raise JobError(
            "There is nothing to measure.", attempt="a table, a release folder, or --job JOB for its source."
        )
    if table is not None and not table.exists():
        raise SourceUnreachable(f"There is no {table}.", attempt="a table, or the folder that `reticent publish` made.")


def _format_singling_out(alone: Any) -> list[str]:
    """Format who is alone, adding one column at a time, and by which pairs."""
    lines = ["Alone with their values, adding one column at a time:"]
    lines += [f"  + {step.columns[-1]:<38} {step.alone:,} of {alone.people:,}" for step in alone.steps]
    pairs = [f"  {' and '.join(pair.columns):<40} {pair.alone:,}" for pair in alone.pairs[:5]]
    return [*lines, "", "Alone by two columns:", *pairs] if pairs else lines


def _make_document(after: Any, before: Any, each: Any, records: Path | None) -> dict[str, Any]:
    """Make the document that --json prints; of records their summary only."""
    document: dict[str, Any] = after.to_dict()
    if before is not None:
        document = {"before": before.to_dict(), "after": document}
    if each is not None:
        document["records"] = {"file": None if records is None else str(records), **each.to_dict()}
    return document


def _require_record_options(records: Path | None, force: bool, weights: str | None, population: Path | None) -> None:
    """Refuse a file of records that may not be written, and options that do not go together."""
    from reticent.audit.record_risk import choose_records_path
    from reticent.errors import RequestError

    if records is not None:
        choose_records_path(records, force=force)
    elif force:
        raise RequestError("--force overwrites a file of records, and none is asked for.", attempt="--records FILE.")
    if weights is not None and population is not None:
        raise RequestError(
            "Weights estimate the population, and --population has it: both are given.", attempt="one of them."
        )


def _require_table_options(source: str | None, weights: str | None, roles: Any) -> None:
    """Refuse options that a plain table has no use for."""
    from reticent.errors import RequestError

    if source is not None:
        raise RequestError("--source is for a release folder.", attempt="`reticent risk` of the source alone.")
    if weights is not None and not roles:
        raise RequestError(
            "Without --quasi every column is one that an adversary knows, the weights too.",
            attempt="--quasi A,B, or --job JOB.",
        )


def _require_release_options(
    quasi: str | None,
    job: Path | None,
    source: str | None,
    reading_options: Any,
    person: Any,
    records: Any,
    singling_out: bool,
) -> None:
    """Refuse options that a release folder has no use for."""
    from reticent.errors import RequestError

    if quasi or (job and source is None):
        raise RequestError("--quasi and --job describe a plain file; a release folder describes itself.")
    if singling_out:
        raise RequestError("--singling-out is of a table, and this is a release.", attempt="the source of the release.")
    if source is not None:
        return
    if reading_options:
        named = ", ".join(f"--{name}" for name in reading_options)
        raise RequestError(f"{named} say how the source is read, and none is given.", attempt="--source DATA.")
    if person:
        raise RequestError("--person is a column of a table, and a release has none.", attempt="--source DATA.")
    if records:
        raise RequestError(
            "The rows of a release name nobody: the records are those of the data that it was made from.",
            attempt="--source DATA.",
        )


def _format_records(each: Any, path: Path | None) -> list[str]:
    """Format the summary of the risks of records, without any record."""
    from reticent.errors import pluralize

    lines = []
    if each.journalist is not None and each.weights is not None:
        risk = each.journalist
        lines.append(
            f"By the weights {each.weights!r} (Benedetti & Franconi 1998) the journalist's risk of a record is {risk.average:.4g} on "
            f"average and {risk.highest:.4g} at most; {pluralize(risk.at_risk, 'record', 'is', 'are')} above {each.threshold:.3g}."
        )
    if each.withheld:
        lines.append(f"{pluralize(each.withheld, 'record', 'was', 'were')} withheld: no published label fits them.")
    if each.unaccounted:
        lines.append(
            f"{pluralize(each.unaccounted, 'more row', 'was', 'were')} withheld, and labels fit them: which they are is not published, "
            "and they are listed with the risk of a published record."
        )
    if path is not None:
        lines.append(f"{path}  the risk of each of {len(each.frame):,} records, for you alone")
    return lines


def _split_lines(risk: Any) -> list[str]:
    return str(risk).splitlines()
