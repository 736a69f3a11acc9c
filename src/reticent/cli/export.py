"""`reticent export RELEASE TARGET`: a release as tables of a database, a folder of CSV files or an Excel file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reticent.cli.options import Json

OTHER_TARGETS = {
    ".csv": "A release may have several tables, and is written as a folder of CSV files.",
    ".xls": "Excel files are written as .xlsx.",
    ".parquet": 'The files of a release with format = "parquet" are Parquet files already.',
    ".db": "A database is named by a URL.",
    ".sqlite": "A database is named by a URL.",
    ".duckdb": "A database is named by a URL.",
}
"""Endings of a target that say that something else was meant, with what to know."""
EXAMPLE = "reticent export patients-release sqlite:///warehouse.db --table patients"


def export(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    url: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="postgresql://..., sqlite:///file.db or duckdb:///file.duckdb; file.xlsx; or a folder for CSV files.",
            show_default=False,
        ),
    ],
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME",
            help="Of a database: the table to make; NAME_manifest is made beside it.",
            show_default=False,
        ),
    ] = None,
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
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file, or an earlier export.")] = False,
    json: Json = False,
) -> None:
    """Write a copy of a release for other programs, with its manifest: all or nothing.

    To a database, a table for each data file; an existing table is never replaced (--append adds to one that was made with
    --append), and a password belongs in the environment (PGPASSWORD), not in the URL. To a folder, CSV files; to a file
    that ends in .xlsx, a sheet for each data file (up to 1,048,575 rows). What is audited stays the release folder.
    """
    from reticent.cli.output import say, say_json, show_progress
    from reticent.errors import RequestError
    from reticent.redaction import redact
    from reticent.release.release import open as open_release

    if not release.is_dir():
        raise RequestError(f"There is no release folder {release}.", attempt="the folder that `reticent publish` made.")
    if not append and (batch is not None or replace_batch):
        raise RequestError("--batch and --replace-batch belong to --append.", attempt="--append.")
    if not _is_database(url):
        if append:
            raise RequestError(
                "--append adds to tables of a database; files are written anew.",
                attempt="leaving --append out, with --force where it is to replace an earlier export.",
            )
        _export_files(release, Path(url), table, bounds=bounds, force=force, json=json)
        return
    if table is None:
        raise RequestError("A database needs the name of a table.", attempt="--table people.")
    if force:
        raise RequestError(
            "--force replaces files; an existing table is never replaced.",
            attempt="another --table, and leaving --force out.",
        )
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


def _is_database(target: str) -> bool:
    """Tell whether a target is the address of a database, or was meant as one."""
    return "://" in target or target.split(":")[0].lower() in ("postgresql", "postgres", "sqlite", "duckdb")


def _export_files(release: Path, target: Path, table: str | None, *, bounds: bool, force: bool, json: bool) -> None:
    """Write a folder of CSV files or an Excel file, and say what was written."""
    from reticent.cli.output import say, say_json, show_progress
    from reticent.errors import RequestError
    from reticent.release.release import open as open_release

    is_excel = target.suffix.lower() == ".xlsx"
    if table is not None:
        raise RequestError(
            "--table names a table of a database, and the target is a file or folder.", attempt="leaving --table out."
        )
    if (known := OTHER_TARGETS.get(target.suffix.lower())) is not None:
        examples = f"{target.stem}-csv, {target.stem}.xlsx, or sqlite:///{target.stem}.db with --table {target.stem}."
        raise RequestError(f"{target.name} is no target. {known}", attempt=examples)
    with show_progress(json) as progress:
        progress("writing")
        opened = open_release(release)
        write = opened.to_excel if is_excel else opened.to_csv
        names = write(target, bounds=bounds, force=force)
    if json:
        written = {"release": str(release), "target": str(target), "sheets" if is_excel else "files": names}
        say_json({**written, "rows": opened.manifest.rows, "digest": opened.digest})
        return
    say(f"Wrote {opened.manifest.rows:,} rows to {target}: {', '.join(names)}.")
    say("It is a copy: what is audited is the release folder.")
