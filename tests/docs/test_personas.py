"""The scripts under examples/ run as they are, by themselves, on data anybody can get."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import reticent as rt
from tests.support.repository import ROOT

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs_alone_and_writes_nothing_where_it_is_run(path, tmp_path):
    for library in ("pandas", "sklearn"):
        pytest.importorskip(library)
    here = tmp_path / "here"
    here.mkdir()
    environment = {**os.environ, "RETICENT_LEDGER": str(tmp_path / "ledger"), "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(
        [sys.executable, str(path)], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    assert list(here.iterdir()) == []
    assert not (tmp_path / "ledger").exists()


def test_there_is_an_example_for_each_persona():
    names = {path.stem for path in SCRIPTS}
    assert names >= {"hospital_steward", "statistics_office", "recipient_analyst", "privacy_researcher", "notebook"}


def test_every_object_of_the_notebook_shows_itself_there(capsys):
    pytest.importorskip("pandas")
    cells = runpy.run_path(str(ROOT / "examples" / "notebook.py"))
    for name in ("job", "checked", "swept", "release", "found", "attacked"):
        assert "<table" in cells[name]._repr_html_(), name


def test_what_the_steward_publishes_is_kept_and_the_folder_says_no_name(tmp_path):
    steward = runpy.run_path(str(ROOT / "examples" / "hospital_steward.py"))
    release = steward["main"](tmp_path)
    assert isinstance(release, rt.Release) and release.audited.kept
    assert all(b"Patient 0" not in path.read_bytes() for path in Path(release.folder).iterdir())
