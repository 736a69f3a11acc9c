"""Renders the studio's pages: templates, the job panel, and the documentation that the studio serves itself."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reticent.drawing import plots
from reticent.progress import format_duration
from reticent.report.rendering import render_inline_markdown
from reticent.studio.desk import Desk
from reticent.studio.screens import Screen

FOLDER = Path(str(files("reticent.studio")))
STATIC_FILES = {
    "htmx.js": (FOLDER / "static" / "htmx.min.js", "text/javascript"),
    "htmx-sse.js": (FOLDER / "static" / "htmx-sse.min.js", "text/javascript"),
    "studio.js": (FOLDER / "static" / "studio.js", "text/javascript"),
    "icon.svg": (FOLDER / "static" / "icon.svg", "image/svg+xml"),
    "studio.css": (FOLDER / "static" / "studio.css", "text/css"),
    "style.css": (Path(str(files("reticent.drawing"))) / "style.css", "text/css"),
}
_PICTURE = re.compile(r"<p>\n(?:<picture>.*</picture>\n)+</p>\n")
_DOCS_NAME = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)?")


@cache
def make_environment() -> Environment:
    """Make the environment of templates: everything is escaped, and a name that is not given is an error."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": lambda number: f"{number:,}",
        "percent": plots.format_share,
        "duration": format_duration,
        "markdown": lambda text: Markup(render_inline_markdown(text)),
        "drawing": Markup,  # of `reticent.drawing` alone, which escapes what it writes
    }
    return environment


def render_screen(
    desk: Desk,
    screens: list[Screen],
    screen: Screen,
    prefix: str,
    token: str,
    error: Any = None,
    typed_text: str | None = None,
) -> str:
    """Render one screen in its frame; an error is shown in place, beside the text of the job that was typed and refused."""
    position = screens.index(screen)
    obstacle = screen.find_obstacle(desk)
    return (
        make_environment()
        .get_template(f"{screen.name}.html")
        .render(
            prefix=prefix,
            token=token,
            project=desk.project,
            desk=desk,
            screen=screen,
            screens=screens,
            position=position,
            previous=screens[position - 1] if position else None,
            following=screens[position + 1] if position + 1 < len(screens) else None,
            obstacle=obstacle,
            error=error,
            typed_text=typed_text,
            job_error=desk.find_job_error(),
            job_lines=list_job_lines(desk),
            commands=screen.write_commands(desk),
            **screen.show(desk),
        )
    )


def render_page(name: str, **facts: Any) -> str:
    """Render a page that is no screen."""
    return make_environment().get_template(name).render(**facts)


def list_job_lines(desk: Desk) -> list[tuple[str, bool]]:
    """List the lines of the job file, and whether the last edit changed each."""
    changed = desk.job_file.changed_lines
    return [(line, number in changed) for number, line in enumerate(desk.job_file.text.splitlines())]


def find_docs_folder() -> Path | None:
    """Return the folder of the documentation: with the package, or beside it in a clone."""
    for folder in (FOLDER / "docs", FOLDER.parents[2] / "docs"):
        if (folder / "glossary.md").is_file():
            return folder
    return None


def read_docs_page(name: str) -> tuple[str, Markup] | None:
    """Return the title and the text of a page of the documentation; None where there is none of that name."""
    from markdown_it import MarkdownIt

    folder = find_docs_folder()
    if folder is None or _DOCS_NAME.fullmatch(name) is None or not (folder / f"{name}.md").is_file():
        return None
    text = _PICTURE.sub("", (folder / f"{name}.md").read_text(encoding="utf-8"))
    title = next((line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")), name)
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return title, Markup(_point_links_here(markdown.render(text)))


def _point_links_here(html: str) -> str:
    """Point links between pages of the documentation to the studio's own; links to elsewhere become text."""
    html = re.sub(r'<a href="([a-z0-9-]+)\.md(#[^"]*)?">', r'<a href="\1\2">', html)
    html = re.sub(r'<a href="(?![a-z0-9-]+(#[^"]*)?")[^"]*">(.*?)</a>', r"\2", html, flags=re.DOTALL)
    return re.sub(r"<img [^>]*>", "", html)
