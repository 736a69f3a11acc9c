"""`reticent export RELEASE URL`: a release as tables of a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.options import Json

EXAMPLE = "reticent export patients-release sqlite:///warehouse.db --table patients"


def export(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="postgresql://..., sqlite:///file.db or duckdb:///file.duckdb.", show_default=False
        ),
    ],
    table: Annotated[
        str,
        typer.Option(
            "--table", metavar="NAME", help="The table to make; NAME_manifest is made beside it.", show_default=False
        ),
    ],
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Add numeric ends of each range: age_lower and age_upper beside age.")
    ] = False,
    json: Json = False,
) -> None:
    """Write a release to a database: a table for each data file, and its manifest beside them; all or none.

    An existing table is never replaced. A password belongs in the environment (PGPASSWORD), not in the URL.
    """
    from reticent.cli.output import say, say_json, show_progress
    from reticent.errors import RequestError
    from reticent.redaction import redact
    from reticent.release.release import open as open_release

    if not release.is_dir():
        raise RequestError(f"There is no release folder {release}.", attempt="the folder that `reticent publish` made.")
    with show_progress(json) as progress:
        progress("writing")
        opened = open_release(release)
        tables = list(map(redact, opened.to_database(url, table, bounds=bounds)))
    if json:
        say_json({"release": str(release), "url": redact(url), "tables": tables, "rows": opened.manifest.rows})
        return
    say(f"Wrote {opened.manifest.rows:,} rows to {redact(url)}: {', '.join(tables)}.")
