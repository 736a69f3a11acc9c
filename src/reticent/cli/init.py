"""`reticent init DATA`: a commented job file, to be confirmed line by line."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.options import Delimiter, Empty, FromQuery, FromTable, Json, Missing, Quote, collect_reading_options

EXAMPLE = "reticent init patients.csv --missing '?'"


def init(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A CSV, Parquet or Arrow file, a folder of Parquet files, a pattern of files, or the address of a database.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="JOB",
            help="The job file to write; by default DATA's name (of a database, the table's) with .toml, here. `-` prints it.",
            show_default=False,
        ),
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Annotated[
        str, typer.Option("--encoding", metavar="NAME", help="The encoding of a CSV, such as latin-1.")
    ] = "utf-8",
    quote: Quote = None,
    empty: Empty = None,
    from_table: FromTable = None,
    from_query: FromQuery = None,
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence",
            help="With --json: also how values are distributed, and whom the proposed columns single out, as counts.",
        ),
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="Promises, method and output that a plugin proposes (`reticent plugins`), such as acme:strict.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing job file.")] = False,
    json: Json = False,
) -> None:
    """Draft a commented job file: guessed types, a proposed role for each column, risky columns named.

    It shows column names and counts, never a value but codes that files use for missing. Of more than a million rows that many are
    looked at, evenly spread.
    """
    from reticent.cli.output import say, say_json, say_table, show_progress, write_new_file
    from reticent.data.source import Source
    from reticent.errors import RequestError
    from reticent.job.draft import UNEXAMINED_PROPERTIES, draft_job
    from reticent.redaction import is_address

    if evidence and not json:
        raise RequestError("--evidence is printed with --json.", attempt="both.")
    is_database = is_address(data) and not Path(data).exists()
    reading = collect_reading_options(quote=quote, empty=empty, table=from_table, query=from_query)
    source = Source(
        path=None if is_database else data,
        url=data if is_database else None,
        delimiter=delimiter,
        encoding=encoding,
        missing=tuple(missing or ()),
        **reading,
    )
    printed = output == Path("-")
    stem = (from_table or "job") if is_database else Path(data).stem
    target = Path(f"{stem}.toml") if output is None else output
    with show_progress(json or printed) as progress:
        progress("looking at columns")
        draft = draft_job(source, evidence=evidence, preset=preset)
    if printed:
        text = draft.to_toml()
        say_json({"job": text, **_collect_facts(draft)}) if json else say(text.rstrip())
        return
    if not is_database and not Path(data).is_absolute():
        relative_path = os.path.relpath(Path(data).resolve(), target.resolve().parent)
        draft = replace(draft, source=replace(draft.source, path=relative_path))
    with write_new_file(target, force) as part:
        part.write_text(draft.to_toml(), encoding="utf-8", newline="\n")
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
    preset = {"preset": {"name": draft.preset.name, "brought_by": draft.preset.bringer}} if draft.preset else {}
    facts = {"rows": draft.rows, **looked_at, **set_aside, **preset, "columns": columns}
    if draft.evidence is None:
        return facts
    for column, proposal, guess in zip(columns, draft.columns, draft.guesses, strict=True):
        column |= {
            "declared": dict(proposal.declared),
            "rows_of_a_value": guess.most,
            "code_rows": guess.code_rows,
            "codes": list(guess.codes),
        }
    reading = {
        "encoding": draft.source.encoding,
        "guessed_encoding": draft.guessed_encoding,
        "marks": list(draft.marks),
        "codes": list(draft.codes),
        "broken": draft.source.broken,
    }
    return {**facts, **reading, **draft.evidence.to_dict()}
