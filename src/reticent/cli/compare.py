"""`reticent compare JOB...`: several methods, promises or parameters on one source, measured side by side.

The module also has what `compare` and `advise` share: checks of output paths, writing and printing of a comparison.
`parse_sweeps` reads `beta=1..5`, `t=0.1..0.5..0.1` and `k=2,5,10` as the values that a parameter is swept over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Annotated, Any

import typer

from reticent.cli.options import Json
from reticent.cli.output import format_number, say, say_table
from reticent.errors import OutputExists, RequestError, pluralize
from reticent.limits import require_moderate_number

EXAMPLE = "reticent compare patients.toml --methods mondrian,burel,beta-perturbation --sweep beta=1..5"
USEFULNESS_COLUMNS = {"loss": "loss", "row_loss": "row loss", "count_error": "count error", "average_error": "average error",
          "average_range": "average range", "accuracy": "accuracy",
          "marginal_error": "marginals", "association_error": "association", "attack_gain": "adversary's gain", "seconds": "CPU s",
          "memory": "memory MB"}  # fmt: skip
MAX_SWEEP_STEPS = 1_000
_SWEEP_EXAMPLE = "--sweep beta=1..5, --sweep t=0.1..0.5..0.1, or --sweep k=2,5,10."


def compare(
    jobs: Annotated[
        list[Path], typer.Argument(metavar="JOB", help="One job file or several of one source.", show_default=False)
    ],
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods", metavar="A,B,...", help="Try these methods; by default each job's own.", show_default=False
        ),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep",
            metavar="NAME=VALUES",
            help="Try every value of a parameter: beta=1..5, t=0.1..0.5..0.1, k=2,5,10; may be repeated.",
            show_default=False,
        ),
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            "--beside",
            metavar="NAME=FILE",
            help="A CSV or Parquet file that another tool made of the same rows; may be repeated.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows", metavar="N", help="Compare on so many rows, drawn at random; by default all.", show_default=False
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", help="How often everything is drawn again, for the spread.")
    ] = 1,
    attacks: Annotated[
        str | None,
        typer.Option(
            "--attacks", metavar="A,B,...|none", help="Which attacks to try; by default all.", show_default=False
        ),
    ] = None,
    no_classification: Annotated[
        bool,
        typer.Option(
            "--no-classification",
            help="Teach no classifiers; otherwise they are taught where the extra `stats` is installed.",
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Of everything that is drawn: nothing here is published.")
    ] = 1,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="SECONDS",
            help="CPU seconds that all of it may take; what there was no time for is named.",
            show_default=False,
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write every figure as a CSV.", show_default=False)
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(
            "--chart",
            metavar="FILE",
            help="Draw the frontier of privacy and utility as SVG; needs the extra `charts`.",
            show_default=False,
        ),
    ] = None,
    privacy: Annotated[
        str, typer.Option("--privacy", metavar="NAME", help="The figure of the chart's height.")
    ] = "attack_gain",
    utility: Annotated[
        str, typer.Option("--utility", metavar="NAME", help="The figure of the chart's width.")
    ] = "count_error",
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    json: Json = False,
) -> None:
    """Measure what each way to publish would reach, lose and cost, beside what anybody could publish without a method.

    Nothing is published and nothing enters the ledger. What is found tells about the source: it stays with you.
    """
    began = process_time()
    from reticent.cli.options import split_names
    from reticent.cli.output import say, say_json, show_progress
    from reticent.compare import compare as compare_jobs
    from reticent.job.job import Job

    require_output_paths({"--csv": csv, "--chart": chart}, force)
    parameters = parse_sweeps(sweep)
    tables = parse_named_files(beside)
    named_jobs = _name_jobs(jobs, Job)
    chosen: Any = () if attacks == "none" else split_names(attacks)
    require_chart_possible(chart, privacy, chosen)
    remaining = (
        None if budget is None else max(budget - (process_time() - began), 0.0)
    )  # loading modules is a part of it
    with show_progress(json) as progress:
        comparison = compare_jobs(
            named_jobs,
            methods=split_names(methods),
            rows=rows,
            runs=runs,
            attacks=chosen,
            seed=seed,
            budget=remaining,
            progress=progress,
            classification=False if no_classification else None,
            tables=tables,
            **parameters,
        )
        svg = None if chart is None else comparison.chart(privacy, utility).svg
    paths = write_texts({csv: None if csv is None else comparison.frame().write_csv(), chart: svg}, force)
    if json:
        say_json(comparison.to_dict())
        return
    print_comparison(comparison)
    say(*(f"{path} written" for path in paths))


def parse_named_files(entries: list[str] | None) -> dict[str, str]:
    """Read `arx=arx.csv` as the table of that name; each file must exist."""
    files = {}
    for entry in entries or []:
        name, mark, path = entry.partition("=")
        if not (name and mark and path):
            raise RequestError("--beside names a table and its file.", attempt="--beside arx=arx.csv.")
        if not Path(path).is_file():
            raise RequestError(f"There is no file {path}.", attempt="a CSV or Parquet file.")
        files[name] = path
    return files


def require_chart_possible(chart: Path | None, privacy: str, attacks: Sequence[str] | None) -> None:
    """Refuse, before anything is measured, a chart that could not be drawn afterwards."""
    if chart is None:
        return
    from reticent.charts import load_altair
    from reticent.compare.compare import PRIVACY_FIGURE

    load_altair()
    if privacy == PRIVACY_FIGURE and attacks is not None and not attacks:
        raise RequestError(
            "The height of the chart is what adversaries gain, and no attack is to be tried.",
            attempt="--privacy and another figure, such as loss, or --attacks with an attack.",
        )


def require_output_paths(paths: Mapping[str, Path | None], force: bool) -> None:
    """Refuse, before anything is measured, outputs inside release folders, and existing files without `force`."""
    from reticent.report.paths import find_enclosing_release, require_new_file

    used = {option: path for option, path in paths.items() if path is not None}
    if len(set(used.values())) < len(used):
        raise RequestError("--csv and --chart name one file.", attempt="a file for each.")
    for option, path in used.items():
        if (holder := find_enclosing_release(path)) is not None:
            raise RequestError(
                f"{path} lies in the release folder {holder}.",
                why="What is compared tells about the source, and a release is handed out whole.",
                attempt=f"another place for {option}.",
            )
        if option == "--chart" and path.suffix.lower() != ".svg":
            raise RequestError(
                f"A chart is drawn as SVG, not as {path.suffix or 'a file without an ending'}.",
                attempt="--chart frontier.svg.",
            )
        require_new_file(path, force)


def write_texts(texts: Mapping[Path | None, str | None], force: bool) -> list[Path]:
    from reticent.ledger import staging

    paths = []
    for path, text in texts.items():
        if path is None or text is None:
            continue
        try:
            with staging.stage_file(path, only_new=not force) as staged:
                staged.write_text(text, encoding="utf-8", newline="\n")
        except FileExistsError:
            raise OutputExists(f"{path} exists by now: another process made it.", attempt="another name.") from None
        paths.append(path)
    return paths


def print_comparison(comparison: Any) -> None:
    """Print what is reached, what adversaries reach, what is lost and what it costs; then what was left out, and why."""
    frame = comparison.frame()
    rows = frame.to_dicts()
    say(f"{comparison.people:,} rows, {pluralize(comparison.runs, 'run')}; nothing was published.", "")
    _print_privacy(comparison.rows)
    _print_attacks(comparison.rows)
    useful = [name for name in USEFULNESS_COLUMNS if name in frame.columns]
    say("", "What is lost, and what it costs. Less is better, of accuracy more.")
    say_table(
        ["name", "kind", *(USEFULNESS_COLUMNS[name] for name in useful)],
        [
            [row["name"], row["kind"] or "-", *(_format_figure(name, row[name]) for name in useful)]
            for row in rows
            if row["reached"]
        ],
    )
    for line in _list_unmeasured(comparison.rows):
        say(line)


def parse_sweeps(entries: list[str] | None) -> dict[str, list[Any]]:
    """Parse each parameter with its values, in the order given."""
    values: dict[str, list[Any]] = {}
    for entry in entries or []:
        name, mark, listed = entry.partition("=")
        if not mark or not name.strip() or not listed.strip():
            raise RequestError("A sweep names a parameter and its values.", attempt=_SWEEP_EXAMPLE)
        if name.strip() in values:
            raise RequestError(f"{name.strip()!r} is swept twice.", attempt="all of its values in one list.")
        values[name.strip().replace("-", "_")] = _parse_values(listed.strip())
    return values


def _name_jobs(paths: list[Path], job: Any) -> Any:
    """Name jobs by their files; by the whole path if two files have one name."""
    if len(paths) == 1:
        return job.read(paths[0])
    stems = [path.stem for path in paths]
    return {path.stem if stems.count(path.stem) == 1 else str(path): job.read(path) for path in paths}


def _print_privacy(rows: Sequence[Mapping[str, Any]]) -> None:
    reached = [row for row in rows if row["reached"]]
    names = list(dict.fromkeys(name for row in reached for name in row.get("privacy", {})))
    say("What an audit measures, a line for each measure.")
    say_table(
        ["measure", *(row["name"] for row in reached)],
        [[name, *(_format_measure(row.get("privacy", {}), name) for row in reached)] for name in names],
    )


def _print_attacks(rows: Sequence[Mapping[str, Any]]) -> None:
    tried = [row for row in rows if row.get("attacks")]
    names = list(dict.fromkeys(name for row in tried for name in row["attacks"]))
    if not names:
        return
    say("", "What adversaries reach: the share of right guesses, beside always naming the most frequent value.")
    say_table(
        ["attack", *(row["name"] for row in tried)],
        [[name, *(_format_guesses(row["attacks"].get(name)) for row in tried)] for name in names],
    )


def _format_figure(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "memory":
        return f"{value / 1e6:.0f}"
    return f"{value:.4f}" if isinstance(value, float) else format_number(value)


def _list_unmeasured(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """List each reason once, with its subjects."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        left_out = dict(row.get("attacks_left_out") or {})
        if why := row.get("classification_left_out"):
            left_out["classification"] = why
        if row["why"]:
            reasons.setdefault(row["why"], {})[row["name"]] = []
        for subject, why in left_out.items():
            reasons.setdefault(why, {}).setdefault(row["name"], []).append(subject)
    return (
        ["", "Not measured:", *(f"- {why} ({_list_subjects(about)})" for why, about in reasons.items())]
        if reasons
        else []
    )


def _parse_values(listed: str) -> list[Any]:
    if ".." not in listed:
        return [_parse_value(part.strip()) for part in listed.split(",") if part.strip()]
    ends = [_parse_number(part) for part in listed.split("..")]
    if len(ends) not in (2, 3) or None in ends:
        raise RequestError(
            "A range of a sweep has a first and a last number, and a step if it is not 1.", attempt=_SWEEP_EXAMPLE
        )
    first, last, step = (*ends, Fraction(1))[:3]
    assert first is not None and last is not None and step is not None
    if step <= 0 or last < first or (last - first) / step >= MAX_SWEEP_STEPS:
        raise RequestError(
            f"A range of a sweep goes up, by {MAX_SWEEP_STEPS:,} steps at the most.", attempt=_SWEEP_EXAMPLE
        )
    return [_simplify_fraction(first + number * step) for number in range(int((last - first) / step) + 1)]


def _format_measure(measures: Mapping[str, Any], name: str) -> str:
    if name not in measures:
        return "-"
    return "none holds" if measures[name] is None else format_number(measures[name])


def _format_guesses(outcome: Mapping[str, Any] | None) -> str:
    return "-" if outcome is None else f"{outcome['success']:.3f} ({outcome['baseline']:.3f})"


def _list_subjects(names: Mapping[str, Sequence[str]]) -> str:
    """List the subjects of a reason, and what was not measured of them; once if it is the same for all."""
    listed = {", ".join(measures) for measures in names.values()}
    if len(listed) == 1:
        (measures,) = listed
        return ", ".join(names) + (f": {measures}" if measures else "")
    return "; ".join(f"{name}: {', '.join(measures)}" if measures else name for name, measures in names.items())


def _parse_value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    number = _parse_number(text)
    return text if number is None else _simplify_fraction(number)


def _parse_number(text: str) -> Fraction | None:
    require_moderate_number(text, "A value of a sweep")
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return None


def _simplify_fraction(number: Fraction) -> Any:
    """Return an integer, or the number as a job file would have it."""
    return int(number) if number == int(number) else number
