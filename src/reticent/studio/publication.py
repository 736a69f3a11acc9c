"""Facts of the screen *Publish*: what a release says of itself, its two verdicts, and where a publication stands.

A publication is a run of its own key: an edit of the job while it runs does not hide it.  After the studio was closed,
the owner's notes and the ledger say what the run said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from reticent.catalogue.about_fields import ABOUT_FIELDS
from reticent.drawing.comparison_plots import draw_beliefs
from reticent.drawing.plots import format_share
from reticent.errors import JobError, RequestError, ReticentError
from reticent.ledger.ledger import Ledger
from reticent.ledger.notes import describe_lost_promises, summarize_lost_promises
from reticent.ledger.paths import compute_release_digest, read_digest_file, resolve_notes_folder
from reticent.report.public import VERDICTS
from reticent.studio.desk import Desk
from reticent.studio.job_file import set_in_document
from reticent.studio.measure_meanings import format_measure, group_measures

RUN_KEY = "publish"
LISTED_FIELDS = ("recipients", "earlier")  # of [about]: a line of the form is an entry
FIELD_LABELS = {
    "title": "Title",
    "publisher": "Publisher",
    "period": "Period of the data",
    "contact": "Contact",
    "licence": "Licence or terms of use",
    "citation": "To be cited as",
    "purpose": "Purpose",
    "recipients": "Recipients, one a line",
    "earlier": "Earlier releases that recipients may know of, one a line",
}
MAX_NOTES_BYTES = 32 * 2**20
_RELEASE_NAME = re.compile(r"\w[\w .-]{0,99}")
_JOINED = re.compile(r"the worst belief is (\d?\.\d+) \((\d?\.\d+) alone\)")
_ABOVE = re.compile(r"([\d,]+) stand above what one of them promises")


def choose_name(desk: Desk) -> str:
    """Choose the name of the release folder: the one that was typed, else `release`."""
    return str(desk.remember("publish").get("name", "release"))


def resolve_release(desk: Desk, name: str) -> Path:
    """Return the folder of a release by the name that was typed.

    Raises:
        RequestError: it is not the name of a folder directly in the project's folder.
    """
    if _RELEASE_NAME.fullmatch(name) is None:
        raise RequestError(
            "This is not a name for a release folder.",
            why="It is made in the project's folder.",
            attempt="letters, digits, hyphens and points, as `release-2025`.",
        )
    folder = desk.project.resolve(name)
    if folder.parent != desk.project.folder or folder.name != name:
        raise RequestError("This name is a link to elsewhere.", attempt="another name.")
    return folder


def is_release(folder: Path) -> bool:
    return (folder / "manifest.json").is_file()


def list_about(desk: Desk) -> list[dict[str, Any]]:
    """List the fields of [about] with what the job file has in each, and the field's explanation."""
    about = desk.job_file.read_table().get("about", {})
    table = about if isinstance(about, dict) else {}
    return [
        {
            "name": name,
            "label": FIELD_LABELS[name],
            "doc": field.doc,
            "text": _write_lines(table.get(name)),
            "is_list": name in LISTED_FIELDS,
        }
        for name, field in ABOUT_FIELDS.items()
    ]


def write_about(desk: Desk, texts: Mapping[str, str], keeps_at_least: str | None) -> None:
    """Write what was typed into [about], and the share that a row must keep; fields that are as they were stay untouched.

    Raises:
        ReticentError: the job would not be valid; it is as it was.
    """
    before = desk.job_file.text
    shown = {field["name"]: field["text"] for field in list_about(desk)}
    changed = {
        name: text.replace("\r\n", "\n").strip()
        for name, text in texts.items()
        if name in shown and text.replace("\r\n", "\n").strip() != shown[name]
    }
    limit_changed = keeps_at_least is not None and keeps_at_least.strip() != read_limit(desk)
    if not changed and not limit_changed:
        return
    with desk.job_file.edit() as document:
        for name, text in changed.items():
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            value: Any = lines if name in LISTED_FIELDS else text
            set_in_document(document, ["about", name], value or None)
        if "about" in document and not document["about"]:
            del document["about"]
        if limit_changed:
            set_in_document(document, ["release", "loss_at_most"], _read_loss(str(keeps_at_least).strip()))
    try:
        desk.job_file.read()
    except ReticentError:
        desk.job_file.write(before)
        raise


def read_limit(desk: Desk) -> str:
    """Return the least share that a row must keep, in per cent, as it is typed; empty where the job sets no limit."""
    release = desk.job_file.read_table().get("release", {})
    limit = release.get("loss_at_most") if isinstance(release, dict) else None
    if limit is None or isinstance(limit, bool):
        return ""
    try:
        return _write_number(100 - Decimal(str(limit)) * 100)
    except InvalidOperation:
        return ""


def find_publication(desk: Desk) -> dict[str, Any] | None:
    """Find what was published last: what its run said, else what the owner's notes say of the folder; None if nothing."""
    run = desk.runs.find(RUN_KEY)
    if run is not None and run.succeeded and isinstance(run.result, dict):
        folder = desk.project.folder / str(run.result["release"])
        if compute_release_digest(folder) == run.result["digest"]:
            return {**run.result, "seconds": run.seconds}
    for folder in desk.project.list_releases():
        noted = read_noted(folder)
        if noted is not None:
            return noted
    return None


def read_noted(folder: Path) -> dict[str, Any] | None:
    """Read what the owner's notes and the ledger say of a release; None where there are none of it."""
    notes = resolve_notes_folder(folder)
    digest = read_digest_file(notes)
    if not is_release(folder) or digest is None:
        return None
    try:
        with open(notes / "audit.json", "rb") as file:
            content = file.read(MAX_NOTES_BYTES + 1)
        report = json.loads(content) if len(content) <= MAX_NOTES_BYTES else None
        sentences = (notes / "README.md").read_text(encoding="utf-8")
        entries = Ledger.open(None).find_joined_entries(folder)
    except (OSError, ValueError, ReticentError):
        return None
    if not isinstance(report, dict) or "promises" not in report:
        return None
    return {
        **report,
        "release": folder.name,
        "digest": digest,
        "is_noted": True,
        "is_changed": compute_release_digest(folder) != digest,
        "together": describe_lost_promises(entries),
        "summary": summarize_lost_promises(entries) or "",
        "notices": [" ".join(line.lstrip("- ").split()) for line in sentences.splitlines() if _JOINED.search(line)],
    }


def describe_publication(published: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a publication: the verdict on it alone, the one with earlier releases, what a row keeps, and its audit."""
    promises = published["promises"]
    word = published["verdict"] if promises else "none"
    headline, sentence = VERDICTS[word]
    losses = (published.get("utility") or {}).get("ail_by_column") or {}
    left = published.get("left") or {}
    by_loss = sorted(losses, key=lambda name: losses[name])
    return {
        "release": published["release"],
        "digest": published["digest"],
        "is_noted": published.get("is_noted", False),
        "is_changed": published.get("is_changed", False),
        "is_kept": word == "kept",
        "headline": _write_headline(headline, word, len(promises)),
        "sentence": sentence,
        "rows": published["rows"],
        "groups": published["groups"],
        "withheld": published["withheld"],
        "promises": [_describe_promise(promise) for promise in promises],
        "keeps": None if left.get("row_keeps") is None else format_share(left["row_keeps"]),
        "left": left.get("says", ""),
        "extremes": _write_extremes(by_loss, losses),
        "together": _describe_together(published),
        "notices": [notice for notice in published.get("notices", ()) if not _JOINED.search(notice)],
        "seeded": published.get("seeded", False),
        "set_aside": published.get("set_aside", 0),
        "seconds": published.get("seconds"),
        "measures": group_measures(published),
        "columns": [
            {"name": name, "kept": 1 - losses[name], "text": format_share(1 - losses[name])} for name in by_loss
        ],
    }


def read_beliefs(notices: Sequence[str]) -> tuple[float, float] | None:
    """Read the surest beliefs, (alone, together), from what publishing said of earlier releases; None if it joined none."""
    for notice in notices:
        match = _JOINED.search(notice)
        if match is not None:
            return float(match[2]), float(match[1])
    return None


def has_identifying_column(desk: Desk) -> bool:
    """Tell whether the job has a column by which the ledger knows people though their rows differ."""
    job = desk.read_job()
    return job is not None and any(column.role.value == "identifying" for column in job.columns.values())


def _describe_together(published: Mapping[str, Any]) -> dict[str, Any]:
    lines = list(published.get("together", ()))
    beliefs = read_beliefs(published.get("notices", ()))
    counts = [match[1] for line in published.get("notices", ()) if (match := _ABOVE.search(line))]
    above = (
        ""
        if not counts
        else f"{'Nobody stands' if counts[0] == '0' else counts[0] + ' people stand'} above what one of them promises."
    )
    summary = published.get("summary") or str(published.get("headline", "")).partition("; ")[2].rstrip(".")
    return {
        "is_alone": not lines,
        "headline": f"{summary[:1].upper()}{summary[1:]}" if summary else "These people are in several releases",
        "lines": lines,
        "above": above,
        "drawing": "" if beliefs is None else draw_beliefs(*beliefs, "surest belief about one person"),
    }


def _describe_promise(promise: Mapping[str, Any]) -> dict[str, str]:
    asked = ", ".join(f"{name} {_format_parameter(value)}" for name, value in promise["asked"].items())
    reached = ", ".join(f"{name} {_format_parameter(value)}" for name, value in (promise["achieved"] or {}).items())
    word = {True: "kept", False: "NOT kept", None: "not shown by the files"}[promise["kept"]]
    column = f" of {promise['column']}" if promise.get("column") else ""
    return {
        "name": promise["model"] + column,
        "asked": asked,
        "reached": reached,
        "kept": word,
        "why": promise.get("why") or "",
    }


def _format_parameter(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return json.dumps(value)
    return format_measure(value)


def _write_headline(headline: str, word: str, promises: int) -> str:
    if word != "kept":
        return headline
    return {1: "The promise is kept", 2: "Both promises are kept"}.get(promises, f"All {promises} promises are kept")


def _write_extremes(by_loss: Sequence[str], losses: Mapping[str, float]) -> str:
    if len(by_loss) < 2:
        return ""
    least = by_loss[-1]
    most = by_loss[0]
    return f"{least} keeps least, {format_share(1 - losses[least])}; {most} most, {format_share(1 - losses[most])}."


def _write_lines(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def _write_number(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _read_loss(text: str) -> Any:
    """Read the least share that a row must keep, in per cent, as the greatest loss; None where none is given.

    Raises:
        JobError: it is no number from 0 to 100.
    """
    if not text:
        return None
    try:
        kept = Decimal(text)
    except InvalidOperation:
        kept = Decimal(-1)
    if not kept.is_finite() or not 0 <= kept <= 100 or len(text) > 12:
        raise JobError("What a row must keep is a number from 0 to 100 per cent.", attempt="60, or no limit.")
    loss = (100 - kept) / 100
    return int(loss) if loss == int(loss) else float(loss)
