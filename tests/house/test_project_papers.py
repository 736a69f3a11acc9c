"""The papers of the project: how to cite it, how to report a hole, what may change, what runs before a commit."""

from __future__ import annotations

import re
import tomllib

from reticent.catalogue.manifest_fields import README_EDITION
from reticent.format.manifest import FORMAT_VERSION
from reticent.ledger.private_files import LEDGER_FORMAT
from reticent.ledger.withdrawals import WITHDRAWALS_FORMAT
from tests.support.repository import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_names_this_version_and_the_five_papers():
    citation = read("CITATION.cff")
    assert f"version: {PROJECT['version']}\n" in citation and f"license: {PROJECT['license']}\n" in citation
    papers = re.findall(r'^    title: "(.+)"$', citation, re.MULTILINE)
    quoted = read("docs/papers.md").casefold()
    assert len(papers) == 5
    for title in papers:
        assert title.casefold() in quoted, title


def test_what_runs_before_a_commit_is_what_lint_runs():
    assert re.search(r"entry: make lint$", read(".pre-commit-config.yaml"), re.MULTILINE)


def test_the_page_on_versions_has_the_numbers_of_the_formats():
    page = read("docs/versioning.md")
    assert f'`"format": {FORMAT_VERSION}`' in page and f'`"readme": {README_EDITION}`' in page
    assert f'| a ledger\'s line | `"format": {LEDGER_FORMAT}`' in page
    assert f'| a withdrawal\'s line | `"format": {WITHDRAWALS_FORMAT}`' in page
    for test in re.findall(r"`(tests/[\w/.]+)`", page):
        assert (ROOT / test).exists(), test


def test_the_papers_name_no_file_that_is_gone():
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", ".github/PULL_REQUEST_TEMPLATE.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", read(name)):
            assert (ROOT / target).exists(), f"{name}: {target}"
