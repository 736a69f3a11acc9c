"""`reticent schema`: the JSON Schema of job files, for editors and validators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "reticent schema --output job.schema.json"


def schema(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write it to this file instead; `#:schema ./FILE` in a job's first line names it to an editor.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Print the JSON Schema of job files, by which an editor completes and checks a job while it is written."""
    from reticent.cli.output import say, write_new_file
    from reticent.job.schema import format_schema

    if output is None or output == Path("-"):
        say(format_schema().rstrip())
        return
    with write_new_file(output, force) as part:
        part.write_text(format_schema(), encoding="utf-8", newline="\n")
    say(f"Wrote {output}.")
