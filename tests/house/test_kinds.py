"""A release kind is known by name in its own three modules, and nowhere else in the package.

`recipe/<kind>.py`, `release/<kind>.py` and `audit/<kind>.py` are a kind's rooms, and so are modules beside them whose names
begin with the kind's (`audit/anatomized.py`).  The catalogue has its row, a method says which kind it makes.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from reticent import catalogue
from tests.support.repository import PACKAGE, imports, module_name

KINDS = tuple(catalogue.KINDS)
LAYERS = ("recipe", "release", "audit")
CATALOGUE = "catalogue/entries.py"
OTHER_MEANINGS = {
    "attacks/eligibility/": {"sampled"},
    "attacks/algorithm.py": {"sampled"},
    "testing.py": {"anatomized", "generalized", "perturbed", "sampled"},  # releases to try a plugin on
}
"""Words of an attack's answer that are spelled like a kind: how a figure was had, exact or sampled."""

OBJECTS = {type_of for row in catalogue.KINDS.values() for type_of in (row.writer, row.reader, row.auditor)}


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def at_home(path: Path, kind: str) -> bool:
    layer, _, stem = name(path).removesuffix(".py").partition("/")
    return layer in LAYERS and (stem == kind or stem.startswith(f"{kind}_"))


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "kernels" and name(path) != CATALOGUE)


def said(tree: ast.Module) -> list[ast.Constant]:
    """Texts that are exactly a kind's name: not docstrings, and not where a method says which kind it makes."""
    excused = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            excused.add(id(node.value))  # a docstring
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "kind":
            excused.add(id(node.value))
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in KINDS and id(node) not in excused
    ]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_no_module_names_a_kind_that_is_not_its_own(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {node.value for node in said(tree) if not at_home(path, node.value)}
    named -= {word for room, words in OTHER_MEANINGS.items() if name(path).startswith(room) for word in words}
    assert not named, f"{name(path)} knows {sorted(named)} by name"
    rooms = {f"reticent.{layer}.{kind}": kind for kind in KINDS for layer in LAYERS}
    used = {
        kind for found in imports(path) for room, kind in rooms.items() if found == room or found.startswith(f"{room}.")
    }
    assert not {kind for kind in used if not at_home(path, kind)}, f"{name(path)} imports a kind's module"


def test_only_methods_say_which_kind_they_make():
    """Outside of the kinds' own modules an attribute `kind` with a kind's name stands in `methods/` alone."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.value, ast.Constant)
                and node.value.value in KINDS
                and not at_home(path, node.value.value)
            ):
                assert module_name(path).startswith("reticent.methods."), name(path)


def test_nothing_asks_which_kind_it_has_by_another_name():
    """No `isinstance` over a kind's classes, no comparison of a kind with a text, no `members is not None` in disguise."""
    classes = {
        type(found).__name__ if not isinstance(found, type) else found.__name__
        for found in map(catalogue.load_object, OBJECTS)
    }
    for path in MODULES:
        if any(at_home(path, kind) for kind in KINDS):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
                assert not asked & classes, f"{name(path)}:{node.lineno} asks for a kind's class"
            if isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
                left = node.left.attr if isinstance(node.left, ast.Attribute) else getattr(node.left, "id", "")
                assert left != "members", f"{name(path)}:{node.lineno} tells a kind by its members"
