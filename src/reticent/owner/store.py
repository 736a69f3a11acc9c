"""Keeping a release: staging beside the target, then one rename.  A crash leaves the old release or none."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reticent.errors import OutputExists
from reticent.release.disk import writing


def refuse_existing(target: Path, force: bool) -> None:
    if target.exists() and not force:
        raise OutputExists(
            f"{target} exists.",
            why="A release is never overwritten silently.",
            attempt="another name, or --force (force=True).",
        )
    if target.exists() and not (target / "manifest.json").exists() and (target.is_file() or any(target.iterdir())):
        raise OutputExists(
            f"{target} exists and is no release.", why="--force replaces releases only.", attempt="another name."
        )


@contextmanager
def staged(target: Path | None) -> Iterator[Path]:
    """An empty folder on the target's file system, or a temporary one: only its maker can read it, and it goes if the
    block fails."""
    lacking = [] if target is None else [parent for parent in target.parents if not parent.exists()]
    folder: Path | None = None
    try:
        with writing(target):
            if target is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=".reticent-", dir=target.parent if target else None))
        yield folder
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            for parent in lacking:  # the innermost first; one that somebody else uses by now is not empty
                parent.rmdir()
        raise


@contextmanager
def kept(folder: Path, target: Path, force: bool = False) -> Iterator[None]:
    """The staged folder renamed to its target; if the block fails, what stood there stands there again."""
    refuse_existing(target, force)
    with _uninterrupted(), writing(target):
        os.chmod(folder, 0o755)
        aside = Path(tempfile.mkdtemp(prefix=".reticent-", dir=target.parent)) if target.exists() else None
        try:
            if aside is not None:
                os.rename(target, aside / "old")
            os.rename(folder, target)
            yield
        except BaseException:
            if not folder.exists() and target.exists():
                os.rename(target, folder)
            if aside is not None and (aside / "old").exists():
                os.rename(aside / "old", target)
            raise
        finally:
            if aside is not None:
                shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A Ctrl-C between the rename and the ledger comes too late: the release stands and is noted, or neither."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
