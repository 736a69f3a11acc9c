"""Staging: what is being written, in a folder beside its target that only its maker can enter.

    .reticent-stage-XXXXXXXX/
        lock        locked as long as its maker lives
        release/    what is staged, and after the exchange what it replaced
        replaced/   what it replaces, where two names cannot be exchanged in one step
        note.json   the target's name and the ledger that journals it, while it is put in place

A folder whose lock is free is a dead process's.  Whoever comes by settles what its ledger's journal says of it and
removes it.  Where a file system has no locks nobody can tell, and such folders stay.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from reticent.owner import private
from reticent.owner.exchange import move
from reticent.owner.signals import deferred, uninterrupted
from reticent.release.disk import writing

PREFIX = ".reticent-stage-"
LOCK, RELEASE, REPLACED, NOTE = "lock", "release", "replaced", "note.json"
_HELD: dict[Path, int] = {}  # the open locks of this process's folders
_LEFT: set[Path] = set()  # folders that outlive the block that staged them


@contextmanager
def staged(target: Path | None) -> Iterator[Path]:
    """An empty folder on the target's file system, or a temporary one: only its maker can read it, and it goes if the
    block fails."""
    folder: Path | None = None
    with _new_parents(target):
        try:
            with writing(target):
                if target is not None:
                    target.parent.mkdir(parents=True, exist_ok=True)
                place = Path(tempfile.gettempdir()) if target is None else target.parent
                with deferred():
                    folder = _begun(place)
            yield folder
        except BaseException:
            if folder is not None and folder not in _LEFT:
                discard(folder)
            raise


@contextmanager
def _new_parents(target: Path | None) -> Iterator[None]:
    """Folders above the target that the block makes go with it if it fails."""
    lacking = [] if target is None else [parent for parent in target.parents if not parent.exists()]
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for parent in lacking:  # the innermost first; one that somebody else uses by now is not empty
                parent.rmdir()
        raise


@contextmanager
def new_file(target: Path, *, only_new: bool = False, near: Path | None = None) -> Iterator[Path]:
    """A path to write to; what is there when the block ends takes the target's place in one step.

    It is staged beside `near`, where that is given: a file of a release is staged beside the release, not among its files.
    """
    with staged(near or target) as folder:
        with writing(target):
            yield folder / target.name
            private.sync(folder / target.name)
            (move if only_new else os.replace)(folder / target.name, target)
            private.sync(target.parent)
        discard(folder)


@contextmanager
def scratch(target: Path | None) -> Iterator[Callable[[], Path]]:
    """Makes folders for what does not fit memory, staged as a release is; all of them are gone when the block ends."""
    with _new_parents(target), ExitStack() as made:

        def room() -> Path:
            folder = made.enter_context(staged(target))
            made.callback(discard, folder)
            return folder

        yield room
        with uninterrupted():  # what was made of it is kept by now: too late to end
            made.close()


def discard(folder: Path) -> None:
    """What was staged is gone, or, after an exchange, what it replaced."""
    shutil.rmtree(folder.parent, ignore_errors=True)
    handle = _HELD.pop(folder, None)
    if handle is not None:
        os.close(handle)


def leave(folder: Path) -> None:
    """What was staged stays for the next command, which a journal tells what to do with it."""
    _LEFT.add(folder)
    if (handle := _HELD.pop(folder, None)) is not None:
        os.close(handle)


def note(folder: Path, target: Path, ledger: Path | None) -> None:
    """From here on others must ask the ledger's journal before they remove the folder."""
    said = {"target": target.name, "ledger": None if ledger is None else str(ledger.resolve())}
    private.write(folder.parent / NOTE, json.dumps(said))


def temporary_place() -> Path:
    """Where temporary releases are staged, without the trial file that `tempfile` writes to find it."""
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    return next((Path(name) for name in named if name and os.path.isdir(name)), Path("/tmp"))  # looked at


def stale(place: Path) -> list[Path]:
    """Folders of dead processes in a place, each with its lock held by us until `remove_stale`."""
    found = []
    with suppress(OSError, ValueError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                folder = Path(entry.path) / RELEASE
                handle = None if folder in _HELD else _locked_if_dead(folder.parent)
                if handle is not None:
                    _HELD[folder] = handle
                    found.append(folder)
    return found


def remove_stale(place: Path, settle: Callable[[Path], None]) -> int:
    """Remove what dead processes left in a place; `settle` is called with each ledger that journals one.  How many."""
    removed = 0
    for folder in stale(place):
        try:
            ledger = _noted(folder.parent).get("ledger")
            if ledger is not None:
                settle(Path(ledger))
            restore(folder)
            left = folder.parent.exists()
            discard(folder)
            removed += left and not folder.parent.exists()
        finally:
            if folder in _HELD:
                os.close(_HELD.pop(folder))
    return removed


def restore(folder: Path) -> None:
    """What was replaced is put back if its maker died between the two steps that replace it."""
    replaced, name = folder.parent / REPLACED, _noted(folder.parent).get("target")
    if name is not None and replaced.exists() and not os.path.lexists(folder.parent.parent / name):
        os.rename(replaced, folder.parent.parent / name)
        private.sync(folder.parent.parent)


def _noted(container: Path) -> dict[str, str | None]:
    try:
        said = json.loads((container / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _begun(place: Path) -> Path:
    while True:
        container = Path(os.path.abspath(tempfile.mkdtemp(prefix=PREFIX, dir=place)))
        folder, handle = container / RELEASE, None
        try:
            container.chmod(0o700)
            handle = os.open(container / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            private.lock(handle, wait=True)
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)
            if os.fstat(handle).st_ino == (container / LOCK).stat().st_ino:
                _HELD[folder] = handle
                return folder
        except FileNotFoundError:  # taken for a dead process's before it was locked: another one
            if not place.is_dir():
                raise
        except BaseException:
            if handle is not None:
                os.close(handle)
            shutil.rmtree(container, ignore_errors=True)
            raise
        if handle is not None:
            os.close(handle)


def _locked_if_dead(container: Path) -> int | None:
    """The folder's lock, if nobody holds it."""
    try:
        handle = os.open(container / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
    if private.lock(handle, wait=False):
        return handle
    os.close(handle)
    return None
