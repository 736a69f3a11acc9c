"""Texts into HTML: every one escaped, what has no form on paper spelled out, and of Markdown only what our READMEs use."""

from __future__ import annotations

import re
from html import escape

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
_NUMBERED = re.compile(r"&amp;#(\d{1,7});")


def safe(text: str) -> str:
    """A text in which nothing is markup, and which every reader shows in the same order."""
    return escape(seen(text), quote=True)


def seen(text: str) -> str:
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def line(markdown: str) -> str:
    """A sentence of a README: code, bold and slanted words are marked, numbered characters are shown, everything else is text."""
    pieces = markdown.split("`")
    if len(pieces) % 2 == 0:  # an odd backtick is a character
        return _words(markdown)
    return "".join(f"<code>{safe(piece)}</code>" if at % 2 else _words(piece) for at, piece in enumerate(pieces))


def _words(text: str) -> str:
    marked = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", safe(text))
    marked = re.sub(r"(?<![\w*])\*(\w[^*]*\w)\*(?![\w*])", r"<em>\1</em>", marked)
    return _NUMBERED.sub(lambda found: safe(chr(int(found[1]))) if int(found[1]) < 0x110000 else "", marked)


def blocks(markdown: str) -> str:
    """Paragraphs, lists, tables and blocks of code."""
    found = []
    for block in re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL):
        if block.startswith("```"):
            inside = block.split("\n", 1)[1].rsplit("\n", 1)[0]
            found.append(f'<pre tabindex="0"><code>{safe(inside)}</code></pre>')
        else:
            found += [_block(part) for part in re.split(r"\n\s*\n", block) if part.strip()]
    return "\n".join(found)


def _block(block: str) -> str:
    lines = block.strip().split("\n")
    if lines[0].startswith("|"):
        return _table(lines)
    if lines[0].startswith("- "):
        items = re.split(r"^- ", "\n".join(lines), flags=re.MULTILINE)[1:]
        return "<ul>" + "".join(f"<li>{line(' '.join(item.split()))}</li>" for item in items) + "</ul>"
    return f"<p>{line(' '.join(lines))}</p>"


def _table(lines: list[str]) -> str:
    head, _, *rows = [[cell.strip() for cell in one.strip().strip("|").split("|")] for one in lines]
    top = "".join(f'<th scope="col">{line(cell)}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{line(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide" tabindex="0" role="region" aria-label="Columns"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
