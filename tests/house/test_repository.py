"""The repository speaks of the project alone."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

from tests.support.repository import PACKAGE, ROOT, files

HERE = "tests/house/test_repository.py"
MACHINE_PATHS = re.compile(r"/(?:work|root|home|Users|mnt|opt|srv)/[a-z]\w*/")
REGISTRY_HOSTS = re.compile(
    r"https?://[^\s)\"'>]*(?:pypi|index|simple|registry|artifactory|nexus|mirror)[^\s)\"'>]*|--index-url|--extra-index-url|--find-links",
    re.I,
)
VAGUE = {"utils", "util", "misc", "helpers", "helper", "core", "common", "manager"}
KERNELS = sorted(path for path in (PACKAGE / "kernels").glob("*.py") if path.stem != "__init__")
MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, REGISTRY_HOSTS], ids=["machine path", "registry host"])
def test_no_file_names_what_is_not_the_project_s(pattern):
    found = []
    for path in files():
        name = str(path.relative_to(ROOT))
        if name == HERE:
            continue
        for at, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{name}:{at}")
    assert not found


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_kernel_says_what_it_does(path):
    """The file, and every function that others call."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and not node.name.startswith("_")
            and "cython.cfunc" not in map(ast.unparse, node.decorator_list)
        ):
            assert ast.get_docstring(node), f"{path.name}: {node.name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_opens_with_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_a_message_counts_in_words():
    """`3 rows` and `1 row` by `errors.some`, and not `3 row(s)`."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(r"\w\(s\)", node.value), f"{path}:{node.lineno}"


def test_names_say_what_a_thing_is():
    for path in MODULES:
        assert not VAGUE & set(path.relative_to(PACKAGE).with_suffix("").parts), path
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                assert not node.name.endswith(("Manager", "Helper", "Util", "Utils")), f"{path}: {node.name}"


def test_test_names_are_sentences():
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert node.name.count("_") >= 3, f"{path.name}: {node.name} states no fact"


def test_no_test_asserts_a_time():
    clocks = re.compile(r"assert .*(?:perf_counter|process_time|elapsed|seconds)\b.*[<>]")
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not clocks.search(line) or str(path.relative_to(ROOT)) == HERE, f"{path.name}:{at}"


def test_privacy_checks_have_no_tolerance():
    """Neither models nor measures compare with a small constant or `isclose`."""
    tolerance = re.compile(r"\b(?:isclose|allclose|EPS|EPSILON|TOLERANCE|tol)\b|[<>]=?\s*1e-\d+|[+-]\s*1e-\d+")
    for path in [*(PACKAGE / "models").rglob("*.py"), *(PACKAGE / "audit" / "measure").rglob("*.py")]:
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not tolerance.search(line), f"{path.name}:{at}"


def test_an_extra_is_offered_only_where_code_uses_it():
    """One of its packages is named in the package's own code."""
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    code = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)
    for extra, packages in offered.items():
        names = [re.split(r"[<>=~! \[]", package)[0].replace("-", "_") for package in packages]
        assert any(name.replace("scikit_learn", "sklearn") in code for name in names), extra
