"""What several releases of the same people no longer promise together, and the owner's README that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reticent import catalogue


def no_longer_promised(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each promise of the latest of these ledger entries; none where it is the only release."""
    if not entries:
        return []
    latest = entries[-1]
    others = list(dict.fromkeys(_place(entry) for entry in entries if _place(entry) != _place(latest)))
    if not others:
        return []
    named = ", ".join(repr(name) for _, name in others[:8]) + (", ..." if len(others) > 8 else "")
    found = [
        f"These people are now in {len(others) + 1} releases. Who also holds {named} can join them: what is promised "
        "holds for each alone, not for all together."
    ]
    models = dict.fromkeys(promise["model"] for promise in latest["promises"])
    return found + [f"{model} no longer holds: {catalogue.PROMISES[model].together}." for model in models]


def lost_together(entries: Sequence[Mapping[str, Any]]) -> str | None:
    """Which promises of the latest entry no longer hold together with the others, as half a sentence; None where it is alone."""
    if not no_longer_promised(entries):
        return None
    others = list(dict.fromkeys(entry["release"] for entry in entries if _place(entry) != _place(entries[-1])))
    named = ", ".join(repr(name) for name in others[:4]) + (", ..." if len(others) > 4 else "")
    models = list(dict.fromkeys(promise["model"] for promise in entries[-1]["promises"]))
    if not models:
        return None
    listed = models[0] if len(models) == 1 else f"{', '.join(models[:-1])} and {models[-1]}"
    return f"together with {named}, {listed} no longer hold{'s' if len(models) == 1 else ''}"


def _place(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry.get("folder", ""), entry["release"]


def owners_readme(entries: Sequence[Mapping[str, Any]], notices: Sequence[str] = (), *, witnessed: bool = False) -> str:
    """For the owner's folder: what this release is, what to know of it, and what it and earlier ones say together."""
    latest = entries[-1]
    parts = [
        f"# {latest['release']}: for its owner, never to be handed out",
        "",
        f"Published {latest['at']}. `digest.txt` tells a changed copy (`reticent audit --expect-digest`), `audit.json` is",
        "what was recounted before it was kept, `job.toml` how it was made.",
    ]
    if witnessed:
        parts += [
            "`witness.bin` says, encrypted by the ledger's secret, whose value is whose: `reticent audit --source` counts it to show",
            "that the groups are those of your people. Delete it when you delete the source.",
        ]
    if notices:
        parts += ["", "## To know", "", *(f"- {notice}" for notice in notices)]
    if lost := no_longer_promised(entries):
        parts += ["", "## Together with earlier releases", "", *(f"- {sentence}" for sentence in lost)]
    return "\n".join(parts) + "\n"
