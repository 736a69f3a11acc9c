"""Options that several commands take, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

JobFile = Annotated[
    Path,
    typer.Argument(metavar="JOB", help="The job file (TOML); `reticent init DATA` drafts one.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ShowValues = Annotated[
    bool,
    typer.Option("--show-values", help="List the values an error speaks of. They may be a person's: not for logs."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing release.")]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="TEXT", help="A text that means missing, such as '?'; may be repeated."),
]
