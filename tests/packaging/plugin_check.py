"""Install the example plugin from outside the tree and use it:  python -m tests.packaging.plugin_check  (`make plugin`)

Its folder is copied, built into a wheel and installed into an environment of its own, which sees the packages of this one.
There its own tests run (`reticent.testing`, the contract), `reticent plugins` lists it, and a job that names it is
published and audited: without the plugin's judge, which ends with 7 under --strict, and with it. Less than two minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from tests.support.plugin_job import JOB
from tests.support.repository import ROOT

PEOPLE = "from reticent.testing import make_random_table; import sys; make_random_table(5, 120).write_csv(sys.argv[1])"


def run(*words: str, cwd: Path, code: int = 0) -> str:
    """Run a command; return what it printed, or end with it where its exit code is another."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["RETICENT_LEDGER"] = str(cwd / "ledger")
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode != code:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-5000:]}{done.stderr[-5000:]}")
    return done.stdout


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="plugin-") as folder:
        place = Path(folder)
        shutil.copytree(ROOT / "examples" / "plugin", place / "source")
        run(sys.executable, "-m", "venv", "--without-pip", "env", cwd=place)
        python = str(place / "env" / "bin" / "python")
        packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=place).strip())
        shared = sysconfig.get_path("purelib")
        (packages / "shared.pth").write_text(f"import site; site.addsitedir({shared!r})\n", encoding="utf-8")
        words = ("-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index")
        run(python, *words, "--disable-pip-version-check", "./source", cwd=place)
        where = run(python, "-c", "import acme; print(acme.__path__[0])", cwd=place).strip()
        if not Path(where).is_relative_to(packages):
            raise SystemExit(f"The plugin was imported from {where}, and not as it was installed.")
        listed = run(python, "-m", "reticent", "plugins", cwd=place)
        if listed.count("acme:") < 5:
            raise SystemExit(f"`reticent plugins` lists less than the plugin brings:\n{listed}")
        tests = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "source/tests", cwd=place)
        run(python, "-c", PEOPLE, "people.csv", cwd=place)
        (place / "job.toml").write_text(JOB, encoding="utf-8")
        run(python, "-m", "reticent", "publish", "job.toml", "-o", "release", cwd=place)
        run(python, "-m", "reticent", "audit", "release", "--strict", cwd=place, code=7)
        judged = run(python, "-m", "reticent", "audit", "release", "--strict", "--judges", "acme", cwd=place)
        if "judged by acme 1.2, not by reticent" not in " ".join(judged.split()):
            raise SystemExit(f"The audit does not say whose judge spoke:\n{judged}")
        sys.stdout.write(f"The example plugin, installed outside the tree: {tests.splitlines()[-1]}\n")


if __name__ == "__main__":
    main()
