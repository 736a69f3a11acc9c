"""`reticent withdraw RELEASE --reason TEXT`: record that a release was taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.options import Json, LedgerFolder

EXAMPLE = 'reticent withdraw patients-release --reason "wrong column"'


def withdraw(
    release: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASE",
            help="Its folder, its name or the first digits of its digest; a folder of batches means all of them.",
            show_default=False,
        ),
    ],
    reason: Annotated[
        str,
        typer.Option("--reason", metavar="TEXT", help="Why; the ledger keeps it. Name nobody.", show_default=False),
    ],
    never_handed_out: Annotated[
        bool | None,
        typer.Option(
            "--never-handed-out/--handed-out",
            help="State that no copy ever left: then it no longer counts. --handed-out corrects that.",
            show_default=False,
        ),
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Also remove the folder; your notes on it stay.")] = False,
    ledger: LedgerFolder = None,
    json: Json = False,
) -> None:
    """Record in your ledger that a release was taken back, with who, when and why.

    Copies may be out: it still counts as published, and later releases are joined with it, unless you state that it was never handed out. The folder stays where it is unless you say --delete.
    """
    from reticent.cli.output import say, say_json
    from reticent.cli.releases import show_text
    from reticent.ledger.release_desk import ANNULLED_SENTENCE, STILL_COUNTS_SENTENCE
    from reticent.ledger.release_desk import withdraw as withdraw_release

    known = withdraw_release(release, reason=reason, never_handed_out=never_handed_out, delete=delete, ledger=ledger)
    if json:
        say_json({"withdrawn": [known_release.to_dict() for known_release in known]})
        return
    for known_release in known:
        say(f"Withdrawn {show_text(str(known_release.path))}, published {known_release.at[:10]}.")
    say("", STILL_COUNTS_SENTENCE if known[0].counts else ANNULLED_SENTENCE)
    if delete:
        say("The folder is removed. Your notes on it (digest, audit, job) stay.")
    else:
        standing = any(known_release.state == "in place" for known_release in known)
        say(
            "The folder stays where it is: hand it out no more, or say --delete." if standing else "Its folder is gone."
        )
    if known[0].counts:
        say("Tell whoever has a copy; nothing here can take it back from them.")
