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
        draft = draft_job(source)
    if printed:
        text = draft.to_toml()
        say_json({"job": text, **_collect_facts(draft)}) if json else say(text.rstrip())
        return
    relative_path = os.path.relpath(data.resolve(), target.resolve().parent) if not data.is_absolute() else str(data)
    with write_new_file(target, force) as part:
        part.write_text(replace(draft, source=replace(draft.source, path=relative_path)).to_toml(), encoding="utf-8")
    if json:
        say_json({"job": str(target), **_collect_facts(draft)})
        return
    rows = (
        (c.name, c.type or "categorical", f"{c.distinct:,}", f"{c.missing:,}", c.role.value, c.risk)
        for c in draft.columns
    )
    say_table(("column", "type", "distinct", "missing", "proposed role", "risk"), rows)
    if draft.sampled:
        say("", draft.sampled)
    for sentence in draft.set_aside:
        say("", f"{sentence} See `broken` in {target}.")
    say("", f"Not looked at: {UNEXAMINED_PROPERTIES}.")
    say("", f"{target} is a draft: confirm each role in it, then `reticent check {target}`.")


def _collect_facts(draft) -> dict:
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
        for c in draft.columns
    ]
    looked_at = {} if draft.looked_at is None else {"looked_at": draft.looked_at}
    set_aside = {"set_aside": list(draft.set_aside)} if draft.set_aside else {}
    return {"rows": draft.rows, **looked_at, **set_aside, "columns": columns}
