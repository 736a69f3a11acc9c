"""What `reticent studio` advises before it serves is followed."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'reticent[studio]'")

from reticent.cli.main import main
from tests.advice.coverage import follows


@pytest.fixture
def served(monkeypatch) -> list[str]:
    """The folders that would be served."""
    from reticent.studio import server

    folders: list[str] = []
    monkeypatch.setattr(server, "serve", lambda desk, *_: folders.append(desk.project.name))
    return folders


@follows("cli/studio.py", "`mkdir …`, or another folder.")
def test_a_folder_that_is_made_is_served(tmp_path, served):
    assert main(["studio", str(tmp_path / "project"), "--no-browser"]) == 1
    (tmp_path / "project").mkdir()
    assert main(["studio", str(tmp_path / "project"), "--no-browser"]) == 0
    assert served == ["project"]


@follows("cli/studio.py", "pip install 'reticent[studio]'.")
def test_with_the_extra_the_studio_is_served(tmp_path, served, monkeypatch):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "reticent.studio.server", None)
        without.setitem(sys.modules, "uvicorn", None)
        without.delitem(sys.modules, "reticent.studio.server")
        assert main(["studio", str(tmp_path), "--no-browser"]) == 1
    assert main(["studio", str(tmp_path), "--no-browser"]) == 0
    assert served == [tmp_path.name]
