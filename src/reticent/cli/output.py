"""Output of commands: text and tables for people, one JSON object for machines, and files.

`say*` functions print; `say_findings` prints the result of an audit.  `write_new_file` writes a file whole or not at
all, and never over another one without `force`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reticent.cli.progress import LOG_SETTINGS
from reticent.cli.progress import show_progress as show_progress
from reticent.cli.sanitize import sanitize_json, sanitize_line, sanitize_text
from reticent.errors import OutputExists

VERDICT_SENTENCES = {
    "kept": "Every promise is kept.",
    "broken": "NOT every promise is kept.",
    "undecided": "The files alone do not show every promise.",
    "differs": "No promise is broken, but the release is NOT what its source or job says.",
}
UNDECIDED_SOURCE_SENTENCE = "Every promise is kept, but whether the release is that of its source could not be decided."
SET_ASIDE_SENTENCE = (
    "Every promise is kept by the lines that can be read; what stands in the broken ones was not judged."
)
REREAD_HINT = "A source that is read otherwise than at publication differs too: give --job, or --missing, --delimiter, --encoding."
UNKNOWN_TEXT = "not known (see the notes)"
KEPT_WORDS = {True: "yes", False: "NO", None: "not shown"}


def say(*lines: str) -> None:
    """Print plain lines, never wrapped: paths and digests are there to be copied."""
    print(*map(sanitize_text, lines), sep="\n")


def say_note(line: str) -> None:
    """Print a line for the person at the keyboard that is no part of the result; on stdout if stderr is a log, which travels."""
    print(sanitize_text(line), file=sys.stdout if LOG_SETTINGS.stderr_is_log else sys.stderr)


def say_json(value: Any) -> None:
    print(sanitize_json(json.dumps(value, indent=1, ensure_ascii=False)))


def say_table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, indent: int = 0) -> None:
    """Print a table without lines; as wide as its content if nobody watches, else as the terminal."""
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name in head:
        table.add_column(Text(sanitize_line(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else sanitize_line(str(cell))) for cell in row))
    console = Console(highlight=False, width=None if is_watched(sys.stdout) else 400)
    console.print(Padding(table, (0, 0, 0, indent), expand=False))


def is_watched(stream: Any) -> bool:
    """Tell whether a stream is a terminal; a program may be started without one."""
    return stream is not None and stream.isatty()


def format_number(value: Any) -> str:
    """Format a number for people; other values are unchanged."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def format_headline(report: Mapping[str, Any], lost_promises: str | None = None) -> str:
    """Format the verdict on a release alone; `lost_promises` is what earlier releases of the same people change."""
    stated = report["promises"] or report["verdict"] == "differs"
    verdict = VERDICT_SENTENCES[report["verdict"]] if stated else "No promise was stated."
    if (
        report["verdict"] == "undecided"
        and report["promises"]
        and all(promise["kept"] for promise in report["promises"])
    ):
        verdict = SET_ASIDE_SENTENCE if report.get("set_aside") else UNDECIDED_SOURCE_SENTENCE
    if lost_promises is None:
        return verdict
    return f"Alone, {verdict[0].lower() if verdict[1:2].islower() else verdict[0]}{verdict[1:-1]}; {lost_promises}."


def say_findings(report: Mapping[str, Any], lost_promises: str | None = None) -> None:
    """Print the verdict, what is left of the source, each promise with what was asked and achieved, the measures, and what the source adds."""
    _say_verdict(report, lost_promises)
    if report["promises"]:
        say("")
        say_table(
            ("promise", "asked", "achieved", "kept", "evidence"), map(_format_promise, report["promises"]), indent=2
        )
    _say_measures(report)
    if source := report.get("source"):
        say("", *source["sentences"])
        if not source["passed"]:
            say("", f"The comparison with the source failed. {REREAD_HINT}")
    if report.get("carried"):
        _say_carried(report["carried"])
    for line in report.get("disagreements", ()):
        say("", f"Not as the job says: {line}.")
    for promise in report["promises"]:
        if promise.get("why"):
            say("", f"{promise['model']} is not shown: {promise['why']}.")
    for line in report.get("notes", ()):
        say("", f"Note: {line}")
    if page := report.get("page"):
        say("", page["says"])
    if withdrawal := report.get("withdrawn"):
        say("", withdrawal["says"])
    if identity := report.get("identity"):
        say("", identity["says"])


def _say_verdict(report: Mapping[str, Any], lost_promises: str | None) -> None:
    """Print the title, the counts with the verdict, and what is left of the source."""
    from reticent.audit.result import format_withheld  # the version and help load no kernels

    withheld = format_withheld(report["withheld"], report.get("withheld_before", {}))
    if title := report.get("about", {}).get("title"):
        say(title)
    headline = format_headline(report, lost_promises)
    say(f"{report['rows']:,} rows in {report['groups']:,} groups, {withheld}. {headline}")
    for caveat in report.get("caveats", ()):
        say(caveat)
    if left := report.get("left"):
        say(left["says"])


def _say_carried(carried: Sequence[Mapping[str, Any]]) -> None:
    """Print how well the carried columns single people out, and what goes with them."""
    say("")
    ties = [", ".join(f"{name} {value:.2f}" for name, value in column["association"].items()) for column in carried]
    rows = [
        (column["column"], f"{column['distinct']:,}", f"{column['unique']:.1%}", tie)
        for column, tie in zip(carried, ties, strict=True)
    ]
    say_table(
        ("carried column", "distinct values", "rows with one of their own", "association (Cramer's V)"),
        rows,
        indent=2,
    )


@contextmanager
def write_new_file(target: Path, force: bool) -> Iterator[Path]:
    """Yield a path to write to; the file that is there when the block ends replaces the target."""
    from reticent.ledger import staging

    if target.is_dir() or (target.exists() and not force):
        raise OutputExists(
            f"{target} exists.", attempt="another name" + (" (-o)." if target.is_dir() else " (-o), or --force.")
        )
    with staging.stage_file(target) as path:
        yield path


def _format_promise(entry: Mapping[str, Any]) -> tuple[str, ...]:
    about = f" of {entry['column']}" if entry.get("column") else ""
    return (
        entry["model"] + about,
        _format_pairs(entry["asked"]),
        _format_pairs(entry["achieved"]),
        KEPT_WORDS[entry["kept"]],
        entry["evidence"],
    )


def _say_measures(report: Mapping[str, Any]) -> None:
    """Print every measure; if several columns are sensitive, the worst of them and each column's own."""
    columns: Mapping[str, Mapping[str, Any]] = report.get("achieved_by_column", {})
    utility = {name: UNKNOWN_TEXT if value is None else value for name, value in report.get("utility", {}).items()}
    measures = {**report["achieved"], **utility}
    rows = [
        (
            name,
            _format_measure(value),
            *(
                _format_measure(measures_of_column[name]) if name in measures_of_column else ""
                for measures_of_column in columns.values()
            ),
        )
        for name, value in measures.items()
        if not isinstance(value, Mapping)
    ]
    if rows:
        say("")
        say_table(("measure", "achieved, at worst" if columns else "achieved", *columns), rows, indent=2)


def _format_pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_format_measure(value)}" for name, value in values.items())


def _format_measure(value: Any) -> str:
    if isinstance(value, Mapping):
        return _format_pairs(value)
    if isinstance(value, list):
        return "; ".join(map(_format_measure, value)) or "none"
    return "none holds" if value is None else format_number(value)
