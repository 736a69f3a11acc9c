"""The papers' experiments are made with what every user has: public names, and the modules that the docs name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reticent
from tests.support.repository import ROOT, imports

MODULES = {"reticent.datasets", "reticent.errors", "reticent.utility.mining"}  # public as modules
STUDIES = sorted((ROOT / "studies").rglob("*.py"))
WITH_INTERNALS: dict[str, set[str]] = {  # study -> internals it still imports; it may only shrink
    "studies/background/figures.py": {
        "reticent.models.background_knowledge.posteriors.POSTERIOR_ROUNDS",
        "reticent.models.background_knowledge.posteriors.compute_exact_posteriors",
        "reticent.models.background_knowledge.posteriors.compute_scaled_posteriors",
        "reticent.models.background_knowledge.bt_privacy.bind_adversaries",
        "reticent.models.background_knowledge.posteriors.compute_js_divergence",
        "reticent.utility.workload.Workload",
        "reticent.utility.workload.mean_relative_error",
    },
    "studies/background/tables.py": {
        "reticent.models.background_knowledge.adversary.BackgroundAdversary",
        "reticent.models.background_knowledge.adversary.BackgroundKnowledge",
        "reticent.models.background_knowledge.posteriors.POSTERIOR_ROUNDS",
        "reticent.models.background_knowledge.posteriors.compute_scaled_posteriors",
        "reticent.models.background_knowledge.posteriors.compute_js_divergence",
        "reticent.models.background_knowledge.posteriors.smooth_beliefs",
        "reticent.models.promise.CandidateGroups",
        "reticent.planning.Plan",
        "reticent.data.cells.Cells",
    },
    "studies/beta_likeness/refinement.py": set(),  # the classes of a plan, in the order in which they were filled
    "studies/perturbed_generalization/figures.py": {
        "reticent.methods.perturbed_generalization.calibration.compute_guarantees"
    },
}


def public(name: str) -> bool:
    """`reticent`, one of its public names, or a public module or what is in it."""
    rest = name.partition(".")[2]
    return not rest or rest in reticent.__all__ or any(name == m or name.startswith(f"{m}.") for m in MODULES)


def aliases(tree: ast.AST) -> set[str]:
    """What the package is called in a file."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "reticent"
    }


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", STUDIES, ids=relative)
def test_a_study_imports_nothing_but_public_names(path: Path):
    internals = {name for name in imports(path) if not public(name)}
    assert internals == WITH_INTERNALS.get(relative(path), set())


@pytest.mark.parametrize("path", STUDIES, ids=relative)
def test_a_study_reaches_no_internal_module_through_the_package(path: Path):
    """Nor through a private attribute, nor through a plan's recipe."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            inside = node.attr == "recipe" and relative(path) not in WITH_INTERNALS
            assert not private and not inside, f"{path.name}:{node.lineno} uses {node.attr}"
            if isinstance(node.value, ast.Name) and node.value.id in names:
                assert node.attr in reticent.__all__, f"{path.name}:{node.lineno} uses {node.attr}"


def test_what_is_listed_with_internals_is_there():
    assert set(WITH_INTERNALS) <= {relative(path) for path in STUDIES}
