"""What interrupted runs left behind, settled by the next command: journals are closed, dead staging folders removed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reticent.errors import some
from reticent.owner import journal, private, staging
from reticent.owner.places import owner_folder
from reticent.release.disk import writing


def recover(ledger: Path, targets: Iterable[Path] = ()) -> list[str]:
    """Settle a ledger's journal and what lies beside some outputs; sentences about what was done."""
    said: list[str] = []

    def settle(folder: Path) -> None:
        if journal.pending(folder):
            with writing(folder), private.locked(folder / journal.LOCK):
                sentence = journal.settle(folder)
            said.extend([sentence] if sentence else [])

    settle(ledger)
    places = [staging.temporary_place()]
    for target in targets:
        places += [target.parent, target, owner_folder(target) / target.name]
    removed = sum(staging.remove_stale(place, settle) for place in dict.fromkeys(places))
    if removed:
        said.append(
            f"{some(removed, 'staging folder')} of interrupted runs {'was' if removed == 1 else 'were'} removed."
        )
    return said
