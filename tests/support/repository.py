"""Where the project's files are, for tests about the project itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "reticent"
SKIPPED = {
    ".git",
    ".venv",
    "build",
    "dist",
    "demo",
    "__pycache__",
    ".cache",
    ".hypothesis",
    ".pytest_cache",
    ".ruff_cache",
    ".mypy_cache",
}
TEXT = {".py", ".md", ".toml", ".txt", ".cfg", ".yml", ".yaml", ".csv", ".sh", ".json", ""}


def files() -> Iterator[Path]:
    """Every text file that belongs to the project."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        built = SKIPPED & set(parts) or any(part.endswith(".egg-info") for part in parts)
        if path.is_file() and not built and path.suffix in TEXT:
            yield path


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> set[str]:
    """The modules of ours that a file imports, wherever in it the import stands; not what is imported for types only."""
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {id(inner) for node in ast.walk(tree) if _only_for_types(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: import by the full name"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "reticent"}


def _only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
