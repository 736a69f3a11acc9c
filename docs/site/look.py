"""Pictures of the site's pages in a real browser:  python -m docs.site.look SITE FOLDER [PAGE ...]

They are for looking at, and are no part of the repository.  Debian's `chromium` is enough; nothing else is installed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

PAGES = ("index", "how-it-works", "cli", "api", "contract", "promises", "methods/mosaic", "search", "notebook")
SIZES = {"wide": "1400,1800", "narrow": "500,1400"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main(site: Path, folder: Path, pages: tuple[str, ...] = PAGES) -> None:
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"No browser is installed: none of {', '.join(BROWSERS)}.")
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        for size, window in SIZES.items():
            picture = folder / f"{page.replace('/', '-')}-{size}.png"
            address = (site / f"{page}.html").resolve().as_uri() + ("?q=hierarchy" if page == "search" else "")
            quiet = ["--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu", "--virtual-time-budget=4000"]
            subprocess.run(
                [browser, *quiet, f"--window-size={window}", f"--screenshot={picture}", address],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=120,
            )
            sys.stdout.write(f"{picture}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), tuple(sys.argv[3:]) or PAGES)
