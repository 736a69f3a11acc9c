"""The public edition is a function of the folder, says nothing that the files do not, and needs nothing but itself."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from datetime import date, timedelta
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from tests.support.report_canaries import DROPPED, HOSTILE, IDENTIFIER, OUTLIER, WITHHELD

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
    one = rt.report(kinds[kind])
    other = rt.report(elsewhere)
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
    figures = re.findall(r"<figure[^>]*>.*?</figure>", page, re.DOTALL)
    assert figures
    for figure in figures:
        assert "<figcaption><strong>" in figure
        assert "<table" in figure, "the same numbers, for those who do not see the drawing"
        drawings = re.findall(r"<svg [^>]*>", figure)
        assert drawings and all('aria-label="' in svg or 'aria-hidden="true"' in svg for svg in drawings)


@pytest.mark.parametrize("kind", KINDS)
def test_three_forms_tell_the_same(kind, kinds):
    report = rt.report(kinds[kind])
    facts = json.loads(report.json())
    page = report.html()
    text = report.markdown()
    assert facts == report.facts
    for section in facts["sections"]:
        assert f">{section['title']}</h2>" in page
        assert f"## {section['title']}" in text
    digest = rt.open(kinds[kind]).digest
    assert digest == facts["digest"]
    assert digest in page and digest in text
    titles = [section["title"] for section in facts["sections"]]
    for title in (
        "What is promised, and what is not",
        "What was done",
        "How to read the data",
        "How to use it",
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
def test_a_page_in_a_folder_is_checked_only_if_the_owner_noted_it(kind, kinds, tmp_path):
    from reticent.report.paths import write_public_report

    folder = tmp_path / "release"
    shutil.copytree(kinds[kind], folder)
    page = rt.report(folder).html()
    write_public_report(folder / "report.html", page.encode(), force=False)
    assert rt.open(folder).manifest.kind == kind
    assert rt.report(folder).html() == page, "the page does not speak of itself"
    assert rt.audit(folder).to_dict()["page"]["checked"] is True
    for other in (page.replace("</h1>", "!</h1>"), page + " "):
        (folder / "report.html").write_text(other, encoding="utf-8")
        assert rt.open(folder).manifest.kind == kind
        assert "must not be believed" in str(rt.audit(folder))
        assert rt.audit(folder).to_dict()["page"]["checked"] is False


def test_a_page_of_another_release_or_another_ledger_is_not_checked(kinds, tmp_path, monkeypatch):
    from reticent.report.paths import write_public_report

    first, second = (tmp_path / name for name in ("first", "second"))
    for folder, kind in ((first, KINDS[0]), (second, KINDS[1])):
        shutil.copytree(kinds[kind], folder)
    write_public_report(first / "report.html", rt.report(first).html().encode(), force=False)
    shutil.copy(first / "report.html", second / "report.html")
    assert rt.audit(second).page.checked is False
    assert rt.audit(first).page.checked is True
    shutil.copytree(first, tmp_path / "elsewhere")
    assert rt.audit(tmp_path / "elsewhere").page.checked is True
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "recipient"))
    assert rt.audit(first).page.checked is False
    (tmp_path / "reticent-owner" / "first").mkdir(parents=True)
    (tmp_path / "reticent-owner" / "first" / "ledger-pages.jsonl").write_text("{}")
    assert rt.audit(first).page.checked is False, "what came with a folder proves nothing"


def test_a_page_of_another_name_or_form_is_refused(kinds, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(next(iter(kinds.values())), folder)
    report = rt.report(folder)
    for name in ("Report.html", "report.md", "report.json", "index.html"):
        (folder / name).write_text(report.html(), encoding="utf-8")
        with pytest.raises(rt.AuditFailed, match="does not belong"):
            rt.open(folder)
        (folder / name).unlink()


def test_a_page_needs_no_extra(canaries, monkeypatch):
    page = rt.report(canaries[0]).html()
    for name in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    assert rt.report(canaries[0]).html() == page


def test_publishing_makes_no_report(canaries):
    folder = canaries[0]
    assert {path.suffix for path in folder.iterdir()} == {".json", ".md", ".parquet"}
    assert not list(Path(folder.parent / "reticent-owner").rglob("report*"))


def test_a_release_audited_against_its_source_may_hold_its_page(canaries, tmp_path):
    folder = tmp_path / "release"
    frame = canaries[1]
    shutil.copytree(canaries[0], folder)
    (folder / "report.html").write_text(rt.report(folder).html(), encoding="utf-8")
    assert rt.audit(folder, source=frame).kept


def test_a_page_that_names_an_identifier_is_a_leak_against_the_source(canaries, tmp_path):
    folder = tmp_path / "release"
    frame = canaries[1]
    shutil.copytree(canaries[0], folder)
    dropped = next(str(value) for name in frame.columns for value in frame[name] if "Zquxdropped" in str(value))
    page = rt.report(folder).html()
    (folder / "report.html").write_text(page.replace("</h1>", f" {dropped}</h1>"), encoding="utf-8")
    assert rt.audit(folder, source=frame).kept is False


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
    assert [row[:2] for row in shown["odd"][-2:]] == [["(missing)", 1], ["(no finite number)", 1]]


def shown_of(release):
    """The rows of each column's chart, by the column's name."""
    facts = rt.report(release).facts
    tables = [part["table"] for section in facts["sections"] for part in section["parts"] if "chart" in part]
    return {table["caption"].split(":")[0]: [row[:2] for row in table["rows"]] for table in tables}


def test_a_label_that_says_nothing_is_not_called_missing():
    """Missing ages share groups with others, whose ages are then any value."""
    ages = [age for age in range(120) for _ in range(5)]
    frame = pl.DataFrame({"age": [None] * 3 + ages, "illness": ["flu", "cold", "gout"] * 201})
    job = rt.Job(columns={"age": rt.quasi(), "illness": rt.sensitive()}, promises=[rt.KAnonymity(5)])
    release = rt.publish(job, frame=frame)
    labels = release.frame()["age"]
    anything = int((labels == "*").sum())
    assert anything >= 5
    assert labels.null_count() == 0
    assert shown_of(release)["age"][-1] == ["* (any value)", anything]
    assert not any(row[0] == "(missing)" for row in shown_of(release)["age"])


def test_missing_values_labels_of_any_value_and_open_ends_are_named_apart():
    ages = [age for age in range(100) for _ in range(5)]
    frame = pl.DataFrame(
        {
            "age": [None] * 40 + ages,
            "town": ["(missing)"] * 90 + [None] * 90 + ["b"] * 360,
            "illness": ["flu", "cold"] * 270,
        }
    )
    columns = {"age": rt.quasi(top=90), "town": rt.insensitive(), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=frame)
    labels = release.frame()["age"]
    shown = shown_of(release)
    rows = dict(shown["age"])
    hidden = int(release.frame(bounds=True).filter(pl.col("age") != "*")["age_upper"].null_count())
    assert hidden > 0
    assert rows["(range without a stated end)"] == hidden
    assert rows.get("(missing)", 0) == labels.null_count() > 0
    assert rows.get("* (any value)", 0) == int((labels == "*").sum())
    assert sum(rows.values()) == 540
    assert {tuple(row) for row in shown["town"]} == {("b", 360), ('"(missing)"', 90), ("(missing)", 90)}


def test_a_category_of_any_value_is_named_so_and_a_star_of_the_data_is_not():
    towns = ["*"] * 2 + [f"town {number}" for number in range(6)]
    frame = pl.DataFrame({"town": towns * 4, "illness": ["flu", "cold"] * 16})
    columns = {"town": rt.quasi(), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(30)]), frame=frame)
    assert release.frame()["town"].unique().to_list() == ["*"]
    assert shown_of(release)["town"] == [["* (any value)", 32]]
    job = rt.Job(columns=columns, promises=[rt.DistinctLDiversity(2)], method="anatomy")
    assert ["*", 8] in shown_of(rt.publish(job, frame=frame))["town"]


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


def test_a_page_in_the_folder_that_is_a_link_or_too_long_is_refused(canaries, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(canaries[0], folder)
    page = rt.report(folder).html()
    (folder / "report.html").write_text(page + " " * (1 << 20), encoding="utf-8")
    with pytest.raises(rt.AuditFailed, match="too long"):
        rt.open(folder)
    (folder / "report.html").unlink()
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (folder / "report.html").symlink_to(tmp_path / "page.html")
    with pytest.raises(rt.AuditFailed, match="symbolic link"):
        rt.open(folder)


def test_slanted_and_bold_words_of_a_readme_are_marked_and_stars_of_names_are_not():
    from reticent.report.rendering import render_inline_markdown

    assert render_inline_markdown("see *What else*, **now**") == "see <em>What else</em>, <strong>now</strong>"
    assert render_inline_markdown("2 * 3 * 4, and * covers any") == "2 * 3 * 4, and * covers any"
    assert render_inline_markdown("&#42;name&#42; and `*x*`") == "*name* and <code>*x*</code>"


def test_labels_of_every_type_are_drawn_or_counted():
    rows = 60
    frame = pl.DataFrame(
        {
            "grade": ["low", "middle", "high"] * 20,
            "born": [date(1950 + number, 1, 1) for number in range(rows)],
            "dose": [Decimal(number) / 4 for number in range(rows)],
            "rows": [number % 7 for number in range(rows)],
            "label": ["a", "b"] * 30,
            "ill": ["flu", "cold", "gout"] * 20,
        },
        schema_overrides={"dose": pl.Decimal(10, 2)},
    )
    columns = {
        "grade": rt.quasi(order=["low", "middle", "high"]),
        **{name: rt.quasi() for name in ("born", "dose", "rows", "label")},
        "ill": rt.sensitive(),
    }
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=frame)
    figures = [
        part["figure"]
        for section in rt.report(release).facts["sections"]
        if section["id"] == "labels"
        for part in section["parts"]
    ]
    drawn = [figure["plot"]["name"] for figure in figures if figure["plot"]["type"] == "ranges"]
    assert drawn == ["born, in years", "dose", "rows"]
    (levels,) = (figure["plot"]["rows"] for figure in figures if figure["plot"]["type"] == "levels")
    assert [name for name, *_ in levels] == ["grade", "label"]
    assert "<svg" in rt.report(release).html()
