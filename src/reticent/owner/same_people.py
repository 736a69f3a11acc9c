"""Whether the ledger notes that releases were made from the same rows: for who joins them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reticent.errors import RequestError, some
from reticent.owner.ledger import Ledger
from reticent.owner.places import digest_of


def refuse_strangers(folders: Sequence[Path], ledger: Ledger | None = None) -> bool:
    """Refuse releases that the ledger notes as made from different rows; whether it knows them all.

    Rows are the same where their content has one fingerprint, or where the ledger noted one release as a repeat of the other.
    """
    noted = (ledger or Ledger.of()).entries()
    known = [[entry for entry in noted if entry["digest"] == digest_of(folder)] for folder in folders]
    for folder, entries in zip(folders[1:], known[1:], strict=True):
        if not entries or not known[0]:
            continue
        marks = [{entry["content"], *entry["repeats"], entry["digest"]} for entry in entries]
        first = [{entry["content"], *entry["repeats"], entry["digest"]} for entry in known[0]]
        if not any(one & other for one in marks for other in first):
            raise RequestError(
                f"{folders[0].name!r} and {folder.name!r} were made from different rows.",
                why=f"The ledger notes {some(known[0][-1]['rows'], 'row')} of the one and {entries[-1]['rows']:,} of the other, "
                "and their contents differ: beliefs about different people cannot be joined.",
                attempt="releases of the same data, or --force-join (force_join=True) if you know better.",
            )
    return all(known)
