"""The site: every page is in its contents, every public name in its API, and links that leave the docs are named."""

from __future__ import annotations

import importlib.util
import re

import pytest

import reticent
from tests.support.repository import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("site_pages", DOCS / "site" / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_stands_once_in_the_contents(pages):
    listed = [line for line in pages.contents().splitlines() if re.fullmatch(r"[\w/-]+", line)]
    there = [path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted(set(there) - {"index"})


def test_every_public_name_stands_in_the_api(pages):
    text = pages.api()
    for name, module in reticent._PUBLIC.items():
        assert re.search(rf"^\.\. auto\w+:: {re.escape(module)}(\.{name})?$", text, re.MULTILINE), name


def test_a_link_out_of_the_docs_becomes_the_file_s_name(pages):
    link = pages.LINK.search("see [the studies](../studies/beta_likeness/README.md) there")
    assert pages.inside(link, "cli") == "the studies (`studies/beta_likeness/README.md`)"
    link = pages.LINK.search("see [columns](columns.md#roles)")
    assert pages.inside(link, "cli") == "[columns](columns.md#roles)"


def test_code_in_a_docstring_is_marked_as_sphinx_wants_it(pages):
    lines = ["`to` is |x| of `a|b`"]
    pages.docstring(None, "function", "name", None, None, lines)
    assert lines == ["``to`` is \\|x\\| of ``a|b``"]


def test_a_word_that_begins_or_ends_with_code_is_divided_for_sphinx(pages):
    lines = ["columns that are `acknowledge`d, and un`known`"]
    pages.docstring(None, "function", "name", None, None, lines)
    assert lines == ["columns that are ``acknowledge``\\ d, and un\\ ``known``"]
