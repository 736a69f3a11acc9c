"""Adversaries: each turns what a release shows and what it knows of its targets into beliefs, and one scorer counts its hits.

attack(release, source, "naive-bayes")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from reticent.errors import RequestError, suggest

ATTACKS = {
    "naive-bayes": "reticent.attacks.naive_bayes:naive_bayes",
    "definetti": "reticent.attacks.definetti:definetti",
    "skewness": "reticent.attacks.skewness:skewness",
    "similarity": "reticent.attacks.similarity:similarity",
    "eligibility": "reticent.attacks.eligibility.attack:eligibility",
}
FROM_FILES = {"eligibility"}  # these need no source: what they know is the algorithm


def attack(release: Any, source: Any, name: str, *, missing: tuple[str, ...] = (), **how: Any) -> Any:
    """Attack a release as the adversary of that name, who knows the quasi-identifiers of every row of the source."""
    from reticent.attacks.seen import seen

    if name not in ATTACKS:
        raise RequestError(f"There is no attack {name!r}.", attempt=suggest(str(name), ATTACKS))
    module, _, function = ATTACKS[name].partition(":")
    if name in FROM_FILES:
        return getattr(import_module(module), function)(_opened(release), **how)
    return getattr(import_module(module), function)(seen(release, source, missing=missing), **how)


def _opened(release: Any) -> Any:
    from reticent.opened import Release

    return release if isinstance(release, Release) else Release(release)
