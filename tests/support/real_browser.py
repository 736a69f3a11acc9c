"""A real browser: Debian's chromium, driven by playwright, and what its pages are examined for (`make browser` installs both)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
OPEN_FOLDS = "document.querySelectorAll('details').forEach(fold => fold.open = true)"
COLLISIONS = """
() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].filter(text => text.getClientRects().length);
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
  const beyond = boxes.filter(([, box]) => box.left < -0.5 || box.right > innerWidth + 0.5).map(([words]) => `beyond the screen: ${words}`);
  const cut = getComputedStyle(svg).overflow === 'visible' ? [] : boxes.filter(([, box]) =>
    box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 3 || box.bottom > frame.bottom + 3)
    .map(([words]) => `cut: ${words}`);
  const meeting = boxes.flatMap(([words, a], i) => boxes.slice(i + 1)
    .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
    .map(([other]) => `${words} over ${other}`));
  return [...beyond, ...cut, ...meeting];
})
"""


@contextmanager
def open_browser() -> Iterator[Any]:
    """Open the browser of this machine; the test is skipped, with a reason, where there is none."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make browser")
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser is on the path ({', '.join(PROGRAMS)}): make browser")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


def examine_with_axe(page: Any) -> str:
    """Open all folds of a page, and return what axe finds in it; empty where that is nothing."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed: make browser")
    page.evaluate(OPEN_FOLDS)
    result = axe.Axe().run(page, options=RULES)
    return result.generate_report() if result.response["violations"] else ""
