"""Every piece of advice that the source can give, by reading the source: texts after `attempt=`, with holes for what is filled in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import reticent

ROOT = Path(reticent.__file__).parent
HOLE = "…"
"""Stands for what is filled in when the message is made."""
PARAMETERS = ("attempt", "advice")
"""What functions call a parameter that is what to try."""


@dataclass(frozen=True)
class Advice:
    """One text that is advised, and where it stands: the lines of the call that it is an argument of.

    `in_function` is False where the call is made as the module is imported: its lines are not run when the advice is given.
    A text that is made by a call alone is written as that call, in braces: `{suggest(name, SCHEMES)}`.
    """

    module: str
    line: int
    last_line: int
    text: str
    in_function: bool = True

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.text!r}"

    def matches(self, attempt: str) -> bool:
        """Return whether this text, its holes filled in, is what a message advises."""
        if is_computed(self.text):
            return True
        return re.fullmatch(".*".join(map(re.escape, self.text.split(HOLE))), attempt, re.DOTALL) is not None


def is_computed(text: str) -> bool:
    return text.startswith("{") and text.endswith("}")


@cache
def list_advice() -> tuple[Advice, ...]:
    """List the texts of all attempts of the package; of an f-string with holes."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}
    trees = {
        path: ast.parse(text) for path, text in sources.items() if "attempt" in text and "kernels" not in path.parts
    }
    places = dict(_list_attempt_parameters(trees.values()))
    advice = []
    for path, tree in trees.items():
        module = path.relative_to(ROOT).as_posix()
        for scope, call in _walk_calls(tree, tree):
            for argument in _list_attempts(call, places):
                texts = dict.fromkeys(_list_texts(argument, scope, tree))
                last_line = call.end_lineno or call.lineno
                advice += [
                    Advice(module, call.lineno, last_line, text, in_function=scope is not tree)
                    for text in texts
                    if text
                ]
    return tuple(advice)


def _list_attempt_parameters(trees: Iterator[ast.Module]) -> Iterator[tuple[str, int]]:
    """Yield the functions that have a parameter for what to try, each with its place among the arguments."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in node.args.args]
                yield from ((node.name, names.index(name)) for name in PARAMETERS if name in names)


def _walk_calls(node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.AST, ast.Call]]:
    """Yield every call with the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield scope, child
        yield from _walk_calls(child, child if isinstance(child, ast.FunctionDef) else scope)


def _list_attempts(call: ast.Call, places: dict[str, int]) -> Iterator[ast.expr]:
    """Yield the argument that is what to try: a keyword, or by its place."""
    yield from (keyword.value for keyword in call.keywords if keyword.arg == "attempt")
    place = places.get(getattr(call.func, "id", ""), len(call.args))
    yield from call.args[place : place + 1]


def _list_texts(node: ast.expr, scope: ast.AST, tree: ast.AST) -> Iterator[str]:
    """Yield the texts that an expression may give; those of a name are what is assigned to it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else HOLE for part in node.values]
        yield "".join(map(str, parts))
    elif isinstance(node, ast.IfExp):
        yield from _list_texts(node.body, scope, tree)
        yield from _list_texts(node.orelse, scope, tree)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _list_texts(value, scope, tree)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = (
            [HOLE if is_computed(text) else text for text in _list_texts(side, scope, tree)] or [HOLE]
            for side in (node.left, node.right)
        )
        yield from (first + second for first in left for second in right)
    elif (table := _find_table(node, tree)) is not None:
        for value in table.values:
            yield from _list_texts(value, scope, tree)
    elif isinstance(node, ast.Name):
        values = _list_assigned(node.id, scope) or _list_assigned(node.id, tree)
        for value in values:
            yield from _list_texts(value, scope, tree)
        if not values and node.id not in PARAMETERS:  # of a function, whose calls are listed
            yield "{" + node.id + "}"
    else:
        yield "{" + ast.unparse(node) + "}"


def _find_table(node: ast.expr, tree: ast.AST) -> ast.Dict | None:
    """Find the dictionary of the module that an expression takes a text from: `TEXTS[name]`, `TEXTS.get(name, "")`."""
    is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
    owner = node.func.value if is_get else node.value if isinstance(node, ast.Subscript) else None
    tables = _list_assigned(owner.id, tree) if isinstance(owner, ast.Name) else []
    return next((table for table in tables if isinstance(table, ast.Dict)), None)


def _list_assigned(name: str, scope: ast.AST) -> list[ast.expr]:
    """Return what a function, or the top of a module, assigns to a name."""
    nodes = ast.walk(scope) if isinstance(scope, ast.FunctionDef) else ast.iter_child_nodes(scope)
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets)
    ]
