"""Kernels as they stand, whether or not compiled ones were built; those of `mondrian` put in place."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

import reticent.kernels
from reticent.methods.mondrian import acceptance, allowed, loss_cuts, median_cuts, nodes, spans

PLACES = {
    "mondrian_nodes": (nodes, ["divide", "measure"]),
    "mondrian_allowed": (allowed, ["allow"]),
    "mondrian_median": (median_cuts, ["median_cuts"]),
    "mondrian_sides": (acceptance, ["keep_caps", "tally"]),
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
    patch.setattr(loss_cuts, "weigh", module.weigh)
    patch.setattr(spans, "span_losses", module.span_losses)
