"""Before any command: what interrupted runs of this user left, by the journal and the records of the ledger, is settled.

A command that only reads settles the ledger's journal.  One that writes also removes the staging folders that the ledger has
records of, and names this user's folders of older versions in the temporary folder.  Neither looks at the paths that it is given.
"""

from __future__ import annotations

from collections.abc import Sequence

from reticent.errors import ReticentError

READING_COMMANDS = ("check", "audit", "risk", "query", "attack", "advise", "calibrate")
ONE_DAY = 86_400.0  # seconds: a run of an older version may be using what is younger
WRITING_COMMANDS = ("init", "hierarchy", "publish", "export", "report", "compare", "data", "demo")


def settle(words: Sequence[str]) -> list[str]:
    """A line about what was done, or about what could not be done; most often none.

    `publish` settles by itself and ends if it cannot; a command that only reads goes on.
    """
    from reticent.owner.places import ledger_folder
    from reticent.owner.recovery import name_older_folders, recover
    from reticent.owner.staging import temporary_place

    given = next((word.partition("=")[2] for word in words if word.startswith("--ledger=")), None)
    if "--ledger" in words[:-1]:
        given = words[words.index("--ledger") + 1]
    command = next((word for word in words if not word.startswith("-")), "")
    is_writing = command in WRITING_COMMANDS
    try:
        sentences = recover(ledger_folder(given), only_journal=not is_writing)
    except (ReticentError, OSError) as error:
        what = f"{error.what} {error.why or ''}" if isinstance(error, ReticentError) else "the disk refuses"
        return [f"Note: what an interrupted run left could not be settled: {what}".rstrip()]
    if is_writing:
        sentences += name_older_folders(temporary_place(), ONE_DAY)
    return ["Note: " + " ".join(sentences)] if sentences else []
