"""The rules of naming as functions that list offenders: `python -m tests.house.naming` prints them all."""

from __future__ import annotations

import ast
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import reticent as rt
from reticent import catalogue
from tests.golden.groups import COMMANDS
from tests.house.counting import FUNCTIONS, Package, Source, is_property, skipped_formatting
from tests.house.words import ADVERBS, KINDS, QUANTITIES, is_of_place_or_past, name_words, says_no_thing
from tests.support.repository import PACKAGE, ROOT

CODE = ("src", "tests", "benchmarks", "studies", "examples", "docs", "setup.py")


@cache
def package() -> Package:
    return Package.read(PACKAGE)


def stem_of(module: str) -> str:
    return module.rpartition(".")[2]


def own_words(name: str) -> list[str]:
    """The words of a name; of one that begins with a kind of release, none."""
    words = name_words(name)
    return [] if words and words[0] in KINDS else words


def bare_modules() -> list[str]:
    """Modules and packages that are named by a participle or a preposition."""
    return [
        module
        for module in package().modules
        if stem_of(module) not in ROLES and says_no_thing(own_words(stem_of(module)))
    ]


@cache
def promised_names() -> frozenset[str]:
    """What other programs call: the public names and the attributes of public classes; these stay as they are."""
    names = set(rt.__all__) | HIERARCHY_BUILDERS
    for name in rt.__all__:
        value = getattr(rt, name)
        if inspect.isclass(value):
            names |= {f"{name}.{attribute}" for attribute in dir(value)}
    return frozenset(names)


def public_functions(source: Source) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions of a module and methods of its classes, properties and private ones aside, by their qualified names."""
    for node in source.tree.body:
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for inner in node.body:
                if isinstance(inner, FUNCTIONS) and not inner.name.startswith("_") and not is_property(inner):
                    yield f"{node.name}.{inner.name}", inner


def bare_functions() -> list[str]:
    """Public functions and methods that are named by a participle or a preposition."""
    return [
        f"{module}:{function.lineno} {name}"
        for module, source in package().modules.items()
        for name, function in public_functions(source)
        if name not in promised_names() and says_no_thing(own_words(function.name))
    ]


def public_classes() -> list[tuple[str, ast.ClassDef]]:
    return [
        (module, node)
        for module, source in package().modules.items()
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def bare_classes() -> list[str]:
    """Public classes that are named by a participle or a preposition."""
    return [
        f"{module}:{node.lineno} {node.name}"
        for module, node in public_classes()
        if node.name not in promised_names() | PRINTED_ERRORS and says_no_thing(own_words(node.name))
    ]


def repeated_classes() -> list[str]:
    """Names that several public classes have; a kind's classes are called after it in each package."""
    modules: dict[str, list[str]] = defaultdict(list)
    for module, node in public_classes():
        modules[node.name].append(module)
    repeated = {name: where for name, where in sorted(modules.items()) if len(where) > 1 and own_words(name)}
    return [f"{name}: {', '.join(where)}" for name, where in repeated.items()]


def home_of(module: str) -> str:
    """The package directly below `reticent` that a module is in, or nothing for a module of its own."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 else ""


def stems() -> dict[str, list[str]]:
    """By stem, the modules that have it; packages are named by their path and aside."""
    by_stem: dict[str, list[str]] = defaultdict(list)
    for module, source in package().modules.items():
        if source.path.name != "__init__.py":
            by_stem[stem_of(module)].append(module)
    return by_stem


def repeated_stems_in_a_package() -> list[str]:
    """Stems that several modules of one package have; `methods` may have a `method` in each folder."""
    lines = []
    for stem, modules in sorted(stems().items()):
        homes: dict[str, list[str]] = defaultdict(list)
        for module in modules:
            if home_of(module) != f"{stem}s":
                homes[home_of(module)].append(module)
        lines += [f"{stem}: {', '.join(where)}" for where in homes.values() if len(where) > 1]
    return lines


PRINTED_ERRORS = frozenset({"Interrupted"})
"""Errors whose names commands print, as docs/cli.md lists them."""
HIERARCHY_BUILDERS = frozenset({"grouped", "ordered", "balanced"})
"""Builders that docs/hierarchies.md tells users to import."""
ROLES = {
    "fingerprint": "the fingerprint of a table's rows: of rows in memory in `ledger`, of a table in parts in `partitioned`",
    "kind": "the protocol that the modules of a kind keep, in each package that has them",
    "loss": "the information that is lost: by a recipe in `recipe`, by a published table in `utility`",
    "partitioned": "what a package does for a table in parts",
    "passthrough": "columns that are published beside the cells: read in `data`, moved in `engines`, measured in `audit`",
    "paths": "where a package may write its files",
    "progress": "how far a run is: what is reported, and how `cli` shows it",
    "row_matching": "the matching of published rows with source rows, and its kernel",
}
"""Stems that mean the same in several packages, and what."""


@cache
def roles() -> frozenset[str]:
    """Stems that stand for one role in several packages: what is registered, and a command or a screen beside what it runs."""
    tables = (
        catalogue.KINDS,
        catalogue.PROMISES,
        catalogue.METHODS,
        catalogue.STAGES,
        catalogue.ATTACKS,
        catalogue.ENGINES,
    )
    registered = {name.replace("-", "_") for table in tables for name in table}
    screens = {path.stem for path in (PACKAGE / "studio" / "screens").glob("*.py")}
    return frozenset(registered | set(COMMANDS) | screens | set(ROLES))


def repeated_stems_across_packages() -> list[str]:
    """Stems that modules of several packages have, other than for one role."""
    return [
        f"{stem}: {', '.join(modules)}"
        for stem, modules in sorted(stems().items())
        if len({home_of(module) for module in modules}) > 1 and stem not in roles() and own_words(stem)
    ]


def limits_without_a_noun() -> list[str]:
    """Numbers at the head of a module whose name says how much and not of what: MOST, AT_ONCE, TOO_MANY."""
    lines = []
    for module, source in package().modules.items():
        for node in source.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            lines += [
                f"{module}:{node.lineno} {name}"
                for name, number in _pairs(targets[0], value)
                if name.isupper() and _is_number(number) and _says_no_noun(name)
            ]
    return lines


def _pairs(target: ast.expr | None, value: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name) and value is not None:
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for name, part in zip(target.elts, value.elts, strict=False):
            yield from _pairs(name, part)


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.BinOp) and _is_number(node.left) and _is_number(node.right)


def _says_no_noun(name: str) -> bool:
    words = name.lstrip("_").lower().split("_")
    return all(word in QUANTITIES or word in ADVERBS or is_of_place_or_past(word) for word in words)


def switched_off_formatting() -> list[str]:
    """`# fmt: skip` and `# fmt: off` outside tables of data, in all code."""
    paths = [path for name in CODE for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))]
    return [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(paths)
        for line in skipped_formatting(Source.read(Path(path)))
    ]


RULES = {
    "modules named by a participle or a preposition": bare_modules,
    "public functions named by a participle or a preposition": bare_functions,
    "public classes named by a participle or a preposition": bare_classes,
    "names of several public classes": repeated_classes,
    "stems twice in one package": repeated_stems_in_a_package,
    "stems in several packages for several roles": repeated_stems_across_packages,
    "limits without a noun": limits_without_a_noun,
    "formatting switched off outside tables of data": switched_off_formatting,
}


def main() -> int:
    for rule, list_offenders in RULES.items():
        offenders = list_offenders()
        sys.stdout.write("\n".join([f"## {rule}: {len(offenders)}", *offenders, "", ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
