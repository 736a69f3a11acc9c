"""What is installed has the documentation's pages, so that no help link of an installed studio leads nowhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.repository import ROOT

pytest.importorskip("setuptools", reason="nothing can be built without setuptools")
pytest.importorskip("starlette", reason="the studio is an extra: pip install 'reticent[studio]'")

MOST_KILOBYTES = 1_000
LOOK = """
from reticent.studio import pages
from reticent.studio.screens import load_screens

print(pages.find_docs_folder())
for screen in [*load_screens(False), *load_screens(True)]:
    assert pages.read_docs_page(screen.docs.partition("#")[0]), screen.docs
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The package as setup.py copies it into a wheel, without kernels."""
    folder = tmp_path_factory.mktemp("built")
    words = ["egg_info", "--egg-base", str(folder), "build_py", "--build-lib", str(folder / "lib")]
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", *words],
        cwd=ROOT,
        env={**os.environ, "KERNELS": "none"},
        check=True,
        capture_output=True,
    )
    return folder / "lib"


def test_the_package_has_every_page_of_the_documentation_and_no_picture(built):
    folder = built / "reticent" / "studio" / "docs"
    copied = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(copied) == {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sum(path.stat().st_size for path in copied.values()) < MOST_KILOBYTES * 1_000
    assert not (ROOT / "src" / "reticent" / "studio" / "docs").exists(), "a clone has its pages once"


def test_every_help_link_of_an_installed_studio_leads_to_a_page(built):
    looked = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOK],
        cwd=built,
        env={**os.environ, "PYTHONPATH": str(built)},
        capture_output=True,
        text=True,
    )
    assert looked.returncode == 0, looked.stderr
    assert looked.stdout.strip() == str(built / "reticent" / "studio" / "docs")
