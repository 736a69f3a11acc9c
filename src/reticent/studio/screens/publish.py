"""The screen *Publish*: what the release says of itself, its making, and the verdicts on it alone and with earlier ones."""

from __future__ import annotations

import shlex
from typing import Any

from starlette.datastructures import FormData

from reticent.drawing.plots import draw_bar
from reticent.errors import AlreadyPublished, JobError, OutputExists, RequestError
from reticent.studio import publication
from reticent.studio.desk import Desk
from reticent.studio.screens.screen import CommandLines, Screen

MAX_SEED_DIGITS = 15
CHOICES = {"new": "--only-new", "again": "--again"}


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    run = desk.runs.find(publication.RUN_KEY)
    name = publication.choose_name(desk)
    published = publication.find_publication(desk)
    chosen = desk.remember("publish")
    return {
        "run": run,
        "is_running": run is not None and run.is_running,
        "was_published_before": run is not None and run.exit_code == AlreadyPublished.exit_code,
        "has_identifying": publication.has_identifying_column(desk),
        "about": publication.list_about(desk),
        "keeps_at_least": publication.read_limit(desk),
        "name": name,
        "is_taken": publication.is_release(desk.project.folder / name),
        "seed": chosen.get("seed", ""),
        "is_valid": desk.read_job() is not None,
        "published": None if published is None else publication.describe_publication(published),
        "is_stale": (run is not None and run.succeeded and chosen.get("digest") not in (None, desk.job_file.digest)),
        "bar": draw_bar,
    }


def save_about(desk: Desk, form: FormData) -> str | None:
    """Write what the form says into the job; then publish, where that button was pressed."""
    name = str(form.get("name", "")).strip() or "release"
    folder = publication.resolve_release(desk, name)
    seed = _read_seed(str(form.get("seed", "")))
    names = [field["name"] for field in publication.list_about(desk)] + ["keeps"]
    texts = {field: str(form[field]) for field in names if field in form and not _is_as_shown(form, field)}
    limit = texts.pop("keeps", None)
    publication.write_about(desk, texts, limit)
    desk.remember("publish").update(name=name, seed=seed)
    if form.get("then") != "publish":
        return None
    if folder.exists() and not publication.is_release(folder):
        raise OutputExists(f"There is something else of the name {name}.", attempt="another name.")
    if publication.is_release(folder) and form.get("replace") != "yes":
        raise OutputExists(
            f"The release {name} exists.",
            why="Those who were given it keep it; the folder here would hold the new one.",
            attempt="another name, or the tick that replaces it.",
        )
    _start(desk, ["--force"] if publication.is_release(folder) else [])
    return None


def resolve_repeat(desk: Desk, form: FormData) -> str | None:
    """Publish after the ledger knew these people: the new ones only, or all of them again."""
    run = desk.runs.find(publication.RUN_KEY)
    if run is None or run.exit_code != AlreadyPublished.exit_code:
        raise RequestError("No publication was refused because of people who were published before.")
    choice = str(form.get("choice", ""))
    if choice not in CHOICES:
        raise RequestError("No way was chosen.", attempt="one of the choices.")
    if choice == "again" and form.get("confirmed") != "yes":
        raise RequestError(
            "Two releases of the same people can be joined.",
            why="Together they promise less than each alone.",
            attempt="the tick that says that you accept it, or another choice.",
        )
    kept = [word for word in run.words if word == "--force"]
    _start(desk, [CHOICES[choice], *kept])
    return None


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that do what this screen does."""
    words = ["reticent", *_make_words(desk, _list_last_options(desk))]
    options = [f"to={publication.choose_name(desk)!r}"]
    seed = desk.remember("publish").get("seed")
    if seed not in (None, ""):
        options.append(f"seed={seed}")
    for word in _list_last_options(desk):
        options.append(f"{word.removeprefix('--').replace('-', '_')}=True")
    python = "\n".join(
        [
            "import reticent as rt",
            f"job = rt.Job.read({desk.job_name!r})",
            f"release = rt.publish(job, {', '.join(options)})",
            "print(release.audited)",
        ]
    )
    return CommandLines(shlex.join(words).replace(" --", " \\\n  --"), python)


def find_obstacle(desk: Desk) -> str:
    """Return why the next screens are empty yet; empty where there is a release."""
    run = desk.runs.find(publication.RUN_KEY)
    if run is not None and run.is_running:
        return "The release is being made."
    return "" if desk.project.list_releases() else "There is no release yet."


def is_done(desk: Desk) -> bool:
    return bool(desk.project.list_releases())


def _start(desk: Desk, options: list[str]) -> None:
    """Start publishing, and remember of which job it is."""
    error = desk.find_job_error()
    if error is not None:
        raise error
    if desk.read_job() is None:
        raise JobError("There is no job yet.", attempt="opening a table on the screen Data.")
    desk.remember("publish")["digest"] = desk.job_file.digest
    desk.runs.start(_make_words(desk, options), publication.RUN_KEY)


def _make_words(desk: Desk, options: list[str]) -> list[str]:
    seed = desk.remember("publish").get("seed")
    seeded = [] if seed in (None, "") else ["--seed", str(seed)]
    return ["publish", desk.job_name, "--output", publication.choose_name(desk), *seeded, *options]


def _list_last_options(desk: Desk) -> list[str]:
    """List the options of the last run that the present form would need again."""
    run = desk.runs.find(publication.RUN_KEY)
    return [] if run is None else [word for word in run.words if word in ("--again", "--only-new")]


def _is_as_shown(form: FormData, field: str) -> bool:
    """Tell whether a field is as its page showed it: another tab may have changed the job since, and keeps its change."""
    shown = form.get(f"shown {field}")
    return shown is not None and _normalize(shown) == _normalize(form[field])


def _normalize(text: object) -> str:
    return str(text).replace("\r\n", "\n").strip()


def _read_seed(text: str) -> int | str:
    text = text.strip()
    if not text:
        return ""
    if not text.isascii() or not text.isdigit() or len(text) > MAX_SEED_DIGITS:
        raise RequestError("A seed is a whole number from 0 on.", attempt="no seed: it is for tests and studies.")
    return int(text)


SCREEN = Screen(
    name="publish",
    title="Publish",
    question="Is it kept, alone and together?",
    why="The release is written to a folder, then recounted from its files by other code, then joined with every earlier release of the same people. Cancel at any moment: the folder is the old one or the new one, never half.",
    example="A release that keeps its promise alone may break it together with last year's.",
    docs="what-else-it-says",
    show=show,
    write_commands=write_commands,
    actions={"save": save_about, "repeat": resolve_repeat},
    find_obstacle=find_obstacle,
    is_done=is_done,
)
