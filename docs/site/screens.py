"""Pictures of the report and of the studio, and the frontier of risk and loss, from the demo:  python -m docs.site.screens

Makes the demo in a temporary folder, uses the studio on it in a real browser as a steward would, and writes small WebP files
to docs/pictures, each in light and in dark; the frontier is an SVG that knows both.  `make pictures` installs what is needed.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
SCHEMES = ("light", "dark")
STUDIO_SIZE = {"width": 1280, "height": 780}
REPORT_SIZE = {"width": 980, "height": 940}
QUALITY = 70
MAX_BYTES = 80_000
SECONDS_FOR_WORK = 300
MILLISECONDS_TO_BEGIN = 1500
FRONTIER_WIDTH = 760
FRONTIER_LEFT = 28
FRONTIER_TOP = 92
LETTERS_IN_TITLE = 62
# Colours, and what is said of drawings: a rule on a line of its own, or a block of lines that ends at the margin.
RULE_OF_DRAWINGS = re.compile(r"^(?:svg .*}|:root .*}|(?::root|@media screen).*{\n(?: .*\n)+})$", re.MULTILINE)


@contextmanager
def run_studio(folder: Path, state: Path) -> Iterator[str]:
    """Run the studio of a folder, and give its one-time link."""
    command = [sys.executable, "-m", "reticent", "studio", str(folder), "--no-browser", "--port", "0"]
    environment = {**os.environ, "RETICENT_LEDGER": str(state / "ledger"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        link = next(
            (match[0] for line in process.stdout or () if (match := re.search(r"http://\S+token=\S+", line))), ""
        )
        if not link:
            sys.exit("The studio did not start.")
        yield link
    finally:
        process.terminate()
        process.wait()


def make_project(folder: Path) -> Path:
    """Make the demo, and from its table, trees and job a project in which nothing is published yet."""
    subprocess.run(
        [sys.executable, "-m", "reticent", "demo", "--to", str(folder / "demo")], check=True, stdout=subprocess.DEVNULL
    )
    project = folder / "census"
    project.mkdir()
    for name in ("census.csv", "job.toml"):
        shutil.copy(folder / "demo" / name, project)
    shutil.copytree(folder / "demo" / "hierarchies", project / "hierarchies")
    return project


def use_studio(page: Any, link: str) -> None:
    """Enter the studio by its button, check and compare methods, ask what stricter promises cost, and publish."""
    page.goto(link)
    page.get_by_role("button", name="Open the studio in this browser").click()
    page.wait_for_url("**/s/**")
    show_screen(page, "compare")
    for button in ("#check", "#compare"):
        page.locator(button).click()
        wait_for_work(page)
    show_screen(page, "promise")
    page.get_by_role("button", name="Show what stricter costs").click()
    wait_for_work(page)
    show_screen(page, "publish")
    page.locator("#publish").click()
    wait_for_work(page)
    page.locator(".verdicts").wait_for()


def show_screen(page: Any, name: str) -> None:
    """Show a screen anew, so that no button is in focus, once what it starts by itself is done."""
    page.goto(re.sub(r"(/s/[^/]+/).*", rf"\1{name}", page.url))
    wait_for_work(page)


def wait_for_work(page: Any) -> None:
    """Wait until no work of this screen is left; it may begin a moment after a click."""
    page.wait_for_timeout(MILLISECONDS_TO_BEGIN)
    page.locator(".card.run").first.wait_for(state="detached", timeout=SECONDS_FOR_WORK * 1000)


def take_picture(page: Any, name: str, at: str = "") -> None:
    """Write what the browser shows, in light and in dark; `at` is what stands at its top."""
    session = page.context.new_cdp_session(page)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        if at:
            page.locator(at).first.evaluate("place => place.scrollIntoView()")
        shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY, "optimizeForSpeed": False})
        picture = base64.b64decode(shot["data"])
        if len(picture) > MAX_BYTES:
            sys.exit(f"The picture {name} in {scheme} has {len(picture):,} bytes: {MAX_BYTES:,} are allowed.")
        (FOLDER / f"{name}-{scheme}.webp").write_bytes(picture)


def draw_frontier_picture(drawing: str, title: str) -> str:
    """Put the studio's drawing of the frontier, with its title and its colours, into a file of its own."""
    lines = [""]
    for word in title.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > LETTERS_IN_TITLE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    top = FRONTIER_TOP + 24 * (len(lines) - 1)
    height = top + round(float(re.search(r'height="([\d.]+)"', drawing)[1])) + 20
    description = re.search(r'aria-label="([^"]*)"', drawing)[1]
    style = (Path(str(files("reticent.drawing"))) / "style.css").read_text(encoding="utf-8")
    rules = "\n".join(RULE_OF_DRAWINGS.findall(style))
    plot = re.sub(r' (role|aria-label)="[^"]*"', "", drawing, count=2).replace(
        "<svg ", f'<svg width="{FRONTIER_WIDTH - 2 * FRONTIER_LEFT}" ', 1
    )
    texts = "".join(
        f'<text x="{FRONTIER_LEFT}" y="{40 + 24 * number}" class="title">{escape(line)}</text>\n'
        for number, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {FRONTIER_WIDTH} {height}" width="{FRONTIER_WIDTH}" height="{height}" role="img" aria-labelledby="title description">\n'
        f'<title id="title">{escape(title)}</title>\n<desc id="description">{description}</desc>\n'
        f"<style>\n{rules}\n.title {{ font: 650 1.1rem var(--sans); }} text {{ font-family: var(--sans); }}\n</style>\n"
        f'<rect width="{FRONTIER_WIDTH}" height="{height}" rx="6" fill="var(--paper)"/>\n{texts}'
        f'<svg x="{FRONTIER_LEFT}" y="{top - 30}" overflow="visible">{plot}</svg>\n</svg>\n'
    )


def main() -> None:
    """Make the demo, use the studio on it, and write every picture."""
    from playwright.sync_api import sync_playwright

    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        sys.exit(f"No browser is installed: none of {', '.join(BROWSERS)}.")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        project = make_project(Path(folder))
        browser = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        page = browser.new_page(viewport=REPORT_SIZE)
        page.goto((Path(folder) / "demo" / "report.html").as_uri())
        take_picture(page, "report")
        page.set_viewport_size({"width": REPORT_SIZE["width"], "height": 720})
        take_picture(page, "report-labels", "main section:nth-of-type(2)")
        page.set_viewport_size(STUDIO_SIZE)
        with run_studio(project, Path(folder)) as link:
            use_studio(page, link)
            take_picture(page, "studio-publish")
            for name in ("columns", "promise", "compare"):
                show_screen(page, name)
                take_picture(page, f"studio-{name}")
            figure = page.locator("section[aria-labelledby=frontier-title] figure").first
            drawing = figure.locator("svg.plot").first.evaluate("svg => new XMLSerializer().serializeToString(svg)")
            title = figure.locator("figcaption strong").inner_text()
            (FOLDER / "frontier.svg").write_text(draw_frontier_picture(drawing, title), encoding="utf-8")
        browser.close()


if __name__ == "__main__":
    main()
