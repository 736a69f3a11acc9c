"""The screen *Release*: a folder that somebody sent is audited, and shown as its recipients read it.

All of it may be a stranger's: names, README, manifest, page.  Nothing is written into the folder; the audit and the report
are children of the command line, and the report goes to a private folder.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData, QueryParams
from starlette.responses import Response

from reticent.errors import RequestError, ReticentError
from reticent.format.folder import escape_name
from reticent.report.blocks import format_value
from reticent.report.public import LIMITS_TITLE, PROMISES_TITLE, split_readme
from reticent.studio.desk import Desk
from reticent.studio.release_folders import join_words, list_handed_out_files, read_readme, sign_release
from reticent.studio.release_pages import render_text, require_file, show_page, show_readme
from reticent.studio.runs import Run
from reticent.studio.screens.screen import CommandLines, Screen

MAX_SHOWN_PROMISES = 60
MAX_SHOWN_FILES = 60
MAX_DIGEST_LETTERS = 64
VERDICTS = {
    "kept": (True, "Kept.", "Every promise was recounted just now, from the files of this folder alone."),
    "broken": (False, "Not kept.", "The files contradict at least one promise: see the table."),
    "differs": (
        False,
        "Not as it was published.",
        "Every promise reads as kept, and the digest is not the expected one.",
    ),
    "undecided": (False, "Not shown.", "The files alone do not show whether every promise is kept: see the table."),
    "none": (False, "Nothing is promised.", "The release states no promise that could be recounted."),
}
KEPT_WORDS = {True: "kept", False: "not kept", None: "not shown"}


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    audit_run = find_run(desk, "audit")
    report_run = find_run(desk, "report")
    audit = read_audit(audit_run)
    return {
        "folder": desk.project.name,
        "audit_run": audit_run,
        "audit": audit,
        "verdict": None if audit is None else VERDICTS[find_verdict(audit)],
        "promises": [] if audit is None else describe_promises(audit)[:MAX_SHOWN_PROMISES],
        "readme": None if audit is None else read_promise_sections(desk.project.folder),
        "entries": [] if audit is None else list_checked_files(desk),
        "names": list_names(desk.project.folder),
        "max_files": MAX_SHOWN_FILES,
        "report_run": report_run,
        "has_report": audit is not None and report_run is not None and report_run.succeeded,
        "expected": desk.remember("received_release").get("digest", ""),
    }


def find_run(desk: Desk, what: str) -> Run | None:
    """Return the latest run of this work on the folder as it is now."""
    return desk.runs.find(make_key(desk, what))


def make_key(desk: Desk, what: str) -> str:
    expected = desk.remember("received_release").get("digest", "")
    return f"received-{what}:{expected if what == 'audit' else ''}:{sign_release(desk.project.folder)}"


def read_audit(run: Run | None) -> Mapping[str, Any] | None:
    """Return the findings of an audit that ended with any verdict; None where it runs, or was refused."""
    if run is None or run.is_running or not isinstance(run.result, dict) or "verdict" not in run.result:
        return None
    return run.result


def find_verdict(audit: Mapping[str, Any]) -> str:
    """Return the verdict as a word; `none` where nothing is promised."""
    return str(audit["verdict"]) if audit["promises"] else "none"


def describe_promises(audit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Describe each promise as a row: its name, what was asked, what the files show, and the verdict."""
    return [
        {
            "name": promise["model"],
            "column": promise["column"] or "",
            "asked": format_parameters(promise["asked"]),
            "achieved": format_parameters(promise["achieved"]),
            "kept": promise["kept"],
            "word": KEPT_WORDS[promise["kept"]],
            "why": promise.get("why", "") or promise.get("caveat", ""),
        }
        for promise in audit["promises"]
    ]


def format_parameters(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {format_value(value)}" for name, value in values.items())


def read_promise_sections(folder: Path) -> dict[str, Markup] | None:
    """Read what the README promises and what it does not; None where it says neither."""
    try:
        sections = split_readme(read_readme(folder))
    except ReticentError:
        return None
    rendered = {
        title: Markup(render_text(str(block["markdown"])))
        for title in (PROMISES_TITLE, LIMITS_TITLE)
        if title in sections
        for block in sections[title]["parts"]
    }
    return rendered or None


def list_checked_files(desk: Desk) -> list[tuple[str, int, str]]:
    """List the files of a folder that was audited, with their checksums; once for the folder as it is now."""
    memory = desk.remember("received_release")
    sign = sign_release(desk.project.folder)
    if memory.get("sign") != sign:
        try:
            entries = list_handed_out_files(desk.project.folder)
        except ReticentError:
            entries = []
        memory |= {"sign": sign, "entries": entries}
    return list(memory["entries"])


def list_names(folder: Path) -> list[str]:
    """List the names of the first entries of a folder, whatever they are."""
    with os.scandir(folder) as entries:
        return sorted(escape_name(entry.name) for entry in itertools.islice(entries, MAX_SHOWN_FILES))


def start_audit(desk: Desk, form: FormData) -> None:
    """Audit the folder, against a digest where the recipient was told one."""
    digest = str(form.get("digest", "")).strip().lower()
    if digest and (len(digest) != MAX_DIGEST_LETTERS or set(digest) - set("0123456789abcdef")):
        raise RequestError(
            "This is no digest: a digest is 64 letters from 0 to 9 and a to f.",
            attempt="the one that the publisher told you, or leaving it empty.",
        )
    desk.remember("received_release")["digest"] = digest
    expectation = ["--expect-digest", digest] if digest else []
    desk.runs.start(["audit", str(desk.project.folder), *expectation], make_key(desk, "audit"))


def start_report(desk: Desk, form: FormData) -> None:
    """Write the public report of the folder to a private place."""
    if read_audit(find_run(desk, "audit")) is None:
        raise RequestError("A report is made of a folder that was audited.", attempt="the audit first.")
    words = ["report", str(desk.project.folder), "--output", str(locate_report(desk)), "--force"]
    desk.runs.start(words, make_key(desk, "report"))


def locate_report(desk: Desk) -> Path:
    return desk.scratch / "report.html"


def show_report(desk: Desk, query: QueryParams) -> Response:
    """Show the report that was made here, not the page that was sent."""
    return show_page(require_file(locate_report(desk), "The report"))


def show_sent_readme(desk: Desk, query: QueryParams) -> Response:
    return show_readme(read_readme(desk.project.folder), "README of the release")


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that do what this screen does."""
    folder = str(desk.project.folder)
    digest = desk.remember("received_release").get("digest", "")
    expectation = ["--expect-digest", digest] if digest else []
    lines = [
        join_words(["audit", folder, *expectation]),
        join_words(["report", folder, "--output", f"{desk.project.name}-report.html"]),
    ]
    expected = f", expect_digest={digest!r}" if digest else ""
    return CommandLines(
        "\n".join(lines),
        f"import reticent as rt\n\nprint(rt.audit({folder!r}{expected}))\nprint(rt.report({folder!r}).markdown())",
    )


def find_obstacle(desk: Desk) -> str:
    """Return why the release cannot be asked yet."""
    run = find_run(desk, "audit")
    if run is None or run.is_running:
        return "Audit the folder first."
    return "" if read_audit(run) is not None else "The folder cannot be read as a release."


SCREEN = Screen(
    name="received_release",
    title="Release",
    question="What did you receive, and is it kept?",
    why="You opened a release that somebody made. Its promises are recounted here from its files alone; nothing is asked of its publisher, and nothing is written into the folder.",
    example="A folder that was changed on its way does not match its manifest, and is called damaged.",
    docs="gates",
    show=show,
    write_commands=write_commands,
    actions={"audit": start_audit, "report": start_report},
    views={"report": show_report, "readme": show_sent_readme},
    find_obstacle=find_obstacle,
    is_done=lambda desk: not find_obstacle(desk),
)
