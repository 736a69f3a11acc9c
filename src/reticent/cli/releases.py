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
        say_json({"releases": [one.to_dict() for one in known]})
        return
    if release is not None:
        for one in known:
            _say_release(one)
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
            one.digest[:8],
            show_text(one.release),
            one.at[:16].replace("T", " "),
            show_text(one.user or "-"),
            show_text(one.kind or "-"),
            _show_count(one.published),
            _show_count(one.withheld),
            show_text(", ".join(str(promise.get("model")) for promise in one.promises)) or "-",
            describe_state(one),
        )
        for one in known
    ]
    say_table(("digest", "release", "when (UTC)", "who", "kind", "rows", "withheld", "promises", "state"), rows)
    say("", f"{pluralize(len(known), 'release')}. `reticent releases RELEASE` shows one in full, --json all of it.")


def _say_found(found: Any) -> None:
    from reticent.cli.output import say, say_table
    from reticent.errors import pluralize

    for line, known in enumerate(found.releases, 1):
        say(f"Person {line}: in the rows of {pluralize(len(known), 'release')} that the ledger knows.")
        if known:
            rows = [(one.digest[:8], show_text(str(one.path)), one.at[:10], describe_state(one)) for one in known]
            say_table(("digest", "release", "when", "state"), rows, indent=2)
            if any(one.withheld or _draws_rows(one.kind) for one in known):
                say("  A release may have withheld the person's row, or not have drawn it.")
    if found.unknown:
        names = ", ".join(f"{show_text(one.release)} ({one.digest[:8]})" for one in found.unknown[:8])
        more = f" and {len(found.unknown) - 8:,} more" if len(found.unknown) > 8 else ""
        say(
            "",
            f"Of {pluralize(len(found.unknown), 'release')} the ledger does not know the people: {names}{more}. "
            "No identifying column was noted.",
        )


def _say_release(one: Any) -> None:
    from reticent.cli.output import say
    from reticent.ledger.release_desk import ANNULLED_SENTENCE, STILL_COUNTS_SENTENCE

    people = one.people or {}
    facts = {
        "Folder": show_text(str(one.path)),
        "State": describe_state(one),
        "Digest": one.digest,
        "When": one.at,
        "Who": show_text(one.user or "not recorded"),
        "Source": show_text(one.source or "not recorded"),
        "Title": show_text(one.title or "none"),
        "Kind": show_text(one.kind or "not recorded"),
        "Rows": f"{_show_count(one.published)} published, {_show_count(one.withheld)} withheld, "
        f"{_show_count(one.rows)} in the source",
        "People": ", ".join(f"{count:,} by {show_text(name)!r}" for name, count in people.items()) or "not recorded",
        "Columns": show_text(", ".join(one.columns)),
        "Promises": show_text(", ".join(_show_promise(promise) for promise in one.promises)) or "none",
        "Repeats": ", ".join(digest[:8] for digest in one.repeats) or "no earlier release",
    }
    say(*(f"{name:<9} {value}" for name, value in facts.items()))
    if one.withdrawal is not None:
        withdrawal = one.withdrawal
        say(
            f"Withdrawn {withdrawal.at} by {show_text(withdrawal.user)}: {show_text(withdrawal.reason)}",
            f"          {STILL_COUNTS_SENTENCE if one.counts else ANNULLED_SENTENCE}",
        )
    say("")


def describe_state(one: Any) -> str:
    """Describe where a release is, and whether it was withdrawn."""
    if one.withdrawal is None:
        return str(one.state)
    counts = "" if one.counts else ", never handed out"
    return f"withdrawn {one.withdrawal.at[:10]}{counts}; {one.state}"


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

    return kind in KINDS and getattr(reader_for(kind), "draws_rows", False)
