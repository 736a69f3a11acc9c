"""Every attack on a release that was forged: it is refused or tried, never a crash; and the page about one likewise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from reticent.attacks import ATTACKS
from tests.hostile.forgeries.commands import ATTACKED
from tests.hostile.forgeries.data import DATA
from tests.hostile.forgeries.groups import REGROUPED
from tests.hostile.forgeries.manifests import SAID as LOOSENED
from tests.hostile.forgeries.readers import KEPT, REFUSED, outcome
from tests.support import honest_releases
from tests.support.release_folders import resealed

ALL = os.environ.get("HOSTILE") == "all"
KINDS = list(honest_releases.PAIRS)
FILES = {**DATA, **REGROUPED}
LARGE = ("200 million rows", "a row of 20 MB", "nothing but ends of rows")  # these are tried under a limit of addresses


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("good")
    return {kind: honest_releases.release(kind, folder / kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_no_attack_is_broken_by_a_forged_release(kind, releases, tmp_path):
    wrong = {}
    for number, name in enumerate([*FILES, *LOOSENED]):
        if name in LARGE or not (ALL or (number + 3 * KINDS.index(kind)) % 17 == 0):
            continue
        folder = tmp_path / name / "release"
        folder.parent.mkdir()
        shutil.copytree(releases[kind], folder)
        if name in FILES:
            FILES[name](folder)
        resealed(folder, LOOSENED.get(name, lambda stated: None))
        if outcome(folder, "open") != KEPT:
            continue  # refused before any attack begins
        for reader in ATTACKED if ALL else ("reticent attack by all",):
            if (told := outcome(folder, reader)) not in (REFUSED, KEPT):
                wrong[name, reader] = told
    assert not wrong


@pytest.mark.parametrize("name", ATTACKS)
def test_an_honest_release_meets_every_attack(name, releases):
    """Each by its own name, so that none is only ever left out."""
    told = {kind: outcome(releases[kind], f"reticent attack --as {name}") for kind in (KINDS if ALL else KINDS[:1])}
    assert set(told.values()) <= {REFUSED, KEPT}
