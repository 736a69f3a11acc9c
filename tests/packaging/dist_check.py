"""Build the wheel and the sdist, and run tests of the one against the other:  python -m tests.packaging.dist_check [PYTHON ...]  (`make dist-check`)

For each Python: `python -m build` in an environment of its own; the wheel, which must hold compiled kernels, installed in a
second one; the sdist unpacked without its `src`, so that its tests meet the wheel and nothing else.  Minutes each, which is
why it is no test of the suite.  TESTS='...' chooses other tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = "tests/oracle tests/papers tests/release tests/format tests/data tests/cli/test_demo.py tests/cli/test_log.py"
LEFT = shutil.ignore_patterns(".git", ".venv", ".cache", "build", "dist", "*.so", "__pycache__", "*.egg-info")


def packed(python: str, place: Path) -> str:
    """What pytest says at its end."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"KERNELS": "required"}

    def run(*words: str, cwd: Path = place) -> str:
        done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(
                f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-5000:]}{done.stderr[-5000:]}"
            )
        return done.stdout

    shutil.copytree(ROOT, place / "source", ignore=LEFT)
    options = ("--quiet", "--no-compile", "--constraint", str(place / "source" / "constraints.txt"))
    for name in ("maker", "user"):
        run(python, "-m", "venv", name)
    run("maker/bin/python", "-m", "pip", "install", *options, "build", "setuptools", "wheel", "Cython")
    run("maker/bin/python", "-m", "build", "--no-isolation", "--outdir", "dist", "source")
    wheel = next((place / "dist").glob("*.whl"))
    sdist = next((place / "dist").glob("*.tar.gz"))
    compiled = [
        name for name in zipfile.ZipFile(wheel).namelist() if "/kernels/" in name and name.endswith((".so", ".pyd"))
    ]
    sys.stdout.write(f"{python}: {wheel.name}, {len(compiled)} compiled modules; {sdist.name}\n")
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "unpacked", filter="data")
    unpacked = next((place / "unpacked").iterdir())
    shutil.rmtree(unpacked / "src")
    run("user/bin/python", "-m", "pip", "install", *options, f"{wheel}[test]")
    chosen = os.environ.get("TESTS", TESTS).split()
    bare = ("-p", "no:cacheprovider", "-q")
    return run(str(place / "user/bin/python"), "-m", "pytest", *bare, *chosen, cwd=unpacked).splitlines()[-1]


def main(pythons: list[str]) -> None:
    for python in pythons or [sys.executable]:
        with tempfile.TemporaryDirectory(prefix="packed-") as folder:
            sys.stdout.write(f"{python}: {packed(python, Path(folder))}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
