"""Compiles every module of reticent/kernels; all else about the package is in pyproject.toml.

A kernel is Cython in pure Python mode: its `.py` runs as it is, and the extension built from it here is found first.
`KERNEL=name` restricts a build to one of them.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# No fast-math and no contraction to fused multiply-add: a guarantee may not be re-associated.
FLAGS = [] if os.name == "nt" else ["-O3", "-g0", "-ffp-contract=off", "-fno-fast-math"]
DIRECTIVES = {"language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True}


def kernels() -> list[Extension]:
    """One extension module for each source file, compiled where it is newer than its last result."""
    only = os.environ.get("KERNEL")
    names = sorted(path.stem for path in Path("src/reticent/kernels").glob("*.py") if path.stem != "__init__")
    chosen = [
        Extension(f"reticent.kernels.{name}", [f"src/reticent/kernels/{name}.py"], extra_compile_args=FLAGS)
        for name in names
        if only in (None, "", name)
    ]
    if not chosen:
        return []
    return cythonize(chosen, compiler_directives=DIRECTIVES, build_dir="build/cython", quiet=True)


setup(ext_modules=kernels())
