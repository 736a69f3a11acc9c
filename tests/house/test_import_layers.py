"""Imports point one way (docs/how-it-works.md has the picture)."""

from __future__ import annotations

import pytest

from tests.house.repository import PACKAGE, imports, module_name

ANYBODY = {
    "catalogue",
    "deadline",
    "door",
    "errors",
    "exact",
    "limits",
    "memory",
    "notebook",
    "randomness",
    "redaction",
    "step",
    "time_limit",
    "toml",
    "workers",
    "__version__",
}
LAYERS = {
    "kernels": set(),
    "table": set(),
    "datasets": set(),
    "errors": {"redaction"},
    "exact": set(),  # arithmetic alone: either side of the wall uses it
    "memory": set(),
    "deadline": set(),
    "redaction": set(),
    "forking": set(),
    "door": {"forking"},  # knows classes by their names only
    "accepted": {"models", "registry", "table"},
    "randomness": set(),
    "step": set(),
    "time_limit": set(),
    "toml": set(),
    "workers": {"time_limit"},
    "limits": set(),
    "typed": {"limits"},
    "registry": {"typed"},  # knows the others by name only
    "models": {"limits", "table", "kernels"},
    "release": {"kernels", "table"},
    "owner": {"release", "table"},
    "opened": {"audit", "owner", "query", "release", "table"},
    "recipe": {"models", "release", "kernels", "table"},
    "methods": {"models", "recipe", "kernels", "table"},
    "utility": {"release", "kernels", "table"},
    "audit": {"owner", "release", "utility", "kernels", "table"},  # of the owner, the digest that was noted
    "query": {"release", "kernels", "table"},
    # An adversary knows the method, and counts the source as an engine does.
    "attacks": {
        "engines",
        "job",
        "kernels",
        "methods",
        "models",
        "opened",
        "owner",
        "query",
        "recipe",
        "registry",
        "release",
        "table",
        "utility",
    },
    "engines": {"recipe", "release", "kernels", "owner", "table"},  # of the owner, where Spark's own folders are staged
    "gathered": set(),
    "located": set(),
    "job": {"accepted", "job_file", "registry", "models", "table"},  # its reader, when one is read
    "job_file": {"gathered", "job", "limits", "located", "models", "registry", "table", "typed"},
    "draft": {"table"},
    "schema": {"job", "registry", "table"},
    "catalogue": set(),
    "refusals": {"job", "methods", "registry", "table"},
    "gate": {"audit", "engines", "job", "recipe", "table"},
    "populated": {"job", "table"},
    "publish": {
        "audit",
        "recipe",
        "engines",
        "gate",
        "methods",
        "opened",
        "owner",
        "populated",
        "refusals",
        "regional",
        "release",
        "job",
        "registry",
        "table",
        "together",
    },
    # A table in parts, counted, planned, written and audited by functions that go to them.
    "regional": {"audit", "engines", "job", "methods", "models", "owner", "recipe", "registry", "release", "table"},
    "together": {"attacks", "opened", "owner"},  # joins a release with earlier ones before it is kept
    "planning": {
        "attacks",
        "engines",
        "job",
        "methods",
        "owner",  # where what does not fit memory is put
        "populated",
        "publish",
        "recipe",
        "refusals",
        "registry",
        "release",
        "table",
    },
    "measuring": {"audit", "planning", "registry", "release", "table", "utility"},
    "calibrate": {"attacks", "methods"},
    "charts": set(),
    "notebook": {"showing"},  # reads what an object says of itself
    "showing": set(),
    "sklearn": {"job", "methods", "planning", "release", "table"},
    "sweep": {"budget", "charts", "job", "measuring", "planning", "registry", "showing", "table"},
    "compare": {
        "attacks",
        "audit",
        "budget",
        "charts",
        "job",
        "opened",
        "publish",
        "refusals",
        "registry",
        "release",
        "report",
        "showing",
        "sweep",
        "table",
        "utility",
    },
    "advise": {"budget", "compare", "job", "registry", "showing"},
    "batches": {"publish", "owner", "refusals", "release", "job", "table"},
    "explaining": {"models", "recipe", "registry", "table"},
    "budget": set(),
    "outlooks": {"budget", "job", "methods", "recipe", "registry", "table"},
    "advising": {"job", "models", "recipe", "registry", "table"},
    "check": {
        "advising",
        "budget",
        "outlooks",
        "explaining",
        "owner",  # where what does not fit memory is put
        "populated",
        "publish",
        "refusals",
        "engines",
        "methods",
        "models",
        "recipe",
        "job",
        "registry",
        "table",
    },
    "report": {
        "publish",
        "opened",
        "release",
        "audit",
        "utility",
        "attacks",
        "query",
        "job",
        "registry",
        "table",
        "charts",
        "owner",
    },
    "cli": None,  # the top: may use everything
    "__main__": {"cli"},
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def layer(name: str) -> str:
    return name.split(".")[1] if "." in name else "reticent"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_stands_below_it(path):
    own = layer(module_name(path))
    if own == "reticent":
        pytest.skip("the package itself names what is public and imports nothing until it is used")
    assert own in LAYERS, f"{own} has no place among the layers yet: give it one"
    allowed = LAYERS[own]
    if allowed is not None:
        used = (
            {layer(name) for name in imports(path)} - {own} - (ANYBODY if own not in ("kernels", "errors") else set())
        )
        assert used <= allowed, f"{module_name(path)} imports {sorted(used - allowed)}"


def test_exact_arithmetic_and_the_catalogue_import_nothing_of_the_rest():
    """Both sides of the wall read them, so nothing of either side may come in through them."""
    for path in [PACKAGE / "exact_arithmetic.py", *(PACKAGE / "catalogue").glob("*.py")]:
        assert {layer(name) for name in imports(path)} <= {"catalogue", "reticent"}, path


def test_nothing_imports_the_command_line():
    for path in MODULES:
        if layer(module_name(path)) not in ("cli", "__main__"):
            assert "cli" not in {layer(name) for name in imports(path)}, path


def test_kernels_import_numpy_and_cython_alone():
    import ast

    for path in (PACKAGE / "kernels").glob("*.py"):
        if path.stem == "__init__":  # is no kernel: it says which of them are compiled
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                roots = {name.split(".")[0] for name in names}
                own = {name for name in names if name.startswith("reticent.kernels")}
                assert roots <= {"numpy", "cython", "libc", "math", "__future__"} or own, f"{path.name} imports {names}"


def test_the_audit_shares_no_code_path_with_planning():
    """Neither a model's caps and checks, nor methods, recipes and engines, nor a kernel that any of them uses."""
    judged = {name for path in (PACKAGE / "audit").rglob("*.py") for name in imports(path)}
    judged |= {name for path in (PACKAGE / "utility").rglob("*.py") for name in imports(path)}
    planned = {
        name
        for part in ("models", "methods", "recipe", "engines")
        for path in (PACKAGE / part).rglob("*.py")
        for name in imports(path)
    }
    for name in judged:
        assert layer(name) not in ("models", "methods", "recipe", "engines", "registry", "publish", "job"), name

    def kernels(names: set[str]) -> set[str]:
        return {name.split(".")[2] for name in names if layer(name) == "kernels"}

    assert not kernels(judged) & kernels(planned)


def test_sqlglot_is_imported_by_query_alone():
    users = {path for path in MODULES if "sqlglot" in path.read_text(encoding="utf-8")}
    assert users
    assert {layer(module_name(path)) for path in users} == {"query"}
