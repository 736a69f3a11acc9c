"""Mutation testing of the audit's measures:  python -m tests.audit.mutation [MODULE ...]  (`make mutants`)

Each mutant is one change of one expression of `audit/measure/`: a comparison, an operator, a number, a condition, or `min`
for `max`. The tests that run the changed function are run, the quickest first, until one fails; a mutant that none notices
survives, and is printed. Nothing is written into the tree: a mutant's code replaces that of the function in this process,
whoever holds the function. So constants and defaults of modules are not changed.

TESTS='...' chooses other tests, LIMIT=n takes about n mutants of each module, evenly spread. The suite's own random examples
are drawn anew by the same seed each time, and a failure is not made smaller.
"""

from __future__ import annotations

import ast
import importlib
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

PACKAGE = "reticent.audit.measure"
ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    "tests/audit/test_measures.py tests/audit/test_dichotomy.py tests/audit/test_perturbed.py tests/audit/test_sampled.py "
    "tests/audit/test_background_priors.py tests/audit/test_group_assignment.py tests/papers/test_beta_likeness.py "
    "tests/papers/test_background.py tests/papers/test_distribution.py tests/papers/test_perturbed_generalization.py"
)
TIMES_AS_LONG = 5
"""A test that takes this much longer than before, and some seconds, counts as failed: a loop may have lost its end."""
SECONDS_OF_GRACE = 20

COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
NAMES |= {"minimum": "maximum", "maximum": "minimum", "argmin": "argmax", "argmax": "argmin"}


class TookTooLong(BaseException):
    """A test with a mutant does not end."""


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, what it is, and the function's code with it."""

    module: str
    function: str
    line: int
    change: str
    code: CodeType

    def __str__(self) -> str:
        return f"{self.module}.py:{self.line} {self.function}: {self.change}"


def list_mutants(module: str, source: str) -> Iterator[Mutant]:
    """List the mutants of a module, in the order of its lines."""
    tree = ast.parse(source)
    lines = source.splitlines()
    for name, function in _walk_functions(tree):
        for node in _walk_expressions(function):
            for what, apply in _list_changes(node):
                undo = apply()
                code = _find_code(compile(tree, f"<mutant of {module}>", "exec"), name)
                undo()
                line = getattr(node, "lineno", function.lineno)
                yield Mutant(module, name, line, f"{what} in `{lines[line - 1].strip()}`", code)


def find_function(module: ModuleType, name: str) -> FunctionType | None:
    """Find the function that a qualified name means, below what decorators made of it; None where it cannot be reached."""
    found: Any = module
    for part in name.split("."):
        found = vars(found).get(part) if isinstance(found, type) else getattr(found, part, None)
    for wrapping in ("__func__", "fget", "func", "__wrapped__"):
        found = getattr(found, wrapping, found)
    return found if isinstance(found, FunctionType) else None


def _walk_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from (
                (f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, ast.FunctionDef)
            )


def _walk_expressions(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Walk what a function does: neither its annotations, nor the messages of its errors, nor its defaults."""
    pending: list[ast.AST] = list(reversed(function.body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
            continue
        yield node
        inner = [child for child in ast.iter_child_nodes(node) if child is not getattr(node, "annotation", None)]
        pending += reversed(inner)


def _list_changes(node: ast.AST) -> Iterator[tuple[str, Callable[[], Callable[[], None]]]]:
    if isinstance(node, ast.Compare):
        for position, operator in enumerate(node.ops):
            yield _describe(operator, COMPARISONS), _replace_entry(node.ops, position, COMPARISONS[type(operator)]())
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp | ast.AugAssign) and type(node.op) in OPERATORS:
        yield _describe(node.op, OPERATORS), _replace_field(node, "op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} -> {not node.value}", _replace_field(node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield f"{node.value} -> {node.value + 1}", _replace_field(node, "value", node.value + 1)
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield f"{node.id} -> {NAMES[node.id]}", _replace_field(node, "id", NAMES[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield f"{node.attr} -> {NAMES[node.attr]}", _replace_field(node, "attr", NAMES[node.attr])
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        negated = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        yield "the condition negated", _replace_field(node, "test", negated)


def _describe(operator: ast.AST, changes: dict[type, type]) -> str:
    return f"{type(operator).__name__} -> {changes[type(operator)].__name__}"


def _replace_field(node: Any, field: str, new: Any) -> Callable[[], Callable[[], None]]:
    def apply() -> Callable[[], None]:
        old = getattr(node, field)
        setattr(node, field, new)
        return lambda: setattr(node, field, old)

    return apply


def _replace_entry(entries: list[Any], position: int, new: Any) -> Callable[[], Callable[[], None]]:
    def apply() -> Callable[[], None]:
        old = entries[position]
        entries[position] = new
        return lambda: entries.__setitem__(position, old)

    return apply


def _find_code(code: CodeType, name: str) -> CodeType:
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_qualname == name:
            return inner
        if isinstance(inner, CodeType) and name.startswith(f"{inner.co_qualname}."):
            return _find_code(inner, name)
    raise LookupError(name)


def run_item(item: pytest.Item, seconds: float | None = None) -> bool:
    """Run a test once more; return whether it passes, in that many seconds."""

    def stop(*_: object) -> None:
        raise TookTooLong

    if seconds is not None:
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        item._initrequest()  # type: ignore[attr-defined]  # as plugins do that run tests again
        return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))
    except TookTooLong:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Sweep:
    """The plugin that takes the place of pytest's loop: each test once, then the tests of each mutant."""

    def __init__(self, modules: list[str], limit: int):
        self.modules = modules
        self.limit = limit
        self.results: dict[str, Counter[str]] = {}

    def pytest_configure(self) -> None:
        """Draw the same examples each time; hypothesis is imported after pytest, which rewrites its assertions."""
        import hypothesis

        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutants", derandomize=True, database=None, phases=phases, deadline=None)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        functions = self.load_mutants()
        tests = self.measure_tests(session.items, {code for function, _ in functions for code in [function.__code__]})
        for function, mutant in functions:
            reaching = [(seconds, item) for seconds, item, codes in tests if function.__code__ in codes]
            fate = self.try_mutant(function, mutant, reaching)
            self.results.setdefault(mutant.module, Counter())[fate] += 1
            if fate != "killed":
                sys.stdout.write(f"{fate}: {mutant}\n")
                sys.stdout.flush()
        return True

    def load_mutants(self) -> list[tuple[FunctionType, Mutant]]:
        found = []
        for name in self.modules:
            module = importlib.import_module(f"{PACKAGE}.{name}")
            mutants = list(list_mutants(name, Path(str(module.__file__)).read_text(encoding="utf-8")))
            step = max(1, len(mutants) // self.limit) if self.limit else 1
            for mutant in mutants[::step]:
                function = find_function(module, mutant.function)
                if function is not None:
                    found.append((function, mutant))
        return found

    def measure_tests(self, items: list[pytest.Item], codes: set[CodeType]) -> list[tuple[float, pytest.Item, set]]:
        """Run every test once: how long it takes, and which functions it runs. The quickest first."""
        measured = []
        for item in items:
            reached: set[CodeType] = set()

            def note(frame: FrameType, event: str, _: object, reached: set[CodeType] = reached) -> None:
                if event == "call" and frame.f_code in codes:
                    reached.add(frame.f_code)

            started = time.perf_counter()
            sys.setprofile(note)
            try:
                passes = run_item(item)
            finally:
                sys.setprofile(None)
            if passes and reached:
                measured.append((time.perf_counter() - started, item, reached))
            elif not passes:
                sys.stdout.write(f"{item.nodeid} fails without any mutant, and is left out\n")
        sys.stdout.write(f"{len(items)} tests, {len(measured)} of which run the measures\n")
        sys.stdout.flush()
        return sorted(measured, key=lambda each: each[0])

    def try_mutant(self, function: FunctionType, mutant: Mutant, tests: list[tuple[float, pytest.Item]]) -> str:
        if not tests:
            return "run by no test"
        kept = function.__code__
        function.__code__ = mutant.code
        _clear_caches()
        try:
            for seconds, item in tests:
                if not run_item(item, seconds * TIMES_AS_LONG + SECONDS_OF_GRACE):
                    return "killed"
            return "survives"
        finally:
            function.__code__ = kept
            _clear_caches()


def _clear_caches() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("reticent."):
            for value in list(vars(module).values()):
                clear = getattr(value, "cache_clear", None)
                if clear is not None and not isinstance(value, type):
                    clear()


def main(modules: list[str]) -> int:
    """Print mutants that no test notices, and the counts of each module; return 1 if there are any."""
    folder = ROOT / "src" / Path(*PACKAGE.split("."))
    modules = modules or sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    sweep = Sweep(modules, int(os.environ.get("LIMIT", "0")))
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *os.environ.get("TESTS", TESTS).split()]
    ended = pytest.main([*words, "--rootdir", str(ROOT)], plugins=[sweep])
    total: Counter[str] = Counter()
    for module, fates in sweep.results.items():
        total += fates
        sys.stdout.write(f"{module}: {_format_counts(fates)}\n")
    sys.stdout.write(f"all: {_format_counts(total)}\n")
    return int(ended not in (0, 5) or total["killed"] < total.total() or not total)


def _format_counts(fates: Counter[str]) -> str:
    rest = ", ".join(f"{fates[fate]} {fate}" for fate in ("survives", "run by no test") if fates[fate])
    return f"{fates['killed']} of {fates.total()} killed{', ' + rest if rest else ''}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
