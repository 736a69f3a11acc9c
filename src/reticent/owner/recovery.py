"""Recovery: what interrupted runs of this user left, by the ledger's journal and records, settled by a later command.

Nothing else is looked at.  What lies in the temporary folder, beside an output or inside an input may be anybody's, and stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from reticent.errors import some
from reticent.owner import directory_handles, journal, private, staging
from reticent.owner.ledger_key import LOCK
from reticent.release.disk import writing

MAX_NAMES = 3


def recover(ledger: Path, targets: Iterable[Path] = (), *, only_journal: bool = False) -> list[str]:
    """Settle a ledger's journal and remove the staging folders that it has records of; sentences about what was done.

    With `only_journal`, as commands do that write nothing, only a ledger of this user's own is settled, and no folder is removed
    but the one that its journal is about.  Beside
    the outputs of `targets` this user's folders of older versions are named.
    """
    if not directory_handles.SUPPORTED or (only_journal and not _is_own(ledger)):
        return []
    sentences: list[str] = []
    if journal.pending(ledger):
        with writing(ledger), private.locked(ledger / LOCK):
            sentence = journal.settle(ledger)
        sentences += [sentence] if sentence else []
    if only_journal:
        return sentences
    with writing(ledger):
        removed, left_alone = staging.remove_abandoned(ledger)
    if removed:
        verb = "was" if removed == 1 else "were"
        sentences.append(f"{some(removed, 'staging folder')} of interrupted runs {verb} removed.")
    sentences += left_alone
    for place in dict.fromkeys(target.parent for target in targets):
        sentences += name_older_folders(place)
    return sentences


def _is_own(ledger: Path) -> bool:
    """Tell whether a ledger's folder belongs to this user."""
    try:
        return os.stat(ledger).st_uid == directory_handles.current_user()
    except OSError:
        return False


def name_older_folders(place: Path, min_age: float = 0) -> list[str]:
    """Return a sentence about this user's staging folders of older versions in a place, if there are any."""
    names = staging.list_older_folders(place, min_age)
    if not names:
        return []
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    listed = ", ".join(repr(name) for name in names[:MAX_NAMES])
    return [
        f"{str(place)!r} holds {some(len(names), 'staging folder')} of an older version, which nothing is done with: "
        f"{listed}{more}. Look at them, and remove them by hand when nobody publishes by that version."
    ]
