"""A `report.html` in a release folder: one regular file of a page's size, which readers neither open nor make anew.

Whoever opens a page believes it, and making it anew to compare would run a renderer on a stranger's folder.  So the audit says
of every page whether its checksum is one that the owner noted, and otherwise that it was not checked.
"""

from __future__ import annotations

from pathlib import Path

from reticent import catalogue
from reticent.release import closed

MAX_PAGE_BYTES = 1 << 20
"""A public page is a sixth of it at most."""


def read_page(folder: Path) -> bytes:
    """Return the bytes of a folder's page; BundleDamaged for what is no regular file, or too long to be a page."""
    return closed.read_bytes(folder / catalogue.REPORT, MAX_PAGE_BYTES)
