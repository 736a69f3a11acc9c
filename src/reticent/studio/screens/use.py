"""The screen *Use*: questions in SQL or by clicking, their answers drawn with bounds, and what is true beside them.

A question is a child process (`reticent query --json`), so that one about many rows holds up nobody.  What is true is
shown to the owner of a release alone, where the data that it was made from is at hand.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData

from reticent.errors import RequestError
from reticent.format.manifest import Manifest
from reticent.query.run import QueryOptions, require_density_applies
from reticent.query.sql import parse_question
from reticent.release.kind import reader_for
from reticent.studio import question_form
from reticent.studio.answer_pictures import draw_answers, list_notes
from reticent.studio.desk import Desk
from reticent.studio.release_choice import (
    choose_release,
    find_own_source,
    find_release,
    list_releases,
    name_release,
    read_chosen_manifest,
    require_release,
    sign_release,
)
from reticent.studio.screens.screen import CommandLines, Screen

MAX_QUESTIONS = 50  # of this session that are remembered
MAX_QUESTION_LETTERS = 20_000
RECONSTRUCTIONS = {
    "inversion": "by inversion: right on the average",
    "em": "by expectation-maximisation: never negative",
    "shrunk": "shrunk towards what everybody's frequencies give",
}
REDRAWN_FIELDS = {"matrix", "p"}
"""Fields of a manifest that say how sensitive values were redrawn: then an estimate reconstructs them."""
FIRST_QUESTION = "SELECT COUNT(*) FROM release"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question of this session, with the command that asked it and the key of its run."""

    number: int
    text: str
    groups: tuple[str, ...]
    aggregates: tuple[str, ...]
    release: str
    words: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    source: str
    key: str


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs: the question in the form, its answer, and the questions before it."""
    folder = find_release(desk)
    manifest, damage = read_chosen_manifest(folder)
    facts: dict[str, Any] = {
        "releases": [name_release(desk, each) for each in list_releases(desk)],
        "chosen": None if folder is None else name_release(desk, folder),
        "damage": damage,
        "manifest": manifest,
    }
    if folder is None or manifest is None:
        return facts
    memory = desk.remember("use")
    asked = _find_current(desk, folder)
    run = None if asked is None else desk.runs.find(asked.key)
    result = None if asked is None else desk.runs.find_result(asked.key)
    columns = question_form.describe_columns(manifest)
    return facts | {
        "columns": columns,
        "name_pairs": [(column.name, column.name) for column in columns],
        "of_pairs": [(column.name, column.name) for column in columns if column.can_be_added],
        "listed": _list_hints(columns),
        "aggregates": question_form.AGGREGATES,
        "comparisons": question_form.COMPARISONS,
        "conditions": range(1, question_form.CONDITIONS + 1),
        "reconstructions": RECONSTRUCTIONS if REDRAWN_FIELDS & set(manifest.own) else {},
        "labelled": reader_for(manifest.kind).labelled,
        "source": find_own_source(desk, folder),
        "fields": memory.get("fields", {}),
        "text": memory.get("text", FIRST_QUESTION),
        "asked": asked,
        "run": run,
        "answered": result is not None,
        "figures": [] if result is None or asked is None else draw_answers(result, asked.groups, asked.aggregates),
        "notes": list_notes(result),
        "history": _list_history(desk, folder),
    }


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that ask the question of this screen."""
    folder = find_release(desk)
    asked = None if folder is None else _find_current(desk, folder)
    if asked is None:
        name = "release" if folder is None else name_release(desk, folder)
        python = f"import reticent as rt\n\nrelease = rt.open({name!r})\nprint(release.query({FIRST_QUESTION!r}))\n"
        return CommandLines(shlex.join(["reticent", "query", name, FIRST_QUESTION]), python)
    words = [asked.source if word == _find_source_word(asked) else word for word in asked.words]
    options = "".join(f", {name}={value!r}" for name, value in asked.options)
    python = f"import reticent as rt\n\nrelease = rt.open({asked.release!r})\nprint(release.query({asked.text!r}{options}))\n"
    if asked.source:
        python += f"print(release.measure([{asked.text!r}], {asked.source!r}{options}))\n"
    return CommandLines(shlex.join(["reticent", *words]), python)


def ask(desk: Desk, form: FormData) -> None:
    """Ask the question in the text.

    Raises:
        RequestError: it is not understood, or not answered from this kind of release; nothing is started.
    """
    folder, manifest = _require_manifest(desk)
    memory = desk.remember("use")
    memory["text"] = str(form.get("sql", ""))[:MAX_QUESTION_LETTERS]
    memory["fields"] = {**memory.get("fields", {}), **_keep_options(form)}
    _start(desk, folder, manifest, memory["text"], form)


def write_by_clicks(desk: Desk, form: FormData) -> None:
    """Write the question that was clicked together into the text, and ask it where the button says so."""
    folder, manifest = _require_manifest(desk)
    memory = desk.remember("use")
    memory["fields"] = {
        **memory.get("fields", {}),
        **{name: str(value)[:200] for name, value in form.items() if name not in ("token", "screen", "then", "sql")},
    }
    memory["text"] = question_form.write_question(form, manifest)
    if form.get("then") == "ask":
        _start(desk, folder, manifest, memory["text"], memory["fields"])


def recall(desk: Desk, form: FormData) -> None:
    """Show a question of this session once more, with its answer."""
    number = str(form.get("number", ""))
    asked = next((each for each in desk.remember("use").get("asked", []) if str(each.number) == number), None)
    if asked is None:
        raise RequestError("This question is no longer remembered.", attempt="asking it again.")
    desk.remember("use")["current"] = asked.number
    desk.remember("use")["text"] = asked.text


def forget(desk: Desk, form: FormData) -> None:
    """Forget the questions of this session."""
    desk.remember("use").clear()


def choose(desk: Desk, form: FormData) -> None:
    """Take another release; the question in the text stays."""
    choose_release(desk, form)
    desk.remember("use").pop("fields", None)


def is_done(desk: Desk) -> bool:
    """Tell whether something was asked in this session."""
    return bool(desk.remember("use").get("asked"))


def _start(desk: Desk, folder: Path, manifest: Manifest, text: str, form: Mapping[str, Any]) -> None:
    options = _read_options(form, manifest)
    parsed = parse_question(text, manifest)
    source = find_own_source(desk, folder)
    name = name_release(desk, folder)
    words = ["query", name, f" {text}" if text.startswith("-") else text]
    for option, value in options.items():
        words += [f"--{option}", str(value)]
    is_measured = bool(source.word) and bool(form.get("truth"))
    if is_measured:
        words += source.words
    digest = hashlib.sha256("\0".join(words).encode()).hexdigest()
    key = f"query:{digest}:{sign_release(folder, source)}"
    _remember(
        desk,
        text=text,
        groups=tuple(parsed.by),
        aggregates=tuple(str(aggregate) for aggregate in parsed.aggregates),
        release=name,
        words=tuple(words),
        options=tuple(options.items()),
        source=source.shown if is_measured else "",
        key=key,
    )
    if desk.runs.find_result(key) is None:
        desk.runs.start(words, key)


def _remember(desk: Desk, **facts: Any) -> None:
    """Add a question to those of this session; one that was asked before becomes the latest."""
    memory = desk.remember("use")
    questions = [each for each in memory.get("asked", []) if each.key != facts["key"]]
    number = memory.get("count", 0) + 1
    questions.append(AskedQuestion(number=number, **facts))
    memory.update(count=number, current=number, asked=questions[-MAX_QUESTIONS:])


def _read_options(form: Mapping[str, Any], manifest: Manifest) -> dict[str, Any]:
    """Read the level, the reconstruction and the density of a form; those that are the usual ones are left out."""
    options: dict[str, Any] = {}
    level = str(form.get("level") or "")
    if level and level != "0.95":
        try:
            options["level"] = float(level)
        except ValueError:
            raise RequestError("The level of an interval is no number.", attempt="0.95.") from None
    if form.get("by") and form.get("by") != "inversion":
        if form.get("by") not in RECONSTRUCTIONS:
            raise RequestError("There is no such reconstruction.", attempt="inversion, em or shrunk.")
        options["by"] = str(form.get("by"))
    if form.get("density") and form.get("density") != "likelihood":
        options["density"] = str(form.get("density"))
    QueryOptions(level=options.get("level", 0.95), density=options.get("density"))
    require_density_applies(manifest, options.get("density"))
    return options


def _keep_options(form: FormData) -> dict[str, str]:
    return {name: str(form.get(name, ""))[:20] for name in ("level", "by", "density", "truth")}


def _require_manifest(desk: Desk) -> tuple[Path, Manifest]:
    folder = require_release(desk)
    manifest, damage = read_chosen_manifest(folder)
    if manifest is None:
        raise damage or RequestError("The project has no release yet.", attempt="the screen *Publish*.")
    return folder, manifest


def _find_current(desk: Desk, folder: Path) -> AskedQuestion | None:
    """Return the question that is shown, where it was put to this release."""
    memory = desk.remember("use")
    current = next((each for each in memory.get("asked", []) if each.number == memory.get("current")), None)
    return current if current is not None and current.release == name_release(desk, folder) else None


def _find_source_word(asked: AskedQuestion) -> str | None:
    return asked.words[-1] if asked.source else None


def _list_history(desk: Desk, folder: Path) -> list[dict[str, Any]]:
    """List the questions of this session to this release, the latest first, with how each ended."""
    name = name_release(desk, folder)
    listed = []
    for asked in reversed(desk.remember("use").get("asked", [])):
        if asked.release == name:
            run = desk.runs.find(asked.key)
            listed.append({"asked": asked, "outcome": "forgotten" if run is None else run.outcome})
    return listed


def _list_hints(columns: Sequence[question_form.AskedColumn]) -> list[tuple[str, str]]:
    """List values that may be typed into a condition, each with its column."""
    hints = [(value, column.name) for column in columns for value in column.listed]
    return hints[: question_form.MAX_LISTED_VALUES]


SCREEN = Screen(
    name="use",
    title="Use",
    question="What can still be asked, and how exactly?",
    why="Ask the release what its recipients will ask. Every answer comes with bounds or a standard error; for you, the true answer stands beside it.",
    example="How many people between 30 and 39 earn more than 50,000: about 1,204, between 1,180 and 1,233; truly 1,210.",
    docs="queries",
    show=show,
    write_commands=write_commands,
    actions={"choose": choose, "ask": ask, "clicks": write_by_clicks, "recall": recall, "forget": forget},
    is_done=is_done,
)
