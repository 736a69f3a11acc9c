"""Projects for the studio: an empty folder, the demo's census with its job, and a messy export."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'reticent[studio]'")

from tests.studio.client import Steward, write_files
from tests.support.messy_hospital import write_messy_hospital


@pytest.fixture(scope="session")
def census_files(tmp_path_factory) -> dict[str, bytes]:
    """The files of a small demo, made once: `census.csv`, hierarchies, and the job."""
    from reticent.cli.main import main

    folder = tmp_path_factory.mktemp("studio-demo") / "demo"
    assert main(["demo", "--to", str(folder), "--rows", "2000", "--json"]) == 0
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".csv", ".toml") and "release" not in path.parts[-2]
    }


@pytest.fixture
def demo_folder(tmp_path, census_files) -> Path:
    """A project with data, hierarchies and a job that can be published in a second."""
    folder = tmp_path / "project"
    folder.mkdir()
    return write_files(folder, census_files)


@pytest.fixture
def steward(demo_folder) -> Steward:
    """A steward at the desk of the demo's census."""
    return Steward(demo_folder)


@pytest.fixture
def newcomer(tmp_path) -> Steward:
    """A steward at the desk of an empty folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return Steward(folder)


@pytest.fixture(scope="session")
def published_project(tmp_path_factory, census_files) -> dict[str, bytes]:
    """The files of a project whose job was published to `release`: also what stays with its owner, and its ledger."""
    from reticent.cli.main import main

    folder = write_files(tmp_path_factory.mktemp("studio-published"), census_files)
    words = ["publish", str(folder / "job.toml"), "-o", str(folder / "release"), "--ledger", str(folder / "ledger")]
    assert main([*words, "--json"]) == 0
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def published_folder(tmp_path, published_project) -> Path:
    """A project with a release, and what stays with its owner."""
    folder = tmp_path / "project"
    folder.mkdir()
    return write_files(folder, published_project)


@pytest.fixture(scope="session")
def published_files(published_project) -> dict[str, bytes]:
    """The files of a release, by name."""
    return {name.removeprefix("release/"): text for name, text in published_project.items() if name[:8] == "release/"}


@pytest.fixture(scope="session")
def hospital_file(tmp_path_factory) -> bytes:
    return write_messy_hospital(tmp_path_factory.mktemp("studio-hospital") / "hospital.csv").read_bytes()
