"""`reticent advise JOB --for PURPOSE`: which method to take, by measuring those that keep the job's promises."""

from __future__ import annotations

from typing import Annotated

import typer

from reticent.cli.options import JobFile, Json

EXAMPLE = "reticent advise patients.toml --for counts"


def advise(
    job: JobFile,
    purpose: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="PURPOSE",
            help="counts, averages, classification (extra `stats`) or sharing-rows.",
            show_default=False,
        ),
    ],
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="A,B,...",
            help="Choose among these; by default all that keep the promises.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows", metavar="N", help="Measure on so many rows, drawn at random; by default all.", show_default=False
        ),
    ] = None,
    runs: Annotated[
        int,
        typer.Option("--runs", metavar="N", help="How often everything is drawn again: what differs by less is level."),
    ] = 3,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Of everything that is drawn: nothing here is published.")
    ] = 1,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="SECONDS",
            help="CPU seconds that all of it may take, by default 20 or more for large data; what there was no time for is named.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say which method to take for a purpose, with the measurements on your own data that say so, and what each gives up.

    Methods whose spreads overlap are level, and it says so; so it does where a table that needs no method is as good.
    """
    from reticent.cli.options import split_names
    from reticent.cli.output import say, say_json, say_table, show_progress
    from reticent.compare.advise import advise as make_advice
    from reticent.job.job import Job

    parsed_job = Job.read(job)
    with show_progress(json) as progress:
        advice = make_advice(
            parsed_job,
            purpose=purpose,
            methods=split_names(methods),
            rows=rows,
            runs=runs,
            seed=seed,
            budget=budget,
            progress=progress,
        )
    if json:
        say_json(advice.to_dict())
        return
    say_table(
        ("name", "kind", "figure", "least", "most"),
        [
            (row["name"], row["kind"] or row["role"], *(f"{row[end]:.4f}" for end in ("value", "low", "high")))
            for row in advice.ranked
        ],
    )
    say("", *advice.sentences())
