"""Pages in a real browser: Debian's chromium, driven by playwright, and axe-core (`make browser` installs them).

Pictures for looking at go to build/screenshots, which is no part of the repository.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from tests.support import contract_examples as contract
from tests.support.real_browser import COLLISIONS, OPEN_FOLDS, examine_with_axe, open_browser
from tests.support.repository import ROOT

WIDTHS = {"phone": 360, "desk": 1280}
PAPER = 718  # A4 within margins of 10 mm, in pixels
PICTURES = ROOT / "build" / "screenshots" / "report"


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(kinds, canaries, tmp_path_factory) -> dict[str, Path]:
    """Both editions of a generalized release, and a page whose names are markup; `make browser` opens one of every kind."""
    folder = tmp_path_factory.mktemp("pages")
    chosen = kinds if os.environ.get("BROWSER") == "all" else {"generalized": kinds["generalized"]}
    made = {kind: rt.report(place).html() for kind, place in chosen.items()}
    made["hostile"] = rt.report(canaries[0]).html()
    made["internal"] = rt.report(kinds["generalized"], source=contract.people()).html()
    frame, long_names = make_long_names()
    rt.publish(long_names, frame=frame, to=folder / "long-names")
    made["long-names"] = rt.report(folder / "long-names").html()
    made["long-names-internal"] = rt.report(folder / "long-names", source=frame, budget=1).html()
    for name, text in made.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


def make_long_names() -> tuple[pl.DataFrame, rt.Job]:
    """People whose columns have long and wide names, with great numbers and long values."""
    number, place, illness = "the_number_of_euros_that_were_earned_in_this_household", "W" * 20, "年齢" * 8
    frame = pl.DataFrame(
        {
            number: [1_000_000 * (row * row % 97) - 50_000_000 for row in range(80)],
            place: [["Ulm", "Bonn", "Kiel"][row % 3] for row in range(80)],
            illness: [f"a long name of an illness, of which this is number {row % 11}" for row in range(80)],
        }
    )
    columns = {number: rt.quasi(), place: rt.quasi(), illness: rt.sensitive()}
    return frame, rt.Job(columns=columns, promises=[rt.KAnonymity(5)])


def test_a_page_asks_for_nothing_says_nothing_and_fits_every_width(browser, pages):
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, path in pages.items():
        for size, width in WIDTHS.items():
            said = []
            asked = []
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("pageerror", lambda error, said=said: said.append(str(error)))
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(path.as_uri())
            assert not said, (name, size, said)
            assert asked == [path.as_uri()], (name, size, asked)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, size)
            assert page.evaluate("document.scripts.length") == 0
            page.screenshot(path=PICTURES / f"{name}-{size}.png", full_page=True)
            page.close()


def test_sections_can_be_reached(browser, pages):
    page = browser.new_page()
    page.goto(pages["generalized"].as_uri())
    for link in page.query_selector_all("nav a"):
        assert page.query_selector(link.get_attribute("href")) is not None
    page.close()


def test_a_page_prints_within_the_paper_asks_for_nothing_and_says_nothing(browser, pages):
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, path in pages.items():
        said = []
        asked = []
        page = browser.new_page(viewport={"width": PAPER, "height": 1000})
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(path.as_uri())
        page.emulate_media(media="print")
        assert not page.is_visible("nav"), name
        beyond = "[...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > innerWidth + 1).length"
        assert page.evaluate("document.documentElement.scrollWidth") <= PAPER and page.evaluate(beyond) == 0, name
        assert page.pdf(path=PICTURES / f"{name}.pdf", format="A4").startswith(b"%PDF")
        assert not said and asked == [path.as_uri()], (name, said, asked)
        page.close()


def test_no_text_of_a_drawing_covers_another_or_leaves_the_screen(browser, pages):
    for name, path in pages.items():
        for width in WIDTHS.values():
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(path.as_uri())
            page.evaluate(OPEN_FOLDS)
            assert page.evaluate(COLLISIONS) == [], (name, width)
            page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, pages, scheme):
    for name, path in pages.items():
        for width in WIDTHS.values():
            page = browser.new_page(
                viewport={"width": width, "height": 900}, bypass_csp=True, color_scheme=scheme
            )  # axe is a script
            page.goto(path.as_uri())
            assert not (report := examine_with_axe(page)), (name, report)
            page.close()
