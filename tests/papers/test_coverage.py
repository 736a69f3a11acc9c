"""The page about the papers names only what there is, leaves out no numbered item, and is printed as it stands."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import reticent
from tests.papers.coverage import PAPERS
from tests.papers.coverage.item import BUILT, NOT_BUILT, STATES, VERDICTS, Item
from tests.papers.coverage.page import print_page
from tests.support.repository import ROOT

ITEMS = [pytest.param(item, id=f"{paper.title}: {item.name}") for paper in PAPERS for item in paper.items]
DOCS = ROOT / "docs"
INSTALLED = Path(reticent.__file__).parent  # a source distribution's tests meet the wheel


@cache
def list_names(path: Path) -> frozenset[str]:
    """Every function, class and method that a file defines, or imports under that name."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(names)


@cache
def list_anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings)


def test_the_printed_page_is_current():
    printed = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert printed == print_page(), "python -m tests.papers.coverage > docs/papers.md"


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_names_only_what_there_is(item: Item):
    assert item.state in STATES
    assert item.verdict in VERDICTS
    for entry in item.code:
        path, _, name = entry.partition(":")
        assert name in list_names(INSTALLED / path), entry
    for entry in item.checks:
        path, _, name = entry.partition(":")
        if not name:
            assert path.startswith("studies/"), entry
            assert (ROOT / path).is_file(), entry
        else:
            assert name in list_names(ROOT / "tests" / path), entry


@pytest.mark.parametrize("item", ITEMS)
def test_a_link_of_an_item_leads_to_a_heading_that_there_is(item: Item):
    for target, anchor in re.findall(r"\]\(([^)#]+)#?([^)]*)\)", item.finding):
        page = (DOCS / target).resolve()
        assert page.is_file(), target
        if anchor:
            assert anchor in list_anchors(page), f"{target}#{anchor}"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.title)
def test_no_numbered_item_of_a_paper_is_left_out(paper):
    named = {name.strip() for item in paper.items for name in item.name.split(",")}
    assert not set(paper.numbered) - named


def test_every_paper_has_a_study_of_its_experiments():
    for paper in PAPERS:
        studies = [section.study for section in paper.sections if section.study]
        assert studies, paper.title
        for study in studies:
            assert (ROOT / "studies" / study / "README.md").is_file(), study


def test_what_is_built_is_verified_and_what_is_not_names_no_code():
    for paper in PAPERS:
        for item in paper.items:
            if item.state == BUILT:
                assert item.checks, item.name
            if item.state == NOT_BUILT:
                assert not item.code, item.name
