"""What is known of the job's source: the evidence that `reticent init --evidence` counted, and who is singled out.

Evidence is about the source as it is read and not about the rest of the job, so a click on a role or a promise does not
make it stale.  It is counted by a child process, once for a source and a way to read it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from reticent.catalogue.job_fields import SOURCE_FIELDS
from reticent.data.database import parse_database_path, parse_scheme
from reticent.data.source import Source
from reticent.errors import ReticentError, SourceError
from reticent.redaction import is_address, redact
from reticent.studio.desk import Desk, sign_file
from reticent.studio.runs import Run

PLACES = ("path", "url", "table", "query")
READING_OPTIONS = ("delimiter", "quote", "encoding", "empty")
Reading = dict[str, Any]  # fields of [source] that say which rows are read, and how


def find_reading(desk: Desk) -> Reading | None:
    """Return how the job's source is read; None where the job names no source."""
    table = desk.job_file.read_table().get("source", {})
    if isinstance(table, str):
        table = {"url" if is_address(table) else "path": table}
    if not isinstance(table, Mapping):
        return None
    reading = {name: table[name] for name in (*PLACES, *READING_OPTIONS) if isinstance(table.get(name), str)}
    if not reading.get("path") and not reading.get("url"):
        return None
    missing = table.get("missing", ())
    missing = [missing] if isinstance(missing, str) else missing
    return normalize_reading({**reading, "missing": [text for text in missing if isinstance(text, str)]})


def normalize_reading(reading: Reading) -> Reading:
    """Return a reading without what is the default, so that equal ones are equal."""
    kept = {
        name: value
        for name, value in reading.items()
        if name in PLACES or (name in READING_OPTIONS and value != SOURCE_FIELDS[name].default)
    }
    return {**kept, "missing": sorted(set(reading.get("missing", ())))}


def make_source(desk: Desk, reading: Reading) -> Source:
    """Make the source of a reading, its path checked by the project and resolved.

    Raises:
        ReticentError: the file is none that a page may read, or an option is not valid.
    """
    options = dict(reading)
    if "path" in options:
        options["path"] = resolve_table_path(desk, options["path"])
    if "url" in options:
        options["url"] = resolve_address(desk, options["url"])
    return Source(**{**options, "missing": tuple(options.get("missing", ()))})


def resolve_table_path(desk: Desk, text: str) -> str:
    """Return the path of a file, a folder or a pattern of files; each of the files has to be one that a page may read."""
    if not any(mark in text for mark in "*?[") or (desk.project.folder / text).exists():
        return str(desk.project.resolve(text))
    folder = desk.project.folder
    if text.startswith(("/", "~")) or ".." in text.split("/"):
        desk.project.resolve(text)  # refuses what lies elsewhere
    for path in sorted(folder.glob(text.lstrip("/")))[:10_000]:
        desk.project.resolve(str(path))
    return str(folder / text)


def resolve_address(desk: Desk, url: str) -> str:
    """Return the address of a database; a file of one has to be one that a page may read, and no password may stand in it."""
    if redact(url) != url:
        raise SourceError(
            "This address has a password in it.",
            why="Other users of this machine see the words of a command, and the job file is passed around.",
            attempt="`PGPASSWORD` in the environment, or ${NAME} in place of the password.",
        )
    if parse_scheme(url) == "postgresql":
        return url
    path = parse_database_path(url, must_exist=False)
    return f"{parse_scheme(url)}:///{desk.project.resolve(str(path))}"


def sign_source(desk: Desk, reading: Reading) -> str:
    """Return a short text that changes where the files of a source change; of a database nothing is known."""
    path = reading.get("path")
    if path is None:
        return ""
    try:
        resolved = resolve_table_path(desk, path)
    except ReticentError:
        return ""
    place = desk.project.folder / resolved
    if place.exists():
        return sign_file(place)
    paths = sorted(desk.project.folder.glob(path)) if not path.startswith("/") else []
    return hashlib.sha256("".join(sign_file(entry) for entry in paths[:10_000]).encode()).hexdigest()[:16]


def write_reading_words(desk: Desk, reading: Reading) -> list[str]:
    """Return the words of `reticent init` for a reading: the data, then options."""
    place = reading.get("url")
    if place is not None:
        resolve_address(desk, place)
    else:
        resolve_table_path(desk, reading["path"])  # refuses what a page may not read
        place = reading["path"]
    if place.startswith("-"):
        place = f"./{place}"
    options = [(name, reading[name]) for name in ("table", "query", *READING_OPTIONS) if name in reading]
    options += [("missing", text) for text in reading["missing"]]
    return ["init", place, *(f"--{name}={value}" for name, value in options)]


def start_evidence(desk: Desk, reading: Reading, target: str = "-", force: bool = False) -> Run:
    """Start counting the evidence of a source; with a target, a job is drafted there too."""
    words = [*write_reading_words(desk, reading), "--output", target, "--evidence", *(["--force"] if force else [])]
    key = _make_key(desk, reading)
    if target != "-":
        desk.remember("data")["draft"] = {"key": key, "reading": reading}
        running = desk.runs.find(key)
        if running is not None and running.is_running:
            running.cancel()
            running.process.wait(10)
        key = f"{key}:draft"
        desk.remember("data")["draft"]["key"] = key
    return desk.runs.start(words, key)


def find_evidence_run(desk: Desk) -> Run | None:
    """Return the run that counts, or counted, the evidence of the job's source as it is read now."""
    reading = find_reading(desk)
    if reading is None:
        return None
    run = desk.runs.find(_make_key(desk, reading))
    draft = desk.remember("data").get("draft", {})
    drafting = desk.runs.find(draft["key"]) if draft else None
    if drafting is not None and drafting.succeeded and _infer_reading(draft["reading"], drafting.result) == reading:
        is_unchanged = draft["key"] == f"{_make_key(desk, draft['reading'])}:draft"
        if is_unchanged and (run is None or not run.succeeded):
            return drafting
    return run


def find_draft_run(desk: Desk) -> Run | None:
    """Return the run that drafts the job, while it runs or where it failed; what the steward did since counts for more."""
    draft = desk.remember("data").get("draft")
    run = None if draft is None else desk.runs.find(draft["key"])
    return run if run is not None and not run.succeeded else None


def find_evidence(desk: Desk) -> Mapping[str, Any] | None:
    """Return the evidence of the job's source as it is read now; None where it was not counted yet."""
    run = find_evidence_run(desk)
    return run.result if run is not None and run.succeeded and isinstance(run.result, dict) else None


def start_singling_out(desk: Desk) -> Run:
    """Start counting whom the columns single out that describe people by the job as it is now."""
    if not desk.job_file.exists():
        raise SourceError("There is no job yet.", attempt="opening a table.")
    words = ["risk", f"--job={desk.job_name}", "--singling-out"]
    return desk.runs.start(words, _make_singling_out_key(desk))


def find_singling_out_run(desk: Desk) -> Run | None:
    """Return the latest run that counts whom the columns single out, of this source and these columns."""
    return desk.runs.find(_make_singling_out_key(desk))


def find_singling_out(desk: Desk, quasi: Sequence[str]) -> Mapping[str, Any] | None:
    """Return who is singled out by these columns; None where it was not counted yet."""
    run = find_singling_out_run(desk)
    results = [find_evidence(desk), run.result if run is not None and run.succeeded else None]
    for result in results:
        alone = result.get("alone") if isinstance(result, Mapping) else None
        if not isinstance(alone, Mapping):
            continue
        counted = [name for entry in alone["columns"] for name in entry["columns"]]
        if sorted(counted) == sorted(quasi):
            return alone
    return None


def _make_key(desk: Desk, reading: Reading) -> str:
    return f"evidence:{json.dumps(reading, sort_keys=True)}:{sign_source(desk, reading)}"


def _make_singling_out_key(desk: Desk) -> str:
    reading = find_reading(desk)
    columns = desk.job_file.read_table().get("columns", {})
    facts = json.dumps([reading, columns], default=str)
    signature = "" if reading is None else sign_source(desk, reading)
    return f"singling-out:{hashlib.sha256(facts.encode()).hexdigest()[:16]}:{signature}"


def _infer_reading(opened: Reading, result: Mapping[str, Any]) -> Reading:
    """Return how the drafted job reads the source that was opened: with the encoding and the texts that were found."""
    reading = dict(opened)
    if result.get("guessed_encoding"):
        reading["encoding"] = result["encoding"]
    marks = opened["missing"] or result.get("marks", [])
    return normalize_reading({**reading, "missing": [*marks, *result.get("codes", [])]})
