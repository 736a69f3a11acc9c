"""The tests themselves: what they share stands in `tests/support`, and none of them patches a constant of the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.repository import ROOT
from tests.support.time_budget import order_by_turns

TESTS = ROOT / "tests"
MODULES = sorted(TESTS.rglob("*.py"))
SHARED_FOLDERS = ("support", "oracle")
"""Folders of `tests/` that every test may import from."""

GOLDEN_GROUPS = "tests.golden.groups"  # the rules of naming leave alone what the golden set pins
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
PATCHING = {"setattr", "patch", "object"}
PATH_OF_CONSTANT = re.compile(r"reticent(\.[a-z_]\w*)+\._?[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")


def list_imports(tree: ast.AST) -> Iterator[str]:
    """List the modules of `tests/` that a module imports, or imports something of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tests":
            for alias in node.names:
                is_module = (ROOT / f"{node.module}.{alias.name}".replace(".", "/")).with_suffix(".py").exists()
                yield f"{node.module}.{alias.name}" if is_module else str(node.module)


def list_patched_constants(tree: ast.AST) -> Iterator[str]:
    """List the upper-case names that a module sets in another module, by a patch or by an assignment.

    Where a module patches anything, each path of a constant counts: it may be patched by a loop over a table.
    """
    called = {node.func.attr for node in ast.walk(tree) if _is_method_call(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and PATH_OF_CONSTANT.fullmatch(str(node.value)) and called & PATCHING:
            yield str(node.value)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and CONSTANT.fullmatch(node.attr):
            yield node.attr
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) > 1:
            name = node.args[1]
            is_patch = node.func.attr in PATCHING
            if is_patch and isinstance(name, ast.Constant) and CONSTANT.fullmatch(str(name.value)):
                yield str(name.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "multiple":
            yield from (keyword.arg for keyword in node.keywords if CONSTANT.fullmatch(keyword.arg or ""))


def _is_method_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def test_what_several_tests_share_is_in_no_test():
    misplaced = []
    for path in MODULES:
        folder = path.relative_to(TESTS).parts[0]
        allowed = SHARED_FOLDERS if folder == "support" else (*SHARED_FOLDERS, folder)
        for name in list_imports(ast.parse(path.read_text(encoding="utf-8"))):
            parts = name.split(".")[1:]
            is_test = parts[-1].startswith("test_") or parts[-1] == "conftest"
            if is_test or (parts[0] not in allowed and name != GOLDEN_GROUPS):
                misplaced.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not misplaced, "put these into tests/support"


def test_no_test_patches_a_constant():
    patched = {
        str(path.relative_to(ROOT)): names
        for path in MODULES
        if (names := list(list_patched_constants(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert not patched, "give the code an argument, or a dataclass of limits, and pass it"


@pytest.mark.parametrize(
    "line",
    [
        'monkeypatch.setattr(data_files, "MAX_PARTS", 3)',
        'monkeypatch.setattr(groups, "_MAX_WORD", 40)',
        'monkeypatch.setattr("reticent.format.data_files.MAX_PARTS", 3)',
        'mock.patch("reticent.engines.stream.BATCH_ROWS", 19)',
        'mock.patch.object(data_files, "MAX_PARTS", 3)',
        "mock.patch.multiple(data_files, MAX_PARTS=3)",
        "data_files.MAX_PARTS = 3",
        'for name in ("reticent.engines.stream.BATCH_ROWS",): mock.patch(name, 19)',
    ],
)
def test_every_way_to_patch_a_constant_is_seen(line):
    assert list(list_patched_constants(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        'monkeypatch.setattr(local, "count_rows", raising(KeyError()))',
        'mock.patch("reticent.engines.stream.RowRanker", partial(RowRanker, bucket_rows=31))',
        'monkeypatch.setitem(registry.MODELS, "crowds", toy)',
        "MAX_PARTS = 3",
    ],
)
def test_a_function_or_a_class_may_be_replaced(line):
    assert not list(list_patched_constants(ast.parse(line)))


def test_a_quick_run_takes_one_test_of_each_file_before_a_second_of_any():
    names = ["a.py::one", "a.py::two", "a.py::three", "b.py::one", "b.py::two", "tests/golden/c.py::one", "c.py::one"]
    order = [names[place] for place in order_by_turns(names)]
    assert order == ["a.py::one", "b.py::one", names[5], "c.py::one", "a.py::two", "b.py::two", "a.py::three"]
    golden = [f"tests/golden/test_golden.py::{number}" for number in range(5)]
    assert order_by_turns([*golden, "b.py::one", "b.py::two"]) == [0, 1, 2, 5, 3, 4, 6]
    assert order_by_turns(names, max_turns=1) == [0, 3, 5, 6]
