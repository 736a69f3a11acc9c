"""`reticent demo`: the main job end to end on built-in data, and where to look next."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from reticent.cli.options import Json
from reticent.progress import ProgressEvent, scale_progress

EXAMPLE = "reticent demo --to demo"
QUESTION = "SELECT COUNT(*) FROM release WHERE age BETWEEN 30 AND 39"
ADVERSARIES = ("skewness", "naive-bayes")
DEMO_MARK = "# Made by `reticent demo`"
JOB_TEXT = f"""{DEMO_MARK}: publish it yourself, or change a promise and see what happens.
[source]
path = "census.csv"

[columns]
age            = {{ role = "quasi-identifying", type = "numeric" }}
gender         = {{ role = "quasi-identifying" }}
education      = {{ role = "quasi-identifying", type = "numeric" }}
marital_status = {{ role = "quasi-identifying", hierarchy = "hierarchies/marital_status.csv" }}
work_class     = {{ role = "quasi-identifying", hierarchy = "hierarchies/work_class.csv" }}
salary_class   = {{ role = "sensitive", type = "numeric" }}

[[promise]]
model = "k-anonymity"
k     = 10

[[promise]]
model = "beta-likeness"
beta  = 4

[method]
name = "mondrian"
"""


def demo(
    to: Annotated[
        Path,
        typer.Option("--to", metavar="FOLDER", help="The folder to write to; an earlier demo in it is overwritten."),
    ] = Path("demo"),
    rows: Annotated[
        int, typer.Option("--rows", metavar="N", help="How many people the census generator makes.")
    ] = 20_000,
    json: Json = False,
) -> None:
    """Publish a made-up census, audit, attack and ask it, write its report, and say where to look next."""
    from reticent.cli.output import say_json, show_progress
    from reticent.job.job import Job
    from reticent.publish import publish

    with show_progress(json) as progress, _make_fresh_folder(to):
        before = _write_census(to, rows, progress)
        release = publish(
            Job.read(to / "job.toml"),
            to=to / "release",
            ledger=to / "ledger",
            progress=scale_progress(progress, 0.2, 0.6),
        )
        results = _try_release(release, to, progress)
        after = release.frame().head(6)
    if json:
        say_json({"folder": str(to), "release": str(to / "release"), "digest": release.digest, **results})
        return
    _say_tables(to, rows, before, after)
    _say_findings(results)
    _say_next(to, results["report"])


@contextmanager
def _make_fresh_folder(to: Path) -> Iterator[None]:
    """Make an empty folder; an earlier demo is replaced, and a failure leaves none."""
    from reticent.errors import OutputExists
    from reticent.format.folder import translate_disk_errors

    job = to / "job.toml"
    earlier = job.is_file() and job.read_text(encoding="utf-8", errors="replace").startswith(DEMO_MARK)
    if to.exists() and not earlier and (to.is_file() or any(to.iterdir())):
        raise OutputExists(f"{to} exists and is no earlier demo.", attempt="--to with another folder.")
    with translate_disk_errors(to):
        if to.exists():
            shutil.rmtree(to)
        to.mkdir()
    try:
        yield
    except BaseException:
        shutil.rmtree(to, ignore_errors=True)
        raise


def _write_census(to: Path, rows: int, progress: Any) -> Any:
    import polars as pl

    from reticent import datasets
    from reticent.format.folder import translate_disk_errors

    progress(ProgressEvent("making a census", 0))
    with translate_disk_errors(to):
        people = datasets.load("census", rows, 1).cast({pl.Enum: pl.String})
        people.write_csv(to / "census.csv")
        datasets.write_hierarchies("census", str(to / "hierarchies"))
        (to / "job.toml").write_text(JOB_TEXT, encoding="utf-8", newline="\n")
    return people


def _try_release(release: Any, to: Path, progress: Any) -> dict[str, Any]:
    """Audit and attack the release, ask a question and write the report; return the results."""
    from reticent import catalogue
    from reticent.attacks import attack
    from reticent.audit import audit

    folder = to / "release"
    source = str(to / "census.csv")
    progress(ProgressEvent("auditing against the source", 0.6))
    results = audit(folder, source=source, expect_digest=release.digest).to_dict()
    promised = [promise.name for promise in release.manifest.promises]
    results["attacks"] = []
    for number, name in enumerate(ADVERSARIES):
        progress(ProgressEvent(f"attacking as {name}", 0.7 + 0.2 * number / len(ADVERSARIES)))
        speaking = catalogue.ATTACKS[name].select_promises(promised)
        results["attacks"].append({**attack(folder, source, name).to_dict(), "spoken_of_by": speaking})
    return {
        **results,
        "question": QUESTION,
        "answer": _ask_question(release),
        "report": str(_write_report(release, to, progress)),
    }


def _say_tables(to: Path, rows: int, before: Any, after: Any) -> None:
    from reticent.cli.output import say, say_table

    say(f"Six of {rows:,} people (made up) in {to / 'census.csv'}:", "")
    say_table(before.columns, before.head(6).rows(), indent=2)
    say("", f"Six rows of {to / 'release'}, in an order that says nothing about the source's:", "")
    say_table(after.columns, after.rows(), indent=2)


def _say_findings(results: dict[str, Any]) -> None:
    from reticent.cli.output import format_number, say, say_findings, say_table

    say("", "What was promised, and what a recount of the published files finds:", "")
    say_findings(results)
    say(
        "",
        "What two adversaries reach who know everybody's quasi-identifiers; the baseline guesses the most frequent value:",
        "",
    )
    fields = ("attack", "success", "baseline", "worst_posterior")
    rows = [
        [*(format_number(outcome[name]) for name in fields), ", ".join(outcome["spoken_of_by"]) or "none"]
        for outcome in results["attacks"]
    ]
    say_table(("attack", "success", "baseline", "highest belief", "promise that speaks of it"), rows, indent=2)
    answer = results["answer"]
    answer_text = (
        answer
        if isinstance(answer, str)
        else ", ".join(f"{name} {format_number(value)}" for name, value in answer.items())
    )
    say("", f"A question to the release: {results['question']}", f"  {answer_text}")


def _say_next(to: Path, report: str) -> None:
    from reticent.cli.output import say

    say(
        "",
        "Where to look next:",
        f"  {report}  one page about the release: open it in a browser",
        f"  {to / 'release' / 'README.md'}  what the recipient is told",
        f"  {to / 'job.toml'}  the request; change beta and run",
        f"      reticent check {to / 'job.toml'}",
        f"      reticent publish {to / 'job.toml'} -o {to / 'second'} --again --ledger {to / 'ledger'}",
        f"  {to / 'reticent-owner'}  what stays with you: digest, audit, job, and with --internal your own report",
        f"  {to / 'ledger'}  which people were published (of your own data it is in your state folder)",
        f"      reticent audit {to / 'release'} --source {to / 'census.csv'}",
        f"      reticent attack {to / 'release'} --source {to / 'census.csv'} --as naive-bayes",
    )


def _ask_question(release: Any) -> Any:
    from reticent.errors import RequestError

    try:
        return release.query(QUESTION).to_dict()
    except RequestError as error:
        return error.what


def _write_report(release: Any, to: Path, progress: Any) -> Path:
    """Write the public page."""
    from reticent.format.folder import translate_disk_errors
    from reticent.report import report

    progress(ProgressEvent("writing a report", 0.9))
    page = report(release)
    target = to / "report.html"
    with translate_disk_errors(to):
        target.write_text(page.html(), encoding="utf-8", newline="\n")
    return target
