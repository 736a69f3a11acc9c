"""Imports point one way, and so do references by string (docs/how-it-works.md has the same table)."""

from __future__ import annotations

import ast
import re

import pytest

from reticent import registry
from tests.house.references import LOADERS, loaded_layers, loaded_objects, references, string_references
from tests.support.repository import PACKAGE, ROOT, imports, module_name

# Small modules that any other may import; they import nothing but each other.
BASE = {
    "catalogue": "",
    "exact_arithmetic": "",
    "operating_system": "",
    "progress": "",
    "randomness": "",
    "redaction": "",
    "time_limit": "",
    "errors": "redaction",
    "fork_safety": "errors operating_system",
    "drawing": "",
    "html_repr": "drawing errors",
    "limits": "errors",
    "memory": "errors operating_system",
    "workers": "time_limit",
    "plugins": "catalogue errors",
    "validation": "catalogue errors fork_safety limits",
    "__version__": "",
}
# From the bottom to the top: what each package or module may import, beside BASE.  A name stands above all that it imports.
LAYERS = {
    "kernels": "",  # arrays in, arrays out
    "data": "",
    "datasets": "",
    "charts": "",
    "registry": "",  # knows the others by the catalogue's strings only
    "format": "data kernels",
    "labels": "data format kernels",
    "estimate": "charts data format kernels labels",
    "ledger": "data format",
    "release": "data estimate format labels",  # the reader of each kind
    "models": "data kernels",
    "recipe": "data format kernels labels models release",
    "methods": "data kernels models recipe",
    "engines": "data format kernels ledger recipe",  # of the ledger, where Spark's own folders are staged
    "utility": "data estimate format kernels labels release",
    "audit": "data estimate format kernels labels ledger release utility",  # nothing of models, methods, recipe, engines
    "query": "data estimate format labels release utility",
    "release.release": "audit data estimate format ledger query release",  # the class Release and open()
    "job": "data models registry",
    "evaluation": "data job",
    "loss_limit": "job labels",  # loss_at_most of a job
    # An adversary knows the method.
    "attacks": "data estimate format kernels labels ledger methods models query recipe registry release release.release",
    "preconditions": "data job methods models registry",
    "composition_check": "attacks job ledger release.release",  # joins a release with earlier ones before it is committed
    "job_table": "data engines job preconditions registry",  # a job's table, read and counted by an engine
    "partitioned": "audit data engines format job job_table labels ledger methods models preconditions recipe registry release",
    "planning": "attacks audit data engines format job job_table labels ledger methods preconditions recipe registry utility",
    "tables": "audit data engines job job_table labels ledger methods planning recipe release",
    "publish": "audit composition_check data engines format job job_table labels ledger loss_limit methods partitioned preconditions "
    "registry release release.release tables",
    "batches": "data format job job_table ledger preconditions publish registry release.release",
    "removal": "data format job job_table ledger registry release",  # a source without some people
    "calibrate": "attacks methods",
    "loss_explanation": "data job labels models registry",
    "skyline_trials": "data evaluation job loss_explanation models recipe",
    "bound_widths": "data estimate evaluation job loss_explanation methods models recipe registry",
    "withholding_costs": "data engines job",
    "check": "bound_widths data engines evaluation job job_table ledger loss_explanation loss_limit methods models planning preconditions "
    "recipe registry skyline_trials withholding_costs",
    "report": "attacks audit data format labels ledger release release.release utility",
    "compare": "attacks audit charts data evaluation job job_table labels planning preconditions publish registry release.release report utility",
    "sklearn": "data format job labels methods planning",
    "pytest_plugin": "audit models",
    "testing": "attacks audit data job models publish",
    "studio": None,  # beside the command line, which starts it: may use everything
    "cli": None,  # the top: may use everything
    "__main__": "cli",
}
# What a layer does not import and loads by the catalogue's strings.  Only the catalogue and the registry name what stands above them.
LOADED = {
    "catalogue": "attacks audit data engines job methods models recipe release utility",
    "registry": "engines methods models recipe",
    "job": "methods",  # a method by its name in a job
    "attacks": "audit engines",  # what a promise leaves to believe, by the audit's formulas; cells of the source
    "preconditions": "engines recipe",  # what the writer of a kind can write
    "removal": "engines",  # counts a table as publishing did
    "report": "drawing",  # its style sheet
    "compare": "methods models",
}
KNOWS_ALL = ("catalogue", "registry")
MODULES = sorted(PACKAGE.rglob("*.py"))


def layer(name: str) -> str:
    """The package or module of the table that a dotted name is in."""
    if f"{name}.".startswith("reticent.release.release."):
        return "release.release"
    return name.split(".")[1] if "." in name else "reticent"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_stands_below_it(path):
    own = layer(module_name(path))
    if own == "reticent":
        pytest.skip("the package itself names what is public and imports nothing until it is used")
    assert own in BASE or own in LAYERS, f"{own} has no place among the layers yet: give it one"
    names = BASE[own] if own in BASE else LAYERS[own]
    if names is None:
        return
    allowed = set(names.split())
    if own not in BASE and own != "kernels":
        allowed |= set(BASE)
    used = {layer(name) for name in imports(path)} - {own}
    assert used <= allowed, f"{module_name(path)} imports {sorted(used - allowed)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_names_in_strings_only_what_stands_below_it(path):
    own = layer(module_name(path))
    if own == "reticent" or LAYERS.get(own, "") is None:
        return  # may use everything
    allowed = {own, *(BASE.get(own) or LAYERS.get(own) or "").split(), *LOADED.get(own, "").split()}
    used = {layer(name) for name in references(path)}
    assert used <= allowed, f"{module_name(path)} names {sorted(used - allowed)}"


def test_the_table_of_loaded_layers_is_in_order_and_holds_nothing_that_is_gone():
    order = [*BASE, *LAYERS]
    for own, names in LOADED.items():
        used = {layer(name) for path in MODULES if layer(module_name(path)) == own for name in references(path)}
        imported = set((BASE.get(own) or LAYERS.get(own) or "").split())
        assert set(names.split()) == used - imported - {own}, own
        if own not in KNOWS_ALL:
            assert all(order.index(name) < order.index(own) for name in names.split()), f"{own} loads what is above it"


def test_references_by_string_are_seen():
    def named(text: str) -> set[str]:
        return string_references(ast.parse(text))

    assert named('ROW = Row("reticent.methods.burel:Burel", 4)') == {"reticent.methods.burel"}
    assert named('import_module("reticent.methods.burel").Burel') == {"reticent.methods.burel"}
    assert named('row = f"reticent.recipe.{name}:WRITER"') == {"reticent.recipe"}
    assert named('name = "reticent.zip"; text = "see reticent.methods.burel"') == set()
    loading = "catalogue.load_object(catalogue.PROMISES[name].{})"
    assert {layer(name) for name in loaded_objects(ast.parse(loading.format("judge")))} == {"audit"}
    assert {layer(name) for name in loaded_objects(ast.parse(loading.format("model")))} == {"models"}
    assert loaded_layers(ast.parse("registry.load_writer(kind).generalizes")) == {"recipe"}


def test_every_loader_of_the_registry_is_known():
    loaders = {name for name in vars(registry) if name.startswith(("load_", "make_"))}
    assert loaders == set(LOADERS)
    for load, name in (
        ("load_promise_class", "k-anonymity"),
        ("load_method_class", "burel"),
        ("load_stage_class", "suppression"),
        ("load_writer", "generalized"),
    ):
        assert layer(getattr(registry, load)(name).__module__) == LOADERS[load]
    assert layer(type(registry.load_engine("local")).__module__) == LOADERS["load_engine"]


def test_the_page_has_the_same_table():
    """A layer of the page's table, what it imports and what it loads are those of the tables here, from the top to the bottom."""
    text = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `([a-z_.]+)` \| (.*?) \| (.*?) \| .* \|$", text, re.MULTILINE)
    written = [(name, *(tuple(re.findall(r"`([a-z_.]+)`", cell)) for cell in cells)) for name, *cells in lines]
    wanted = [
        (name, tuple((below or "").split()), tuple(LOADED.get(name, "").split()))
        for name, below in reversed(LAYERS.items())
        if name != "__main__"
    ]
    assert written == wanted


@pytest.mark.parametrize("table", [BASE, LAYERS], ids=["base", "layers"])
def test_the_table_is_in_order_and_holds_no_import_that_is_gone(table):
    used: dict[str, set[str]] = {name: set() for name in table}
    for path in MODULES:
        own = layer(module_name(path))
        if own in used:
            used[own] |= {layer(name) for name in imports(path)}
    above = list(table)
    for place, (name, below) in enumerate(table.items()):
        if below is not None:
            assert set(below.split()) <= set(above[:place]), f"{name} stands below what it imports"
            assert set(below.split()) <= used[name], (
                f"{name} no longer imports {sorted(set(below.split()) - used[name])}"
            )


def test_exact_arithmetic_and_the_catalogue_import_nothing_of_the_rest():
    """Both sides of the wall read them, so nothing of either side may come in through them."""
    for path in [PACKAGE / "exact_arithmetic.py", *(PACKAGE / "catalogue").glob("*.py")]:
        assert {layer(name) for name in imports(path)} <= {"catalogue", "reticent"}, path


def test_nothing_imports_the_command_line():
    for path in MODULES:
        if layer(module_name(path)) not in ("cli", "__main__"):
            assert "cli" not in {layer(name) for name in imports(path)}, path


def test_kernels_import_numpy_and_cython_alone():
    for path in (PACKAGE / "kernels").glob("*.py"):
        if path.stem in ("__init__", "cython_names"):  # no kernels: which of them are compiled, what they use if not
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                roots = {name.split(".")[0] for name in names}
                own = {name for name in names if name.startswith("reticent.kernels")}
                assert roots <= {"numpy", "cython", "libc", "math", "__future__"} or own, f"{path.name} imports {names}"


def test_the_audit_shares_no_code_path_with_planning():
    """Neither a model's caps and checks, nor methods, recipes and engines, nor a kernel that any of them uses."""
    judged = {
        name
        for part in ("audit", "utility")
        for path in (PACKAGE / part).rglob("*.py")
        for name in imports(path) | references(path)
    }
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

    def inlined(names: set[str]) -> set[str]:
        return {other for name in names for other in kernels(imports(PACKAGE / "kernels" / f"{name}.py"))}

    assert not kernels(judged) & kernels(planned)
    assert inlined(kernels(planned)) == {"inline_functions", "cython_names"}
    assert inlined(kernels(judged)) == {"cython_names"}, "names of types, which no compiled kernel loads"


def test_sqlglot_is_imported_by_query_alone():
    users = {path for path in MODULES if "sqlglot" in path.read_text(encoding="utf-8")}
    assert users
    assert {layer(module_name(path)) for path in users} == {"query"}
