"""`reticent report`: where a report goes, and what is refused before anything is written."""

from __future__ import annotations

import json
import sys

import pytest

import reticent as rt
from tests.support.folder_contents import contents


def test_it_writes_one_file_beside_what_is_there_and_says_where(place, run):
    before = contents(place)
    code, out, _ = run("report", "release")
    assert code == 0
    made = place / "release-report.html"
    assert set(contents(place)) - set(before) == {made}
    assert "release-report.html" in out
    assert made.read_text(encoding="utf-8") == rt.report("release").html()


@pytest.mark.parametrize("form", ["md", "json"])
def test_other_forms_have_their_own_ending(place, run, form):
    code, out, _ = run("report", "release", "--format", form, "--json")
    assert code == 0
    told = json.loads(out)
    assert told["report"] == f"release-report.{form}"
    assert told["bytes"] == len((place / f"release-report.{form}").read_bytes())


def test_it_may_go_into_the_folder_it_is_about_under_its_one_name(place, run):
    assert run("report", "release", "-o", "release/report.html")[0] == 0
    assert rt.open("release").manifest.rows
    assert run("report", "release", "-o", "again.html")[0] == 0
    assert (place / "again.html").read_bytes() == (place / "release/report.html").read_bytes()


REFUSED = {
    "no folder": (("report", "nowhere"), "no release folder"),
    "a file": (("report", "people.csv"), "no release folder"),
    "an unknown format": (("report", "release", "--format", "docx"), "no format"),
    "another name in the folder": (("report", "release", "-o", "release/page.html"), "lies in the release folder"),
    "another form in the folder": (("report", "release", "--format", "md", "-o", "release/report.html"), "lies in the release folder"),
    "a folder as output": (("report", "release", "-o", "."), "is a folder"),
    "an existing file": (("report", "release", "-o", "people.csv"), "exists"),
    "a source of the public edition": (("report", "release", "--source", "people.csv"), "from the folder alone"),
    "internal without source": (("report", "release", "--internal"), "none is given"),
    "internal into the release": (
        ("report", "release", "--internal", "--source", "people.csv", "-o", "release/report.html"), "lies in the release folder",
    ),
    "internal elsewhere": (("report", "release", "--internal", "--source", "people.csv", "-o", "mine.html"), "outside of the owner's"),
    "internal without a file": (("report", "release", "--internal", "--source", "absent.csv"), "absent.csv"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_and_nothing_is_written(place, run, words, said):
    before = contents(place)
    code, _, err = run(*words)
    assert code in (1, 6)
    assert said in err
    assert contents(place) == before


def test_a_damaged_release_has_no_report(place, run):
    (place / "release" / "README.md").write_text("other")
    assert run("report", "release")[0] == 3
    assert not (place / "release-report.html").exists()


def test_the_default_install_makes_the_whole_report(place, run, monkeypatch):
    assert run("report", "release", "-o", "wanted.html")[0] == 0
    for name in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    code, _, err = run("report", "release")
    assert code == 0, err
    assert (place / "release-report.html").read_bytes() == (place / "wanted.html").read_bytes()


def test_a_page_in_a_release_is_staged_beside_it(tmp_path, monkeypatch):
    """A run that is killed while it writes leaves nothing among the release's files."""
    from reticent.ledger import staging
    from reticent.report import paths

    places = []
    begun = staging._begin_staging
    monkeypatch.setattr(staging, "_begin_staging", lambda place, *more: places.append(place) or begun(place, *more))
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "manifest.json").write_text("{}")
    paths.write_public_report(tmp_path / "release" / "report.html", b"a page", force=False)
    assert places == [tmp_path]
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == ["manifest.json", "report.html"]


def test_a_page_is_printed_by_chromium_for_the_committees_file(place, run):
    from reticent.errors import RequestError
    from reticent.report.pdf import find_browser

    try:
        find_browser()
    except RequestError as error:
        pytest.skip(f"{error.what} `make browser` installs one.")
    assert run("report", "release", "--committee", "--source", "people.csv", "--budget", "1", "--format", "pdf")[0] == 0
    (printed,) = (place / "reticent-owner").rglob("committee.pdf")
    assert printed.read_bytes().startswith(b"%PDF")
    assert printed.stat().st_mode & 0o077 == 0, "readable by its owner alone"


def test_without_chromium_a_pdf_is_refused_before_anything_is_read(place, run, monkeypatch):
    monkeypatch.setenv("PATH", str(place))
    monkeypatch.setattr("reticent.report.report", lambda *given, **named: pytest.fail("the release was read"))
    before = contents(place)
    code, _, err = run("report", "release", "--format", "pdf")
    assert code == 1
    assert "none is on the path" in err and "--format html" in err
    assert contents(place) == before


def test_a_browser_that_prints_nothing_is_an_error_with_what_to_do(place, run, monkeypatch):
    folder = place.parent / "bin"
    folder.mkdir()
    (folder / "chromium").write_text("#!/bin/sh\nexit 3\n")
    (folder / "chromium").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    code, _, err = run("report", "release", "--format", "pdf")
    assert code == 1
    assert "did not print the page" in err and "--format html" in err
    assert not (place / "release-report.pdf").exists()
