"""`reticent audit RELEASE`: recount a release, or a table that another tool made, from its files."""

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
    ShowValues,
    collect_reading_options,
)

EXAMPLE = "reticent audit patients-release --source patients.csv"
NOT_SHOWN_EXIT_CODE = 7
"""How `--strict` ends where nothing is broken and something is not shown."""


def audit(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE",
            help="A release folder, or a table of another tool: a CSV or Parquet file, or a database's address.",
            show_default=False,
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="DATA",
            help="Also compare with the data it was made from, and look for leaks: a file, or a database's address.",
            show_default=False,
        ),
    ] = None,
    expect_digest: Annotated[
        str | None,
        typer.Option(
            "--expect-digest",
            metavar="SHA256",
            help="Refuse a release whose digest is another: it was changed.",
            show_default=False,
        ),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option(
            "--job",
            metavar="JOB",
            help="For a plain file, a job with the roles and promises; for a release, the job to compare it with.",
            show_default=False,
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population", metavar="DATA", help="The population table that k-map promises about.", show_default=False
        ),
    ] = None,
    quasi: Annotated[
        str | None, typer.Option("--quasi", metavar="A,B", help="A plain file's quasi-identifiers.", show_default=False)
    ] = None,
    sensitive: Annotated[
        str | None,
        typer.Option("--sensitive", metavar="C", help="A plain file's sensitive columns.", show_default=False),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            metavar="COLUMN=FILE",
            help="A plain file's hierarchies; may be repeated.",
            show_default=False,
        ),
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    quote: Quote = None,
    encoding: Encoding = None,
    empty: Empty = None,
    table: FromTable = None,
    query: FromQuery = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="End with 7 where a promise is not shown, or none is stated: for a test that must pass."
        ),
    ] = False,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judges",
            metavar="PLUGIN",
            help="Let this plugin judge its own promises: its code runs. May be repeated.",
            show_default=False,
        ),
    ] = None,
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """Recount a release from its files, by formulas of its own, and say whether every promise is kept.

    The source is read as it was published: by --job, else by the owner's job beside the release; the options below win over both.
    Ends with 0 if all are kept (or the files cannot show it; with --strict that ends with 7), with 3 if one is broken or the
    folder is damaged or changed, with 4 if every promise reads as kept and the source or the job disagrees.
    """
    from reticent.audit import audit as audit_release
    from reticent.cli.options import parse_hierarchy_files, split_names
    from reticent.cli.output import say, say_findings, say_json, show_progress
    from reticent.errors import AuditFailed, ComparisonFailed, RequestError
    from reticent.job.job import Job
    from reticent.ledger.source_options import resolve_source
    from reticent.redaction import is_address

    place = Path(release)
    is_database = is_address(release) and not place.exists()
    if not is_database and not place.exists():
        raise RequestError(
            f"There is no {release}.", attempt="the folder that `reticent publish` made, or a plain file."
        )
    reading_options = collect_reading_options(
        delimiter=delimiter, quote=quote, encoding=encoding, empty=empty, table=table, query=query
    )
    null_values = tuple(missing or ())
    parsed_job = None if job is None else Job.read(job)
    arguments: dict[str, Any] = {
        "expect_digest": expect_digest,
        "job": parsed_job,
        "missing": null_values,
        "population": population,
        "judges": judges or [],
    }
    subject: Any = place
    if source is not None:
        arguments["source"] = resolve_source(place, source, parsed_job, missing=null_values, options=reading_options)[0]
    elif reading_options and place.is_file():
        subject = resolve_source(None, place, parsed_job, missing=null_values, options=reading_options)[0]
    if is_database:
        subject = resolve_source(None, release, parsed_job, missing=null_values, options=reading_options)[0]
    plain = {"--quasi": quasi, "--sensitive": sensitive, "--hierarchy": hierarchy}
    if place.is_dir():
        if used_options := [name for name, value in plain.items() if value]:
            raise RequestError(f"{', '.join(used_options)} describe a plain file; a release folder describes itself.")
        if (reading_options or (missing and population is None)) and source is None:
            named = ", ".join(f"--{name}" for name in ({"missing": 1} if missing else {}) | reading_options)
            raise RequestError(f"{named} say how the source is read, and none is given.", attempt="--source DATA.")
    else:
        arguments |= {
            "quasi": split_names(quasi),
            "sensitive": split_names(sensitive),
            "hierarchy": parse_hierarchy_files(hierarchy),
        }
    with show_progress(json) as progress:
        progress("recounting")
        result = audit_release(subject, **arguments)
    findings = result.to_dict()
    if json:
        say_json(findings | ({"not_shown": list(result.not_shown)} if strict else {}))
    else:
        say_findings(findings)
        if strict and result.not_shown:
            say("", "Not enough for --strict:", *(f"  {sentence}" for sentence in result.not_shown))
    codes = {"broken": AuditFailed.exit_code, "differs": ComparisonFailed.exit_code}
    if strict:
        codes["undecided"] = NOT_SHOWN_EXIT_CODE
    return codes.get(result.verdict, 0)
