"""`reticent studio [FOLDER]`: a steward's desk in the browser, on this machine alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "reticent studio my-project"


def studio(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="The folder of the project: its data and its job file. Or a release that you received.",
            show_default=False,
        ),
    ] = Path("."),
    job: Annotated[
        Path | None,
        typer.Option("--job", metavar="JOB", help="The job file; by default the one in FOLDER.", show_default=False),
    ] = None,
    allow: Annotated[
        list[Path] | None,
        typer.Option(
            "--allow",
            metavar="PATH",
            help="A file or folder outside of FOLDER that pages may read; may be repeated.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Where to listen; 0: any that is free.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the link.")
    ] = True,
) -> None:
    """Open a desk in the browser: from a file to an audited release with its report.

    Everything it does is a job file that `reticent publish` runs to the same bytes. It listens on this machine alone; the printed
    link is good once. Ctrl-C ends it. Needs the extra: pip install 'reticent[studio]'.
    """
    from reticent.cli.output import say
    from reticent.errors import RequestError

    if not folder.is_dir():
        raise RequestError(f"The folder {folder} is not there.", attempt=f"`mkdir {folder}`, or another folder.")
    try:
        from reticent.studio.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("reticent"):
            raise
        raise RequestError(
            f"The studio needs a package that is not installed: {error.name}.",
            attempt="pip install 'reticent[studio]'.",
        ) from None
    from reticent.studio.desk import Desk

    serve(Desk.open(folder, job, allow or ()), port, browser, say)
