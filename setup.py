"""Compiles every module of reticent/kernels; all else about the package is in pyproject.toml.

A kernel is Cython in pure Python mode: its `.py` runs as it is, and the extension built from it here is found first.
Where no C compiler works, nothing is compiled and the package is installed all the same, slow: `KERNELS=required` makes
that an error, and `KERNELS=none` asks for it.  `KERNEL=name` restricts a build to one of them.

Kernels use the stable ABI of Python 3.11, so that one build, and one wheel for each platform, serves every later version.
"""

import ast
import multiprocessing
import os
import re
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# No fast-math and no contraction to fused multiply-add: a guarantee may not be re-associated.
EXACT = ["-g0", "-ffp-contract=off", "-fno-fast-math"]
# What Cython writes around a loop runs once for each call: left out of line, all kernels compile in 45 CPU s instead of 57.
SMALL = ["-DCYTHON_INLINE=__attribute__((unused))", "-DCYTHON_USE_DICT_VERSIONS=0"]
# For the stable ABI Cython writes docstrings of constructors that nothing reads.
QUIET = ["-Wno-unused-const-variable"]
# Nor is anything checked in a loop that its caller has checked; what a kernel's class holds is set where it is made.
DIRECTIVES = {"language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True}
DIRECTIVES |= {"initializedcheck": False, "auto_pickle": False, "binding": False, "emit_code_comments": False}
FOLDER = Path("src/reticent/kernels")
# What Cython needs for any array is compiled once, in this module, and not once for each kernel.
SHARED = "reticent.kernels._shared"
# What kernels inline from one another is written once, as Python, and made a header that they cimport.
INLINED = "inline_functions"
# What uncompiled kernels use instead of Cython.
UNCOMPILED = "cython_names"
HEADERS = Path("build/cython/headers")
STABLE_ABI = {"define_macros": [("Py_LIMITED_API", "0x030B0000")], "py_limited_api": True}
REQUIRED = os.environ.get("KERNELS") == "required"


FASTEST = ("mondrian_loss", "mondrian_sides")  # a plan by loss cuts took 2.42 CPU s with -O2, 1.67 with -O3


def flags(name: str) -> list[str]:
    """-O3 where it was measured to pay; what arrays share is too seldom run to be worth the compiler's time.

    docs/adr/0007-building.md has the figures.
    """
    level = "-O0" if name == SHARED else "-O3" if name in FASTEST else "-O2"
    return [] if os.name == "nt" else [level, *EXACT, *SMALL, *QUIET]


def kernels() -> list[Extension]:
    """One extension module for each source file, and the one they share."""
    only = os.environ.get("KERNEL")
    names = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", INLINED, UNCOMPILED))
    chosen = [
        Extension(f"reticent.kernels.{name}", [f"{FOLDER}/{name}.py"], extra_compile_args=flags(name), **STABLE_ABI)
        for name in names
        if only in (None, "", name)
    ]
    return [Extension(SHARED, [f"{FOLDER}/_shared.c"], extra_compile_args=flags(SHARED), **STABLE_ABI), *chosen]


class Kernels(build_ext):
    """Translate and compile on every core, under pip as well; without a compiler, say so and compile nothing."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        if not self.compiler_works():
            if REQUIRED:
                sys.exit("The kernels cannot be compiled: there is no C compiler that finds Python's headers.")
            print("No C compiler works here: reticent is installed uncompiled, and planning is slow.", file=sys.stderr)
            self.extensions = []
            return
        self.translate()
        super().build_extensions()

    def copy_extensions_to_source(self) -> None:
        """Put what was built beside its source, and remove other builds there: Python would load one for its own version."""
        super().copy_extensions_to_source()
        for extension in self.extensions:
            built = FOLDER / Path(self.get_ext_filename(extension.name)).name
            for other in FOLDER.glob(f"{built.name.partition('.')[0]}.*{built.suffix}"):
                if other.name != built.name:
                    other.unlink()

    def compiler_works(self) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "probe.c"
            source.write_text("#include <Python.h>\nint probe(void) { return PY_VERSION_HEX; }\n")
            try:
                self.compiler.compile([str(source)], output_dir=folder, extra_postargs=flags("probe"))
            except Exception as error:  # each platform's compiler fails in its own words
                print(error, file=sys.stderr)
                return False
            return True

    def translate(self) -> None:
        """From Python to C, where the source is newer than its last result."""
        from Cython.Build import cythonize

        write_header(FOLDER / f"{INLINED}.py", HEADERS / "reticent" / "kernels" / f"{INLINED}.pxd")
        forks = multiprocessing.get_start_method() == "fork"  # elsewhere a child would run this file again
        translated = cythonize(
            [Extension(extension.name, extension.sources) for extension in self.extensions],
            compiler_directives=DIRECTIVES,
            include_path=[str(HEADERS)],
            shared_utility_qualified_name=SHARED,
            build_dir="build/cython",
            quiet=True,
            nthreads=int(self.parallel) if forks else 0,
        )
        for extension, done in zip(self.extensions, translated, strict=True):
            extension.sources = done.sources
            inline_ours(Path(done.sources[0]))


def write_header(source: Path, header: Path) -> None:
    """Write the functions of a module as `cdef inline` functions: Cython inlines across modules only what a header has.

    Bodies stay as they are; of each function only its first line differs.
    """
    parts = ["cimport cython"]
    for function in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(function, ast.FunctionDef):
            arguments = ", ".join(f"{ast.unparse(each.annotation)} {each.arg}" for each in function.args.args)
            body = "\n".join(f"    {line}" for part in function.body for line in ast.unparse(part).splitlines())
            result = ast.unparse(function.returns)
            parts.append(f"cdef inline {result} {function.name}({arguments}) noexcept nogil:\n{body}")
    text = "\n\n".join(parts) + "\n"
    header.parent.mkdir(parents=True, exist_ok=True)
    if not header.exists() or header.read_text(encoding="utf-8") != text:
        header.write_text(text, encoding="utf-8")


def inline_ours(source: Path) -> None:
    """What a kernel asks to be inlined stands in its loops and is, whatever SMALL says of Cython's own."""
    text = source.read_text(encoding="utf-8")
    asked = re.sub(r"^static CYTHON_INLINE (?=[\w ]+ __pyx_f_)", "static inline ", text, flags=re.MULTILINE)
    if asked != text:
        source.write_text(asked, encoding="utf-8")


if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("reticent does not run on free-threaded Python: its kernels were written and tested with the global lock.")
setup(
    ext_modules=[] if os.environ.get("KERNELS") == "none" else kernels(),
    cmdclass={"build_ext": Kernels},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
