"""Options that several commands take, so that they read the same everywhere.

`split_names` and `parse_hierarchy_files` read columns and files as options name them: `--quasi A,B`, `--hierarchy
COLUMN=FILE`. The last options are those of a job's [source]: how data is read if no job tells it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reticent import catalogue
from reticent.errors import JobError

MAX_PERSONS_CHARACTERS = 1 << 26

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
PersonFile = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="FILE",
        show_default=False,
        help="A file with an identifier a line; '-' asks for one, or reads them from a pipe. Never the identifier itself.",
    ),
]
LedgerFolder = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FOLDER",
        show_default=False,
        help="The ledger to use instead of RETICENT_LEDGER or your own.",
    ),
]
ForceFile = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="TEXT", help="A text that means missing, such as '?'; may be repeated."),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="MARK", help="Between the fields of a CSV; by default the likeliest."),
]
Quote = Annotated[str | None, typer.Option("--quote", metavar="MARK", help="Around the fields of a CSV.")]
Encoding = Annotated[str | None, typer.Option("--encoding", metavar="NAME", help="Of a CSV; by default utf-8.")]
Empty = Annotated[
    str | None,
    typer.Option("--empty", metavar="missing|value", help="What an empty field of a CSV is; by default missing."),
]
FromTable = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="Which table, where DATA is an address.")
]
FromQuery = Annotated[str | None, typer.Option("--query", metavar="SQL", help="Which rows, where DATA is an address.")]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="|".join(catalogue.ENGINES),
        help="What reads the rows; the release's rows are the same by any.",
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        show_default=False,
        help="Where Spark runs, for --engine spark: local[2], spark://host:7077, yarn.",
    ),
]
Regions = Annotated[
    int | None,
    typer.Option(
        "--regions",
        metavar="N",
        show_default=False,
        help="For --engine spark: plan about N regions by themselves, on the executors.",
    ),
]


def split_names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def parse_hierarchy_files(entries: list[str] | None) -> dict[str, str]:
    from reticent.errors import RequestError

    pairs = [entry.partition("=") for entry in entries or ()]
    if incomplete := [column for column, mark, path in pairs if not (column and mark and path)]:
        raise RequestError(
            f"--hierarchy: {incomplete[0]!r} names no column and file.", attempt="--hierarchy education=education.csv."
        )
    return {column: path for column, _, path in pairs}


def make_engine(engine: str, master: str | None, regions: int | None = None) -> Any:
    """Make the engine of that name, with that master and number of regions if these are given."""
    if master is None and regions is None:
        return engine
    if engine != "spark":
        raise JobError("--master and --regions are for Spark, and the engine is another.", attempt="--engine spark.")
    from reticent.engines.spark import Spark

    return Spark(master=master, regions=regions)


def collect_reading_options(**options: Any) -> dict[str, Any]:
    """Collect those of the options above that were given, as fields of a job's [source]."""
    return {name: value for name, value in options.items() if value is not None}


def read_persons(given: str) -> list[str]:
    """Read identifiers, a line each, from a file or for "-" from standard input; none is repeated in a message.

    They are no words of the command: other users of a machine see these, and shells keep them.
    """
    import sys

    from reticent.errors import RequestError, SourceUnreachable

    try:
        if given == "-":
            if sys.stdin is not None and sys.stdin.isatty():
                sys.stderr.write("Identifiers, a line each; an empty line ends: ")
                sys.stderr.flush()
                lines = list(iter(lambda: sys.stdin.readline().strip(), ""))
            else:
                lines = [] if sys.stdin is None else sys.stdin.read(MAX_PERSONS_CHARACTERS).splitlines()
        else:
            with open(given, encoding="utf-8-sig") as stream:
                lines = stream.read(MAX_PERSONS_CHARACTERS).splitlines()
    except OSError:
        raise SourceUnreachable(
            "The file of --person is not there or cannot be read.",
            why="--person takes a file with an identifier a line, and not the identifier itself: others may see that.",
            attempt="--person FILE, or --person - to be asked.",
        ) from None
    except ValueError:
        raise RequestError("The file of --person is no text in UTF-8.", attempt="saving it as UTF-8.") from None
    persons = [line.strip() for line in lines if line.strip()]
    if not persons:
        raise RequestError("--person names nobody: there is no line with an identifier.", attempt="a line each.")
    return persons
