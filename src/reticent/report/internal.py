"""The internal edition's facts: what the release and its source say together, for the owner alone."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from reticent.attacks.seen import counted
from reticent.audit.audit import audit
from reticent.audit.risk import risk_before
from reticent.errors import RequestError
from reticent.opened import Release
from reticent.owner.ledger import Ledger
from reticent.owner.places import notes_of
from reticent.owner.reading import JOB, reading_of
from reticent.owner.together import lost_together, no_longer_promised
from reticent.report import groups
from reticent.report.attacked import attacked
from reticent.report.distributions import published
from reticent.report.parts import Part, code, listed, plain, said, section, table, text
from reticent.report.public import done, recounted
from reticent.report.usefulness import losses, questions
from reticent.step import Step, within
from reticent.table.cells import Cells

PACKAGES = ("reticent", "numpy", "polars", "pyarrow", "randomgen", "altair", "vl-convert-python")
LONGEST = 20_000  # letters of a job


def facts(
    release: Release,
    source: Any,
    missing: tuple[str, ...],
    progress: Callable[[str], None],
    budget: float | None = None,
) -> dict[str, Any]:
    """Everything that the internal edition says; attacks take about `budget` CPU seconds at the most."""
    read, frame = reading_of(release, source, missing=missing)
    data = read if frame is None else frame
    progress(Step("auditing against the source", 0))
    found = audit(release, source=data, missing=missing).to_dict()
    progress(Step("measuring risks", 0.15))
    before = risk_before(release, data, missing=read.missing).to_dict()
    progress(Step("counting the source", 0.25))
    cells = _counted(release, data, read.missing)
    seen = cells if isinstance(cells, str) else _seen(release, cells)
    return {
        "edition": "internal",
        "title": f"{release.manifest.kind.capitalize()} release of {release.manifest.rows:,} rows: for its owner",
        "digest": release.digest,
        "lead": [
            "Never to be handed out: this page tells what the release keeps back.",
            *_together(release),
            *found.get("source", {}).get("sentences", ()),
        ],
        "sections": [
            recounted(found), _risks(before, found.get("risk")), attacked(release, data, read.missing, within(progress, 0.3, 0.8), budget),
            *groups.sections(seen, cells), losses(release, found, cells), questions(release, cells), published(release),
            done(release), _parameters(release), _environment(), _earlier(release),
        ],
    }  # fmt: skip


def _counted(release: Release, data: Any, missing: tuple[str, ...]) -> Cells | str:
    """The source's cells; the reason, as a text, where the release has no sensitive column or several."""
    sensitive = len(release.manifest.named("sensitive"))
    if sensitive != 1:
        return f"This is told of releases with one sensitive column; this one has {sensitive or 'none'}."
    return counted(release.columns, data, missing)


def _seen(release: Release, cells: Any) -> Any:
    """What an adversary sees; the reason, as a text, where the kind shows nothing of the kind."""
    try:
        return release.sight(cells)
    except RequestError as error:
        return error.what


def _risks(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> dict[str, Any]:
    several = before.get("rows_per_person", 1) > 1 or (after or {}).get("rows_per_person", 1) > 1
    columns = zip(_measures(before), _measures(after), strict=True)
    names = (
        "rows",
        "people",
        "combinations of quasi-identifiers",
        "highest risk of a row",
        "average risk",
        f"rows with a risk above {said(before['threshold'])}",
        "people with such a row",
        "combinations of one person alone" if several else "rows that are alone",
    )
    rows = [(name, plain(source), plain(release)) for name, (source, release) in zip(names, columns, strict=True)]
    telling = [(" and ".join(one["columns"]), one["distinction"], one["separation"]) for one in before["columns"][:10]]
    return section(
        "risks", "Risks before and after",
        text(_what_is_counted(before, after)),
        table("Re-identification", ("measure", "source", "release"),
              [row for row in rows if several or not row[0].startswith("people")]),
        table("Which columns of the source tell people apart", ("columns", "distinction", "separation"), telling),
    )  # fmt: skip


def _measures(found: Mapping[str, Any] | None) -> list[Any]:
    """What is measured of a table, in the order of the rows that name it; no people where they were not counted."""
    if found is None:
        return [None] * 8
    prosecutor, people = found["prosecutor"], found.get("people", {})
    return [
        found["rows"],
        people.get("count"),
        found["groups"],
        prosecutor["highest"],
        prosecutor["average"],
        prosecutor["at_risk"],
        people.get("at_risk"),
        found["sample_uniques"],
    ]


def _what_is_counted(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> str:
    most = (after or before).get("rows_per_person", 1)
    if most == 1 and "people" not in before:
        return "The risk of a row is one divided by how many rows read the same in every quasi-identifier."
    counted = "" if "people" in before else " So it is in the source, where no column says whose a row is."
    return (
        "The risk of a row is one divided by how many people have rows that read the same in every quasi-identifier. The release "
        f"does not say whose a row is: its rows are taken to be those of as few people as can be, {most:,} of each.{counted}"
    )


def _parameters(release: Release) -> dict[str, Any]:
    """The job as the owner's folder keeps it."""
    words = release.job_text
    for notes in notes_of(Path(release.folder).resolve()):
        if words is None and (notes / JOB).is_file():
            words = (notes / JOB).read_text(encoding="utf-8")
    if words is None:
        return section("job", "The job", text("The owner's folder beside the release keeps no job of it."))
    more = text(f"{len(words) - LONGEST:,} more characters stand in {JOB} of the owner's folder.")
    return section(
        "job", "The job", code(words[:LONGEST].rstrip().split("\n"), "toml"), more if len(words) > LONGEST else None
    )


def _environment() -> dict[str, Any]:
    rows: list[tuple[str, str]] = [("python", platform.python_version()), ("system", platform.platform())]
    rows.append(("processors", str(os.cpu_count())))
    for name in PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return section("environment", "Environment", table("Where this page was made", ("what", "version"), rows))


def _together(release: Release) -> list[str]:
    """What no longer holds where earlier releases of the same people are out, as one line."""
    lost = lost_together(Ledger.of().together_with(Path(release.folder)))
    return [] if lost is None else [f"What is found below is of this release alone; {lost}."]


def _earlier(release: Release) -> dict[str, Any]:
    """What earlier releases of the same people change, as the ledger notes them."""
    noted = Ledger.of().together_with(Path(release.folder))
    parts: list[Part] = [text("The ledger knows no other release of these people." if noted else
                              "The ledger does not know this release: it was published with another, or elsewhere.")]  # fmt: skip
    if lost := no_longer_promised(noted):
        rows = [(entry["release"], entry["at"], entry["rows"], entry["digest"]) for entry in noted]
        parts = [listed(lost), table("Releases of these people", ("release", "published", "rows", "digest"), rows)]
    return section("earlier", "Earlier releases of the same people", *parts)
