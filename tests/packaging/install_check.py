"""Install this checkout in odd places and run the demo there:  python -m tests.packaging.install_check [PYTHON ...]  (`make install-check`)

For each Python: compiled; without a compiler; in a folder with a space; in a folder named `reticent`.  No extras, nothing
inherited.  Minutes each, which is why it is no test of the suite.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACES = {
    "compiled": ("plain", {}),
    "no compiler": ("plain", {"CC": "no-such-compiler"}),
    "a space in the path": ("my data", {"CC": "no-such-compiler"}),
    "a folder named reticent": ("reticent", {"CC": "no-such-compiler"}),
}


def installed(python: str, folder: Path, change: dict[str, str]) -> str:
    """The version that the installed command prints after its demo ran."""
    source = folder / "source"
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".git", ".venv", "build", "dist", "*.so", "__pycache__")
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | change
    options = [
        "--quiet",
        "--no-compile",
        "--disable-pip-version-check",
        "--constraint",
        str(source / "constraints.txt"),
    ]

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    run(python, "-m", "venv", "env")
    run("env/bin/python", "-m", "pip", "install", *options, "./source")
    assert "Every promise is kept." in run("env/bin/reticent", "demo", "--rows", "2000")
    return run("env/bin/reticent", "--version").strip()


def main(pythons: list[str]) -> None:
    for python in pythons or [sys.executable]:
        for name, (inner, change) in PLACES.items():
            with tempfile.TemporaryDirectory(prefix="installs-") as folder:
                place = Path(folder) / inner
                place.mkdir()
                sys.stdout.write(f"{python}, {name}: {installed(python, place, change)}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
