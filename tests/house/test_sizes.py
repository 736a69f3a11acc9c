"""A file fits on a few screens and a function on one: no file of the package above 250 lines, no function above 40.

Kernels are apart, since an algorithm over arrays is not shorter in pieces; and so is a command of the command line,
whose options take a line or two each.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from reticent.cli.app import COMMANDS
from tests.house.repository import PACKAGE

FILE, FUNCTION = 250, 40
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "kernels")


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def is_command(path: Path, function: ast.AST) -> bool:
    return path.parent.name == "cli" and function.name == path.stem and path.stem in COMMANDS


def too_long(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    found = {name(path)} if len(text.splitlines()) > FILE else set()
    for node in ast.walk(ast.parse(text)):
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_command(path, node)
        if function and node.end_lineno - node.lineno + 1 > FUNCTION:
            found.add(f"{name(path)}: {node.name}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_file_has_at_most_250_lines_and_a_function_at_most_40(path):
    assert not too_long(path)
