"""`reticent hierarchy`: build a hierarchy from a column, show it as a tree, check it against data, save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reticent.cli.options import Delimiter, Encoding, ForceFile, Json, Missing, ShowValues, collect_reading_options

COARSE_BUILDERS = ("intervals", "edges", "dates")  # builders whose labels are no values of the data
EXAMPLE = "reticent hierarchy --data patients.csv --column age --build intervals --with width=[5,10] -o age.csv"


def hierarchy(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A hierarchy file: ARX's CSV, or Amnesia's text or JSON. Without it one is built.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DATA", help="Check against, or build from, this table.", show_default=False),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="The column of DATA.", show_default=False)
    ] = None,
    build: Annotated[
        str | None,
        typer.Option(
            "--build",
            metavar="KIND",
            help="intervals, edges, quantiles, prefixes, dates or balanced; by default what suits the column.",
            show_default=False,
        ),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME=VALUE",
            help="A builder's parameter, such as width=[5,10]; may be repeated.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save it here, in ARX's format.", show_default=False),
    ] = None,
    leaves: Annotated[int, typer.Option("--leaves", metavar="N", help="How many values to show under each label.")] = 8,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: ForceFile = False,
    show_values: ShowValues = False,
    json: Json = False,
) -> None:
    """Build a hierarchy, show it as a tree, check it against data and save it.

    Of a hierarchy built from data, values are shown with --show-values only; of a file, they are what you wrote. Ends with 1 if the
    data has values that the hierarchy lacks.
    """
    from reticent.cli.hierarchy_tree import draw_tree
    from reticent.cli.output import say, say_json, say_table, write_new_file
    from reticent.errors import RequestError

    if (data is None) != (column is None):
        raise RequestError("--data and --column belong together.", attempt="--data patients.csv --column age.")
    if file is None and data is None:
        raise RequestError("There is neither a hierarchy file nor data to build one from.", attempt=f"`{EXAMPLE}`.")
    if file is not None and (build or parameters):
        raise RequestError("--build and --with make a hierarchy from data; FILE is one.", attempt="leaving FILE out.")
    values = (
        None
        if data is None
        else _read_column(data, column, missing, collect_reading_options(delimiter=delimiter, encoding=encoding))
    )
    request, tree = (
        (None, _read_hierarchy(file, values))
        if file is not None
        else _build_hierarchy(values, column, build, parameters)
    )
    fit = None if values is None else _require_fit(tree, values, column or "")
    if output is not None:
        with write_new_file(output, force) as part:
            tree.save(part)
    facts = _collect_facts(tree, fit, request, output)
    if json:
        table = {"table": tree.rows()} if file is not None or show_values else {}
        say_json({**facts, **table})
        return
    say(
        f"{facts['values']:,} values in {facts['height'] + 1} levels, the root included"
        + (f"; {request[1]}." if request else "."),
        "",
    )
    rows = zip(range(tree.height + 1), facts["groups"], facts.get("smallest", [""] * (tree.height + 1)), strict=True)
    say_table(("level", "groups", "rows of the smallest"), rows, indent=2)
    if file is not None or show_values:
        say("", draw_tree(tree, leaves=leaves))
    elif request and request[0]["build"] in COARSE_BUILDERS:
        say("", draw_tree(tree, leaves=0))
    else:
        say("", "Its labels are values of the data: --show-values draws the tree.")
    if request:
        say("", f"In a job:  hierarchy = {_format_job_text(request[0])}")
    if output is not None:
        say("", f"Saved {output}.")


def _read_column(data: Path, column: str | None, missing: list[str] | None, reading_options: dict[str, Any]) -> Any:
    from reticent.cli.output import say_note
    from reticent.data.broken_lines import describe_set_aside
    from reticent.data.csv import suggest_column
    from reticent.data.source import Source, collect_frame, open_source
    from reticent.errors import ColumnError

    source = Source(path=str(data), missing=tuple(missing or ()), broken="set-aside", **reading_options)
    scan = open_source(source)
    for sentence in describe_set_aside(scan.broken, "its values are not looked at"):
        say_note(f"Note: {sentence}")
    lazy = scan.rows
    names = lazy.collect_schema().names()
    if column not in names:
        raise ColumnError(f"Column {column!r} is not in the data.", attempt=suggest_column(str(column), names, lazy))
    return collect_frame(lazy.select(column), "Reading the column")[str(column)]


def _read_hierarchy(file: Path, values: Any) -> Any:
    from reticent.data.hierarchy import Hierarchy
    from reticent.data.hierarchy_builders import from_amnesia
    from reticent.errors import HierarchyError

    if not file.exists():
        raise HierarchyError(
            f"There is no file {file}.", attempt="a hierarchy file, or --data and --column to build one."
        )
    with open(file, "rb") as handle:
        text = handle.read(64).lstrip(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"{", b"distinct", b"range")) or file.suffix == ".json":
        return from_amnesia(file, values)
    return Hierarchy.read(file)


def _build_hierarchy(
    values: Any, column: str | None, build: str | None, parameters: list[str] | None
) -> tuple[tuple[dict[str, Any], str], Any]:
    """Return what was asked for, why, and the hierarchy."""
    from reticent.data.declared_hierarchy import is_built_from_values, read_declared_hierarchy
    from reticent.data.hierarchy_builders import build as build_hierarchy
    from reticent.data.hierarchy_proposal import propose_builder
    from reticent.errors import RequestError

    request, why = ({"build": build}, "as asked for") if build else propose_builder(values, column or "")
    if not request:
        raise RequestError(f"Column {column!r} needs no hierarchy: {why}.", attempt="--build if you want one.")
    request |= dict(map(_parse_parameter, parameters or ()))
    if not is_built_from_values(request):
        return (request, why), read_declared_hierarchy(request, column or "hierarchy")
    return (request, why), build_hierarchy(request, values, name=column or "")


def _require_fit(tree: Any, values: Any, column: str) -> Any:
    """Return how the hierarchy fits the column; refuse if it lacks values."""
    from reticent.cli.hierarchy_tree import fit_hierarchy
    from reticent.errors import HierarchyError

    fit = fit_hierarchy(tree, values)
    if not fit.usable:
        raise HierarchyError(
            f"The hierarchy has no rule for {len(fit.lacking)} of the {fit.distinct} distinct values of {column!r}.",
            why=f"{fit.lacking_rows:,} of {fit.rows:,} rows hold one of them.",
            values=fit.lacking,
            attempt="--show-values to see them, or --missing if they stand for nothing.",
        )
    return fit


def _collect_facts(tree: Any, fit: Any, request: Any, output: Path | None) -> dict[str, Any]:
    groups = [len(set(tree.paths[:, level].tolist())) for level in range(tree.height + 1)]
    facts: dict[str, Any] = {"values": len(tree.leaves), "height": tree.height, "groups": groups}
    if fit is not None:
        facts |= {
            "rows": fit.rows,
            "missing": fit.missing_rows,
            "unused": fit.unused,
            "smallest": list(fit.smallest),
        }
        facts["groups"] = list(fit.levels)
    if request:
        facts |= {
            "hierarchy": {name: _convert_decimals(value) for name, value in request[0].items()},
            "why": request[1],
        }
    return facts | ({"saved": str(output)} if output is not None else {})


def _format_job_text(request: dict[str, Any]) -> str:
    from reticent.job.job import format_toml_value

    return format_toml_value(request)


def _parse_parameter(text: str) -> tuple[str, Any]:
    """Parse `width=[5,10]` as TOML would; what TOML cannot read is a text."""
    import tomllib
    from decimal import Decimal

    from reticent.errors import RequestError

    name, mark, value = text.partition("=")
    if not (name and mark and value):
        raise RequestError(f"--with: {text!r} names no parameter and value.", attempt="--with width=[5,10].")
    try:
        return name, tomllib.loads(f"x = {value}", parse_float=Decimal)["x"]
    except tomllib.TOMLDecodeError:
        return name, value


def _convert_decimals(value: Any) -> Any:
    from decimal import Decimal

    if isinstance(value, list):
        return [_convert_decimals(entry) for entry in value]
    return float(value) if isinstance(value, Decimal) else value
