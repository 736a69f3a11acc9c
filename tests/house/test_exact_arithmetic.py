"""A parameter's numerator and denominator have any number of digits: times an array they wrap, so few modules touch them."""

from __future__ import annotations

import ast

import pytest

from tests.support.repository import PACKAGE

ALLOWED = {
    "exact_arithmetic.py": "compares arrays with fractions, and proves that nothing wraps",
    "limits.py": "measures how long a number is",
    "format/schema_checks.py": "measures how long a number is",
    "models/rational_bounds.py": "computes with Python's whole numbers, which have no limit",
    "models/caps.py": "writes caps whose denominators are at most the number of rows",
    "audit/measure/exact_comparison.py": "computes with Python's whole numbers, which have no limit",
}


def uses(path) -> list[int]:
    """The lines on which a numerator or a denominator is read."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = ("numerator", "denominator", "as_integer_ratio")
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in names]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_numerators_and_denominators_are_read_in_listed_modules_only(path):
    name = path.relative_to(PACKAGE).as_posix()
    if name not in ALLOWED:
        assert not uses(path), f"{name} reads them: use reticent.exact_arithmetic, which no digits make wrong"


@pytest.mark.parametrize("name", ALLOWED)
def test_a_listed_module_still_needs_its_place(name):
    assert uses(PACKAGE / name)
