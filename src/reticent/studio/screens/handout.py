"""The screen *Hand out*: what recipients get of a release, as they will see it, and what stays with its owner."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, QueryParams
from starlette.responses import Response, StreamingResponse

from reticent.catalogue import REPORT_FILE_NAME
from reticent.data.database import parse_database_path, parse_scheme
from reticent.errors import RequestError, ReticentError
from reticent.format.folder import read_small_file
from reticent.ledger.notes import BROKEN_LINES_FILE
from reticent.ledger.paths import DIGEST_FILE, PLACE_FILE, resolve_ledger_folder, resolve_notes_folder
from reticent.ledger.release_desk import find_withdrawal
from reticent.ledger.witness import WITNESS
from reticent.redaction import redact
from reticent.report.pdf import BROWSER_NAMES
from reticent.studio.archive import stream_archive
from reticent.studio.desk import Desk
from reticent.studio.release_folders import (
    choose_release,
    join_words,
    list_handed_out_files,
    list_release_folders,
    quote_place,
    read_readme,
    require_release,
    sign_release,
)
from reticent.studio.release_pages import name_attachment, require_file, send_file, show_page, show_readme
from reticent.studio.runs import Run
from reticent.studio.screens.screen import CommandLines, Screen

MAX_SHOWN_FILES = 200
MAX_DOCUMENT_BYTES = 64 * 2**20
FILE_MEANINGS = {
    "manifest.json": "what the release is, for programs; its SHA-256 is the digest of the release",
    "README.md": "how to read it, what is promised, and what is not",
    REPORT_FILE_NAME: "the public report: one page with pictures",
}
NOTE_MEANINGS = {
    DIGEST_FILE: "tells a changed copy from the release",
    PLACE_FILE: "where the release was put",
    "audit.json": "what was recounted before it was kept",
    "job.toml": "how it was made",
    "README.md": "what you should know of it, earlier releases among it",
    WITNESS: "as secret as the source, with the release and the ledger",
    BROKEN_LINES_FILE: "records of people who are not in the release",
    "report.html": "the internal report: what the release keeps back",
    "committee.html": "the committee's document",
    "committee.pdf": "the committee's document, to be printed",
    "left-out.bin": "who was left out because they were published before",
}


@dataclass(frozen=True, slots=True)
class Document:
    """A document that a button makes: the words of the command, the file it makes, and what it is called."""

    name: str
    title: str
    words: tuple[str, ...]
    path: Path


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    releases = [desk.project.describe(folder) for folder in list_release_folders(desk.project)]
    folder = choose_release(desk, "handout")
    if folder is None:
        return {"releases": releases, "release": None}
    entries, fault = list_files_or_fault(folder)
    documents = {document.name: document for document in list_documents(desk, folder)}
    return {
        "releases": releases,
        "release": desk.project.describe(folder),
        "fault": fault,
        "entries": entries,
        "max_files": MAX_SHOWN_FILES,
        "meanings": FILE_MEANINGS,
        "size": sum(size for _, size, _ in entries),
        "digest": entries[0][2] if entries else "",
        "withdrawal": find_withdrawal(folder),
        "stays": list_what_stays(desk, folder),
        "has_report": (folder / REPORT_FILE_NAME).is_file(),
        "documents": documents,
        "runs": {name: find_run(desk, folder, name) for name in documents},
        "made": {name for name, document in documents.items() if document.path.is_file()},
        "has_browser": any(shutil.which(name) for name in BROWSER_NAMES),
        "export": find_export(desk, folder),
        "export_form": desk.remember("handout").get("export_form", {}),
        "proposed": f"{folder.name}-copy",
    }


def list_files_or_fault(folder: Path) -> tuple[list[tuple[str, int, str]], ReticentError | None]:
    """List what recipients get; or the fault because of which the folder is not to be handed out."""
    try:
        return list_handed_out_files(folder), None
    except ReticentError as error:
        return [], error


def list_what_stays(desk: Desk, folder: Path) -> list[tuple[str, str]]:
    """List what of a release stays with its owner: each thing, and what it is."""
    notes = resolve_notes_folder(folder)
    names = sorted(path.name for path in notes.iterdir() if path.is_file())[:40] if notes.is_dir() else []
    lines = [(desk.project.describe(notes / name), NOTE_MEANINGS.get(name, "a note of yours")) for name in names]
    lines.append((str(resolve_ledger_folder()), "the ledger: who was published in which release"))
    lines.append((desk.job_name, "the job"))
    source = desk.find_source()
    if source is not None:
        lines.append((desk.project.describe(source), "the source"))
    return lines


def list_documents(desk: Desk, folder: Path) -> list[Document]:
    """List the documents that can be made of a release: the public page and its print, and the committee's document."""
    place = quote_place(desk, folder)
    pdf = desk.project.folder / f"{folder.name}-report.pdf"
    pages = [
        Document(
            "report",
            "the public report",
            ("report", place, "--output", f"{place}/{REPORT_FILE_NAME}", "--force"),
            folder / REPORT_FILE_NAME,
        ),
        Document(
            "pdf",
            "the public report as PDF",
            ("report", place, "--format", "pdf", "--output", quote_place(desk, pdf), "--force"),
            pdf,
        ),
    ]
    source = desk.find_source()
    if source is None or not desk.job_file.exists():
        return pages
    notes = resolve_notes_folder(folder)
    made_from = ("--committee", "--source", quote_place(desk, source), "--job", quote_place(desk, desk.job_file.path))
    committee = [
        Document(name, title, ("report", place, *made_from, "--format", form, "--force"), notes / f"committee.{form}")
        for name, title, form in (
            ("committee", "the committee's document", "html"),
            ("committee_pdf", "the committee's document as PDF", "pdf"),
        )
    ]
    return pages + committee


def find_run(desk: Desk, folder: Path, name: str) -> Run | None:
    """Return the latest run that made this document of the release as it is now."""
    return desk.runs.find(make_key(folder, name))


def make_key(folder: Path, what: str) -> str:
    """Make the key of work on a release: it is done anew where a data file or the manifest changes, not where a page is added."""
    manifest = folder / "manifest.json"
    return f"handout-{what}:{folder}:{manifest.stat().st_mtime_ns if manifest.is_file() else sign_release(folder)}"


def choose(desk: Desk, form: FormData) -> None:
    """Choose the release that the screen is about."""
    require_release(desk, "handout", str(form.get("release", "")))


def make_document(desk: Desk, form: FormData) -> None:
    """Start the command that makes a document."""
    folder = require_release(desk, "handout", str(form.get("release", "")))
    asked = str(form.get("document", ""))
    for document in list_documents(desk, folder):
        if document.name == asked:
            desk.runs.start(document.words, make_key(folder, document.name))
            return
    raise RequestError(
        "This document cannot be made here.",
        why="A committee's document compares the release with its source, by a job.",
        attempt="the screen Data, to name the source.",
    )


def export(desk: Desk, form: FormData) -> None:
    """Start the command that writes a copy of the release for other programs."""
    folder = require_release(desk, "handout", str(form.get("release", "")))
    fields = {name: str(form.get(name, "")).strip() for name in ("form", "file", "address", "table", "bounds")}
    fields["address"] = redact(fields["address"])
    desk.remember("handout")["export_form"] = fields
    words = write_export(desk, folder, {**fields, "address": str(form.get("address", "")).strip()})
    desk.remember("handout")["export"] = (words, make_key(folder, "export:" + " ".join(words)))
    desk.runs.start(words, desk.remember("handout")["export"][1])


def write_export(desk: Desk, folder: Path, fields: dict[str, str]) -> list[str]:
    """Write the command of an export; what may not be written, or has a password, is refused.

    Raises:
        RequestError: the target lies elsewhere, or the address has a password.
    """
    bounds = ["--bounds"] if fields["bounds"] else []
    place = quote_place(desk, folder)
    if fields["form"] == "database":
        return [
            "export",
            place,
            check_address(desk, fields["address"]),
            "--table",
            fields["table"] or "people",
            *bounds,
        ]
    if fields["form"] not in ("csv", "excel"):
        raise RequestError("This is no form of an export.", attempt="a CSV folder, an Excel file or a database.")
    name = fields["file"] or f"{folder.name}-copy"
    if fields["form"] == "excel" and not name.lower().endswith(".xlsx"):
        name += ".xlsx"
    if "://" in name:
        raise RequestError("This is no name of a file.", attempt="the form Database, for an address.")
    return ["export", place, quote_place(desk, desk.project.resolve(name)), *bounds]


def check_address(desk: Desk, address: str) -> str:
    """Return the address of a database that a page may write to: it has no password, and its file lies in the project."""
    if redact(address) != address:
        raise RequestError(
            "The address has a password; it was not kept.",
            why="Commands can be read by other users of this machine while they run.",
            attempt="PGPASSWORD or another variable, set before the studio starts: postgresql://user:${PGPASSWORD}@host/name.",
        )
    if parse_scheme(address) != "postgresql":
        path = desk.project.resolve(str(parse_database_path(address, must_exist=False)))
        return f"{parse_scheme(address)}:///{quote_place(desk, path)}"
    return address


def find_export(desk: Desk, folder: Path) -> dict[str, Any] | None:
    """Return the latest export of a release: its run and its target; None where there was none."""
    words, key = desk.remember("handout").get("export", (None, ""))
    run = desk.runs.find(key)
    if run is None or words[1] != quote_place(desk, folder):
        return None
    return {"run": run, "target": words[2]}


def require_chosen(desk: Desk) -> Path:
    folder = choose_release(desk, "handout")
    if folder is None:
        raise RequestError("The project has no release yet.", attempt="the screen Publish.")
    return folder


def send_archive(desk: Desk, query: QueryParams) -> Response:
    """Send the folder as a zip file, made while it is sent."""
    folder = require_chosen(desk)
    files = list_handed_out_files(folder)
    return StreamingResponse(
        stream_archive(folder, files), media_type="application/zip", headers=name_attachment(f"{folder.name}.zip")
    )


def send_checksums(desk: Desk, query: QueryParams) -> Response:
    """Send the checksums in the form that `sha256sum --check` reads."""
    folder = require_chosen(desk)
    lines = [f"{checksum}  {folder.name}/{name}\n" for name, _, checksum in list_handed_out_files(folder)]
    return send_file("".join(lines).encode(), f"{folder.name}-sha256.txt", "text/plain")


def show_report(desk: Desk, query: QueryParams) -> Response:
    return show_page(require_file(require_chosen(desk) / REPORT_FILE_NAME, "The public report"))


def show_release_readme(desk: Desk, query: QueryParams) -> Response:
    return show_readme(read_readme(require_chosen(desk)), "README of the release")


def show_document(desk: Desk, query: QueryParams, name: str) -> Response:
    """Show a document that was made, or send it where it is a PDF."""
    folder = require_chosen(desk)
    for document in list_documents(desk, folder):
        if document.name == name:
            path = require_file(document.path, document.title.capitalize())
            if path.suffix == ".pdf":
                return send_file(read_small_file(path, MAX_DOCUMENT_BYTES), path.name, "application/pdf")
            return show_page(path)
    raise RequestError("This document cannot be made here.", attempt="the screen Data, to name the source.")


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that do what this screen does."""
    folder = choose_release(desk, "handout")
    if folder is None:
        return CommandLines("reticent publish --help", "import reticent as rt")
    words, _ = desk.remember("handout").get("export", (None, ""))
    place = quote_place(desk, folder)
    export_words: Sequence[str] = words or ["export", place, f"{folder.name}-copy"]
    lines = [join_words(document.words) for document in list_documents(desk, folder) if document.path.suffix != ".pdf"]
    return CommandLines(
        "\n".join([*lines, join_words(export_words)]),
        f"import reticent as rt\n\nrelease = rt.open({place!r})\nprint(release.digest)\nrelease.to_csv({folder.name + '-copy'!r})",
    )


SCREEN = Screen(
    name="handout",
    title="Hand out",
    question="What do they get, and what stays here?",
    why="Recipients get the folder of the release: data, manifest, README and report. The job, the notes and the ledger stay with you.",
    example="A checksum in a letter tells recipients that the folder they have is the one you made.",
    docs="owner",
    show=show,
    write_commands=write_commands,
    actions={"choose": choose, "document": make_document, "export": export},
    views={
        "zip": send_archive,
        "checksums": send_checksums,
        "report": show_report,
        "readme": show_release_readme,
        "pdf": partial(show_document, name="pdf"),
        "committee": partial(show_document, name="committee"),
        "committee_pdf": partial(show_document, name="committee_pdf"),
    },
    find_obstacle=lambda desk: "" if list_release_folders(desk.project) else "Publish first.",
    is_done=lambda desk: bool(list_release_folders(desk.project)),
)
