"""The committee's document: what a disclosure board decides on, with fields to fill in, and the internal edition behind it.

`build_committee_facts` puts four sections before those of the internal edition: the request, what is decided on, the
findings in short, and the decision with its signatures.  A field of the request is filled where `about` has it (title,
publisher, period, contact, licence, citation, purpose, recipients: what a job says of itself), and is a line to write
on otherwise.  The decision is never filled: it is the committee's.

The document tells what the release keeps back, as the internal edition does, and stays with the owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from reticent.release.bundle import README_FILE
from reticent.release.release import Release
from reticent.report.blocks import Block, make_list, make_section, make_table, make_text
from reticent.report.public import split_readme
from reticent.validation import require_known_options

ABOUT_FIELDS: Mapping[str, str] = {
    "title": "title of the data",
    "publisher": "published by",
    "contact": "contact",
    "period": "period of the data",
    "purpose": "purpose of the release",
    "recipients": "recipients",
    "licence": "licence or terms of use",
    "citation": "to be cited as",
    "earlier": "earlier releases",
}
"""What a job may say of itself, and how the document calls it."""
REQUEST_LINES = ("requested by", "date of the request", "legal basis")
DECISION_LINES = ("who decides", "date of the decision", "decision number", "valid until", "to be reviewed on")
DECISIONS = ("approved", "approved on the conditions below", "sent back for another release", "refused")
WRITTEN_LINES = ("conditions", "reasons")
SIGNATURE_LINES = 3
README_TITLES = ("What is promised", "What is not")
BLANK = "." * 28
BOX = "[ ]"


def build_committee_facts(
    internal: Mapping[str, Any], release: Release, about: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Build the facts of the committee's document.

    Parameters: `internal` are the facts of the internal edition of the same release; `about` has what the committee is
    told beside, or instead of, what the release's own [about] says, by the names of ABOUT_FIELDS. Returns facts that are
    rendered like any edition's. Raises `RequestError` for a name that `about` may not have.
    """
    require_known_options(dict(about or {}), list(ABOUT_FIELDS), "What a committee is told about a release")
    described = {**release.about, **(about or {})}
    title = str(described.get("title") or f"{release.manifest.kind} release of {release.manifest.rows:,} rows")
    return {
        **internal,
        "edition": "committee",
        "title": f"For decision: {title}",
        "lead": [f"Prepared on {date.today().isoformat()} for those who decide.", *internal["lead"]],
        "sections": [
            _build_request_section(described),
            _build_subject_section(release),
            _build_findings_section(internal["sections"]),
            _build_decision_section(),
            *internal["sections"],
        ],
    }


def _build_request_section(about: Mapping[str, Any]) -> dict[str, Any]:
    """Build the section on who asks for the release, and what for; what nobody stated is a line to write on."""
    stated = [(label, _format_stated(about.get(name))) for name, label in ABOUT_FIELDS.items()]
    return make_section(
        "request",
        "The request",
        make_table(
            "Who asks, and what for", ("field", "entry"), [*stated, *((label, BLANK) for label in REQUEST_LINES)]
        ),
    )


def _build_subject_section(release: Release) -> dict[str, Any]:
    """Build the section on what is decided on: the folder by its digest, and what is promised in plain words."""
    manifest = release.manifest
    readme = (release.folder / README_FILE).read_text(encoding="utf-8")
    readme_sections = split_readme(readme)
    limits = [
        part
        for title in README_TITLES
        if title in readme_sections
        for part in (make_text(f"{title}:"), *readme_sections[title]["parts"])
    ]
    rows = [
        ("release folder", release.folder.name),
        ("digest", release.digest),
        ("kind", manifest.kind),
        ("method", manifest.method.name),
        ("promises", ", ".join(promise.name for promise in manifest.promises)),
        ("rows published", manifest.rows),
        ("rows withheld", manifest.withheld),
        ("made with a fixed seed, not for publication", bool(manifest.seeded)),
    ]
    return make_section(
        "subject",
        "What is decided on",
        make_text("The decision is about the folder with this digest, and about no other: reticent audit compares it."),
        make_table("The release", ("what", "value"), rows),
        *limits,
    )


def _build_findings_section(sections: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Build the section with the findings in short: promises, risks, the strongest attacks; the annex has the rest."""
    promises = _find_rows(sections, "recount", "Promises")
    risks = _find_rows(sections, "risks", "Re-identification")
    attacks = _find_rows(sections, "attacks", "Adversaries that were tried")
    strongest = sorted(attacks, key=lambda row: (row[3] or 0) - max(row[4] or 0, row[5] or 0), reverse=True)[:3]
    parts: list[Block | None] = [
        make_table(
            "Promises, recounted against the source",
            ("promise", "asked", "reached", "kept"),
            [(row[0], row[2], row[3], row[4]) for row in promises],
        )
        if promises
        else make_text("No promise is stated."),
        make_table("Re-identification, before and after", ("measure", "source", "release"), risks) if risks else None,
        make_table(
            "The attacks that gain most over guessing and over their control",
            ("attack", "success", "baseline", "control", "a promise speaks of it"),
            [(row[0], row[3], row[4], row[5], row[8]) for row in strongest],
        )
        if strongest
        else make_text("No attack applies to this release."),
        make_text("Questions for the committee:"),
        make_list(
            [
                f"{BOX} Is every promise kept, and is it the right one for these recipients?",
                f"{BOX} Is the risk that is left proportionate to the purpose?",
                f"{BOX} Does an attack succeed of which no promise speaks, and is that accepted?",
                f"{BOX} What earlier releases of the same people exist, and what do they say together?",
                f"{BOX} Is what is left useful for the purpose, or is the release without use?",
            ]
        ),
    ]
    return make_section("findings", "Findings in short", *parts)


def _build_decision_section() -> dict[str, Any]:
    """Build the section that the committee fills in."""
    return make_section(
        "decision",
        "Decision",
        make_list(f"{BOX} {decision}" for decision in DECISIONS),
        make_table(
            "To be filled in", ("field", "entry"), [(label, BLANK) for label in (*DECISION_LINES, *WRITTEN_LINES)]
        ),
        make_table(
            "Signatures", ("name", "function", "date", "signature"), [(BLANK,) * 4 for _ in range(SIGNATURE_LINES)]
        ),
        make_text("What follows is the internal edition of the report, as an annex."),
    )


def _find_rows(sections: Sequence[Mapping[str, Any]], name: str, caption: str) -> list[list[Any]]:
    """Find the rows of a table of the internal edition by its section and caption; none if there is no such table."""
    for section in sections:
        for part in section["parts"] if section["id"] == name else ():
            if part.get("table", {}).get("caption") == caption:
                return list(part["table"]["rows"])
    return []


def _format_stated(value: Any) -> str:
    """Format what a job states: several entries in one line; a line to write on if it states nothing."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or BLANK
    return BLANK if value in (None, "") else str(value)
