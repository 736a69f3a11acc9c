"""Every option, exit code, promise, method and page has its place in the docs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reticent import catalogue, errors
from reticent.cli import failures
from reticent.cli.audit import NOT_SHOWN_EXIT_CODE
from reticent.cli.commands import COMMANDS, build_parser
from reticent.errors import ReticentError
from tests.support.repository import ROOT

DOCS = ROOT / "docs"


def section(text: str, title: str) -> str:
    """What stands under a heading, up to the next of its rank."""
    found = re.search(rf"^## [^\n]*{re.escape(title)}[^\n]*$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"there is no section about {title}"
    return found[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_is_documented(name):
    text = section((DOCS / "cli.md").read_text(encoding="utf-8"), f"reticent {name}")
    for option in build_parser().commands[name].params:
        for spelling in option.opts if option.opts[0].startswith("-") else [option.metavar or option.name.upper()]:
            assert spelling == "--help" or f"`{spelling}" in text, f"docs/cli.md does not explain {spelling} of {name}"


def test_the_options_before_a_command_are_documented():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    for option in build_parser().params:
        assert any(f"`{spelling}" in text for spelling in option.opts), option.opts


def kinds(of: type) -> set[type]:
    """An error and all that descend from it."""
    return {of}.union(*(kinds(one) for one in of.__subclasses__() if one.__module__.startswith("reticent.")))


def test_the_table_of_exit_codes_lists_every_kind_of_error_with_its_code():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ([^|]*) \| [^|]* \|$", text, re.MULTILINE)
    listed = {kind: int(code) for code, named in rows for kind in re.findall(r"`(\w+)`", named)}
    assert failures.Interrupted.exit_code == 130
    assert listed == {one.__name__: one.exit_code for one in kinds(ReticentError) if one is not ReticentError}
    assert [int(code) for code, _ in rows] == sorted({0, NOT_SHOWN_EXIT_CODE, *listed.values()})


def test_the_tree_of_errors_draws_every_kind_of_error_with_its_code():
    drawn = {}
    for line in errors.__doc__.splitlines():
        if found := re.match(r"^[ |`]*-- (\w+).*?(?:exit (\d+))?$", line):
            drawn[found[1]] = int(found[2]) if found[2] else None
    for one in kinds(ReticentError) - {ReticentError}:
        if one.__module__ == "reticent.errors":
            own = one.exit_code if "exit_code" in vars(one) else None
            assert drawn[one.__name__] == own, one


@pytest.mark.parametrize("name", catalogue.PROMISES)
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


def defined_names(path: Path) -> set[str]:
    """The names that a module defines at its head and in its classes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set(_own_names(tree.body))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for name in _own_names(node.body)}
    return names


def _own_names(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.If):
            yield from _own_names(node.body)


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda p: p.name)
def test_a_linked_name_is_defined_in_the_file_that_it_links_to(path):
    links = re.findall(r"\[`([\w.]+)`\]\(([^)#]+\.py)\)", path.read_text(encoding="utf-8"))
    undefined = [
        f"{name} in {target}" for name, target in links if name not in defined_names((path.parent / target).resolve())
    ]
    assert not undefined, f"{path.name}: {', '.join(undefined)}"
