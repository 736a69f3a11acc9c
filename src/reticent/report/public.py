"""Facts of the public edition of the report: a function of the release folder alone.

The release's README gives sections of the report: for every kind it states what is promised, what is not, and how to
read the data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from reticent.audit.audit import audit
from reticent.errors import RequestError, pluralize
from reticent.format.data_files import format_file_pattern, group_files_by_table
from reticent.format.manifest import ComponentEntry, Manifest
from reticent.labels.label_loss import format_kept_share
from reticent.release import bundle
from reticent.release.kind import reader_for
from reticent.release.readme import ABOUT_NAMES, describe_release, explain_withheld_rows, format_said
from reticent.release.release import Release
from reticent.report.blocks import (
    Block,
    convert_to_plain,
    format_value,
    make_code,
    make_list,
    make_section,
    make_table,
    make_text,
)
from reticent.report.distributions import build_distribution_section
from reticent.report.pictures import build_picture_sections

READING_TITLE = "How to read the data"
PROMISES_TITLE = "What is promised"
ASKING_TITLE = "How to ask it"
LIMITS_TITLE = "What is not"
VERDICTS = {
    "kept": (
        "Every promise is kept.",
        "Recounted from the published files, by formulas that the making of them did not use.",
    ),
    "broken": ("NOT every promise is kept.", "So a recount of the published files finds."),
    "differs": ("The release is NOT what it says.", "So a recount of the published files finds."),
    "undecided": (
        "No promise is found broken.",
        "The files alone do not show every one: the table of promises says which, and why.",
    ),
    "none": ("No promise is stated.", "What a recount of the published files finds is below."),
}
"""The headline of each verdict, and the sentence that says who found it."""
MEASURE_EXPLANATIONS = {
    "alpha": "alpha: the greatest share of one value in a group",
    "ail": "ail: the loss, from 0 (exact) to 1 (`*` everywhere); a row keeps 1 - ail",
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
    "published_share": "published_share: the share of people of whom a row is published",
    "rows_per_group": "rows_per_group: how many rows of a group are published, on average",
}
"""Explanations of measures whose names are not clear by themselves; the others are explained with the promises."""
KEPT_WORDS = {True: "yes", False: "NO", None: "not shown by the files"}


def split_readme(readme: str) -> dict[str, dict[str, Any]]:
    """Split a README into sections by title.

    The text before the first is on how to read the data, unless a section is, as in all editions but the first.
    """
    lead, *rest = re.split(r"^## ", readme.partition("\n")[2], flags=re.MULTILINE)
    bodies = {READING_TITLE: lead}
    for section in rest:
        name, _, body = section.partition("\n")
        bodies[name.strip()] = body
    return {
        name: make_section(_make_section_id(name), name, {"markdown": body.strip()}) for name, body in bodies.items()
    }


def build_public_facts(release: Release) -> dict[str, Any]:
    """Build all facts of the public edition."""
    report = audit(release.folder).to_dict()
    readme = (release.folder / bundle.README_FILE).read_text(encoding="utf-8")
    readme_sections = split_readme(readme)
    reading = readme_sections.pop(READING_TITLE)
    promised = readme_sections.pop(PROMISES_TITLE)
    limits = readme_sections.pop(LIMITS_TITLE, None)
    asking = readme_sections.pop(ASKING_TITLE, None)
    return {
        "edition": "public",
        "title": release.about.get("title") or describe_release(release.manifest),
        "digest": release.digest,
        "verdict": build_verdict(report),
        "figures": build_key_figures(release, report),
        "lead": _build_lead(release),
        "sections": [
            *build_about_sections(release),
            *build_picture_sections(release, report),
            *_build_promise_sections(promised, limits),
            reading,
            *(() if asking is None else (asking,)),
            _build_usage_section(release, with_questions=asking is None),
            *readme_sections.values(),
            fold_section(build_recount_section(report)),
            fold_section(build_method_section(release)),
            fold_section(build_distribution_section(release)),
            fold_section(_build_checksum_section(release)),
        ],
    }


def fold_section(section: dict[str, Any]) -> dict[str, Any]:
    """Mark a section as one that a page shows folded, after all others."""
    return {**section, "folded": True}


def build_verdict(report: Mapping[str, Any]) -> dict[str, str]:
    """Build the verdict of an audit: one word, a headline and the sentence that says who found it."""
    word = report["verdict"] if report["promises"] else "none"
    headline, sentence = VERDICTS[word]
    return {"word": word, "headline": headline, "sentence": sentence}


def build_key_figures(release: Release, report: Mapping[str, Any]) -> list[dict[str, str]]:
    """Build the four figures of the first screen: promises, people, risk and detail, with a sentence each."""
    figures = [_count_promises(report), _count_people(release, report)]
    if "risk" in report:
        figures.append(_describe_risk(release, report["risk"]))
    row_keeps = report["left"].get("row_keeps")
    kept = "\u2013" if row_keeps is None else format_kept_share(row_keeps).replace(" %", "\u00a0%")
    figures.append(make_key_figure("Detail", kept, "", report["left"]["says"]))
    return figures


def make_key_figure(label: str, figure: str, unit: str, means: str) -> dict[str, str]:
    return {"label": label, "figure": figure, "unit": unit, "means": means}


def format_odds(chance: float) -> tuple[str, str]:
    """Format a chance as one in how many, rounded against the publisher: ("1", "in 10")."""
    if chance <= 0:
        return "0", ""
    return "1", f"in {max(1, math.floor(1 / chance + 1e-9)):,}"


def _count_promises(report: Mapping[str, Any]) -> dict[str, str]:
    promises = report["promises"]
    kept = sum(promise["kept"] is True for promise in promises)
    names = list(dict.fromkeys(promise["model"] for promise in promises))
    means = f"{', '.join(names)}: in plain words below." if names else "The publisher states none."
    hidden = sum(promise["kept"] is None for promise in promises)
    if hidden:
        return make_key_figure(
            "Promises", f"{kept:,} of {len(promises):,}", "shown kept", f"{means} The files do not show {hidden:,}."
        )
    return make_key_figure("Promises", f"{kept:,} of {len(promises):,}", "kept", means)


def _count_people(release: Release, report: Mapping[str, Any]) -> dict[str, str]:
    manifest = release.manifest
    withheld = (
        f"{pluralize(manifest.withheld, 'row', 'was', 'were')} withheld." if manifest.withheld else "None was withheld."
    )
    if manifest.rows_per_person > 1:
        return make_key_figure(
            "Rows", f"{manifest.rows:,}", "", f"Up to {manifest.rows_per_person:,} of one person. {withheld}"
        )
    if getattr(reader_for(manifest.kind), "draws_rows", False):
        return make_key_figure(
            "Rows", f"{manifest.rows:,}", "", f"Drawn at random from the groups of all people. {withheld}"
        )
    return make_key_figure(
        "People", f"{manifest.rows:,}", "", f"One row for each person. {withheld.replace('None', 'Nobody')}"
    )


def _describe_risk(release: Release, risk: Mapping[str, Any]) -> dict[str, str]:
    highest = risk["prosecutor"]["highest"]
    average = risk["prosecutor"]["average"]
    figure, unit = format_odds(highest)
    if not reader_for(release.manifest.kind).labelled:
        return make_key_figure(
            "Risk to be found",
            figure,
            unit,
            "Describing columns are published as they are, so a row can be found by them. What is hidden is which sensitive "
            "value is whose.",
        )
    columns = len(release.manifest.find_columns_with_role("quasi-identifying"))
    usual = " ".join(format_odds(average))
    return make_key_figure(
        "Risk to be found",
        figure,
        unit,
        f"The greatest chance to pick the right row of somebody whose {pluralize(columns, 'describing column')} one knows; "
        f"{usual} on average.",
    )


def _build_promise_sections(promised: dict[str, Any], limits: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Put what is promised beside what is not, in one section; READMEs of the first edition have no such limits."""
    if limits is None:
        return [promised]
    sides = [{"title": section["title"], "markdown": section["parts"][0]["markdown"]} for section in (promised, limits)]
    return [make_section(promised["id"], "What is promised, and what is not", {"sides": sides})]


def build_about_sections(release: Release) -> list[dict[str, Any]]:
    """Build the section of what the publisher says of the release; none where nothing is said."""
    about = release.about
    said = [f"{title}: {format_said(about[name])}" for name, title in ABOUT_NAMES.items() if name in about]
    if not said:
        return []
    return [make_section("about", "About this release", make_text("As its publisher says:"), make_list(said))]


def build_method_section(release: Release) -> dict[str, Any]:
    manifest = release.manifest
    steps = [("method", manifest.method), *(("stage before it", stage) for stage in manifest.prepare)]
    rows = [(role, component.name, _format_parameters(component)) for role, component in steps]
    rows += [("promise", promise.name, _format_parameters(promise)) for promise in manifest.promises]
    columns = [(column.name, column.role, column.type, column.dtype) for column in manifest.columns]
    return make_section(
        "done",
        "What was done",
        make_text(
            f"{manifest.rows:,} rows are published and {manifest.withheld:,} were withheld{_format_reasons(manifest)}; the release is of the kind {manifest.kind}."
        ),
        make_table("How it was made", ("what", "name", "parameters"), rows),
        make_table("Columns that are published", ("column", "role", "type", "stored as"), columns),
    )


def _format_reasons(manifest: Manifest) -> str:
    """List why rows were withheld, where the manifest states it, in parentheses."""
    reasons = explain_withheld_rows(manifest)
    return f" ({'; '.join(reasons)})" if reasons else ""


def build_recount_section(report: Mapping[str, Any]) -> dict[str, Any]:
    """Build the section with the results of an audit, as tables."""
    promises = [
        (
            promise["model"],
            promise.get("column"),
            format_value(promise["asked"]),
            format_value(promise["achieved"]),
            KEPT_WORDS[promise["kept"]],
            promise.get("why") or promise["evidence"],
        )
        for promise in report["promises"]
    ]
    measures = {**report["achieved"], **report["utility"]}
    rows = [(MEASURE_EXPLANATIONS.get(name, name), format_value(value)) for name, value in measures.items()]
    return make_section(
        "recount",
        "What a recount of the files finds",
        make_text(f"{report['rows']:,} rows stand in {report['groups']:,} groups."),
        make_list(report["caveats"]) if report.get("caveats") else None,
        make_table("Promises", ("promise", "of column", "asked", "reached", "kept", "evidence"), promises)
        if promises
        else None,
        _build_risk_table(report["risk"]) if "risk" in report else None,
        make_table("Every measure, promised or not; - where none holds", ("measure", "reached"), rows),
        make_list(map(_complete_sentence, report["notes"])) if report.get("notes") else None,
    )


def _make_section_id(name: str) -> str:
    return re.sub(r"[^a-z]+", "-", name.lower()).strip("-")


def _build_lead(release: Release) -> list[str]:
    seeded = ["Not for publication: this release was made with a fixed seed, for tests and studies."]
    kind = [f"{describe_release(release.manifest)}."] if "title" in release.about else []
    return [
        *(seeded if release.manifest.seeded else ()),
        *kind,
        "This page is made from the release folder alone, and anybody who has the folder can make it again, byte for byte, with "
        f"reticent {release.manifest.reticent}: reticent report FOLDER.",
    ]


def _build_usage_section(release: Release, *, with_questions: bool) -> dict[str, Any]:
    """Build the section on checking and reading the files; questions are in the README, but not in its first edition."""
    shell = [f"reticent audit . --expect-digest {release.digest}"]
    python = [
        "import reticent as rt",
        "",
        'release = rt.open(".")',
        "frame = release.frame(bounds=True)",
        "print(frame.head())",
    ]
    if with_questions and (question := _find_question(release)) is not None:
        shell.append(f'reticent query . "{question}"')
        python.append(f'print(release.query("{question}"))')
    return make_section(
        "use",
        "How to use it",
        make_text(
            "Run this in the release folder. It compares the folder with the digest on this page, which proves something where the "
            "page came from the publisher and not with the folder."
            if not with_questions
            else "Run these lines in the release folder. The first compares it with the digest on this page, which proves something where the page came from the publisher and not with the folder."
        ),
        make_code(shell, "sh"),
        make_code(python, "python") if with_questions else None,
        make_text("Without reticent, the data files are read as any others:"),
        make_code(list(_list_reading_lines(release)), "python"),
    )


def _build_checksum_section(release: Release) -> dict[str, Any]:
    files = [(name, facts["bytes"], facts["sha256"]) for name, facts in sorted(release.manifest.files.items())]
    return make_section(
        "checksums",
        "Checksums",
        make_text(
            f"The digest of the release is {release.digest}: the SHA-256 of its manifest.json, which holds those of all other files. "
            "A digest that was got from the publisher, and not with the folder, shows that nobody changed it."
        ),
        make_table("Files", ("file", "bytes", "SHA-256"), files),
        make_text(f"Made with reticent {release.manifest.reticent}."),
    )


def _format_parameters(component: ComponentEntry) -> str:
    return format_value(component.parameters) or "none"


def _build_risk_table(risk: Mapping[str, Any]) -> Block:
    prosecutor = risk["prosecutor"]
    rows_per_person = risk.get("rows_per_person", 1)
    alone = (
        "rows that are alone with what they show" if rows_per_person == 1 else "groups that may be of one person alone"
    )
    rows = [
        ("highest risk of a row to be told from all others", prosecutor["highest"]),
        ("average risk", prosecutor["average"]),
        (f"rows with a risk above {format_value(risk['threshold'])}", prosecutor["at_risk"]),
        (alone, risk["sample_uniques"]),
    ]
    several = "" if rows_per_person == 1 else f"; people are counted, who have up to {rows_per_person:,} rows each"
    return make_table(
        f"Risk of re-identification by the quasi-identifiers{several}",
        ("measure", "value"),
        [(name, convert_to_plain(value)) for name, value in rows],
    )


def _complete_sentence(note: str) -> str:
    return note if note.endswith(".") else f"{note[:1].upper()}{note[1:]}."


def _find_question(release: Release) -> str | None:
    """Find a question that this release answers; None where it answers none."""
    question = "SELECT COUNT(*) FROM release"
    try:
        release.query(question)
    except RequestError:
        return None
    return question


def _list_reading_lines(release: Release) -> Iterator[str]:
    yield "import polars as pl"
    yield ""
    for name, files in group_files_by_table(release.manifest.data).items():
        reader = "read_csv" if files[0].endswith(".csv") else "read_parquet"
        yield f'{name} = pl.{reader}("{format_file_pattern(files)}")'
