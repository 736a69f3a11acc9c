"""References to modules of ours by string: written out, put together in an f-string, or loaded by a row of the catalogue."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reticent import catalogue
from tests.house.counting import FUNCTIONS, REFERENCE
from tests.support.repository import PACKAGE

PACKAGE_PREFIX = re.compile(r"^(reticent(?:\.[a-z_0-9]+)+)\.$")
"""The constant part of an f-string that goes on with a module's name: `f"reticent.recipe.{name}:WRITER"`."""
LOADERS = {
    "load_promise_class": "models",
    "load_method_class": "methods",
    "load_stage_class": "methods",
    "load_writer": "recipe",
    "load_engine": "engines",
    "make_promise": "models",
    "make_method": "methods",
    "make_stage": "methods",
}
"""Functions of `registry` that load what the catalogue names, and the layer in which that is."""


def string_references(tree: ast.Module) -> set[str]:
    """The modules that a file names in strings; of an f-string, the package that its constant beginning names."""
    found = set()
    beginnings = {id(node.values[0]) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) and node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = REFERENCE.match(node.value)
            if match is None and id(node) in beginnings:
                match = PACKAGE_PREFIX.match(node.value)
            if match and _is_module(match[1]):
                found.add(match[1])
    return found


def _is_module(name: str) -> bool:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def loaded_objects(tree: ast.Module) -> set[str]:
    """What a file may load by rows of the catalogue: the fields that are read of the tables that are named where it calls `load_object`."""
    found: set[str] = set()
    for function in _loading_functions(tree):
        around: ast.AST = function if _named_tables(function) else tree
        attributes = {node.attr for node in ast.walk(around) if isinstance(node, ast.Attribute)}
        rows = [row for table in _named_tables(around) for row in table.values()]
        found |= {reference for row in rows for reference in row_references(row, attributes)}
    return found


def _loading_functions(tree: ast.Module) -> list[ast.AST]:
    """The functions that call `load_object`, and statements outside functions that do."""
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    inside = {id(inner) for function in functions for inner in ast.walk(function)}
    places = [
        *functions,
        *(node for node in tree.body if id(node) not in inside and not isinstance(node, ast.ClassDef)),
    ]
    return [place for place in places if "load_object" in _names(place)]


def _named_tables(node: ast.AST) -> list[Mapping[str, Any]]:
    names = set(_names(node))
    return [table for name, table in catalogue_tables().items() if name in names]


def loaded_layers(tree: ast.Module) -> set[str]:
    """The layers from which a file loads something by the functions of `registry`."""
    return {LOADERS[name] for name in _names(tree) if name in LOADERS}


@cache
def catalogue_tables() -> dict[str, Mapping[str, Any]]:
    """The tables of the catalogue whose rows name objects."""
    return {
        name: table
        for name, table in vars(catalogue).items()
        if isinstance(table, Mapping) and any(is_dataclass(row) and any(row_references(row)) for row in table.values())
    }


def row_references(row: Any, names: Iterable[str] | None = None) -> Iterator[str]:
    """The modules that a row's fields name, or only the fields in `names`."""
    for field in fields(row):
        value = getattr(row, field.name)
        match = REFERENCE.match(value) if isinstance(value, str) else None
        if match and (names is None or field.name in names):
            yield match[1]


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def references(path: Path) -> set[str]:
    """All that a file names in strings or loads by the catalogue."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return string_references(tree) | loaded_objects(tree) | {f"reticent.{name}" for name in loaded_layers(tree)}
