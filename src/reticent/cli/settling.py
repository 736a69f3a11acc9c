"""Before any command: what interrupted runs left, in the ledger and beside the paths that are named, is settled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reticent.errors import ReticentError


def settle(words: Sequence[str]) -> list[str]:
    """A line about what was done, or about what could not be done; most often none.

    `publish` settles by itself and ends if it cannot; a command that only reads goes on.
    """
    from reticent.owner.places import ledger_folder
    from reticent.owner.recovery import recover

    given = next((word.partition("=")[2] for word in words if word.startswith("--ledger=")), None)
    if "--ledger" in words[:-1]:
        given = words[words.index("--ledger") + 1]
    named = [word for word in words if word and not word.startswith("-") and "://" not in word and "\0" not in word]
    try:
        said = recover(ledger_folder(given), map(Path, named))
    except (ReticentError, OSError) as error:
        what = error.what if isinstance(error, ReticentError) else "the disk refuses"
        return [f"Note: what an interrupted run left could not be settled: {what}"]
    return ["Note: " + " ".join(said)] if said else []
