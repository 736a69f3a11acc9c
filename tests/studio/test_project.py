"""Which files a page may read: those of the project's folder, and those named on the command line."""

from __future__ import annotations

import os

import pytest

from reticent.errors import RequestError
from reticent.studio.project import Project


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "table.csv").write_text("a\n1\n")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    return Project(folder)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.csv",
        "/etc/passwd",
        "a/../../secret.csv",
        "",
        "a\x00b",
        "x" * 5000,
        "..",
        "../project-2",
        "~/x",
        "./../secret.csv",
    ],
)
def test_names_of_files_elsewhere_are_refused(project, name):
    if name == "~/x":
        assert project.resolve(name).is_relative_to(project.folder), "a tilde is a letter like any other"
        return
    with pytest.raises(RequestError):
        project.resolve(name)


def test_a_link_to_elsewhere_is_refused_and_one_inside_is_followed(project, tmp_path):
    (project.folder / "out.csv").symlink_to(tmp_path / "secret.csv")
    (project.folder / "in.csv").symlink_to(project.folder / "table.csv")
    (project.folder / "round").symlink_to(project.folder / "round")
    with pytest.raises(RequestError, match="outside"):
        project.resolve("out.csv")
    assert project.resolve("in.csv").name == "table.csv"
    with pytest.raises(RequestError):
        project.resolve("round/x")
    assert [path.name for path in project.list_tables()] == ["in.csv", "table.csv"]


def test_what_was_named_on_the_command_line_may_be_read(project, tmp_path):
    wider = Project(project.folder, [tmp_path / "secret.csv"])
    assert wider.resolve(str(tmp_path / "secret.csv")).name == "secret.csv"
    assert wider.describe(tmp_path / "secret.csv") == str(tmp_path / "secret.csv")
    assert wider.describe(project.folder / "table.csv") == "table.csv"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root, to make a file of another user")
def test_a_file_of_another_user_is_refused(project):
    os.chown(project.folder / "table.csv", 12345, 12345)
    with pytest.raises(RequestError, match="another user"):
        project.resolve("table.csv")
    assert project.list_tables() == []


def test_a_pipe_or_a_device_is_refused(project):
    os.mkfifo(project.folder / "pipe.csv")
    with pytest.raises(RequestError, match="neither a file nor a folder"):
        project.resolve("pipe.csv")


@pytest.mark.parametrize(
    "proposed",
    ["../../etc/passwd", "C:\\data\\a.csv", ".hidden", "", "a/b.csv", "x" * 300 + ".csv", "<b>.csv", "a b.csv"],
)
def test_an_uploaded_name_becomes_a_new_file_of_the_folder(project, proposed):
    path = project.choose_new_name(proposed)
    assert path.parent == project.folder and not path.exists() and not path.name.startswith(".")
    assert len(path.name) <= 130
    path.write_text("")
    assert project.choose_new_name(proposed) != path


def test_releases_and_tables_of_a_folder_are_told_apart(project):
    release = project.folder / "release"
    release.mkdir()
    (release / "manifest.json").write_text("{}")
    parts = project.folder / "parts"
    parts.mkdir()
    (parts / "1.parquet").write_bytes(b"")
    assert project.list_releases() == [release]
    assert [path.name for path in project.list_tables()] == ["parts", "table.csv"]
    assert Project(release).is_release and not project.is_release
