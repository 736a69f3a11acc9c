"""Pages about a release that are shown in a frame of their own: its README, and its report.

Their text may be a stranger's.  A README is rendered from Markdown without raw HTML, links and pictures; a report is sent
as it is.  Both go out under `FRAME_POLICY`: no script runs, nothing is fetched, and no link leads anywhere.
"""

from __future__ import annotations

import html
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.responses import HTMLResponse, Response

from reticent.errors import RequestError
from reticent.format.folder import read_small_file
from reticent.report.rendering import escape_unprintable, read_style_sheet

MAX_PAGE_BYTES = 8 * 2**20


def show_readme(text: str, title: str) -> Response:
    """Show a README as a page of its own."""
    return HTMLResponse(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f'<style>{read_style_sheet()}</style></head><body><main class="page">{render_text(text)}</main></body></html>'
    )


def render_text(text: str) -> str:
    """Render Markdown that a stranger may have written: headings, lists, tables and code; all else is text."""
    return str(_make_renderer().render("\n".join(map(escape_unprintable, text.splitlines()))))


def show_page(path: Path) -> Response:
    """Show a file of HTML as a page of its own.

    Raises:
        BundleDamaged: it is not there, is a link, or is too long to be a page.
    """
    return HTMLResponse(read_small_file(path, MAX_PAGE_BYTES))


def send_file(content: bytes, name: str, media_type: str) -> Response:
    """Send bytes as a file to be kept."""
    return Response(content, media_type=media_type, headers=name_attachment(name))


def name_attachment(name: str) -> dict[str, str]:
    """Return the header that names a file to be kept, whatever letters its name has."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def require_file(path: Path, what: str) -> Path:
    """Return the path of a file that was made; refuse where it is not there."""
    if not path.is_file():
        raise RequestError(f"{what} was not made yet.", attempt="the button on its screen.")
    return path


@cache
def _make_renderer() -> Any:
    from markdown_it import MarkdownIt

    rules = ["link", "image", "autolink", "html_inline", "html_block", "reference"]
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(rules)
