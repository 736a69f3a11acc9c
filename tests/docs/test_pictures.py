"""Pictures of README and docs: six people before and after every method, drawn anew; screens that exist, are told and small."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.site import screens, six_rows
from docs.site.pages import PICTURE
from reticent.catalogue.entries import METHODS, STAGES
from reticent.drawing.comparison_plots import MethodMark, MethodSeries, Yardstick, draw_frontier
from tests.support.repository import ROOT

PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))


def test_every_method_and_stage_has_its_six_rows():
    assert set(six_rows.EXAMPLES) == {page.stem for page in PAGES} >= {*METHODS, *STAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_of_a_method_begins_with_its_six_rows_as_they_are_published(page):
    before_code = page.read_text(encoding="utf-8").split("```")[0]
    assert f"](../pictures/six-rows-{page.stem}.svg)" in before_code
    drawing = six_rows.draw_example(page.stem)
    ElementTree.fromstring(drawing)
    picture = ROOT / "docs" / "pictures" / f"six-rows-{page.stem}.svg"
    assert picture.read_text(encoding="utf-8") == drawing, "run python -m docs.site.six_rows"
    assert "prefers-color-scheme:dark" in drawing and "<desc" in drawing


SHOWING = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IN_HTML = re.compile(r"<img\b[^>]*>")
IN_MARKDOWN = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def list_pictures(page: Path) -> list[tuple[Path, str]]:
    """The files of the pictures that a page shows, with their alt texts."""
    text = page.read_text(encoding="utf-8")
    named = [(name, alt) for alt, name in IN_MARKDOWN.findall(text)]
    for tag in IN_HTML.findall(text):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        named.append((attributes["src"], attributes.get("alt", "")))
    return [((page.parent / name).resolve(), alt) for name, alt in named]


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.stem)
def test_every_picture_that_a_page_shows_exists_and_is_told_in_words(page):
    for picture, alt in list_pictures(page):
        assert picture.is_file(), f"{page.name} shows {picture.name}: make pictures"
        assert len(alt) > 20, f"{picture.name} has no words in {page.name}"


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.stem)
def test_a_picture_in_light_has_its_twin_in_dark_as_the_site_expects_it(page):
    text = page.read_text(encoding="utf-8")
    pairs = [(match["light"], match["dark"]) for match in PICTURE.finditer(text)]
    assert len(pairs) == text.count("<picture>") == len(IN_HTML.findall(text))
    for light, dark in pairs:
        assert light.endswith("-light.webp")
        assert dark == light.replace("-light.webp", "-dark.webp")
        assert (page.parent / dark).is_file()


def test_every_picture_is_shown_and_small():
    shown = {picture for page in SHOWING for picture, _ in list_pictures(page)}
    twins = {picture.with_name(picture.name.replace("-light.", "-dark.")) for picture in shown}
    pictures = sorted((ROOT / "docs" / "pictures").iterdir())
    assert set(pictures) <= shown | twins
    for picture in pictures:
        assert picture.stat().st_size <= screens.MAX_BYTES, picture.name
    assert sum(picture.stat().st_size for picture in pictures) <= 700_000


def test_the_frontier_is_one_drawing_for_light_and_dark_that_says_what_is_in_it():
    drawing = (ROOT / "docs" / "pictures" / "frontier.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(drawing)
    assert "prefers-color-scheme: dark" in drawing
    assert "<desc" in drawing
    assert "http" not in drawing.replace("http://www.w3.org/2000/svg", "")


def test_a_drawing_of_the_studio_becomes_a_file_with_every_colour_that_it_names():
    drawn = draw_frontier([MethodSeries("mondrian", (MethodMark(0.3, 0.1, True),))], [Yardstick("apart", 0.2, 0.0)])
    picture = screens.draw_frontier_picture(
        drawn, "mondrian loses <30 %> & says so, in a title that does not fit one line"
    )
    ElementTree.fromstring(picture)
    for name in re.findall(r'class="([\w -]+)"', drawn):
        for word in name.split():
            assert word in ("plot", "roomy") or f".{word} " in picture, word
    for variable in re.findall(r"var\((--[\w-]+)\)", picture):
        assert f"{variable}:" in picture, variable
    assert picture.count('class="title"') == 2
