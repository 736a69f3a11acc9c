"""`reticent report RELEASE`: one page about a release, for its recipients or for its owner."""

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
from reticent.progress import ProgressEvent

EXAMPLE = "reticent report patients-release -o patients.html"


def report(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write; by default RELEASE-report.html in the working directory.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="html|md|json|pdf",
            help="A page, Markdown, the facts as JSON, or the page printed by an installed Chromium; by default a page.",
            show_default=False,
        ),
    ] = None,
    internal: Annotated[
        bool,
        typer.Option(
            "--internal",
            help="The owner's edition, with risks, attacks and losses: needs --source, and goes to the owner's folder.",
        ),
    ] = False,
    committee: Annotated[
        bool,
        typer.Option(
            "--committee",
            help="The owner's edition as the document of a committee, with fields for request, decision and signatures.",
        ),
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            "--source", metavar="DATA", help="With --internal: the data it was made from.", show_default=False
        ),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option(
            "--job", metavar="JOB", help="With --internal: a job that says how the source is read.", show_default=False
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="SECONDS",
            help="With --internal: CPU seconds for attacks, the cheap ones first; by default 60, or more for large data.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    missing: Missing = None,
    delimiter: Delimiter = None,
    quote: Quote = None,
    encoding: Encoding = None,
    empty: Empty = None,
    table: FromTable = None,
    query: FromQuery = None,
    json: Json = False,
) -> None:
    """Write one page about a release: no script, nothing fetched, for a phone, a desk and paper.

    The public edition is made from the folder alone, and the same folder gives the same bytes.
    """
    from reticent.cli.output import say, say_json, show_progress
    from reticent.errors import RequestError
    from reticent.job.job import Job
    from reticent.ledger.source_options import resolve_source
    from reticent.report import paths
    from reticent.report import report as make_report
    from reticent.report.pdf import find_browser

    if not release.is_dir():
        raise RequestError(f"There is no release folder {release}.", attempt="the folder that `reticent publish` made.")
    form = form or "html"
    if form not in paths.FILE_ENDINGS:
        raise RequestError(f"There is no format {form!r}.", attempt="--format html, md, json or pdf.")
    reading_options = collect_reading_options(
        delimiter=delimiter, quote=quote, encoding=encoding, empty=empty, table=table, query=query
    )
    if form == "pdf":
        find_browser()
    internal = internal or committee
    if internal and source is None:
        raise RequestError(
            "The internal edition compares the release with the data it was made from, and none is given.",
            attempt=f"{'--committee' if committee else '--internal'} --source DATA.",
        )
    if not internal and (source is not None or job is not None or budget is not None or missing or reading_options):
        raise RequestError(
            "The public edition is made from the folder alone.",
            attempt="--internal, or leaving --source and the rest out.",
        )
    if internal:
        name = "committee" if committee else "report"
        target = paths.choose_internal_path(release, output, form, force, name)
    else:
        target = paths.choose_public_path(release, output, form, force)
    arguments: dict[str, Any] = {}
    if source is not None:
        parsed_job = None if job is None else Job.read(job)
        arguments["source"] = resolve_source(
            release, source, parsed_job, missing=tuple(missing or ()), options=reading_options
        )[0]
    with show_progress(json) as progress:
        progress("reading the release")
        page = make_report(release, progress=progress, budget=budget, committee=committee, **arguments)
        progress(ProgressEvent("drawing", 0.85))
        content = page.render(form)
    if internal:
        paths.write_internal_report(target, content)
    else:
        paths.write_public_report(target, content, force)
    if json:
        say_json({"report": str(target), "edition": page.facts["edition"], "format": form, "bytes": len(content)})
    else:
        say(f"{target}  the {page.facts['edition']} edition, {len(content):,} bytes")
