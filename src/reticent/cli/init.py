"""`reticent init DATA`: a commented job file, to be confirmed line by line."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.options import Delimiter, Json, Missing

EXAMPLE = "reticent init patients.csv --missing '?'"


def init(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A CSV, Parquet or Arrow file, or a folder of Parquet files.", show_default=False
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="JOB",
            help="The job file to write; by default DATA's name with .toml, here. `-` prints it.",
            show_default=False,
        ),
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Annotated[
        str, typer.Option("--encoding", metavar="NAME", help="The encoding of a CSV, such as latin-1.")
    ] = "utf-8",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing job file.")] = False,
    json: Json = False,
) -> None:
    """Draft a commented job file: guessed types, a proposed role for each column, risky columns named.

    It shows column names and counts, never a value but codes that files use for missing. Of more than a million rows that many are
    looked at, evenly spread.
    """
    from reticent.cli.output import say, say_json, say_table, show_progress, write_new_file
    from reticent.data.source import Source
    from reticent.job.draft import UNEXAMINED_PROPERTIES, draft_job

    source = Source(path=str(data), delimiter=delimiter, encoding=encoding, missing=tuple(missing or ()))
    printed = output == Path("-")
    target = Path(f"{data.stem}.toml") if output is None else output
    with show_progress(json or printed) as progress:
        progress("looking at columns")
        found = draft_job(source)
    if printed:
        text = found.to_toml()
        say_json({"job": text, **_collect_facts(found)}) if json else say(text.rstrip())
        return
    beside = os.path.relpath(data.resolve(), target.resolve().parent) if not data.is_absolute() else str(data)
    with write_new_file(target, force) as part:
        part.write_text(replace(found, source=replace(found.source, path=beside)).to_toml(), encoding="utf-8")
    if json:
        say_json({"job": str(target), **_collect_facts(found)})
        return
    rows = (
        (c.name, c.type or "categorical", f"{c.distinct:,}", f"{c.missing:,}", c.role.value, c.risk)
        for c in found.columns
    )
    say_table(("column", "type", "distinct", "missing", "proposed role", "risk"), rows)
    if found.sampled:
        say("", found.sampled)
    say("", f"Not looked at: {UNEXAMINED_PROPERTIES}.")
    say("", f"{target} is a draft: confirm each role in it, then `reticent check {target}`.")


def _collect_facts(found) -> dict:
    columns = [
        {
            "name": c.name,
            "type": c.type or "categorical",
            "distinct": c.distinct,
            "missing": c.missing,
            "role": c.role.value,
            "why": c.why,
            "risk": c.risk,
            **({"hierarchy": dict(c.hierarchy), "suits": c.suits} if c.suits else {}),
        }
        for c in found.columns
    ]
    looked_at = {} if found.looked_at is None else {"looked_at": found.looked_at}
    return {"rows": found.rows, **looked_at, "columns": columns}
