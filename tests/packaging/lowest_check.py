"""Install the lowest versions that pyproject.toml allows and run a part of the suite:  python -m tests.packaging.lowest_check [PYTHON]  (`make lowest`)

What is installed is every dependency and extra at its floor, except Spark, which has no wheel; pytest and what it needs are
as constraints.txt has them.  Kernels are those that were compiled in place.  TESTS='...' chooses other tests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    "tests/release tests/engines/test_engine.py tests/query/test_bounds.py tests/cli/test_demo.py tests/cli/test_init.py "
    "tests/cli/test_export.py tests/report/test_command.py tests/test_sklearn.py"
)
OMITTED = "pyspark"
RUNNERS = ("pytest", "pytest-xdist", "hypothesis", "Cython", "jsonschema", "httpx2")


def pin_lowest(requirement: str) -> str:
    """Return a requirement that only its floor meets: `polars==2` for `polars>=2`."""
    name, floor = re.match(r"([\w.-]+)>=([\w.]+)", requirement).groups()
    return f"{name}=={floor}"


def list_lowest() -> list[str]:
    """List every dependency and every extra's, at its floor."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        requirements += extra
    return sorted({pin_lowest(each) for each in requirements if not each.startswith(OMITTED)})


def list_runners() -> list[str]:
    """List what runs the tests, as constraints.txt pins it."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.partition("==")[0] in {name.lower() for name in RUNNERS}]


def main(pythons: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="lowest-") as folder:
        python = str(Path(folder) / "env" / "bin" / "python")
        subprocess.run([*(pythons or [sys.executable]), "-m", "venv", str(Path(folder) / "env")], check=True)
        lowest = list_lowest()
        sys.stdout.write(" ".join(lowest) + "\n")
        sys.stdout.flush()
        install = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--disable-pip-version-check",
            "--only-binary=:all:",
        ]
        subprocess.run([*install, *lowest, *list_runners()], check=True)
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        chosen = os.environ.get("TESTS", TESTS).split()
        words = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
        return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
