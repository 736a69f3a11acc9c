"""`reticent demo`: the main job end to end on built-in data, and where to look next."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.options import Json

EXAMPLE = "reticent demo --to demo"

MARK = "# Made by `reticent demo`"
JOB = f"""{MARK}: publish it yourself, or change a promise and see what happens.
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
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The folder to write to; an earlier demo in it is overwritten.")] = Path("demo"),
    rows: Annotated[int, typer.Option("--rows", help="How many people the census generator makes.")] = 20_000,
    json: Json = False,
) -> None:  # fmt: skip
    """Publish a made-up census, audit it against its source, and say where to look next."""
    import polars as pl

    from reticent import datasets
    from reticent.audit import audit
    from reticent.cli.findings import say_findings
    from reticent.cli.printing import say, say_json, say_table, stages
    from reticent.job import Job
    from reticent.publish import publish
    from reticent.release.disk import writing

    with stages(json) as progress, _made_anew(to):
        progress("making a census")
        with writing(to):
            before = datasets.load("census", rows, 1).cast({pl.Enum: pl.String})
            before.write_csv(to / "census.csv")
            datasets.write_hierarchies("census", str(to / "hierarchies"))
            (to / "job.toml").write_text(JOB, encoding="utf-8")
        release = publish(Job.read(to / "job.toml"), to=to / "release", ledger=to / "ledger", progress=progress)
        after, digest = release.frame().head(6), release.digest
        progress("auditing against the source")
        found = audit(to / "release", source=str(to / "census.csv"), expect_digest=digest).to_dict()
    if json:
        say_json({"folder": str(to), "release": str(to / "release"), "digest": digest, **found})
        return
    say(f"Six of {rows:,} people (made up) in {to / 'census.csv'}:", "")
    say_table(before.columns, before.head(6).rows(), indent=2)
    say("", f"Six rows of {to / 'release'}, in an order that says nothing about the source's:", "")
    say_table(after.columns, after.rows(), indent=2)
    say("", "What was promised, and what a recount of the published files finds:", "")
    say_findings(found)
    say("", "Where to look next:",
        f"  {to / 'release' / 'README.md'}  what the recipient is told",
        f"  {to / 'job.toml'}  the request; change beta and run",
        f"      reticent check {to / 'job.toml'}",
        f"      reticent publish {to / 'job.toml'} -o {to / 'second'} --again --ledger {to / 'ledger'}",
        f"  {to / 'reticent-owner'}  what stays with you: digest, audit, job",
        f"  {to / 'ledger'}  which people were published (of your own data it is in your state folder)",
        f"      reticent audit {to / 'release'} --source {to / 'census.csv'}")  # fmt: skip


@contextmanager
def _made_anew(to: Path) -> Iterator[None]:
    """An empty folder; an earlier demo makes room for it, and a failure leaves none."""
    from reticent.errors import OutputExists
    from reticent.release.disk import writing

    job = to / "job.toml"
    earlier = job.is_file() and job.read_text(encoding="utf-8", errors="replace").startswith(MARK)
    if to.exists() and not earlier and (to.is_file() or any(to.iterdir())):
        raise OutputExists(f"{to} exists and is no earlier demo.", attempt="--to with another folder.")
    with writing(to):
        if to.exists():
            shutil.rmtree(to)
        to.mkdir()
    try:
        yield
    except BaseException:
        shutil.rmtree(to, ignore_errors=True)
        raise
