"""A failed export leaves nothing: no new database, and an existing one as it was."""

from __future__ import annotations

import shutil

import pytest

from tests.hostile.exports import CASES, Case
from tests.support.hostile_cases import faults, run


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    assert run(folder, Case(lambda folder: None)).code == 0
    return folder / "out"


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_export_leaves_nothing(name, release, tmp_path):
    case = CASES[name]
    before = {}

    def spoil(folder):
        shutil.copytree(release, folder / "release")
        case.spoil(folder)
        before.update({path: path.read_bytes() for path in folder.iterdir() if path.is_file()})

    ran = run(tmp_path, Case(spoil, case.expected, case.words))
    assert not faults(ran, case.expected), ran.err[:2_000]
    if ran.code:
        assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
