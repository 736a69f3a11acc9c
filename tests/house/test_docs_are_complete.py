"""Every option, exit code, promise, method and page has its place in the docs."""

from __future__ import annotations

import re

import pytest

from reticent import registry
from reticent.cli.app import COMMANDS, command
from tests.house.repository import ROOT

DOCS = ROOT / "docs"


def section(text: str, title: str) -> str:
    """What stands under a heading, up to the next of its rank."""
    found = re.search(rf"^## [^\n]*{re.escape(title)}[^\n]*$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"there is no section about {title}"
    return found[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_is_documented(name):
    text = section((DOCS / "cli.md").read_text(encoding="utf-8"), f"reticent {name}")
    for option in command().commands[name].params:
        for spelling in option.opts if option.opts[0].startswith("-") else [option.metavar or option.name.upper()]:
            assert spelling == "--help" or f"`{spelling}" in text, f"docs/cli.md does not explain {spelling} of {name}"


def test_the_options_before_a_command_are_documented():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    for option in command().params:
        assert any(f"`{spelling}" in text for spelling in option.opts), option.opts


def test_every_exit_code_is_documented():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    for code in (0, 1, 2, 3, 70, 74, 130):
        assert re.search(rf"^\| {code} \|", text, re.MULTILINE), code


@pytest.mark.parametrize("name", registry.MODELS)
def test_every_promise_is_explained(name):
    assert f"`{name}`" in (DOCS / "promises.md").read_text(encoding="utf-8")


def test_every_word_of_the_glossary_is_in_alphabetical_order():
    words = re.findall(r"^\*\*(.+?)\*\*", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(words) > 20
    assert words == sorted(words, key=str.casefold)


def test_the_one_sentence_stands_where_people_start_reading():
    sentence = "A method turns cells and a promise into a recipe; an engine turns a recipe and rows into a release; an audit recounts the release."
    for path in ("README.md", "docs/how-it-works.md", "src/reticent/publish.py"):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert sentence in " ".join(text.replace("> ", "").split()), path


@pytest.mark.parametrize(
    "path", sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]), ids=lambda p: p.name
)
def test_links_between_pages_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"
