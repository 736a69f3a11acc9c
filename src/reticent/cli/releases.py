"""`reticent releases`: which releases the ledger knows, when, by whom, and what became of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reticent.catalogue import KINDS
from reticent.cli.options import Json, LedgerFolder, PersonFile, read_persons

EXAMPLE = "reticent releases"


def releases(
    release: Annotated[
        Path | None,
        typer.Argument(
            metavar="RELEASE",
            help="One release in full: its folder, its name, or the first digits of its digest.",
            show_default=False,
        ),
    ] = None,
    person: PersonFile = None,
    ledger: LedgerFolder = None,
    json: Json = False,
) -> None:
    """List the releases that your ledger knows: when, by whom, of what, and whether they were withdrawn.

    The list is yours: it names folders, users and sources.
    """
    from reticent.cli.output import say, say_json
    from reticent.errors import RequestError
    from reticent.ledger.release_desk import find_people, find_releases
    from reticent.ledger.release_desk import releases as list_releases

    if person is not None:
        if release is not None:
            raise RequestError("RELEASE and --person are two questions.", attempt="one of them.")
        found = find_people(read_persons(person), ledger=ledger)
        if json:
            say_json(found.to_dict())
        else:
            _say_found(found)
        return
    known = list_releases(ledger=ledger)
    if release is not None:
        known = find_releases(known, release)
    if json:
        say_json({"releases": [known_release.to_dict() for known_release in known]})
        return
    if release is not None:
        for known_release in known:
            _say_release(known_release)
        return
    if not known:
        say("The ledger knows no release.")
        return
    _say_list(known)


def _say_list(known: list[Any]) -> None:
    from reticent.cli.output import say, say_table
    from reticent.errors import pluralize

    rows = [
        (
            known_release.digest[:8],
            show_text(known_release.release),
            known_release.at[:16].replace("T", " "),
            show_text(known_release.user or "-"),
            show_text(known_release.kind or "-"),
            _show_count(known_release.published),
            _show_count(known_release.withheld),
            show_text(", ".join(str(promise.get("model")) for promise in known_release.promises)) or "-",
            describe_state(known_release),
        )
        for known_release in known
    ]
    say_table(("digest", "release", "when (UTC)", "who", "kind", "rows", "withheld", "promises", "state"), rows)
    say("", f"{pluralize(len(known), 'release')}. `reticent releases RELEASE` shows one in full, --json all of it.")


def _say_found(found: Any) -> None:
    from reticent.cli.output import say, say_table
    from reticent.errors import pluralize

    for line, known in enumerate(found.releases, 1):
        say(f"Person {line}: in the rows of {pluralize(len(known), 'release')} that the ledger knows.")
        if known:
            rows = [
                (
                    known_release.digest[:8],
                    show_text(str(known_release.path)),
                    known_release.at[:10],
                    describe_state(known_release),
                )
                for known_release in known
            ]
            say_table(("digest", "release", "when", "state"), rows, indent=2)
            if any(known_release.withheld or _draws_rows(known_release.kind) for known_release in known):
                say("  A release may have withheld the person's row, or not have drawn it.")
    if found.unknown:
        names = ", ".join(
            f"{show_text(known_release.release)} ({known_release.digest[:8]})" for known_release in found.unknown[:8]
        )
        more = f" and {len(found.unknown) - 8:,} more" if len(found.unknown) > 8 else ""
        say(
            "",
            f"Of {pluralize(len(found.unknown), 'release')} the ledger does not know the people: {names}{more}. "
            "No identifying column was noted.",
        )


def _say_release(known_release: Any) -> None:
    from reticent.cli.output import say
    from reticent.ledger.release_desk import ANNULLED_SENTENCE, STILL_COUNTS_SENTENCE

    people = known_release.people or {}
    facts = {
        "Folder": show_text(str(known_release.path)),
        "State": describe_state(known_release),
        "Digest": known_release.digest,
        "When": known_release.at,
        "Who": show_text(known_release.user or "not recorded"),
        "Source": show_text(known_release.source or "not recorded"),
        "Title": show_text(known_release.title or "none"),
        "Kind": show_text(known_release.kind or "not recorded"),
        "Rows": f"{_show_count(known_release.published)} published, {_show_count(known_release.withheld)} withheld, "
        f"{_show_count(known_release.rows)} in the source",
        "People": ", ".join(f"{count:,} by {show_text(name)!r}" for name, count in people.items()) or "not recorded",
        "Columns": show_text(", ".join(known_release.columns)),
        "Promises": show_text(", ".join(_show_promise(promise) for promise in known_release.promises)) or "none",
        "Repeats": ", ".join(digest[:8] for digest in known_release.repeats) or "no earlier release",
    }
    say(*(f"{name:<9} {value}" for name, value in facts.items()))
    if known_release.withdrawal is not None:
        withdrawal = known_release.withdrawal
        say(
            f"Withdrawn {withdrawal.at} by {show_text(withdrawal.user)}: {show_text(withdrawal.reason)}",
            f"          {STILL_COUNTS_SENTENCE if known_release.counts else ANNULLED_SENTENCE}",
        )
    say("")


def describe_state(known_release: Any) -> str:
    """Describe where a release is, and whether it was withdrawn."""
    if known_release.withdrawal is None:
        return str(known_release.state)
    counts = "" if known_release.counts else ", never handed out"
    return f"withdrawn {known_release.withdrawal.at[:10]}{counts}; {known_release.state}"


def show_text(text: str) -> str:
    """Spell characters out that a terminal would act on: others may write to a shared ledger."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _show_count(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def _show_promise(promise: dict[str, Any]) -> str:
    settings = ", ".join(f"{name} = {value}" for name, value in promise.items() if name != "model")
    return f"{promise.get('model')} ({settings})" if settings else str(promise.get("model"))


def _draws_rows(kind: str | None) -> bool:
    """Tell whether releases of a kind have some of their rows only, drawn at random."""
    from reticent.release.kind import reader_for

    return kind is not None and kind in KINDS and getattr(reader_for(kind), "draws_rows", False)
