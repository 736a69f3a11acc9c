"""`reticent publish JOB -o RELEASE`: plan, stage, audit, and only then keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from reticent import catalogue
from reticent.cli.options import Engine, Force, JobFile, Json, Master, Regions, ShowValues, make_engine

EXAMPLE = "reticent publish patients.toml -o patients-release"
MAX_NOTICES_SHOWN = 6  # notices on the terminal


def publish(
    job: JobFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="RELEASE", help="The release folder to make.", show_default=False)
    ],
    force: Force = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Publish people again whom the ledger knows; the two releases can be joined."),
    ] = False,
    only_new: Annotated[
        bool,
        typer.Option("--only-new", help="Leave people out whom the ledger knows by their identifying columns."),
    ] = False,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            metavar="FOLDER",
            show_default=False,
            help="The ledger to use instead of RETICENT_LEDGER or your own.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            help="Make a repeatable release, for tests and studies; it is stamped 'not for publication'.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="parquet|csv", help="The file format, instead of the job's.", show_default=False
        ),
    ] = None,
    batch_by: Annotated[
        str | None,
        typer.Option(
            "--batch-by",
            metavar="COLUMN",
            show_default=False,
            help="One release in RELEASE for each value of an insensitive or undeclared column; the promise is "
            "per batch.",
        ),
    ] = None,
    engine: Engine = catalogue.DEFAULT_ENGINE,
    master: Master = None,
    regions: Regions = None,
    show_values: ShowValues = False,
    json: Json = False,
) -> int | None:
    """Publish a job into a release folder that can be handed out.

    The release is staged, audited from its files, and kept only if every promise holds. The owner's folder beside it
    (reticent-owner, or RETICENT_OWNER) keeps its digest, its audit and its job; your ledger (RETICENT_LEDGER) notes
    which rows were published. Both stay with you.
    """
    from reticent.cli.output import format_headline, say, say_findings, say_json, say_note, show_progress
    from reticent.errors import RequestError, pluralize
    from reticent.job.job import Job
    from reticent.ledger.ledger import Ledger
    from reticent.ledger.notes import BROKEN_LINES_FILE, describe_lost_promises, summarize_lost_promises
    from reticent.ledger.paths import resolve_notes_folder, resolve_owner_folder
    from reticent.publish import publish as publish_job

    parsed_job = Job.read(job)
    worker = make_engine(engine, master, regions)
    if format is not None:
        parsed_job = parsed_job.at(release=replace(parsed_job.release, format=format))
    if batch_by is not None and only_new:
        raise RequestError(
            "--only-new is for one release, and --batch-by makes several.",
            why="People of one batch would be known by the time of the next, though they are of one publication.",
            attempt="one of them; or batches of new rows alone.",
        )
    if batch_by is not None:
        return _publish_batches(
            parsed_job, batch_by, output, json, seed=seed, force=force, again=again, ledger=ledger, engine=worker
        )
    with show_progress(json) as progress:
        options: dict[str, Any] = {
            "seed": seed,
            "force": force,
            "again": again,
            "only_new": only_new,
            "ledger": ledger,
            "engine": worker,
        }
        earlier_notices: list[str] = []

        def warn(sentence: str) -> None:
            earlier_notices.append(sentence)
            if not json:
                say_note(f"Note: {sentence}")

        release = publish_job(parsed_job, to=output, **options, progress=progress, warn=warn)
    report = release.audited.to_dict()
    owner = resolve_owner_folder(output)
    noted = Ledger.open(ledger).find_joined_entries(output)
    lost_promises = describe_lost_promises(noted)
    if json:
        summary = {
            "notices": list(release.notices),
            "headline": format_headline(report, summarize_lost_promises(noted)),
            "together": lost_promises,
        }
        say_json(
            {
                "release": str(output),
                "digest": release.digest,
                "owner": str(owner),
                "seeded": seed is not None,
                "set_aside": release.set_aside,
                **summary,
                **report,
            }
        )
        return None
    say(f"Published {output}.", "")
    say_findings(report, summarize_lost_promises(noted))
    say("", f"Digest  {release.digest}", f"Yours   {owner} (never hand it out)")
    if release.set_aside:
        broken_lines = resolve_notes_folder(output) / BROKEN_LINES_FILE
        say(f"Aside   {pluralize(release.set_aside, 'broken line')} of the source, in {broken_lines}")
    say(f"Check   reticent audit {output} --expect-digest $(cat {resolve_notes_folder(output) / 'digest.txt'})")
    later = [line for line in release.notices if line not in earlier_notices]
    for line in (*shorten_notices(later, resolve_notes_folder(output) / "README.md"), *lost_promises):
        say_note(f"Note: {line}")
    if release.manifest.formulas == "present":
        say_note(
            'Note: texts begin as formulas do, and a spreadsheet may run them; formulas = "quote" in [release] quotes them.'
        )
    if seed is not None:
        say_note("Not for publication: a seeded release can be undone by who guesses the seed.")
    return None


def shorten_notices(lines: Sequence[str], path: Path) -> list[str]:
    """Return the first of many lines and the last, which is about the releases together; `path` lists all of them."""
    if len(lines) <= MAX_NOTICES_SHOWN:
        return list(lines)
    return [
        *lines[: MAX_NOTICES_SHOWN - 2],
        f"{len(lines) - MAX_NOTICES_SHOWN + 1} more like these stand in {path}.",
        lines[-1],
    ]


def _publish_batches(job: Any, by: str, output: Path, json: bool, **options: Any) -> int:
    """Publish every batch by itself; return 5 if one changed since it was published, 2 if one could not be published."""
    from reticent.batches import publish_batches
    from reticent.cli.output import format_number, say, say_json, say_note, say_table, show_progress
    from reticent.errors import AlreadyPublished, PromiseUnreachable

    with show_progress(json) as progress:
        result = publish_batches(job, by, output, **options, progress=progress)
    if json:
        say_json(result)
    else:
        say(f"Published {result['published']} of {len(result['batches'])} batches by {by!r} in {output}.", "")
        rows = [
            (
                batch["batch"],
                *(
                    format_number(batch[key]) if key in batch else "-"
                    for key in ("source_rows", "rows", "withheld", "kept")
                ),
                _format_row_keeps(batch),
            )
            for batch in result["batches"]
        ]
        say_table(("batch", "rows in source", "published", "withheld", "kept", "a row keeps"), rows, indent=2)
        if skipped := [batch["batch"] for batch in result["batches"] if batch["status"] == "skipped"]:
            say("", f"Skipped, because published before from the same rows: {shorten_list(skipped)}.")
        if "set_aside" in result:
            say("", f"{result['set_aside']:,} broken lines of the source were set aside; the owner's folder has them.")
        for batch in result["batches"]:
            if "why" in batch:
                say("", f"{batch['batch']}: {batch['why']}")
        say_note(f"Note: {result['promise']}")
        if options["seed"] is not None:
            say_note("Not for publication: a seeded release can be undone by who guesses the seed.")
    if result["changed"]:
        return AlreadyPublished.exit_code
    return PromiseUnreachable.exit_code if result["unreachable"] else 0


def shorten_list(names: Sequence[str]) -> str:
    """List the first and the last of many names."""
    if len(names) <= MAX_NOTICES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:3])} ... {names[-1]} ({len(names)} batches)"


def _format_row_keeps(batch: dict[str, Any]) -> str:
    """Format the share of its quasi-identifiers that a row of a batch keeps; a dash where nothing was published."""
    from reticent.labels.label_loss import format_kept_share

    keeps = batch["left"]["row_keeps"] if "left" in batch else None
    return "-" if keeps is None else format_kept_share(keeps)
