"""The screen *Hand out*: the folder as recipients get it, its zip, exports and documents, and what stays with the owner."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from reticent.cli.main import main
from reticent.errors import BundleDamaged
from reticent.ledger.release_desk import withdraw
from reticent.studio.archive import stream_archive
from reticent.studio.release_folders import list_handed_out_files
from tests.studio.client import Steward, read_text

SCREEN = "handout"


@pytest.fixture
def owner(published_folder) -> Steward:
    """A steward whose job was published to `release`."""
    return Steward(published_folder)


def make(owner: Steward, document: str) -> str:
    owner.press(SCREEN, "document", release="release", document=document)
    run = owner.wait()
    assert run.succeeded, run.error
    return owner.look(SCREEN)


def export(owner: Steward, **fields: str) -> str:
    owner.press(SCREEN, "export", release="release", **fields)
    owner.wait()
    return owner.look(SCREEN)


def test_a_project_without_a_release_says_where_one_is_made(newcomer):
    page = newcomer.look(SCREEN)
    assert "There is no release in this project yet" in page and "Publish first." in page
    assert newcomer.view(SCREEN, "zip").status_code == 422
    assert newcomer.press(SCREEN, "document", release="release", document="report", status=422)


def test_the_screen_lists_what_they_get_and_what_stays(owner):
    page = owner.look(SCREEN)
    gets, stays = page.split('class="stays"')
    for name in ("manifest.json", "README.md", "data.parquet"):
        assert f"release/{name}" in gets
    for name in ("digest.txt", "audit.json", "job.toml", "census.csv", os.environ["RETICENT_LEDGER"]):
        assert name in stays and name not in gets.split("What they get")[1]
    assert hashlib.sha256((owner.desk.project.folder / "release/manifest.json").read_bytes()).hexdigest() in page
    assert "There is no report in the folder" in page
    assert owner.view(SCREEN, "report").status_code == 422
    readme = owner.view(SCREEN, "readme")
    assert "<h1>" in readme.text and "<script" not in readme.text
    assert readme.headers["content-security-policy"].startswith("sandbox")


def test_the_zip_has_the_folder_alone_with_the_same_bytes_each_time(owner):
    first, second = (owner.view(SCREEN, "zip") for _ in range(2))
    assert first.content == second.content and first.headers["content-type"] == "application/zip"
    assert "release.zip" in first.headers["content-disposition"]
    folder = owner.desk.project.folder / "release"
    with zipfile.ZipFile(io.BytesIO(first.content)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            f"release/{path.name}": path.read_bytes() for path in folder.iterdir()
        }
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_zip_of_a_file_that_was_changed_ends_without_its_directory(owner):
    folder = owner.desk.project.folder / "release"
    files = list_handed_out_files(folder)
    (folder / "data.parquet").write_bytes(b"x" * 2_000_000)
    pieces: list[bytes] = []
    with pytest.raises(BundleDamaged, match="not as the manifest says"):
        pieces.extend(stream_archive(folder, files))
    assert max(map(len, pieces)) < 2**20, "nothing is collected in memory"
    assert not zipfile.is_zipfile(io.BytesIO(b"".join(pieces)))


def test_checksums_are_those_that_sha256sum_reads(owner):
    text = owner.view(SCREEN, "checksums").text
    for line in text.splitlines():
        checksum, name = line.split("  ")
        assert hashlib.sha256((owner.desk.project.folder / name).read_bytes()).hexdigest() == checksum
    assert len(text.splitlines()) == 3


def test_a_folder_with_what_is_not_listed_is_not_handed_out(owner):
    (owner.desk.project.folder / "release" / "raw<b>.csv").write_text("a\n1\n")
    page = owner.look(SCREEN)
    assert "Do not hand it out" in page and "raw&lt;b&gt;.csv" in page and 'id="zip"' not in page
    assert owner.view(SCREEN, "zip").status_code == 422


def test_the_public_report_is_put_into_the_folder_and_shown_in_a_frame(owner):
    page = make(owner, "report")
    assert 'src="' + owner.keys.prefix + '/handout/view/report"' in page
    report = owner.view(SCREEN, "report")
    assert report.headers["content-security-policy"].startswith("sandbox") and "<h1" in report.text
    assert "frame-ancestors 'self'" in report.headers["content-security-policy"]
    assert "release/report.html" in page
    with zipfile.ZipFile(io.BytesIO(owner.view(SCREEN, "zip").content)) as archive:
        assert "release/report.html" in archive.namelist()


def test_a_document_that_there_is_not_is_refused(owner):
    assert "cannot be made" in owner.press(SCREEN, "document", release="release", document="nothing", status=422)
    assert "no release of this name" in owner.press(SCREEN, "document", release="../x", document="report", status=422)
    assert owner.view(SCREEN, "committee").status_code == 422
    (owner.desk.project.folder / "census.csv").unlink()
    page = owner.look(SCREEN)
    assert "a job that names a file of this project is needed" in page
    assert owner.view(SCREEN, "committee").status_code == 422


def test_the_documents_are_commands_that_the_command_line_takes(owner, tmp_path):
    from reticent.studio.screens.handout import list_documents

    folder = owner.desk.project.folder / "release"
    documents = {document.name: document for document in list_documents(owner.desk, folder)}
    assert list(documents) == ["report", "pdf", "committee", "committee_pdf"]
    words = [*documents["committee"].words, "--budget", "0.01"]
    before = Path.cwd()
    os.chdir(owner.desk.project.folder)
    try:
        assert main(words) == 0
    finally:
        os.chdir(before)
    assert documents["committee"].path.is_file() and documents["committee"].path.parent.name == "release"
    page = owner.look(SCREEN)
    assert "view/committee" in page and "the committee&#39;s document" in page
    assert "signature" in owner.view(SCREEN, "committee").text.lower()


@pytest.mark.skipif(not any(map(shutil.which, ("chromium", "google-chrome"))), reason="a PDF is printed by Chromium")
def test_the_report_is_printed_as_pdf_where_chromium_is_found(owner):
    make(owner, "report")
    assert "view/pdf" in make(owner, "pdf")
    response = owner.view(SCREEN, "pdf")
    assert response.content[:4] == b"%PDF" and response.headers["content-type"] == "application/pdf"


def test_without_chromium_the_screen_says_so(owner, monkeypatch):
    monkeypatch.setattr("reticent.studio.screens.handout.shutil.which", lambda name: None)
    (owner.desk.project.folder / "release" / "report.html").write_text("<h1>A page</h1>")
    assert "none is on the path" in owner.look(SCREEN)


def test_a_copy_is_written_as_csv_and_into_a_database(owner):
    page = export(owner, form="csv", file="copy", bounds="yes")
    assert "Written:" in page and (owner.desk.project.folder / "copy" / "data.csv").is_file()
    assert "reticent export release copy --bounds" in page
    page = export(owner, form="csv", file="copy")
    assert 'role="alert"' in page, "what is there is not replaced"
    page = export(owner, form="database", address="sqlite:///warehouse.db", table="census")
    assert "census_manifest" in page
    with closing(sqlite3.connect(owner.desk.project.folder / "warehouse.db")) as connection:
        assert connection.execute("SELECT COUNT(*) FROM census").fetchone() == (2000,)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"form": "csv", "file": "../elsewhere"}, "outside of the project"),
        ({"form": "excel", "file": "/tmp/elsewhere"}, "outside of the project"),
        ({"form": "csv", "file": "sqlite:///x.db"}, "no name of a file"),
        ({"form": "pdf", "file": "x"}, "no form of an export"),
        ({"form": "database", "address": "sqlite:////tmp/elsewhere.db"}, "outside of the project"),
        ({"form": "database", "address": "sqlite:///../elsewhere.db"}, "outside of the project"),
        ({"form": "database", "address": "oracle://x"}, "not supported"),
        ({"form": "database", "address": ""}, "not supported"),
        ({"form": "database", "address": "postgresql://me:hunter2@host/db"}, "has a password"),
        ({"form": "database", "address": "postgresql://host/db?password=hunter2"}, "has a password"),
    ],
)
def test_an_export_to_elsewhere_or_with_a_password_is_refused(owner, fields, reason):
    page = owner.press(SCREEN, "export", release="release", status=422, **fields)
    assert reason in page
    assert "hunter2" not in page and "hunter2" not in owner.look(SCREEN) and "hunter2" not in repr(owner.desk.memory)
    assert not owner.desk.runs.list_running()


def test_a_database_address_with_a_reference_to_the_environment_is_taken(owner):
    from reticent.studio.screens.handout import check_address

    address = "postgresql://me:${PGPASSWORD}@127.0.0.1:1/db"
    assert check_address(owner.desk, address) == address


def test_the_newest_release_is_shown_and_another_can_be_chosen(owner):
    project = owner.desk.project.folder
    shutil.copytree(project / "release", project / "-odd <b>")
    shutil.copytree(project / "release", project / "batches" / "north")
    os.utime(project / "release" / "manifest.json", (0, 0))
    page = owner.look(SCREEN)
    assert "<option selected>-odd &lt;b&gt;</option>" in page and "<option >batches/north</option>" in page
    assert "./-odd &lt;b&gt;" in page, "no command takes its name for an option"
    assert "release/manifest.json" in owner.press(SCREEN, "choose", release="release").split("What stays here")[0]
    assert "no release of this name" in owner.press(SCREEN, "choose", release="elsewhere", status=422)
    owner.press(SCREEN, "choose", release="batches/north")
    assert "north.zip" in owner.view(SCREEN, "zip").headers["content-disposition"]


def test_a_withdrawn_release_is_not_handed_out(owner, tmp_path, monkeypatch):
    folder = owner.desk.project.folder
    monkeypatch.setenv("RETICENT_LEDGER", str(folder / "ledger"))
    digest = hashlib.sha256((folder / "release" / "manifest.json").read_bytes()).hexdigest()
    withdraw(digest, reason="wrong <column>")
    page = owner.look(SCREEN)
    assert "This release was withdrawn" in page and 'id="zip"' not in page
    assert "wrong <column>" not in page and "Hand it out no more" in read_text(page)


def test_the_commands_of_the_screen_run(owner, monkeypatch):
    from reticent.studio.screens.handout import write_commands

    commands = write_commands(owner.desk)
    monkeypatch.chdir(owner.desk.project.folder)
    import shlex

    words = shlex.split(commands.shell.splitlines()[-1])
    assert words[:2] == ["reticent", "export"] and main(words[1:]) == 0
    shutil.rmtree(words[-1])
    exec(commands.python, {})
