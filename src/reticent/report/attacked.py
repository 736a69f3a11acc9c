"""Every attack that applies, what it reached, and whether a promise of the release speaks of that adversary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reticent import catalogue
from reticent.attacks import attack
from reticent.errors import RequestError
from reticent.opened import Release
from reticent.report.parts import listed, section, table, text
from reticent.step import Step

HEAD = ("attack", "adversary", "targets", "success", "baseline", "highest belief", "promised", "a promise speaks of it")


def attacked(release: Release, data: Any, missing: tuple[str, ...], progress: Callable[[str], None]) -> dict[str, Any]:
    rows: list[tuple[Any, ...]] = []
    left: dict[str, list[str]] = {}
    for at, (name, row) in enumerate(catalogue.ATTACKS.items()):
        progress(Step(f"attacking as {name}", at / len(catalogue.ATTACKS)))
        try:
            given = {"source": data, "missing": missing} if row.needs_source else {}
            found = attack(release, name=name, **given, **assumed(release, name)).to_dict()
        except RequestError as error:
            left.setdefault(error.what, []).append(name)
            continue
        speaking = row.spoken_of([promise.name for promise in release.manifest.promises])
        told = ", ".join(speaking) or "no"
        rows.append((name, row.adversary, found["targets"], found["success"], found["baseline"], found["worst_posterior"],
                     found["promised"], told))  # fmt: skip
    return section(
        "attacks", "Attacks",
        text("Success is the share of right guesses; the baseline is always guessing the most frequent value. No release is called "
             "safe here: the table says which adversaries were tried and what they reached."),
        table("Adversaries that were tried", HEAD, rows) if rows else text("No attack applies to this release."),
        text("Not tried:") if left else None,
        listed(f"{', '.join(names)}: {why}" for why, names in left.items()) if left else None,
    )  # fmt: skip


def assumed(release: Release, name: str) -> dict[str, Any]:
    """What the promises assume an adversary to believe beforehand, where the attack can be told."""
    words = {"lambda": "lambda_", "rho1": "rho1"} if name == "corruption" else {}
    stated = [promise.parameters for promise in release.manifest.promises]
    return {word: given[key] for key, word in words.items() for given in stated if key in given}
