"""Every row of the benchmarks can still be measured: what it imports is there.  Nothing is measured here."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import run
from benchmarks.measure import SOURCES

MODULES = sorted(path.stem for path in Path(run.__file__).parent.glob("rows_*.py"))


def pieces(module: ModuleType) -> list[ast.Module]:
    """The source texts in a module that import something: what a row runs in a process of its own."""
    tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "import " in node.value:
            try:
                found.append(ast.parse(node.value))
            except SyntaxError:
                continue  # prose
    return found


def imported(piece: ast.Module) -> set[tuple[str, str | None]]:
    """(module, name in it) of everything of ours that a piece imports."""
    found: set[tuple[str, str | None]] = set()
    for node in ast.walk(piece):
        if isinstance(node, ast.Import):
            found |= {(alias.name, None) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "", alias.name) for alias in node.names}
    return {(module, name) for module, name in found if module.split(".")[0] in ("reticent", "tests", "benchmarks")}


@pytest.mark.parametrize("name", MODULES)
def test_what_the_pieces_of_a_row_import_is_there(name: str):
    module = importlib.import_module(f"benchmarks.{name}")
    for piece in pieces(module):
        for where, attribute in imported(piece):
            part = importlib.import_module(where)
            if attribute is not None and not hasattr(part, attribute):
                importlib.import_module(f"{where}.{attribute}")


def test_rows_are_listed_without_being_measured(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run", "--list", "publish", "cli start"])
    run.main()
    names = capsys.readouterr().out.splitlines()
    assert "cli start: reticent --help" in names
    assert all("publish" in name or "cli start" in name for name in names)
    assert len(names) == len(set(names))


def test_a_word_that_no_row_has_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run", "no such row"])
    with pytest.raises(SystemExit):
        run.main()
    assert "--list shows them" in capsys.readouterr().err


def test_a_row_measures_this_checkout():
    script = "import reticent; print(reticent.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": os.pathsep.join(SOURCES)},
        text=True,
        capture_output=True,
        check=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(SOURCES[1])
