"""A page as PDF, printed by a Chromium that is installed: for a committee's file.

The page needs nothing but itself and has no script, so that the browser asks for nothing; it gets a profile folder of
its own, readable by its owner alone, which is removed afterwards.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from reticent.errors import RequestError
from reticent.operating_system import is_superuser

BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PRINT_SECONDS = 120
_FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--no-pdf-header-footer",
)


def find_browser() -> str:
    """Find a Chromium on the path; refuse, with what to do, where there is none."""
    program = next((path for name in BROWSER_NAMES if (path := shutil.which(name))), None)
    if program is None:
        raise RequestError(
            "A PDF is printed by Chromium, and none is on the path.",
            attempt="--format html, which every browser prints, or installing chromium.",
        )
    return program


def print_page(page: str) -> bytes:
    """Print a page of HTML as PDF.

    Raises `RequestError` where no browser is found, or where it does not print.
    """
    program = find_browser()
    with tempfile.TemporaryDirectory(prefix="reticent-page-") as folder:  # mode 700
        source = Path(folder) / "page.html"
        target = Path(folder) / "page.pdf"
        source.write_text(page, encoding="utf-8", newline="\n")
        command = [program, *_FLAGS, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}", source.as_uri()]
        if is_superuser():  # Chromium has no sandbox for root; the page has no script
            command.insert(1, "--no-sandbox")
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # the file is missing then
            subprocess.run(command, check=False, capture_output=True, timeout=PRINT_SECONDS)
        content = target.read_bytes() if target.is_file() else b""
    if not content.startswith(b"%PDF"):
        raise RequestError(
            f"{Path(program).name} did not print the page.",
            attempt="--format html, which every browser prints.",
        )
    return content
