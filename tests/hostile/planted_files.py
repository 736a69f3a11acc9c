"""Staging folders, records and journals that somebody planted for recovery to find: each is data that nothing may act on.

A `World` is a folder of our own with a home, a temporary folder, the working directory and a ledger.  What is planted aims at
`home`: to write `home/.ssh/authorized_keys`, to remove `home/thesis`, to create `home/made`.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.ledger import staging, storage

KEYS = "ssh-ed25519 AAAA stranger\n"
RECORDS = "ledger-stages"


@dataclass(frozen=True)
class World:
    top: Path

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def temporary(self) -> Path:
        return self.top / "temporary"

    @property
    def place(self) -> Path:
        """The working directory, with the release `release` and the table `people.csv`."""
        return self.top / "place"

    @property
    def ledger(self) -> Path:
        return self.top / "place-ledger"

    def furnish(self) -> None:
        (self.home / ".ssh").mkdir(parents=True, exist_ok=True)
        (self.home / "thesis").mkdir(exist_ok=True)
        (self.home / "thesis" / "chapter.txt").write_text("years of work\n")
        self.temporary.mkdir(exist_ok=True)


def write_older(folder: Path, target: str, ledger: Path | None = None) -> Path:
    """A staging folder as versions wrote it that signed nothing, its maker dead."""
    (folder / "release").mkdir(parents=True)
    (folder / "replaced").mkdir()
    (folder / "replaced" / "authorized_keys").write_text(KEYS)
    (folder / "lock").touch()
    (folder / "note.json").write_text(json.dumps({"target": target, "ledger": None if ledger is None else str(ledger)}))
    folder.chmod(0o700)
    return folder


def write_older_ledger(folder: Path, world: World) -> Path:
    """A stranger's ledger whose journal writes the owner's notes into the home and removes a folder there."""
    (folder / "ledger.journal" / "notes").mkdir(parents=True)
    (folder / "ledger.journal" / "sketches").mkdir()
    (folder / "ledger.journal" / "notes" / "authorized_keys").write_text(KEYS)
    (folder / "ledger.key").write_text("00" * 32 + "\n")
    intent = {
        "target": str(folder / "none"),
        "staged": str(world.home / "thesis" / "release"),
        "notes": str(world.home / ".ssh"),
        "made": [str(world.home / "thesis")],
        "size": 0,
        "sketches": [],
        "entry": {"digest": "0" * 64},
        "batches": "",
    }
    (folder / "ledger.journal" / "intent.json").write_text(json.dumps(intent))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return folder


def abandon(target: Path, ledger: Path) -> Path:
    """A genuine staging folder of a process that died while it replaced the target in two steps."""
    stage = staging.stage_folder(target, ledger)
    release = stage.__enter__()
    (release.parent / "replaced").mkdir(mode=0o700)
    (release.parent / "replaced" / "authorized_keys").write_text(KEYS)
    staging.leave_staged(release)
    return release.parent


def record_of(folder: Path, ledger: Path) -> Path:
    return ledger / RECORDS / f"{folder.name}.json"


def rewrite(path: Path, **changes: Any) -> None:
    """Change fields of a record or note and leave its MAC."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    path.chmod(0o600)


def sign_again(world: World, path: Path, purpose: str, **changes: Any) -> None:
    """Change fields of a record or note and sign them by the user's own secret, which no stranger has: a second wall."""
    fields = {**json.loads(path.read_text()), **changes}
    fields.pop("mac")
    mac = storage.sign_fields(world.ledger, storage.read_key(world.ledger), purpose, fields)
    path.write_text(json.dumps({**fields, "mac": mac}))
    path.chmod(0o600)


# What is planted without a record in the ledger: by who sent a folder, or by another user of the machine.


def an_absolute_target_inside_the_release(world: World) -> None:
    write_older(world.place / "release" / ".reticent-stage-inside", str(world.home / ".ssh" / "now"))


def a_climbing_target_inside_the_release(world: World) -> None:
    write_older(world.place / "release" / ".reticent-stage-climbs", "../../../home/.ssh/climbed")


def a_new_folder_inside_the_release(world: World) -> None:
    folder = world.place / "release" / (staging.STAGING_PREFIX + "0" * 16)
    write_older(folder, str(world.home / ".ssh" / "now"))


def a_foreign_ledger_inside_the_release(world: World) -> None:
    ledger = write_older_ledger(world.place / "release" / "ledger", world)
    write_older(world.place / "release" / ".reticent-stage-settles", "none", ledger)


INSIDE: dict[str, Callable[[World], None]] = {
    "an absolute target, inside the release": an_absolute_target_inside_the_release,
    "a climbing target, inside the release": a_climbing_target_inside_the_release,
    "a folder of today's name, inside the release": a_new_folder_inside_the_release,
    "a foreign ledger, inside the release": a_foreign_ledger_inside_the_release,
}


def a_folder_beside_the_release(world: World) -> None:
    write_older(world.place / ".reticent-stage-beside", "../home/.ssh/beside")


def a_folder_among_the_owners_notes(world: World) -> None:
    write_older(
        world.place / "reticent-owner" / "release" / ".reticent-stage-notes", str(world.home / ".ssh" / "notes")
    )


def a_folder_in_the_temporary_folder(world: World) -> None:
    write_older(world.temporary / ".reticent-stage-temporary", str(world.home / ".ssh" / "temporary"))


def a_lock_that_is_a_link(world: World) -> None:
    folder = write_older(world.temporary / ".reticent-stage-lock", "none")
    (folder / "lock").unlink()
    (folder / "lock").symlink_to(world.home / "made")


def a_staging_folder_that_is_a_link(world: World) -> None:
    for prefix in (".reticent-stage-", staging.STAGING_PREFIX):
        (world.temporary / (prefix + "1" * 16)).symlink_to(world.home / "thesis", target_is_directory=True)


def a_foreign_ledger_named_by_a_note(world: World) -> None:
    ledger = write_older_ledger(world.temporary / "ledger", world)
    write_older(world.temporary / ".reticent-stage-foreign", "none", ledger)


def a_folder_signed_by_a_foreign_ledger(world: World) -> None:
    abandon(world.temporary / "authorized_keys", world.temporary / "stranger")
    abandon(world.place / "authorized_keys", world.temporary / "stranger")


# What lies where a record of the ledger says, and is not what was recorded.


def a_record_that_nobody_signed(world: World) -> None:
    folder = abandon(world.temporary / "unsigned", world.ledger)
    rewrite(record_of(folder, world.ledger), target="../home/.ssh/unsigned")


def a_note_that_nobody_signed(world: World) -> None:
    folder = abandon(world.temporary / "noted", world.ledger)
    rewrite(folder / "note.json", mac="0" * 64)


def a_target_of_several_components(world: World) -> None:
    for target in ("../home/.ssh/several", str(world.home / ".ssh" / "absolute"), "..", ""):
        folder = abandon(world.temporary / "several", world.ledger)
        sign_again(world, record_of(folder, world.ledger), "reticent staging record", target=target)
        sign_again(world, folder / "note.json", "reticent staging note", target=target)


def a_replayed_folder_at_another_path(world: World) -> None:
    """A genuine folder, copied over another one that is recorded: the note speaks of the first."""
    first = abandon(world.temporary / "first", world.ledger)
    second = abandon(world.temporary / "second", world.ledger)
    shutil.rmtree(second)
    shutil.copytree(first, second)
    shutil.rmtree(first)
    record_of(first, world.ledger).unlink()


def a_copy_in_the_folder_s_own_place(world: World) -> None:
    """The same path and the same note; only the inode tells."""
    folder = abandon(world.temporary / "copied", world.ledger)
    folder.rename(world.temporary / "kept-aside")
    shutil.copytree(world.temporary / "kept-aside", folder)


def a_place_that_was_exchanged(world: World) -> None:
    place = world.temporary / "shared"
    place.mkdir()
    folder = abandon(place / "exchanged", world.ledger)
    place.rename(world.temporary / "shared-before")
    place.mkdir()
    (world.temporary / "shared-before" / folder.name).rename(folder)


def a_link_in_the_folder_s_place(world: World) -> None:
    folder = abandon(world.temporary / "linked", world.ledger)
    shutil.copy2(folder / "note.json", world.home / "thesis" / "note.json")
    (world.home / "thesis").chmod(0o700)
    shutil.rmtree(folder)
    folder.symlink_to(world.home / "thesis", target_is_directory=True)


def a_mode_that_lets_others_in(world: World) -> None:
    for mode in (0o755, 0o770, 0o701, 0o1700):
        abandon(world.temporary / "open", world.ledger).chmod(mode)


def a_note_with_a_second_name(world: World) -> None:
    folder = abandon(world.temporary / "second-name", world.ledger)
    os.link(folder / "note.json", world.temporary / "second-name-of-the-note")


def a_note_that_is_a_link(world: World) -> None:
    folder = abandon(world.temporary / "linked-note", world.ledger)
    (folder / "note.json").rename(world.temporary / "linked-note.json")
    (folder / "note.json").symlink_to(world.temporary / "linked-note.json")


def another_user_s_folder(world: World) -> None:
    """Only root can give files away; for others the folder stays theirs and gets another mode."""
    folder = abandon(world.temporary / "given-away", world.ledger)
    if os.geteuid() == 0:
        os.chown(folder, 65_534, 65_534)
    else:
        folder.chmod(0o755)


def a_record_of_another_ledger_copied_here(world: World) -> None:
    """Signed by a stranger's secret for a stranger's ledger."""
    stranger = world.temporary / "other-ledger"
    folder = abandon(world.temporary / "theirs", stranger)
    shutil.copy2(record_of(folder, stranger), record_of(folder, world.ledger))


def a_record_that_is_a_link_or_a_pipe(world: World) -> None:
    (world.home / "made-by-hand.json").write_text("{}")
    (world.ledger / RECORDS).mkdir(exist_ok=True, mode=0o700)
    (world.ledger / RECORDS / (staging.STAGING_PREFIX + "2" * 16 + ".json")).symlink_to(
        world.home / "made-by-hand.json"
    )
    os.mkfifo(world.ledger / RECORDS / (staging.STAGING_PREFIX + "3" * 16 + ".json"), 0o600)


AROUND: dict[str, Callable[[World], None]] = {
    "a folder beside the release": a_folder_beside_the_release,
    "a folder among the owner's notes": a_folder_among_the_owners_notes,
    "a folder in the temporary folder": a_folder_in_the_temporary_folder,
    "a lock that is a link": a_lock_that_is_a_link,
    "a staging folder that is a link": a_staging_folder_that_is_a_link,
    "a foreign ledger that a note names": a_foreign_ledger_named_by_a_note,
    "a folder that a foreign ledger signed": a_folder_signed_by_a_foreign_ledger,
    "a record that nobody signed": a_record_that_nobody_signed,
    "a note that nobody signed": a_note_that_nobody_signed,
    "a target of several components": a_target_of_several_components,
    "a genuine folder replayed at another path": a_replayed_folder_at_another_path,
    "a copy in the folder's own place": a_copy_in_the_folder_s_own_place,
    "a place that was exchanged": a_place_that_was_exchanged,
    "a link in the folder's place": a_link_in_the_folder_s_place,
    "a mode that lets others in": a_mode_that_lets_others_in,
    "a note with a second name": a_note_with_a_second_name,
    "a note that is a link": a_note_that_is_a_link,
    "another user's folder": another_user_s_folder,
    "a record of another ledger, copied here": a_record_of_another_ledger_copied_here,
    "a record that is a link or a pipe": a_record_that_is_a_link_or_a_pipe,
}


def an_older_version_s_journal(world: World) -> None:
    ledger = write_older_ledger(world.temporary / "older", world)
    shutil.copytree(ledger / "ledger.journal", world.ledger / "ledger.journal")


def a_journal_that_is_a_link(world: World) -> None:
    ledger = write_older_ledger(world.temporary / "older", world)
    (world.ledger / "ledger.journal").symlink_to(ledger / "ledger.journal", target_is_directory=True)


def a_journal_that_another_ledger_signed(world: World) -> None:
    """All of a stranger's ledger is genuine but that it was signed elsewhere."""
    stranger = write_older_ledger(world.temporary / "older", world)
    path = stranger / "ledger.journal" / "intent.json"
    stated = {**json.loads(path.read_text()), "device": 1, "inode": 1, "contents": {}}
    mac = storage.sign_fields(stranger, storage.read_key(stranger), "reticent journal", stated)
    path.write_text(json.dumps({**stated, "mac": mac}))
    shutil.copytree(stranger / "ledger.journal", world.ledger / "ledger.journal")


def another_user_s_journal(world: World) -> None:
    """Only root can give files away; for others the journal gets a mode that lets others in."""
    a_journal_that_another_ledger_signed(world)
    journal = world.ledger / "ledger.journal"
    if os.geteuid() == 0:
        os.chown(journal, 65_534, 65_534)
    else:
        journal.chmod(0o755)


def a_lock_of_the_ledger_that_is_a_link(world: World) -> None:
    (world.ledger / "ledger.lock").unlink(missing_ok=True)
    (world.ledger / "ledger.lock").symlink_to(world.home / "made")
    an_older_version_s_journal(world)


JOURNALS: dict[str, Callable[[World], None]] = {
    "an older version's journal": an_older_version_s_journal,
    "a journal that is a link": a_journal_that_is_a_link,
    "another user's journal": another_user_s_journal,
    "a lock of the ledger that is a link": a_lock_of_the_ledger_that_is_a_link,
    "a journal that another ledger signed": a_journal_that_another_ledger_signed,
}


def snapshot(world: World) -> dict[str, tuple[Any, ...]]:
    """Every entry of the world but for what commands change in the ledger: its inode, owner and mode, and what it holds."""
    found = {}
    for top, folders, files in os.walk(world.top):
        for name in (*folders, *files):
            path = Path(top, name)
            status = path.lstat()
            content: Any = None
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                content = path.read_bytes()
            found[str(path.relative_to(world.top))] = (status.st_ino, status.st_uid, status.st_mode, content)
    books = ("ledger.jsonl", "ledger-sketches", "ledger.lock")
    ours = tuple(f"place-ledger/{name}" for name in books)
    return {name: entry for name, entry in found.items() if not name.startswith(ours)}
