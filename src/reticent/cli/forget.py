"""`reticent forget JOB --person FILE -o SOURCE`: the job's source without some people, and what differencing tells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.options import ForceFile, JobFile, Json, LedgerFolder, PersonFile, read_persons

EXAMPLE = "reticent forget patients.toml --person removed.txt -o patients-2.csv --job-to patients-2.toml"


def forget(
    job: JobFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="SOURCE", help="The file to write: CSV, or Parquet of types.", show_default=False
        ),
    ],
    person: PersonFile = None,
    job_to: Annotated[
        Path | None,
        typer.Option("--job-to", metavar="JOB", help="Also write the job that reads it.", show_default=False),
    ] = None,
    force: ForceFile = False,
    ledger: LedgerFolder = None,
    json: Json = False,
) -> None:
    """Write a job's source without the rows of some people, and say what differencing tells about them.

    It publishes nothing and takes nothing back: docs/removal.md has what else to do when somebody asks to be removed.
    """
    from reticent.cli.output import say, say_json, say_note, show_progress
    from reticent.cli.releases import describe_state, show_text
    from reticent.errors import RequestError, pluralize
    from reticent.job.job import Job
    from reticent.removal import forget as remove_people

    if person is None:
        raise RequestError("Nobody is named.", attempt="--person FILE, or --person - to be asked.")
    persons = read_persons(person)
    with show_progress(json) as progress:
        progress("reading")
        outcome = remove_people(Job.read(job), persons, output, job_to=job_to, force=force, ledger=ledger)
    if json:
        say_json(outcome.to_dict())
        return
    say(
        f"Wrote {output}: {outcome.rows:,} rows, without {pluralize(outcome.removed_rows, 'row')} of "
        f"{pluralize(outcome.persons, 'person')}."
    )
    if job_to is not None:
        say(f"Wrote {job_to}, which reads it.")
    if outcome.not_found:
        lines = ", ".join(map(str, outcome.not_found[:8])) + (", ..." if len(outcome.not_found) > 8 else "")
        say_note(f"Note: {pluralize(len(outcome.not_found), 'person')} of the list (number {lines}) not in the table.")
    if outcome.set_aside:
        say(
            f"{pluralize(outcome.set_aside, 'broken line')} of the source {'is' if outcome.set_aside == 1 else 'are'} not in it, and nobody "
            "was looked for there. Look in the source, and in broken-lines.csv among your notes on earlier releases."
        )
    for difference in outcome.differences:
        release = difference.release
        say(
            "",
            f"{show_text(str(release.path))} ({release.at[:10]}, {describe_state(release)}) was made from rows of theirs.",
        )
        say(difference.reason)
    if outcome.differences:
        say("", "Publishing without them needs --again: the others are published again. docs/removal.md says more.")
