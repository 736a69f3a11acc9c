"""The public edition's facts: a function of the folder alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reticent.audit.audit import audit
from reticent.errors import RequestError
from reticent.opened import Release
from reticent.release import bundle
from reticent.release.manifest import Described
from reticent.release.parts import grouped, pattern
from reticent.report.distributions import published
from reticent.report.parts import Part, code, listed, plain, said, section, table, text
from reticent.report.readme import READING, sections, title_of

VERDICT = {
    "kept": "Every promise is kept, as a recount of the files by formulas of its own finds.",
    "broken": "NOT every promise is kept, as a recount of the files finds.",
    "differs": "The release is NOT what it says.",
    "undecided": "No promise is found broken. The files alone do not show every one: the table says which, and why.",
}
MEASURED = {
    "alpha": "alpha: the greatest share of one value in a group",
    "ail": "ail: mean information loss of a label, from 0 to 1",
    "ail_by_column": "the same by column",
    "dm": "dm: squared group sizes, added up, with a penalty for rows withheld",
    "dm_star": "dm_star: the same without it",
    "c_avg": "c_avg: mean group size, over k where k is promised",
    "precision": "precision: how little labels climb their hierarchies, from 0 to 1",
    "entropy": "entropy: bits that labels hide, all rows together",
    "rce": "rce: squared error of reading a row as its group's shares",
    "retention": "retention: the chance that a value was kept",
    "sum_of_ranges": "sum_of_ranges: the widths of all published values",
    "fakes": "fakes: their share of the published values",
}
"""Names that say little by themselves; the others are explained where promises are."""
KEPT = {True: "yes", False: "NO", None: "not shown by the files"}


def facts(release: Release) -> dict[str, Any]:
    """Everything that the public edition says."""
    found = audit(release.folder).to_dict()
    readme = (release.folder / bundle.README).read_text(encoding="utf-8")
    said_there = sections(readme)
    reading = said_there.pop(READING)
    first = [said_there.pop(name) for name in list(said_there)[:1]]  # what is promised
    return {
        "edition": "public",
        "title": title_of(readme),
        "digest": release.digest,
        "lead": _lead(release, found),
        "sections": [*first, done(release), recounted(found), reading, _use(release), *said_there.values(),
                     published(release), _files(release)],
    }  # fmt: skip


def _lead(release: Release, found: Mapping[str, Any]) -> list[str]:
    seeded = ["Not for publication: this release was made with a fixed seed, for tests and studies."]
    return [
        *(seeded if release.manifest.seeded else ()),
        VERDICT[found["verdict"]] if found["promises"] else "No promise is stated.",
        "This page is made from the release folder alone, and anybody who has the folder can make it again, byte for byte, with "
        f"reticent {release.manifest.reticent}: reticent report FOLDER.",
    ]


def done(release: Release) -> dict[str, Any]:
    manifest = release.manifest
    steps = [("method", manifest.method), *(("stage before it", stage) for stage in manifest.prepare)]
    made = [(what, one.name, _parameters(one)) for what, one in steps]
    made += [("promise", promise.name, _parameters(promise)) for promise in manifest.promises]
    columns = [(column.name, column.role, column.type, column.dtype) for column in manifest.columns]
    return section(
        "done", "What was done",
        text(f"{manifest.rows:,} rows are published and {manifest.withheld:,} were withheld; the release is of the kind {manifest.kind}."),
        table("How it was made", ("what", "name", "parameters"), made),
        table("Columns that are published", ("column", "role", "type", "stored as"), columns),
    )  # fmt: skip


def _parameters(one: Described) -> str:
    return said(one.parameters) or "none"


def recounted(found: Mapping[str, Any]) -> dict[str, Any]:
    """What an audit says, as tables."""
    promises = [
        (one["model"], one.get("column"), said(one["asked"]), said(one["achieved"]), KEPT[one["kept"]], one.get("why") or one["evidence"])
        for one in found["promises"]
    ]  # fmt: skip
    measures = {**found["achieved"], **found["utility"]}
    rows = [(MEASURED.get(name, name), said(value)) for name, value in measures.items()]
    return section(
        "recount", "What a recount of the files finds",
        text(f"{found['rows']:,} rows stand in {found['groups']:,} groups."),
        table("Promises", ("promise", "of column", "asked", "reached", "kept", "evidence"), promises) if promises else None,
        _risk(found["risk"]) if "risk" in found else None,
        table("Every measure, promised or not; - where none holds", ("measure", "reached"), rows),
        listed(f"{note[:1].upper()}{note[1:]}." if not note.endswith(".") else note for note in found["notes"]) if found.get("notes") else None,
    )  # fmt: skip


def _risk(risk: Mapping[str, Any]) -> Part:
    prosecutor, most = risk["prosecutor"], risk.get("rows_per_person", 1)
    alone = "rows that are alone with what they show" if most == 1 else "groups that may be of one person alone"
    rows = [
        ("highest risk of a row to be told from all others", prosecutor["highest"]),
        ("average risk", prosecutor["average"]),
        (f"rows with a risk above {said(risk['threshold'])}", prosecutor["at_risk"]),
        (alone, risk["sample_uniques"]),
    ]
    several = "" if most == 1 else f"; people are counted, who have up to {most:,} rows each"
    return table(
        f"Risk of re-identification by the quasi-identifiers{several}",
        ("measure", "value"),
        [(name, plain(value)) for name, value in rows],
    )


def _use(release: Release) -> dict[str, Any]:
    shell = [f"reticent audit . --expect-digest {release.digest}"]
    python = [
        "import reticent as rt",
        "",
        'release = rt.open(".")',
        "frame = release.frame(bounds=True)",
        "print(frame.head())",
    ]
    if (question := _question(release)) is not None:
        shell.append(f'reticent query . "{question}"')
        python.append(f'print(release.query("{question}"))')
    return section(
        "use", "How to use it",
        text("Run these lines in the release folder. The first compares it with the digest on this page, which proves something where the page came from the publisher and not with the folder."),
        code(shell, "sh"),
        code(python, "python"),
        text("Without reticent, the data files are read as any others:"),
        code(list(_plainly(release)), "python"),
    )  # fmt: skip


def _question(release: Release) -> str | None:
    """A question that this release answers; None where it answers none."""
    question = "SELECT COUNT(*) FROM release"
    try:
        release.query(question)
    except RequestError:
        return None
    return question


def _plainly(release: Release) -> Iterator[str]:
    yield "import polars as pl"
    yield ""
    for name, files in grouped(release.manifest.data).items():
        how = "read_csv" if files[0].endswith(".csv") else "read_parquet"
        yield f'{name} = pl.{how}("{pattern(files)}")'


def _files(release: Release) -> dict[str, Any]:
    files = [(name, facts["bytes"], facts["sha256"]) for name, facts in sorted(release.manifest.files.items())]
    return section(
        "checksums", "Checksums",
        text(f"The digest of the release is {release.digest}: the SHA-256 of its manifest.json, which holds those of all other files. "
             "A digest that was got from the publisher, and not with the folder, shows that nobody changed it."),
        table("Files", ("file", "bytes", "SHA-256"), files),
        text(f"Made with reticent {release.manifest.reticent}."),
    )  # fmt: skip
