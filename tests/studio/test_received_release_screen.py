"""The screen *Release*: a folder that a stranger sent is audited and shown, and nothing is written into it."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from reticent.studio.release_pages import render_text
from tests.studio.client import Steward, read_text

SCREEN = "received_release"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture
def received_folder(tmp_path, published_files) -> Path:
    """A release that was sent to somebody."""
    folder = tmp_path / "received"
    folder.mkdir()
    for name, content in published_files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def recipient(received_folder) -> Steward:
    return Steward(received_folder)


def list_contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def audit(recipient: Steward, **fields: str) -> str:
    """Press the button of the audit, and return the page when it ended."""
    recipient.press(SCREEN, "audit", **fields)
    recipient.wait()
    return recipient.look(SCREEN)


def test_a_received_release_is_audited_reported_and_left_as_it_was(recipient, received_folder):
    before = list_contents(received_folder)
    page = recipient.look(SCREEN)
    assert "Audit this folder" in page and "Edit the text" not in page and "data.parquet" in page
    assert "Audit the folder first" in page, "the next screen waits"
    assert recipient.press(SCREEN, "report", status=422).count("the audit first") == 1
    assert recipient.view(SCREEN, "report").status_code == 422

    page = audit(recipient)
    words = read_text(page)
    assert "Kept. Every promise was recounted just now" in words and "k-anonymity" in words and "2,000 rows" in words
    assert "What is promised" in words and "What is not" in words
    assert hashlib.sha256(before["data.parquet"]).hexdigest() in page
    assert hashlib.sha256(before["manifest.json"]).hexdigest() in page
    assert f'href="{recipient.keys.prefix}/use" hx-get' in page and 'id="next"' in page

    recipient.press(SCREEN, "report")
    recipient.wait()
    assert "view/report" in recipient.look(SCREEN)
    report = recipient.view(SCREEN, "report")
    assert report.status_code == 200 and "sandbox" in report.headers["content-security-policy"]
    readme = recipient.view(SCREEN, "readme")
    assert "<h1>" in readme.text and "sandbox" in readme.headers["content-security-policy"]
    assert list_contents(received_folder) == before, "nothing is written into the folder"


def test_the_digest_that_a_publisher_told_is_compared(recipient, received_folder):
    for text in ("xyz", "ab" * 31, MARKUP):
        page = recipient.press(SCREEN, "audit", digest=text, status=422)
        assert "This is no digest" in page and MARKUP not in page
    digest = hashlib.sha256((received_folder / "manifest.json").read_bytes()).hexdigest()
    assert "Kept." in read_text(audit(recipient, digest=digest.upper()))
    assert f"--expect-digest {digest}" in recipient.look(SCREEN)
    page = read_text(audit(recipient, digest="ab" * 32))
    assert "Kept." not in page and "Nothing in this folder is to be believed" in page


def test_a_folder_that_changes_is_no_longer_audited(recipient, received_folder):
    assert "Kept." in read_text(audit(recipient))
    (received_folder / "data.parquet").write_bytes(b"PAR1 something else")
    page = read_text(recipient.look(SCREEN))
    assert "Kept." not in page and "Audit this folder" in page
    assert "damaged" in read_text(audit(recipient))


def test_no_module_of_a_received_folder_is_imported_by_what_audits_it(recipient, received_folder, tmp_path):
    marker = tmp_path / "imported"
    for name in ("polars", "json", "typer", "reticent"):
        (received_folder / f"{name}.py").write_text(f"open({str(marker)!r}, 'w').close()")
    page = audit(recipient)
    assert not marker.exists()
    assert "is to be believed" in page


@pytest.mark.skipif(os.name != "posix", reason="pipes and links are POSIX's")
def test_no_job_is_read_from_a_received_folder_and_none_is_written(received_folder, tmp_path):
    os.mkfifo(received_folder / "job.toml")
    os.mkfifo(received_folder / "other.toml")
    recipient = Steward(received_folder)  # a pipe never ends
    assert "is a pipe" in audit(recipient)
    (received_folder / "job.toml").unlink()
    (received_folder / "job.toml").symlink_to(tmp_path / "victim")
    recipient = Steward(received_folder)
    recipient.press("job", "text", screen=SCREEN, text="[source]\npath = 'x'\n")
    assert not (tmp_path / "victim").exists() and (received_folder / "job.toml").is_symlink()


def test_markup_in_the_names_of_a_received_folder_is_text(recipient, received_folder):
    (received_folder / "<img src=x onerror=alert(1)>").write_text("")
    manifest = json.loads((received_folder / "manifest.json").read_text())
    manifest["columns"][0]["name"] = MARKUP
    (received_folder / "manifest.json").write_text(json.dumps(manifest))
    for page in (recipient.look(SCREEN), audit(recipient)):
        assert "<img src=x" not in page and "<script>alert" not in page
        assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_a_readme_of_a_stranger_has_no_markup_links_or_pictures():
    text = f"# Title\n\n{MARKUP}\n\n[click](javascript:alert(1)) ![picture](http://x/y) <http://evil>\n\n[a]: http://evil\n[a]\n"
    html = render_text(text + "\u202e and \x1b[2J")
    assert "<h1>Title</h1>" in html
    for forbidden in ("<script", "<img", "<a ", "\u202e", "\x1b"):
        assert forbidden not in html


@pytest.mark.skipif(os.name != "posix", reason="links are POSIX's")
def test_a_readme_that_is_a_link_or_endless_is_refused(recipient, received_folder, tmp_path):
    readme = received_folder / "README.md"
    readme.unlink()
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    readme.symlink_to(secret)
    response = recipient.view(SCREEN, "readme")
    assert response.status_code == 422 and "a secret" not in response.text
    readme.unlink()
    with open(readme, "wb") as handle:
        handle.truncate(2**32)
    assert "too long" in recipient.view(SCREEN, "readme").text
    assert recipient.look(SCREEN)
