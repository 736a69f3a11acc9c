"""Install reticent in odd places and run the demo there:  python -m tests.packaging.install_check [PYTHON ...]  (`make install-check`)

The first Python builds the wheel.  For each Python: the wheel where no program but Python is on the path, in a folder with a
space and in one named `reticent`; this checkout compiled, and without a compiler.  No extras, nothing inherited.  Of each the
distributions, their MB and the CPU seconds of installing and of the demo are printed, as the table of docs/installing.md has
them.  Minutes each, which is why it is no test of the suite.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.packaging.dist_check import LEFT, ROOT, build

WHEEL_ALONE = {"PATH": "/nonexistent", "CC": "no-such-compiler"}
PLACES = {
    "the wheel": ("plain", True, WHEEL_ALONE),
    "the wheel, a space in the path": ("my data", True, WHEEL_ALONE),
    "the wheel, a folder named reticent": ("reticent", True, WHEEL_ALONE),
    "the checkout, compiled": ("plain", False, {"KERNELS": "required"}),
    "the checkout, no compiler": ("plain", False, {"CC": "no-such-compiler"}),
}
WITHOUT_PIP = ("pip", "setuptools")


def read_cpu_seconds() -> float:
    """Read the CPU seconds that children of this process have taken."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def install(python: str, wheel: Path | None, folder: Path, change: dict[str, str]) -> str:
    """Install the wheel, or this checkout; return what it took, and the version that the command prints after its demo."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | change
    options = ["--quiet", "--no-compile", "--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    if wheel is None:
        shutil.copytree(ROOT, folder / "source", ignore=LEFT)
    run(python, "-m", "venv", "env")
    started = read_cpu_seconds()
    what = ["./source"] if wheel is None else ["--only-binary=:all:", str(wheel)]
    run("env/bin/python", "-m", "pip", "install", *options, *what)
    installed = read_cpu_seconds()
    assert "Every promise is kept." in run("env/bin/reticent", "demo", "--rows", "2000")
    shown = read_cpu_seconds()
    packages = next((folder / "env" / "lib").glob("python*/site-packages"))
    names = {path.name.partition("-")[0] for path in packages.glob("*.dist-info")} - set(WITHOUT_PIP)
    bytes_installed = sum(
        path.stat().st_size
        for part in packages.iterdir()
        if part.name.partition("-")[0] not in (*WITHOUT_PIP, "pkg_resources", "_distutils_hack")
        for path in ([part] if part.is_file() else part.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    )
    version = run("env/bin/reticent", "--version").strip()
    return (
        f"{len(names)} distributions, {bytes_installed / 1e6:.0f} MB; installed in {installed - started:.1f} CPU s, "
        f"the demo took {shown - installed:.1f}; {version}"
    )


def main(pythons: list[str]) -> None:
    pythons = pythons or [sys.executable]
    with tempfile.TemporaryDirectory(prefix="built-") as built:
        wheel = build(pythons[0], Path(built))
        for python in pythons:
            for name, (inner, has_wheel, change) in PLACES.items():
                with tempfile.TemporaryDirectory(prefix="installs-") as folder:
                    place = Path(folder) / inner
                    place.mkdir()
                    sys.stdout.write(
                        f"{python}, {name}: {install(python, wheel if has_wheel else None, place, change)}\n"
                    )
                    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
