"""The screen *Data*: which table, how it was read, whose a row is, and the first rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from starlette.datastructures import FormData, UploadFile

from reticent.catalogue.job_fields import IDENTIFYING, SOURCE_FIELDS
from reticent.errors import DiskError, RequestError, ReticentError, SourceError, pluralize
from reticent.job.column_guesses import is_person_number
from reticent.job.draft import MAX_ROWS_PER_PERSON
from reticent.redaction import redact
from reticent.studio import column_edits, source_evidence, table_preview
from reticent.studio.desk import Desk
from reticent.studio.guard import MAX_UPLOAD_BYTES
from reticent.studio.job_file import set_in_document
from reticent.studio.project import TABLE_SUFFIXES
from reticent.studio.screens.screen import CommandLines, Screen
from reticent.studio.source_evidence import Reading, find_reading

DEFAULT_ROWS = 5
CHUNK_BYTES = 2**20
DELIMITERS = ((",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar"))
_NO_OPTIONS = dict.fromkeys((*source_evidence.PLACES, *source_evidence.READING_OPTIONS))
MAX_MARKS = 200  # texts that mean missing, in a form


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    reading = find_reading(desk)
    draft = source_evidence.find_draft_run(desk)
    evidence = source_evidence.find_evidence(desk)
    run = source_evidence.find_evidence_run(desk)
    question = desk.remember("data").get("question")
    return {
        "tables": [_describe_table(desk, path, reading) for path in desk.project.list_tables()],
        "reading": None if reading is None else {**_NO_OPTIONS, **reading},
        "set_aside": [] if evidence is None else evidence.get("set_aside", []),
        "source_name": "" if reading is None else describe_source(reading),
        "question": "" if question is None else describe_source(question),
        "draft": draft,
        "run": run,
        "evidence": evidence,
        "is_confirmed": column_edits.is_reading_confirmed(desk),
        "facts": None if evidence is None else _list_reading_facts(desk, evidence),
        "marks": [] if reading is None else _list_marks(reading, evidence),
        "broken": _get_source(desk).get("broken", "refuse"),
        "empty": _get_source(desk).get("empty", "missing"),
        "delimiters": DELIMITERS,
        "persons": _describe_persons(desk, evidence),
        "preview": _show_first_rows(desk, reading, evidence),
        "max_upload": MAX_UPLOAD_BYTES,
        "suffixes": ",".join(TABLE_SUFFIXES),
    }


def describe_source(reading: Reading) -> str:
    """Return the name of a source as the screens say it, without a password."""
    if "url" in reading:
        return redact(reading["url"]) + (f", table {reading['table']}" if "table" in reading else ", a query")
    return str(reading["path"])


def open_table(desk: Desk, form: FormData) -> str | None:
    """Open a file or folder of the project: draft a job for it, or ask where there is a job already."""
    name = str(form.get("path", ""))
    source_evidence.resolve_table_path(desk, name)
    return _open(desk, {"path": name, "missing": []})


def open_files(desk: Desk, form: FormData) -> str | None:
    """Open several files by a pattern."""
    pattern = str(form.get("pattern", "")).strip()
    if not any(mark in pattern for mark in "*?["):
        raise RequestError("This is no pattern of files.", attempt="`day-*.csv`: a star stands for any letters.")
    source_evidence.resolve_table_path(desk, pattern)
    if not any(True for _ in desk.project.folder.glob(pattern.lstrip("/"))):
        raise RequestError("No file of the project's folder has such a name.", attempt="another pattern.")
    return _open(desk, {"path": pattern, "missing": []})


def open_database(desk: Desk, form: FormData) -> str | None:
    """Open a table or a query of a database."""
    url = str(form.get("url", "")).strip()
    table = str(form.get("table", "")).strip()
    query = str(form.get("query", "")).strip()
    if "://" not in url:
        raise RequestError("This is no address of a database.", attempt="postgresql://user@host/name.")
    if bool(table) == bool(query):
        raise RequestError("A database needs a table or a query, and not both.", attempt="the name of a table.")
    source_evidence.resolve_address(desk, url)
    selection = {"table": table} if table else {"query": query}
    return _open(desk, {"url": url, **selection, "missing": []})


def upload(desk: Desk, form: FormData) -> str | None:
    """Keep an uploaded file in the project's folder under a new name, then open it."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise RequestError("No file was chosen.", attempt="a file with a table.")
    target = desk.project.choose_new_name(file.filename)
    if target.suffix.lower() not in TABLE_SUFFIXES:
        raise RequestError("A file of this kind holds no table that can be read.", attempt="a CSV or Parquet file.")
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as handle:
            shutil.copyfileobj(file.file, handle, CHUNK_BYTES)
    except FileExistsError:
        raise RequestError("Another file took this name just now.", attempt="uploading it again.") from None
    except OSError as error:
        target.unlink(missing_ok=True)
        raise DiskError(f"The file cannot be kept in the folder: {error.strerror}.") from None
    return _open(desk, {"path": target.name, "missing": []})


def answer_question(desk: Desk, form: FormData) -> str | None:
    """Do what the steward answers where there is a job already: a new draft, another source for the job, or nothing."""
    reading = desk.remember("data").pop("question", None)
    answer = str(form.get("answer", ""))
    if reading is None or answer == "keep":
        return None
    if answer == "draft":
        source_evidence.start_evidence(desk, reading, desk.job_name, force=True)
        return None
    if answer != "source":
        raise RequestError("This is no answer.", attempt="one of the buttons.")
    with desk.job_file.edit() as document:
        source = document.get("source")
        if not isinstance(source, Mapping):
            document["source"] = tomlkit.table()
        for name in source_evidence.PLACES:
            set_in_document(document, ["source", name], reading.get(name))
    return None


def count_evidence(desk: Desk, form: FormData) -> str | None:
    """Count the evidence of the job's source as it is read now."""
    reading = find_reading(desk)
    if reading is None:
        raise SourceError("The job names no source.", attempt="opening a table.")
    source_evidence.start_evidence(desk, reading)
    place = str(form.get("screen", ""))
    return place if place in ("data", "columns") else None


def confirm_reading(desk: Desk, form: FormData) -> str | None:
    """Confirm how the file was read."""
    column_edits.confirm_reading(desk)
    return None


def set_reading(desk: Desk, form: FormData) -> str | None:
    """Change how a text file is read: delimiter, quote, encoding, and what an empty field is."""
    changes: dict[str, str | None] = {}
    for name in source_evidence.READING_OPTIONS:
        value = str(form.get(name, ""))
        value = "\t" if value == "tab" else value
        changes[name] = None if value in ("", SOURCE_FIELDS[name].default) else value
    reading = find_reading(desk)
    if reading is None:
        raise SourceError("The job names no source.", attempt="opening a table.")
    source_evidence.make_source(desk, {**reading, **{name: value for name, value in changes.items() if value}})
    with desk.job_file.edit() as document:
        for name, option in changes.items():
            set_in_document(document, ["source", name], option)
    return None


def set_broken(desk: Desk, form: FormData) -> str | None:
    """Set broken lines aside, or refuse a file that has some."""
    value = str(form.get("broken", ""))
    if value not in SOURCE_FIELDS["broken"].choices:
        raise RequestError("Broken lines are refused or set aside.", attempt="one of the buttons.")
    desk.job_file.set_field(["source", "broken"], value)
    return None


def set_missing(desk: Desk, form: FormData) -> str | None:
    """Set the texts that mean missing: those that are ticked, and one that was typed."""
    texts = [str(text) for text in form.getlist("mark")] + [str(form.get("more", "")).strip()]
    marks = list(dict.fromkeys(text for text in texts if text))
    if len(marks) > MAX_MARKS:
        raise RequestError(f"More than {MAX_MARKS} texts mean missing.", attempt="fewer, or `map` of a column.")
    desk.job_file.set_field(["source", "missing"], marks or None)
    return None


def set_person(desk: Desk, form: FormData) -> str | None:
    """Say whose a row is: everybody has one, or a column names the person of up to so many rows."""
    name = str(form.get("column", ""))
    declared = column_edits.list_declared(desk)
    with column_edits.edit_columns(desk) as document:
        for other, table in declared.items():
            if "rows_per_person" in table and other != name:
                column_edits.set_option(document, other, "rows_per_person", None)
                column_edits.set_option(document, other, "beyond", None)
        if not name:
            return None
        if name not in _list_column_names(desk, declared):
            raise RequestError("The table has no such column.", attempt="a column of the table.")
        number = str(form.get("rows_per_person", ""))
        if not number.isdecimal() or not 1 <= int(number) <= 10**6:
            raise RequestError("The most rows of a person are a whole number of 1 or more.", attempt="5.")
        if declared.get(name, {}).get("role") != IDENTIFYING:
            column_edits.set_role(document, name, IDENTIFYING)
        column_edits.set_option(document, name, "rows_per_person", int(number))
        column_edits.set_option(document, name, "beyond", "withhold" if form.get("beyond") == "withhold" else None)
    return None


def set_rows_shown(desk: Desk, form: FormData) -> str | None:
    """Say how many rows are shown, and whether their values are masked."""
    memory = desk.remember("data")
    number = str(form.get("rows", ""))
    if number.isdecimal() and int(number) in table_preview.ROW_CHOICES:
        memory["rows"] = int(number)
    memory["masked"] = form.get("masked") == "yes"
    reading = find_reading(desk)
    if reading is not None and form.get("read") == "yes":
        memory["asked"] = source_evidence.sign_source(desk, reading) + describe_source(reading)
    return None


def find_obstacle(desk: Desk) -> str:
    """Return why columns cannot be looked at yet."""
    draft = source_evidence.find_draft_run(desk)
    if draft is not None and draft.is_running:
        return "The table is being read"
    if find_reading(desk) is None:
        return "Open a table first"
    if not column_edits.is_reading_confirmed(desk):
        return "How the file was read waits for a yes"
    return ""


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that draft a job for this source."""
    reading = find_reading(desk)
    if reading is None:
        return CommandLines(
            "reticent init people.csv -o job.toml", "import reticent as rt\n\njob = rt.Job.read('job.toml')"
        )
    return CommandLines(write_init_line(desk, reading), _write_python_lines(desk, reading))


def write_init_line(desk: Desk, reading: Reading) -> str:
    """Write the command that drafts a job for a source."""
    import shlex

    place = reading.get("url") or reading["path"]
    options = [
        (name, reading[name]) for name in ("table", "query", *source_evidence.READING_OPTIONS) if name in reading
    ]
    options += [("missing", text) for text in reading["missing"]]
    words = ["reticent", "init", place if not place.startswith("-") else f"./{place}"]
    return shlex.join([*words, *(f"--{name}={value}" for name, value in options), "-o", desk.job_name, "--force"])


def _write_python_lines(desk: Desk, reading: Reading) -> str:
    options = {name: value for name, value in reading.items() if name != "missing" or value}
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"import reticent as rt\n\njob = rt.Job.read({desk.job_name!r})\njob = job.at(source=rt.Source({arguments}))"


def _open(desk: Desk, reading: Reading) -> str | None:
    """Draft a job for a source, or ask first where there is one."""
    desk.remember("data").pop("question", None)
    if desk.job_file.exists() and desk.job_file.text.strip():
        desk.remember("data")["question"] = reading
        return None
    source_evidence.start_evidence(desk, reading, desk.job_name, force=desk.job_file.exists())
    return None


def _get_source(desk: Desk) -> Mapping[str, Any]:
    source = desk.job_file.read_table().get("source", {})
    return source if isinstance(source, Mapping) else {}


def _describe_table(desk: Desk, path: Path, reading: Reading | None) -> dict[str, Any]:
    """Describe a file or folder: its name, size, and whether the job reads it."""
    name = desk.project.describe(path)
    files = [entry for entry in path.rglob("*") if entry.is_file()][:10_000] if path.is_dir() else [path]
    try:
        size = sum(entry.stat().st_size for entry in files)
    except OSError:
        size = 0
    what = f"{pluralize(len(files), 'file')} in a folder" if path.is_dir() else path.suffix.lstrip(".").upper()
    is_open = reading is not None and reading.get("path") in (name, str(path), f"./{name}")
    return {"name": name, "size": format_size(size), "what": what, "is_open": is_open}


def format_size(size: float) -> str:
    """Format a number of bytes for people."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f}\u00a0{unit}" if unit == "bytes" or size >= 10 else f"{size:.1f}\u00a0{unit}"
        size /= 1000
    return f"{size:.1f}\u00a0GB"


def _list_reading_facts(desk: Desk, evidence: Mapping[str, Any]) -> list[dict[str, str]]:
    """List at most four figures of what was read."""
    missing = sum(column["missing"] for column in evidence["columns"])
    looked_at = evidence.get("looked_at")
    with_missing = sum(bool(column["missing"]) for column in evidence["columns"])
    rows_sentence = (
        "read from the table" if looked_at is None else f"{looked_at:,} of them were looked at, evenly spread"
    )
    missing_sentence = f"in {pluralize(with_missing, 'column')}" if missing else "no field is empty or says so"
    facts = [
        {"label": "rows", "figure": f"{evidence['rows']:,}", "sentence": rows_sentence},
        {
            "label": "columns",
            "figure": f"{len(evidence['columns']):,}",
            "sentence": _describe_types(evidence["columns"]),
        },
        {"label": "missing values", "figure": f"{missing:,}", "sentence": missing_sentence},
    ]
    broken = evidence.get("set_aside")
    lines = _count_broken(broken) if broken else "0"
    facts.append(
        {
            "label": "broken lines",
            "figure": lines,
            "sentence": "set aside: not looked at, and not published"
            if broken
            else "every line has as many fields as the header",
        }
    )
    return facts


def _count_broken(sentences: list[str]) -> str:
    numbers = [sentence.split(" ", 1)[0].replace(",", "") for sentence in sentences]
    return f"{sum(int(number) for number in numbers if number.isdecimal()):,}"


def _describe_types(columns: list[Mapping[str, Any]]) -> str:
    kinds = {"numeric": "of numbers", "date": "of dates", "categorical": "of texts"}
    counts = {words: sum(column["type"] == kind for column in columns) for kind, words in kinds.items()}
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count)


def _list_marks(reading: Reading, evidence: Mapping[str, Any] | None) -> list[tuple[str, bool]]:
    """List the texts that mean missing by the job, and those that occur and usually do; and whether the job says so."""
    seen = [] if evidence is None else [*evidence.get("marks", []), *evidence.get("codes", [])]
    texts = list(dict.fromkeys([*reading["missing"], *seen]))
    return [(text, text in reading["missing"]) for text in texts[:MAX_MARKS]]


def _list_column_names(desk: Desk, declared: Mapping[str, Any]) -> list[str]:
    evidence = source_evidence.find_evidence(desk)
    names = list(declared) if evidence is None else [column["name"] for column in evidence["columns"]]
    return [name for name in dict.fromkeys([*names, *declared]) if not any(mark in name for mark in "*?[")]


def _describe_persons(desk: Desk, evidence: Mapping[str, Any] | None) -> dict[str, Any]:
    """Describe whose a row is by the job, and which columns could say it, with the evidence."""
    declared = column_edits.list_declared(desk)
    chosen = next((name for name, table in declared.items() if "rows_per_person" in table), "")
    columns = {} if evidence is None else {column["name"]: column for column in evidence["columns"]}
    candidates = []
    for name in _list_column_names(desk, declared):
        facts = columns.get(name)
        most = 0 if facts is None else facts["rows_of_a_value"]
        identifies = declared.get(name, {}).get("role") == IDENTIFYING or is_person_number(name)
        if name == chosen or (
            identifies and (facts is None or (1 < most <= MAX_ROWS_PER_PERSON and not facts["missing"]))
        ):
            candidates.append({"name": name, "most": most, "distinct": 0 if facts is None else facts["distinct"]})
    table = declared.get(chosen, {})
    others = [
        name for name in _list_column_names(desk, declared) if name not in {entry["name"] for entry in candidates}
    ]
    return {
        "column": chosen,
        "rows": table.get("rows_per_person", 0),
        "beyond": table.get("beyond", "refuse"),
        "candidates": candidates,
        "others": others,
        "can_change": bool(declared),
        "looked_at": 0 if evidence is None else evidence.get("looked_at", evidence["rows"]),
        "evidence": next((entry for entry in candidates if entry["name"] == chosen), None),
    }


def _show_first_rows(desk: Desk, reading: Reading | None, evidence: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the first rows, kept until the source or how it is read changes; None where there is no source."""
    if reading is None:
        return None
    memory = desk.remember("data")
    count = memory.get("rows", DEFAULT_ROWS)
    masked = memory.get("masked", False)
    result = {"count": count, "choices": table_preview.ROW_CHOICES, "masked": masked, "rows": None, "problem": None}
    try:
        source = source_evidence.make_source(desk, reading)
        signature = source_evidence.sign_source(desk, reading)
        asked = memory.get("asked") == signature + describe_source(reading)
        if not asked and not table_preview.can_be_read_now(source):
            return result
        key = (repr(source), signature, count)
        if memory.get("head", (None,))[0] != key:
            memory["head"] = (key, table_preview.read_first_rows(source, count))
        rows = memory["head"][1]
    except ReticentError as error:
        return {**result, "problem": error}
    columns = {} if evidence is None else {column["name"]: column for column in evidence["columns"]}
    shown = [[table_preview.mask_value(value) if masked else value for value in row] for row in rows.rows]
    return {**result, "rows": shown, "columns": [_describe_column(name, columns.get(name)) for name in rows.names]}


def _describe_column(name: str, facts: Mapping[str, Any] | None) -> dict[str, Any]:
    words = {"numeric": "number", "date": "date", "categorical": "text", "ordinal": "ordered"}
    return {
        "name": name,
        "type": "" if facts is None else words.get(facts["type"], facts["type"]),
        "missing": 0 if facts is None else facts["missing"],
    }


SCREEN = Screen(
    name="data",
    title="Data",
    question="Was your file read as you meant it?",
    why="Everything that follows rests on how the table is read: which texts mean missing, which lines were set aside, and whether a row is a person.",
    example="A hospital's export has `unknown` in 436 birth dates. Read as a text, it is a value that singles people out; declared as missing, it is none.",
    docs="sources",
    show=show,
    write_commands=write_commands,
    actions={
        "open": open_table,
        "open-files": open_files,
        "open-database": open_database,
        "upload": upload,
        "answer": answer_question,
        "count": count_evidence,
        "confirm": confirm_reading,
        "reading": set_reading,
        "broken": set_broken,
        "missing": set_missing,
        "person": set_person,
        "rows": set_rows_shown,
    },
    find_obstacle=find_obstacle,
    is_done=lambda desk: not find_obstacle(desk),
)
