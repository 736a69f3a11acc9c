"""The public edition is a function of the folder, says nothing that the files do not, and needs nothing but itself."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from datetime import date, timedelta
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from tests.report.conftest import DROPPED, HOSTILE, IDENTIFIER, OUTLIER, WITHHELD

KINDS = list(catalogue.KINDS)
MOST = 150_000


class Tags(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_folder_gives_the_same_bytes_wherever_it_lies(kind, kinds, tmp_path):
    elsewhere = tmp_path / "another name"
    shutil.copytree(kinds[kind], elsewhere)
    one, other = rt.report(kinds[kind]), rt.report(elsewhere)
    assert one.html() == other.html()
    assert one.markdown() == other.markdown()
    assert one.json() == other.json()
    assert str(kinds[kind]) not in one.html()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_small_has_no_script_and_fetches_nothing(kind, kinds):
    page = rt.report(kinds[kind]).html()
    assert len(page.encode()) < MOST
    tags = Tags(page).found
    assert not {tag for tag, _ in tags} & {"script", "link", "iframe", "img", "object", "embed", "form", "base"}
    for tag, given in tags:
        assert not [name for name in given if name.startswith("on")], tag
        assert given.get("href", "#").startswith("#")
        assert "src" not in given
    addresses = set(re.findall(r"https?://[^\s\"'<]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}, (
        "the names of SVG, not addresses"
    )
    assert "url(" not in page


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_has_a_caption_words_and_its_table(kind, kinds):
    page = rt.report(kinds[kind]).html()
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert figures
    for figure in figures:
        for part in ('<svg role="img" aria-label="', "<figcaption>", "<details><summary>", "<table>"):
            assert part in figure


@pytest.mark.parametrize("kind", KINDS)
def test_three_forms_tell_the_same(kind, kinds):
    report = rt.report(kinds[kind])
    facts, page, text = json.loads(report.json()), report.html(), report.markdown()
    assert facts == report.facts
    for section in facts["sections"]:
        assert f">{section['title']}</h2>" in page
        assert f"## {section['title']}" in text
    digest = rt.open(kinds[kind]).digest
    assert digest == facts["digest"]
    assert digest in page and digest in text
    titles = [section["title"] for section in facts["sections"]]
    for title in (
        "What is promised",
        "What was done",
        "How to read the data",
        "How to use it",
        "What is not",
        "Checksums",
    ):
        assert title in titles


@pytest.mark.parametrize("kind", KINDS)
def test_the_lines_it_gives_run_in_the_folder(kind, kinds, monkeypatch):
    found = next(one for one in rt.report(kinds[kind]).facts["sections"] if one["id"] == "use")
    blocks = [part for part in found["parts"] if "code" in part]
    assert {block["language"] for block in blocks} == {"sh", "python"}
    lines = "\n".join(block["code"] for block in blocks if block["language"] == "python")
    monkeypatch.chdir(kinds[kind])
    exec(compile(lines, "the report's lines", "exec"), {})


def test_the_commands_it_gives_run_in_the_folder(kinds, monkeypatch, capsys):
    from reticent.cli.main import main

    for folder in kinds.values():
        monkeypatch.chdir(folder)
        found = next(one for one in rt.report(folder).facts["sections"] if one["id"] == "use")
        lines = next(part for part in found["parts"] if part.get("language") == "sh")["code"].splitlines()
        for line in lines:
            program, *words = shlex.split(line)
            assert program == "reticent"
            assert main(words) == 0, capsys.readouterr().err


def test_no_withheld_row_identifier_or_dropped_column_is_in_any_form(canaries):
    folder, _ = canaries
    release = rt.open(folder)
    assert release.manifest.withheld >= 1
    assert WITHHELD not in release.frame()["illness"].to_list(), "the table was made so that this person is withheld"
    report = rt.report(folder)
    for text in (report.html(), report.markdown(), report.json()):
        for canary in (IDENTIFIER, DROPPED, WITHHELD, str(OUTLIER), f"{OUTLIER:,}", "note", 'person"'):
            assert canary not in text


def test_a_value_that_fewer_than_k_rows_hold_is_not_named(canaries):
    folder, _ = canaries
    assert rt.open(folder).frame()["visits"].to_list().count(8) == 3, "the files show it; the page need not"
    tables = [
        part["table"] for section in rt.report(folder).facts["sections"] for part in section["parts"] if "chart" in part
    ]
    visits = next(table for table in tables if table["caption"].startswith("visits"))
    assert [row[:2] for row in visits["rows"]] == [["7", visits["rows"][0][1]], ["all other values (1)", 3]]
    for table in tables:
        assert all(row[1] >= 5 or row[0].startswith(("all other", "(missing")) for row in table["rows"])


def test_names_and_values_are_escaped_in_every_form(canaries):
    folder, _ = canaries
    report = rt.report(folder)
    page = report.html()
    assert HOSTILE not in page and "<b>city" not in page
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in page, "it is there, as text"
    assert {tag for tag, _ in Tags(page).found}.isdisjoint({"script", "b"})
    assert HOSTILE not in report.markdown() and "<b>" not in report.markdown()


def test_a_value_that_turns_the_text_around_is_spelled_out():
    frame = pl.DataFrame({"age": [20, 21, 22, 23] * 5, "word": ["a\u202eb", "y"] * 10})
    release = rt.publish(
        rt.Job(columns={"age": rt.quasi(), "word": rt.sensitive()}, promises=[rt.KAnonymity(2)]), frame=frame
    )
    report = rt.report(release)
    assert "\u202e" not in report.html()
    assert "\u202e" not in report.markdown()
    assert "\\u202e" in report.html()


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_may_hold_its_own_page_and_no_other(kind, kinds, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(kinds[kind], folder)
    page = rt.report(folder).html()
    (folder / "report.html").write_text(page, encoding="utf-8")
    assert rt.open(folder).manifest.kind == kind
    assert rt.report(folder).html() == page, "the page does not speak of itself"
    rt.audit(folder)
    for other in (page.replace("</h1>", "!</h1>"), page + " "):
        (folder / "report.html").write_text(other, encoding="utf-8")
        with pytest.raises(rt.AuditFailed, match=r"report\.html .* is not what `reticent report` makes"):
            rt.open(folder)


def test_a_page_of_another_name_or_form_is_refused(kinds, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(next(iter(kinds.values())), folder)
    report = rt.report(folder)
    for name in ("Report.html", "report.md", "report.json", "index.html"):
        (folder / name).write_text(report.html(), encoding="utf-8")
        with pytest.raises(rt.AuditFailed, match="does not belong"):
            rt.open(folder)
        (folder / name).unlink()


def test_without_the_extra_a_page_is_refused_by_name_and_the_other_forms_are_made(canaries, tmp_path, monkeypatch):
    folder = tmp_path / "release"
    shutil.copytree(canaries[0], folder)
    (folder / "report.html").write_text(rt.report(folder).html(), encoding="utf-8")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    report = rt.report(canaries[0])
    assert report.markdown() and report.json()
    with pytest.raises(rt.RequestError, match=r"reticent\[charts\]"):
        report.html()
    with pytest.raises(rt.AuditFailed, match=r"reticent\[charts\]"):
        rt.open(folder)


def test_publishing_makes_no_report(canaries):
    folder = canaries[0]
    assert {path.suffix for path in folder.iterdir()} == {".json", ".md", ".parquet"}
    assert not list(Path(folder.parent / "reticent-owner").rglob("report*"))


def test_a_release_audited_against_its_source_may_hold_its_page(canaries, tmp_path):
    folder, frame = tmp_path / "release", canaries[1]
    shutil.copytree(canaries[0], folder)
    (folder / "report.html").write_text(rt.report(folder).html(), encoding="utf-8")
    assert rt.audit(folder, source=frame).kept


def test_dates_are_counted_by_year_and_numbers_that_are_none_together():
    born = [date(1950, 1, 1) + timedelta(days=97 * at) for at in range(200)]
    odd = [float("nan"), float("inf"), *map(float, range(198))]
    frame = pl.DataFrame({"born": born, "illness": ["flu", "cold"] * 100, "odd": odd})
    columns = {"born": rt.quasi(), "illness": rt.sensitive(), "odd": rt.insensitive(acknowledge=True)}
    facts = rt.report(rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=frame)).facts
    tables = [part["table"] for section in facts["sections"] for part in section["parts"] if "chart" in part]
    shown = {table["caption"].split(":")[0]: table["rows"] for table in tables}
    assert shown["born"][0][0].startswith("1950 to under")
    assert sum(row[1] for row in shown["born"]) == 200
    assert shown["odd"][-1][:2] == ["(missing)", 2]


def test_a_sensitive_column_called_count_has_a_chart_and_its_counts_another_name():
    frame = pl.DataFrame({"age": [20, 21, 22, 23] * 10, "count": ["x", "y"] * 20})
    release = rt.publish(
        rt.Job(columns={"age": rt.quasi(), "count": rt.sensitive()}, promises=[rt.KAnonymity(2)]), frame=frame
    )
    assert "count: no chart" not in rt.report(release).json()
    assert sorted(release.value_counts("count").select("count", "rows").rows()) == [("x", 20), ("y", 20)]


def test_a_carried_column_may_be_called_count():
    frame = pl.DataFrame({"age": [20, 21, 22, 23] * 10, "illness": ["x", "y"] * 20, "count": [1, 2] * 20})
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "count": rt.insensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame)
    assert "count: 40 rows" in rt.report(release).json()


def test_a_page_in_the_folder_that_is_a_link_or_too_long_is_refused_before_one_is_made(canaries, tmp_path, monkeypatch):
    folder = tmp_path / "release"
    shutil.copytree(canaries[0], folder)
    page = rt.report(folder).html()
    monkeypatch.setattr(sys.modules["reticent.report"], "page_of", lambda *_: pytest.fail("the page was made"))
    (folder / "report.html").write_text(page + " " * (1 << 20), encoding="utf-8")
    with pytest.raises(rt.AuditFailed, match="too long"):
        rt.open(folder)
    (folder / "report.html").unlink()
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (folder / "report.html").symlink_to(tmp_path / "page.html")
    with pytest.raises(rt.AuditFailed, match="symbolic link"):
        rt.open(folder)


def test_slanted_and_bold_words_of_a_readme_are_marked_and_stars_of_names_are_not():
    from reticent.report.inline import line

    assert line("see *What else*, **now**") == "see <em>What else</em>, <strong>now</strong>"
    assert line("2 * 3 * 4, and * covers any") == "2 * 3 * 4, and * covers any"
    assert line("&#42;name&#42; and `*x*`") == "*name* and <code>*x*</code>"
