"""Every attack that applies, what it reached, and whether a promise of the release speaks of that adversary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reticent import catalogue
from reticent.attacks.series import run_attacks
from reticent.opened import Release
from reticent.report.parts import listed, section, table, text

HEAD = ("attack", "adversary", "targets", "success", "baseline", "highest belief", "promised", "a promise speaks of it")


def attacked(
    release: Release, data: Any, missing: tuple[str, ...], progress: Callable[[str], None], budget: float | None = None
) -> dict[str, Any]:
    """The section on attacks; within `budget` CPU seconds, the cheap ones first.  Controls are not computed: none is shown."""
    series = run_attacks(
        release,
        data,
        catalogue.ATTACKS,
        missing=missing,
        how=lambda name: assumed(release, name),
        budget=budget,
        control=False,
        progress=progress,
    )
    promised = [promise.name for promise in release.manifest.promises]
    rows: list[tuple[Any, ...]] = []
    persons: int | None = None
    for outcome in series.outcomes:
        found = outcome.to_dict()
        persons = persons or found.get("persons")
        row = catalogue.ATTACKS[found["attack"]]
        told = ", ".join(row.spoken_of(promised)) or "no"
        rows.append(
            (
                found["attack"],
                row.adversary,
                found["targets"],
                found["success"],
                found["baseline"],
                found["worst_posterior"],
                found["promised"],
                told,
            )
        )
    left = series.skipped
    return section(
        "attacks", "Attacks",
        text("Success is the share of right guesses; the baseline is always guessing the most frequent value. No release is called "
             "safe here: the table says which adversaries were tried and what they reached."),
        text(_several(release, persons)) if release.manifest.rows_per_person > 1 else None,
        table("Adversaries that were tried", HEAD, rows) if rows else text("No attack applies to this release."),
        text("Not tried:") if left else None,
        listed(f"{', '.join(names)}: {why}" for why, names in left.items()) if left else None,
    )  # fmt: skip


def _several(release: Release, persons: int | None) -> str:
    people = "how many people that are is not known" if persons is None else f"they are those of {persons:,} people"
    return f"Targets are rows, and a person may have {release.manifest.rows_per_person:,} of them: {people}."


def assumed(release: Release, name: str) -> dict[str, Any]:
    """What the promises assume an adversary to believe beforehand, where the attack can be told."""
    words = {"lambda": "lambda_", "rho1": "rho1"} if name == "corruption" else {}
    stated = [promise.parameters for promise in release.manifest.promises]
    return {word: given[key] for key, word in words.items() for given in stated if key in given}
