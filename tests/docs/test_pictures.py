"""Every method's page begins with six people before and after it, drawn from a release that this code publishes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from docs.site import six_rows
from reticent.catalogue.entries import METHODS, STAGES
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
