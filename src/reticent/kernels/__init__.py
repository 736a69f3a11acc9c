"""Kernels: arrays in, arrays out.  No I/O, no objects, no global random state, no validation.

Each module is Cython in pure Python mode: compiled when the package is built, runnable as it stands.  Where one was not
compiled, that is said once, when the first kernel is loaded.
"""

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from warnings import warn

NEVER_COMPILED = ("__init__", "inline_functions", "cython_names")
UNCOMPILED_WARNING = "reticent runs uncompiled"


def list_uncompiled_kernels() -> list[str]:
    """List the kernels that have no compiled module beside them, in the order of their names.

    `inline_functions` has none: kernels inline what they use of it.  `cython_names` serves those that are not compiled.
    """
    folder = Path(__file__).parent
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem not in NEVER_COMPILED)
    return [name for name in names if not any((folder / f"{name}{suffix}").exists() for suffix in EXTENSION_SUFFIXES)]


if slow := list_uncompiled_kernels():
    warn(
        f"{UNCOMPILED_WARNING}: {len(slow)} of its kernels are plain Python here, and planning is many times slower. "
        "Results are the same. To compile them, install a C compiler and Python's headers, then install reticent again.",
        RuntimeWarning,
        stacklevel=2,
    )
