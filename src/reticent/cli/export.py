"""`reticent export RELEASE URL`: a release as tables of a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    append: Annotated[
        bool,
        typer.Option(
            "--append", help="Add the release to tables that several releases share; a column says of which it is."
        ),
    ] = False,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="NAME",
            help="With --append: what the column says of these rows; by default the folder's name.",
            show_default=False,
        ),
    ] = None,
    batch_column: Annotated[
        str, typer.Option("--batch-column", metavar="COLUMN", help="With --append: the name of that column.")
    ] = "batch",
    replace_batch: Annotated[
        bool, typer.Option("--replace-batch", help="With --append: replace the rows of a batch that is there already.")
    ] = False,
    json: Json = False,
) -> None:
    """Write a release to a database: a table for each data file, and its manifest beside them; all or none.

    An existing table is never replaced; --append adds to one that was made with --append. A password belongs in the environment
    (PGPASSWORD), not in the URL.
    """
    from reticent.cli.output import say, say_json, show_progress
    from reticent.errors import RequestError
    from reticent.redaction import redact
    from reticent.release.release import open as open_release

    if not release.is_dir():
        raise RequestError(f"There is no release folder {release}.", attempt="the folder that `reticent publish` made.")
    if not append and (batch is not None or replace_batch):
        raise RequestError("--batch and --replace-batch belong to --append.", attempt="--append.")
    with show_progress(json) as progress:
        progress("writing")
        opened = open_release(release)
        name = release.resolve().name if batch is None else batch
        options: dict[str, Any] = {"append": True, "batch": name, "batch_column": batch_column} if append else {}
        written = opened.to_database(url, table, bounds=bounds, **options, replace_batch=replace_batch)
        tables = list(map(redact, written))
    if json:
        facts = {"release": str(release), "url": redact(url), "tables": tables, "rows": opened.manifest.rows}
        say_json(facts | ({"batch": name, "batch_column": batch_column} if append else {}))
        return
    place = f"{redact(url)}: {', '.join(tables)}"
    if append:
        say(f"Added {opened.manifest.rows:,} rows as batch {name!r} to {place}.")
        return
    say(f"Wrote {opened.manifest.rows:,} rows to {place}.")
