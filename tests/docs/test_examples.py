"""Every example in README and docs runs, in the order of its page, in a folder of its own.

```csv NAME, ```toml NAME   a file of that name         ```python   run; names live on for the page
```toml                     must be valid TOML          ```console  `$ reticent ...` runs; the lines below are its output
```text                     after python: its output    ...         stands for anything, in a line or as lines

A page about a file that is too long to be shown finds it in its folder (`PREPARED_FILES`).
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from reticent.cli.main import main
from tests.support.messy_hospital import write_messy_hospital

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)?[ ]?([\w.-]+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


PREPARED_FILES = {"messy-export.md": lambda folder: write_messy_hospital(folder / "hospital.csv")}


@dataclass(frozen=True)
class Block:
    language: str
    name: str
    body: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1] or "", m[2] or "", m[3], text[: m.start()].count("\n") + 1) for m in FENCE.finditer(text)]


def ran_python(block: Block, page: Path, names: dict) -> str:
    out = io.StringIO()
    code = compile("\n" * block.line + block.body, str(page), "exec")
    with contextlib.redirect_stdout(out):
        exec(code, names)
    return out.getvalue()


def ran_command(words: str) -> str:
    out = io.StringIO()
    err = io.StringIO()
    program, *arguments = shlex.split(words)
    assert program == "reticent", f"a console block runs {program!r}"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    assert code == 0, f"`{words}` ended with {code}:\n{err.getvalue()}"
    return out.getvalue()


def assert_shows(actual: str, expected: str, where: str) -> None:
    """Every line that is expected is there, in order; `...` is anything; a table's frame does not matter."""
    lines = iter(" ".join(line.split()) for line in actual.splitlines())
    for wanted in expected.splitlines():
        wanted = " ".join(wanted.split())
        if not wanted or wanted == "...":
            continue
        pattern = re.compile(".*".join(map(re.escape, wanted.split("..."))))
        assert any(pattern.fullmatch(line) for line in lines), f"{where}: no line {wanted!r} in\n{actual}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run_and_show_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    if page.name in PREPARED_FILES:
        PREPARED_FILES[page.name](tmp_path)
    names: dict = {"__name__": "example"}
    printed = ""
    for block in blocks(page):
        where = f"{page.name}, line {block.line}"
        if block.name:
            Path(block.name).write_text(block.body, encoding="utf-8")
        if block.language == "toml":
            tomllib.loads(block.body)
        elif block.language == "text" and printed:
            assert_shows(printed, block.body, where)
        elif block.language == "console":
            for step in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
                command, _, expected = step.partition("\n")
                assert_shows(ran_command(command), expected, where)
        printed = ran_python(block, page, names) if block.language == "python" else ""


def test_every_block_says_what_it_is():
    for page in PAGES:
        for block in blocks(page):
            assert block.language in ("python", "console", "toml", "csv", "text", "sh", "sql"), (
                f"{page.name}, line {block.line}"
            )
        assert page.read_text(encoding="utf-8").count("```") == 2 * len(blocks(page)), page


def test_the_pages_that_teach_have_examples():
    assert {"README.md", "cli.md", "how-it-works.md", "promises.md"} <= {page.name for page in PAGES if blocks(page)}


def test_make_targets_that_the_readme_names_exist():
    targets = re.findall(r"`make ([a-z]+)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets == ["test", "docs"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_readme_is_a_page_that_is_read_to_its_end():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_first_example_has_ten_lines():
    first = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    assert len([line for line in first.body.splitlines() if line.strip()]) <= 11
