"""The screen *Ledger*: which releases there are, who is in how many of them, what they tell together, and taking one back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, QueryParams
from starlette.responses import Response

from reticent.drawing.plots import draw_bar
from reticent.errors import RequestError, ReticentError, pluralize
from reticent.format.folder import read_small_file
from reticent.ledger.paths import resolve_ledger_folder, resolve_notes_folder
from reticent.ledger.private_files import LEDGER_FILE
from reticent.ledger.release_desk import IN_PLACE, KnownRelease, find_people, releases, withdraw
from reticent.ledger.shared_people import SharedPeople, count_shared_people
from reticent.studio.desk import Desk
from reticent.studio.release_folders import join_words, quote_place
from reticent.studio.release_pages import show_readme
from reticent.studio.runs import Run
from reticent.studio.screens.screen import CommandLines, Screen
from reticent.studio.time_line import DrawnRelease, draw_time_line, read_seconds

MAX_LISTED_RELEASES = 200
MAX_DRAWN_RELEASES = 40
MAX_JOINED_RELEASES = 8
MAX_NOTES_BYTES = 2**20
MAX_PERSON_LETTERS = 500
SHOWN_DIGITS = 8


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    folder = resolve_ledger_folder()
    try:
        known = releases()
        shared = count_once(desk, folder) if known else None
        fault = None
    except ReticentError as error:
        known, shared, fault = [], None, error
    drawn = known[-MAX_DRAWN_RELEASES:]
    return {
        "ledger": str(folder),
        "fault": fault,
        "releases": [describe_release(desk, release, known) for release in reversed(known)][:MAX_LISTED_RELEASES],
        "count": len(known),
        "title": describe_time_line(known),
        "time_line": draw_time_line(arrange_releases(drawn)) if drawn else "",
        "drawn": len(drawn),
        "shared": None if shared is None else describe_shared(shared),
        "shared_people": shared,
        "person": desk.remember("ledger").get("person"),
        "can_join": desk.find_source() is not None and desk.job_file.exists(),
        "max_reason": 1_000,
    }


def count_once(desk: Desk, folder: Path) -> SharedPeople | None:
    """Count who is in how many releases, once for the ledger as it is now."""
    memory = desk.remember("ledger")
    sign = [
        (path.stat().st_mtime_ns, path.stat().st_size)
        for path in (folder / LEDGER_FILE, folder / "ledger-withdrawals.jsonl")
        if path.is_file()
    ]
    if memory.get("sign") != sign:
        memory |= {"shared": count_shared_people(), "sign": sign}
    shared: SharedPeople | None = memory["shared"]
    return shared


def describe_release(desk: Desk, release: KnownRelease, known: Sequence[KnownRelease]) -> dict[str, Any]:
    """Describe a release as a row of the list, with what can be done with it here."""
    earlier = find_earlier(release, known)
    joined = find_joined(desk, release, known)
    run = desk.runs.find(make_key(desk, release, joined)) if joined else None
    return {
        "digest": release.digest,
        "short": release.digest[:SHOWN_DIGITS],
        "name": release.release,
        "folder": release.folder,
        "at": release.at[:16].replace("T", " "),
        "user": release.user or "not recorded",
        "title": release.title or "",
        "kind": release.kind or "not recorded",
        "published": release.published,
        "withheld": release.withheld,
        "promises": ", ".join(str(promise.get("model")) for promise in release.promises),
        "state": release.state,
        "withdrawal": release.withdrawal,
        "counts": release.counts,
        "never": release.withdrawal is not None and release.withdrawal.never_handed_out,
        "repeats": [each.release for each in earlier],
        "joined": [each.release for each in joined],
        "run": run,
        "together": describe_together(run),
        "notes": find_notes(desk, release) is not None,
        "is_here": is_here(desk, release),
    }


def find_earlier(release: KnownRelease, known: Sequence[KnownRelease]) -> list[KnownRelease]:
    """Find the earlier releases of the same people that the ledger noted."""
    return [each for each in known if each.digest in release.repeats and each.digest != release.digest]


def find_joined(desk: Desk, release: KnownRelease, known: Sequence[KnownRelease]) -> list[KnownRelease]:
    """Find the earlier releases that a release can be joined with here: they count, stand in place, and are the project's."""
    if not is_here(desk, release):
        return []
    earlier = [each for each in find_earlier(release, known) if each.counts and is_here(desk, each)]
    return earlier[-MAX_JOINED_RELEASES:]


def is_here(desk: Desk, release: KnownRelease) -> bool:
    """Tell whether a release stands where it was put, in the project or in what was named when the studio started."""
    if release.state != IN_PLACE:
        return False
    try:
        return desk.project.resolve(str(release.path)).is_dir()
    except RequestError:
        return False


def find_notes(desk: Desk, release: KnownRelease) -> Path | None:
    """Return the owner's notes on a release; None where there are none, or they are not the project's to read."""
    try:
        path = resolve_notes_folder(desk.project.resolve(str(release.path))) / "README.md"
    except RequestError:
        return None
    return path if path.is_file() and not path.is_symlink() else None


def arrange_releases(known: Sequence[KnownRelease]) -> list[DrawnRelease]:
    """Arrange releases as the time line draws them."""
    rows = {release.digest: row for row, release in enumerate(known)}
    return [
        DrawnRelease(
            read_seconds(release.at),
            label_release(release),
            tuple(rows[digest] for digest in release.repeats if rows.get(digest, row) < row),
            release.counts,
        )
        for row, release in enumerate(known)
    ]


def label_release(release: KnownRelease) -> str:
    rows = "" if release.published is None else f", {release.published:,} rows"
    withdrawn = "" if release.withdrawal is None else ", withdrawn"
    return f"{release.release}{rows}{withdrawn}"


def describe_time_line(known: Sequence[KnownRelease]) -> str:
    """Describe what the time line shows, as a sentence."""
    repeated = sum(1 for release in known if release.repeats)
    if not repeated:
        return f"{pluralize(len(known), 'release')}, none of people who were published before"
    return f"{repeated:,} of {pluralize(len(known), 'release')} {'is' if repeated == 1 else 'are'} of people who were published before"


def describe_shared(shared: SharedPeople) -> list[dict[str, Any]]:
    """Describe how many people are in how many releases, each number as a bar."""
    most = max(shared.people.values())
    return [
        {"label": f"in {pluralize(number, 'release')}", "people": people, "bar": draw_bar(people / most)}
        for number, people in sorted(shared.people.items())
    ]


def describe_together(run: Run | None) -> dict[str, Any] | None:
    """Describe what releases tell together, as the attack that joins them found it; None where it did not."""
    if run is None or not run.succeeded or not isinstance(run.result, Mapping):
        return None
    names = ("targets", "half", "half_alone", "worst_posterior", "worst_alone", "success", "control")
    return {name: run.result.get(name) for name in names}


def find_known(form: FormData | QueryParams) -> tuple[KnownRelease, list[KnownRelease]]:
    """Find the release that a form means, by its whole digest, and all that the ledger knows."""
    digest = str(form.get("digest", ""))
    known = releases()
    for release in reversed(known):
        if release.digest == digest:
            return release, known
    raise RequestError("The ledger knows no such release.", attempt="one of the list.")


def withdraw_release(desk: Desk, form: FormData) -> None:
    """Record that a release was taken back, with the reason and whether a copy ever left."""
    release, _ = find_known(form)
    stated = {"never": True, "out": False}.get(str(form.get("copies", "")))
    if stated is None:
        raise RequestError(
            "Whether a copy ever left is not said.",
            why="A release of which copies may be out still counts.",
            attempt="one of the two answers.",
        )
    withdraw(release.digest, reason=str(form.get("reason", "")), never_handed_out=stated)


def join_releases(desk: Desk, form: FormData) -> None:
    """Start the attack that joins a release with the earlier ones of the same people."""
    release, known = find_known(form)
    joined = find_joined(desk, release, known)
    source = desk.find_source()
    if not joined or source is None:
        raise RequestError(
            "This release cannot be joined here.",
            why="An earlier release of the same people, and the source, have to stand in this project.",
            attempt="`reticent attack RELEASE --as composition --with OTHER --source DATA`.",
        )
    desk.runs.start(write_join(desk, release, joined, source), make_key(desk, release, joined))


def write_join(desk: Desk, release: KnownRelease, joined: Sequence[KnownRelease], source: Path) -> list[str]:
    """Write the command that joins releases."""
    words = ["attack", quote_place(desk, release.path.resolve()), "--as", "composition"]
    for each in joined:
        words += ["--with", quote_place(desk, each.path.resolve())]
    return [*words, "--source", quote_place(desk, source)]


def make_key(desk: Desk, release: KnownRelease, joined: Sequence[KnownRelease]) -> str:
    return desk.make_key("ledger-join", release.digest, *(each.digest for each in joined))


def ask_person(desk: Desk, form: FormData) -> None:
    """Find the releases that hold a person; the person's identifier is in no address and no log, and is not remembered."""
    person = str(form.get("person", "")).strip()
    if not person or len(person) > MAX_PERSON_LETTERS:
        raise RequestError(
            f"An identifier has 1 to {MAX_PERSON_LETTERS} letters.",
            attempt="the person's number, as the source has it.",
        )
    found = find_people([person])
    desk.remember("ledger")["person"] = {
        "releases": [release.digest for release in found.releases[0]],
        "unknown": len(found.unknown),
    }


def forget_person(desk: Desk, form: FormData) -> None:
    """Remove the answer about a person from the page."""
    desk.remember("ledger").pop("person", None)


def show_notes(desk: Desk, query: QueryParams) -> Response:
    """Show the owner's notes on a release."""
    release, _ = find_known(query)
    path = find_notes(desk, release)
    if path is None:
        raise RequestError("There are no notes on this release here.", attempt="the owner's folder beside it.")
    return show_readme(read_small_file(path, MAX_NOTES_BYTES).decode("utf-8", "replace"), "Notes on a release")


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that do what this screen does."""
    lines = [join_words(["releases"]), join_words(["releases", "--person", "-"])]
    try:
        known = releases()
    except ReticentError:
        known = []
    if known:
        lines.append(join_words(["withdraw", known[-1].digest[:SHOWN_DIGITS], "--reason", "wrong column"]))
        source = desk.find_source()
        joined = find_joined(desk, known[-1], known)
        if joined and source is not None:
            lines.append(join_words(write_join(desk, known[-1], joined, source)))
    return CommandLines("\n".join(lines), "import reticent as rt\n\nfor release in rt.releases():\n    print(release)")


SCREEN = Screen(
    name="ledger",
    title="Ledger",
    question="Who is in how many releases?",
    why="Two releases of the same people can be joined, and together they may say more than either promised. The ledger remembers what you published, so that the next release is judged with the earlier ones.",
    example="People who were in last year's release and in this one are protected by neither alone.",
    docs="owner",
    show=show,
    write_commands=write_commands,
    actions={"withdraw": withdraw_release, "join": join_releases, "person": ask_person, "forget": forget_person},
    views={"notes": show_notes},
)
