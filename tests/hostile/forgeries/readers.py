"""Everybody who reads a release folder, and what each made of one: an answer, a refusal with an exit code, or a crash."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from reticent.audit.provenance import UNPROVEN_SENTENCE
from reticent.audit.subject import UNCOUNTED_MESSAGE
from reticent.cli.failures import convert_error
from reticent.errors import OutOfMemory
from tests.hostile.forgeries.commands import COMMANDS, CRASHED, EVERY, KEPT, REFUSED, SAID, UNSAID, told


def audited(folder: Path, source: pl.DataFrame | None = None) -> str:
    """What an audit says: it refuses, finds a promise broken, or says that nothing proves the folder."""
    found = rt.audit(folder, source=source)
    if found.kept is False:
        return REFUSED
    said = found.identity is not None and found.identity.sentence == UNPROVEN_SENTENCE
    return (
        SAID
        if said and UNPROVEN_SENTENCE in str(found) and found.to_dict()["identity"]["says"] == UNPROVEN_SENTENCE
        else UNSAID
    )


def _exported(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        rt.open(folder).to_database(f"sqlite:///{place}/out.db", "people")


READERS: Mapping[str, Callable[[Path], Any]] = {
    "audit": audited,
    "open": lambda folder: rt.open(folder).frame(bounds=True),
    "risk": lambda folder: rt.risk(folder),
    "query": lambda folder: rt.open(folder).query("SELECT COUNT(*) FROM release WHERE age > 30"),
    "export": _exported,
    "value counts": lambda folder: rt.open(folder).value_counts("illness"),
}
EVERYBODY = (*READERS, *COMMANDS)


def outcome(folder: Path, reader: str = "audit") -> str:
    """One of the words above; a crash with its type, and a refusal that only the last net gave is a crash here too."""
    if reader in EVERY:
        return told(folder, reader)
    try:
        found = READERS[reader](folder)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        ours = convert_error(error)
        if (ours.exit_code not in (1, 2, 3) and not isinstance(ours, OutOfMemory)) or len(str(ours)) > 2_000:
            return f"{CRASHED}: {type(error).__name__} in {ours}"
        return f"{CRASHED}: {ours}" if UNCOUNTED_MESSAGE in str(ours) else REFUSED
    return found if reader == "audit" else KEPT
