"""Names and lines in Markdown: a column may be called anything, and a README is opened in browsers and terminals.

A plain name stands as code.  Any other is written with numbers for its marks (`&#60;`), which every reader shows as they were and
none obeys; what has no form on paper, a line end or a terminal's escape, is spelled out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\x9f`<>&|\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
_MARK = re.compile(r"[^\w ]|_", re.ASCII)
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_WORD = re.compile(r"[\w .-]+")
_TOGETHER = re.compile(r"(?:`[^`]*`|\S)+")  # what stands on one line: a word, or words in code
_MARKUP = re.compile(r"[-+*#>|=~]|\d+[.)]$")  # what would say something else at the beginning of a line
WIDEST = 120


def page(lines: Iterable[str]) -> str:
    """The lines of a README as it is written: none too wide to be read, but for tables and code."""
    made: list[str] = []
    fenced = False
    for line in "\n".join(lines).split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("  ") and made and made[-1].startswith("- "):
            made[-1] += f" {line.strip()}"  # one item, however its sentence is written in the code
        else:
            made.append(line)
    return "\n".join(_none_too_wide(made)) + "\n"


def _none_too_wide(lines: Iterable[str]) -> Iterator[str]:
    fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        yield from [line] if fenced else wrapped(line)


def wrapped(line: str) -> list[str]:
    """A line, or several of a paragraph or of one item of a list; code and names are never divided."""
    if len(line) <= WIDEST or line.startswith("|"):
        return [line]
    made, inset = [], "  " if line.startswith(("- ", "  ")) else ""
    now = "  " if line.startswith("  ") else ""
    for word in _TOGETHER.findall(line):
        if now.strip() and len(now) + 1 + len(word) > WIDEST and not _MARKUP.match(word):
            made.append(now)
            now = inset + word
        else:
            now += word if not now.strip() else f" {word}"
    return [*made, now]


def code(name: str) -> str:
    """A name inside a sentence or a table."""
    return f"`{name}`" if _PLAIN.fullmatch(name) and name.strip() else f'"{escaped(name)}"'


def cell(name: str) -> str:
    """A name that stands alone in a cell of a table: as it is where that says nothing to Markdown."""
    return name if _WORD.fullmatch(name) and name.strip() else f'"{escaped(name)}"'


def in_example(name: str) -> str:
    """A name in a block of code, or dots where it is no plain one."""
    return name if _WORD.fullmatch(name) and name.strip() else "..."


def escaped(text: str) -> str:
    """A text in which nothing is markup."""
    spelled = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return "".join(f"&#{ord(mark)};" if mark.isascii() and _MARK.fullmatch(mark) else mark for mark in spelled)
