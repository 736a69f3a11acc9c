"""Every piece of advice that the source can give, by reading the source: texts after `attempt=`, with holes for what is filled in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import reticent

HOLE = "…"
"""Stands for what is filled in when the message is made."""


@dataclass(frozen=True)
class Advice:
    """One text that is advised, and where it stands."""

    module: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.text!r}"


@cache
def list_advice() -> tuple[Advice, ...]:
    """List the texts of all attempts of the package; of an f-string with holes."""
    root = Path(reticent.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = path.relative_to(root).as_posix()
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "attempt":
                found += [Advice(module, node.value.lineno, text) for text in _list_texts(node.value)]
    return tuple(found)


def _list_texts(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an expression may give; names and calls give none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else HOLE for part in node.values]
        yield "".join(map(str, parts))
    elif isinstance(node, ast.IfExp):
        yield from _list_texts(node.body)
        yield from _list_texts(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _list_texts(value)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = list(_list_texts(node.left)) or [HOLE]
        right = list(_list_texts(node.right)) or [HOLE]
        yield from (first + second for first in left for second in right)
