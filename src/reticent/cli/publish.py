"""`reticent publish JOB -o RELEASE`: plan, stage, audit, and only then keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from reticent import catalogue
from reticent.cli.options import Engine, Force, JobFile, Json, Master, Regions, ShowValues, engine_at

EXAMPLE = "reticent publish patients.toml -o patients-release"
FEW = 6  # notices on the terminal


def publish(
    job: JobFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="RELEASE", help="The release folder to make.", show_default=False)
    ],
    force: Force = False,
    again: Annotated[
        bool, typer.Option("--again", help="Publish people again whom the ledger knows; the two releases can be joined.")
    ] = False,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", metavar="FOLDER", show_default=False, help="The ledger to use instead of RETICENT_LEDGER or your own."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Make a repeatable release, for tests and studies; it is stamped 'not for publication'.", show_default=False)
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="parquet|csv", help="The file format, instead of the job's.", show_default=False)
    ] = None,
    batch_by: Annotated[
        str | None,
        typer.Option("--batch-by", metavar="COLUMN", show_default=False,
                     help="One release in RELEASE for each value of an insensitive or undeclared column; the promise is "
                     "per batch."),
    ] = None,
    engine: Engine = catalogue.ENGINE,
    master: Master = None,
    regions: Regions = None,
    show_values: ShowValues = False,
    json: Json = False,
) -> int | None:  # fmt: skip
    """Publish a job into a release folder that can be handed out.

    The release is staged, audited from its files, and kept only if every promise holds. The owner's folder beside it
    (reticent-owner, or RETICENT_OWNER) keeps its digest, its audit and its job; your ledger (RETICENT_LEDGER) notes
    which rows were published. Both stay with you.
    """
    from reticent.cli.findings import headline, say_findings
    from reticent.cli.printing import note, say, say_json, stages
    from reticent.job import Job
    from reticent.owner.ledger import Ledger
    from reticent.owner.places import notes_folder, owner_folder
    from reticent.owner.together import lost_together, no_longer_promised
    from reticent.publish import publish as publish_job

    wanted, worker = Job.read(job), engine_at(engine, master, regions)
    if format is not None:
        wanted = wanted.at(release=replace(wanted.release, format=format))
    if batch_by is not None:
        return _batches(
            wanted, batch_by, output, json, seed=seed, force=force, again=again, ledger=ledger, engine=worker
        )
    with stages(json) as progress:
        how: dict[str, Any] = {"seed": seed, "force": force, "again": again, "ledger": ledger, "engine": worker}
        said_before: list[str] = []

        def warn(sentence: str) -> None:
            said_before.append(sentence)
            if not json:
                note(f"Note: {sentence}")

        release = publish_job(wanted, to=output, **how, progress=progress, warn=warn)
    found, owner = release.audited.to_dict(), owner_folder(output)
    noted = Ledger.of(ledger).together_with(output)
    together = no_longer_promised(noted)
    if json:
        said = {
            "notices": list(release.notices),
            "headline": headline(found, lost_together(noted)),
            "together": together,
        }
        say_json(
            {
                "release": str(output),
                "digest": release.digest,
                "owner": str(owner),
                "seeded": seed is not None,
                **said,
                **found,
            }
        )
        return None
    say(f"Published {output}.", "")
    say_findings(found, lost_together(noted))
    say("", f"Digest  {release.digest}", f"Yours   {owner} (never hand it out)")
    say(f"Check   reticent audit {output} --expect-digest $(cat {notes_folder(output) / 'digest.txt'})")
    later = [line for line in release.notices if line not in said_before]
    for line in (*few(later, notes_folder(output) / "README.md"), *together):
        note(f"Note: {line}")
    if release.manifest.formulas == "present":
        note(
            'Note: texts begin as formulas do, and a spreadsheet may run them; formulas = "quote" in [release] quotes them.'
        )
    if seed is not None:
        note("Not for publication: a seeded release can be undone by who guesses the seed.")
    return None


def _batches(job: Any, by: str, output: Path, json: bool, **how: Any) -> int:
    """Every batch by itself; 2 if one could not be published."""
    from reticent.batches import publish_batches
    from reticent.cli.printing import note, number, say, say_json, say_table, stages
    from reticent.errors import PromiseUnreachable

    with stages(json) as progress:
        found = publish_batches(job, by, output, **how, progress=progress)
    if json:
        say_json(found)
    else:
        say(f"Published {found['published']} of {len(found['batches'])} batches by {by!r} in {output}.", "")
        rows = [(one["batch"], *(number(one[key]) if key in one else "-" for key in ("source_rows", "rows", "withheld", "kept")))
                for one in found["batches"]]  # fmt: skip
        say_table(("batch", "rows in source", "published", "withheld", "kept"), rows, indent=2)
        for one in found["batches"]:
            if not one["published"]:
                say("", f"{one['batch']}: {one['why']}")
        note(f"Note: {found['promise']}")
        if how["seed"] is not None:
            note("Not for publication: a seeded release can be undone by who guesses the seed.")
    return PromiseUnreachable.exit_code if found["unreachable"] else 0


def few(lines: Sequence[str], where: Path) -> list[str]:
    """The first of many lines and the last, which says what the releases say together; `where` lists all of them."""
    if len(lines) <= FEW:
        return list(lines)
    return [*lines[: FEW - 2], f"{len(lines) - FEW + 1} more like these stand in {where}.", lines[-1]]
