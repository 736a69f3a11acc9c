"""`reticent compare JOB...`: several methods, promises or parameters on one source, measured side by side."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Annotated, Any

import typer

from reticent.cli.options import Json

EXAMPLE = "reticent compare patients.toml --methods mondrian,burel,beta-perturbation --sweep beta=1..5"


def compare(
    jobs: Annotated[list[Path], typer.Argument(metavar="JOB", help="One job file or several of one source.", show_default=False)],
    methods: Annotated[str | None, typer.Option("--methods", metavar="A,B,...", help="Try these methods; by default each job's own.", show_default=False)] = None,
    sweep: Annotated[list[str] | None, typer.Option("--sweep", metavar="NAME=VALUES", help="Try every value of a parameter: beta=1..5, t=0.1..0.5..0.1, k=2,5,10; may be repeated.", show_default=False)] = None,
    beside: Annotated[list[str] | None, typer.Option("--beside", metavar="NAME=FILE", help="A CSV or Parquet file that another tool made of the same rows; may be repeated.", show_default=False)] = None,
    rows: Annotated[int | None, typer.Option("--rows", metavar="N", help="Compare on so many rows, drawn at random; by default all.", show_default=False)] = None,
    runs: Annotated[int, typer.Option("--runs", metavar="N", help="How often everything is drawn again, for the spread.")] = 1,
    attacks: Annotated[str | None, typer.Option("--attacks", metavar="A,B,...|none", help="Which attacks to try; by default all.", show_default=False)] = None,
    no_classification: Annotated[bool, typer.Option("--no-classification", help="Teach no classifiers; otherwise they are taught where the extra `stats` is installed.")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of everything that is drawn: nothing here is published.")] = 1,
    budget: Annotated[float | None, typer.Option("--budget", metavar="SECONDS", help="CPU seconds that all of it may take; what there was no time for is named.", show_default=False)] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write every figure as a CSV.", show_default=False)] = None,
    chart: Annotated[Path | None, typer.Option("--chart", metavar="FILE", help="Draw the frontier of privacy and utility as SVG; needs the extra `charts`.", show_default=False)] = None,
    privacy: Annotated[str, typer.Option("--privacy", metavar="NAME", help="The figure of the chart's height.")] = "attack_gain",
    utility: Annotated[str, typer.Option("--utility", metavar="NAME", help="The figure of the chart's width.")] = "count_error",
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    json: Json = False,
) -> None:  # fmt: skip
    """Measure what each way to publish would reach, lose and cost, beside what anybody could publish without a method.

    Nothing is published and nothing enters the ledger. What is found tells about the source: it stays with you.
    """
    began = process_time()
    from reticent.cli.columns import names
    from reticent.cli.comparing import named_files, refuse_chart, refuse_places, show, write
    from reticent.cli.printing import say, say_json, stages
    from reticent.cli.sweeping import swept
    from reticent.compare import compare as measured
    from reticent.job import Job

    refuse_places({"--csv": csv, "--chart": chart}, force)
    parameters, tables = swept(sweep), named_files(beside)
    read = _named(jobs, Job)
    chosen: Any = None if attacks is None else () if attacks == "none" else names(attacks)
    refuse_chart(chart, privacy, chosen)
    left = None if budget is None else max(budget - (process_time() - began), 0.0)  # loading modules is a part of it
    with stages(json) as progress:
        found = measured(
            read, methods=names(methods), rows=rows, runs=runs, attacks=chosen, seed=seed, budget=left, progress=progress,
            classification=False if no_classification else None, tables=tables, **parameters,
        )  # fmt: skip
        drawn = None if chart is None else found.chart(privacy, utility).svg
    written = write({csv: None if csv is None else found.frame().write_csv(), chart: drawn}, force)
    if json:
        say_json(found.to_dict())
        return
    show(found)
    say(*(f"{path} written" for path in written))


def _named(paths: list[Path], job: Any) -> Any:
    """Jobs by the names of their files; the whole path where two files have one name."""
    if len(paths) == 1:
        return job.read(paths[0])
    stems = [path.stem for path in paths]
    return {path.stem if stems.count(path.stem) == 1 else str(path): job.read(path) for path in paths}
