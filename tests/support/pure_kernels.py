"""Kernels as they stand, whether or not compiled ones were built; those of `mondrian` put in place."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

import reticent.kernels
from reticent.methods.mondrian import acceptance, cuts, nodes

PLACES = {
    "mondrian_nodes": (nodes, ["divide_nodes", "measure_nodes"]),
    "mondrian_allowed": (acceptance, ["mark_allowed_cuts"]),
    "mondrian_median": (cuts, ["place_median_cuts"]),
    "mondrian_sides": (acceptance, ["mark_cuts_within_caps", "tally_sides"]),
}


def pure(name: str) -> ModuleType:
    """A kernel's source, executed by the interpreter."""
    path = Path(reticent.kernels.__file__).parent / f"{name}.py"
    loader = SourceFileLoader(f"pure_{name}", str(path))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def use_pure_kernels(patch: pytest.MonkeyPatch) -> None:
    """Let the interpreter run every kernel of `mondrian`."""
    pytest.importorskip("cython", reason="a kernel's source imports cython, which the test extra installs")
    for name, (user, functions) in PLACES.items():
        module = pure(name)
        for function in functions:
            patch.setattr(user, function, getattr(module, function))
    module = pure("mondrian_loss")
    patch.setattr(cuts, "weigh_cuts", module.weigh_cuts)
    patch.setattr(nodes, "compute_span_losses", module.compute_span_losses)
