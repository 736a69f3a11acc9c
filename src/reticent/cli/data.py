"""`reticent data NAME`: public data and the census generator, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.options import ForceFile, Json

EXAMPLE = "reticent data census --rows 100000 --seed 1 -o census.parquet"


def data(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The data set; without it the names are listed.", show_default=False),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            metavar="N",
            help="How many rows to make; of recorded data, how many of its first rows to keep.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="The seed of generated data.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .csv or .parquet file; by default NAME.csv.", show_default=False
        ),
    ] = None,
    hierarchies: Annotated[
        Path | None,
        typer.Option(
            "--hierarchies", metavar="FOLDER", help="Also save the data's hierarchies here.", show_default=False
        ),
    ] = None,
    force: ForceFile = False,
    json: Json = False,
) -> None:
    """Save public data, or rows of the census generator, to a file."""
    from reticent import datasets
    from reticent.cli.output import say, say_json, show_progress, write_new_file
    from reticent.errors import RequestError

    if name is None:
        say_json({"names": list(datasets.names())}) if json else say(*datasets.names())
        return
    target = Path(f"{name}.csv") if output is None else output
    if target.suffix not in (".csv", ".parquet"):
        raise RequestError(f"The file type {target.suffix!r} is not known.", attempt=".csv or .parquet.")
    with show_progress(json) as progress, write_new_file(target, force) as part:
        progress(f"making {name}")
        frame = datasets.load(name, rows, seed)
        progress("writing")
        frame.write_csv(part) if target.suffix == ".csv" else frame.write_parquet(part)
        saved = [] if hierarchies is None else _save_hierarchies(name, hierarchies)  # where it fails, no data is kept
    if json:
        say_json(
            {"data": name, "path": str(target), "rows": len(frame), "columns": frame.columns, "hierarchies": saved}
        )
        return
    say(f"{target}: {len(frame):,} rows of {', '.join(frame.columns)}.", *saved)


def _save_hierarchies(name: str, folder: Path) -> list[str]:
    from reticent import datasets
    from reticent.format.folder import translate_disk_errors

    with translate_disk_errors(folder):
        return datasets.write_hierarchies(name, str(folder))
