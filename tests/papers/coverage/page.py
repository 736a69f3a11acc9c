"""The page about the papers, in Markdown, from the tables beside this file."""

from __future__ import annotations

from textwrap import fill

from tests.papers.coverage import PAPERS
from tests.papers.coverage.item import NOT_BUILT, STATES, VERDICTS, Item, Paper

HEAD = """\
# The five papers, item by item

This page is printed by `python -m tests.papers.coverage` from tables in `tests/papers/coverage/`; a test keeps it
current, and checks that every function, test, oracle and study it names exists and that no numbered item of a paper
is left out. Five papers are built here:

"""
LEGEND = """
*Built*: the item runs in the product, or is made again by a study. *In part* and *not built* say what is missing.
*Text*: nothing that could be built. A claim *holds as corrected* where a slip of the printed text had to be mended
first, *holds in part* where some settings bear it out and others do not, and *fails* where a counter-example or a
measurement speaks against it: the counter-examples can be run, on the page of [errata](errata.md). Names after
*where* are functions and classes, each a link to its file; sentences after *verified by* are tests, and files are
results of a study. An oracle is code of the tests that computes by the definition and imports nothing of the product.
"""


def print_page() -> str:
    papers = "".join(
        f"{number}. [{paper.title}](#{make_anchor(paper, number)}): {paper.citation}\n"
        for number, paper in enumerate(PAPERS, 1)
    )
    parts = [print_paper(paper, number) for number, paper in enumerate(PAPERS, 1)]
    return HEAD + papers + LEGEND + "\n" + print_counts() + "\n" + "\n".join(parts)


def make_anchor(paper: Paper, number: int) -> str:
    return f"{number}-{paper.title.lower().replace(' ', '-')}"


def print_counts() -> str:
    """How many lines there are of each state and verdict."""
    verdicts = [verdict for verdict in VERDICTS if verdict]
    lines = [["paper", *STATES, *verdicts], ["---"] * (1 + len(STATES) + len(verdicts))]
    for paper in PAPERS:
        states = [str(sum(item.state == state for item in paper.items)) for state in STATES]
        claims = [str(sum(item.verdict == verdict for item in paper.items)) for verdict in verdicts]
        lines.append([paper.title, *states, *claims])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def print_paper(paper: Paper, number: int) -> str:
    blocks = [f"## {number} {paper.title}\n\n*{paper.citation}.*\n"]
    for section in paper.sections:
        study = f"Made again by [a study](../studies/{section.study}/README.md).\n\n" if section.study else ""
        blocks.append(f"### {section.title}\n\n{study}" + "".join(print_item(item) for item in section.items))
    return "\n".join(blocks)


def print_item(item: Item) -> str:
    state = f"*{item.state}*" if not item.verdict else f"*{item.state}; {item.verdict}*"
    texts = [f"**{item.name}**, {item.subject}: {state}. {item.finding}"]
    if item.code:
        texts.append("Where: " + ", ".join(link_code(entry) for entry in item.code) + ".")
    if item.checks:
        texts.append("Verified by: " + ", ".join(link_check(entry) for entry in item.checks) + ".")
    elif item.state == NOT_BUILT:
        texts.append("Verified by: nothing.")
    wrapped = [
        fill(text, 118, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for text in texts
    ]
    return "-" + "\\\n".join(wrapped)[1:] + "\n"


def link_code(entry: str) -> str:
    path, _, name = entry.partition(":")
    return f"[`{name}`](../src/reticent/{path})"


def link_check(entry: str) -> str:
    """A test as the sentence that its name is, an oracle by its function, a study by its file."""
    path, _, name = entry.partition(":")
    if not name:
        return f"[`{path.removeprefix('studies/')}`](../{path})"
    if name.startswith("test_"):
        return f"[{name.removeprefix('test_').replace('_', ' ')}](../tests/{path})"
    return f"the oracle's [`{name}`](../tests/{path})"
