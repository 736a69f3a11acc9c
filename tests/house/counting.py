"""What is counted in the source of a package: names, bodies, imports, and formatting that was switched off."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.house.words import begins_with_participle

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
REFERENCE = re.compile(r"^(reticent(?:\.[a-z_0-9]+)+)(?::[A-Za-z_]\w*)?$")


@dataclass(frozen=True)
class Source:
    """A file of Python, parsed."""

    path: Path
    text: str
    tree: ast.Module = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Source:
        text = path.read_text(encoding="utf-8")
        return cls(path, text, ast.parse(text))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method, however deep; dunder methods aside."""
        return [node for node in self.nodes if isinstance(node, FUNCTIONS) and not node.name.startswith("__")]


@dataclass(frozen=True)
class Package:
    """All modules of a package, by their dotted names."""

    folder: Path
    modules: dict[str, Source]

    @classmethod
    def read(cls, folder: Path) -> Package:
        return cls(folder, {module_of(path, folder): Source.read(path) for path in sorted(folder.rglob("*.py"))})

    @property
    def lines(self) -> int:
        return sum(source.lines for source in self.modules.values())

    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for source in self.modules.values() for node in source.functions()]

    def imported_by(self, module: str) -> set[str]:
        """The modules of the package that a module imports, anywhere in it, or names in a string."""
        source = self.modules[module]
        names: set[str] = set()
        for node in source.nodes:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names |= {self._nearest(f"{node.module}.{alias.name}") for alias in node.names}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names |= {match[1] for match in [REFERENCE.match(node.value)] if match}
        return {name for name in names if name in self.modules and name != module}

    def _nearest(self, name: str) -> str:
        return name if name in self.modules else name.rpartition(".")[0]

    def importers(self) -> dict[str, set[str]]:
        """By module, the modules that import it."""
        found: dict[str, set[str]] = defaultdict(set)
        for module in self.modules:
            for imported in self.imported_by(module):
                found[imported].add(module)
        return found


def module_of(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is read as an attribute: a property may be an adjective."""
    names = [ast.unparse(decorator).rpartition(".")[2] for decorator in function.decorator_list]
    return bool({"property", "cached_property", "setter"} & set(names))


def participle_functions(package: Package) -> list[str]:
    """Functions and methods, properties aside, whose first word is a past participle."""
    return [node.name for node in package.functions() if not is_property(node) and begins_with_participle(node.name)]


def packed_assignments(source: Source) -> list[ast.Assign]:
    """`a, b = x, y`: a tuple literal of the same length on the right; swaps aside."""
    return [node for node in source.nodes if isinstance(node, ast.Assign) and _is_packed(node)]


def _is_packed(node: ast.Assign) -> bool:
    target = node.targets[-1]
    value = node.value
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)):
        return False
    if any(isinstance(item, ast.Starred) for item in [*target.elts, *value.elts]):
        return False
    return sorted(map(ast.unparse, target.elts)) != sorted(map(ast.unparse, value.elts))


def conditional_expressions(source: Source) -> list[ast.IfExp]:
    return [node for node in source.nodes if isinstance(node, ast.IfExp)]


def nested_conditional_expressions(source: Source) -> list[ast.IfExp]:
    """Conditional expressions whose condition or one of whose results is a conditional expression."""
    return [
        node
        for node in conditional_expressions(source)
        if any(isinstance(part, ast.IfExp) for part in (node.test, node.body, node.orelse))
    ]


def skipped_formatting(source: Source) -> list[int]:
    """The lines of `# fmt: skip` and `# fmt: off` that are at no table of data."""
    tables = _table_lines(source)
    return [line for line in _comment_lines(source.text) if line not in tables]


def all_skipped_formatting(source: Source) -> list[int]:
    return list(_comment_lines(source.text))


def _comment_lines(text: str) -> Iterator[int]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and re.search(r"#\s*fmt:\s*(skip|off)", token.string):
            yield token.start[0]


def _table_lines(source: Source) -> set[int]:
    lines: set[int] = set()
    for node in source.nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_table(node.value):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def is_table(value: ast.expr) -> bool:
    """Whether an assigned value is a table of data: a display of constants, names, and calls and displays of these."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        value = value.args[0]  # frozenset({...}), np.array([...])
    return isinstance(value, DISPLAYS) and _is_data(value)


def _is_data(node: ast.expr | None) -> bool:
    if node is None or isinstance(node, ast.Constant | ast.Name | ast.Attribute):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_data(node.operand)
    if isinstance(node, ast.Starred):
        return _is_data(node.value)
    if isinstance(node, ast.Dict):
        return all(map(_is_data, [*node.keys, *node.values]))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_data, node.elts))
    if isinstance(node, ast.Call):
        return all(map(_is_data, [*node.args, *(keyword.value for keyword in node.keywords)]))
    return False
