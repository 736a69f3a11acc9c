"""Rendering of facts: as one page of HTML (no script, nothing fetched, for phone, desk and paper), or as Markdown.

Every text is escaped in HTML, characters without a printed form are spelled out, and of Markdown only what our READMEs
use is rendered. The page's style has system fonts, one column, dark text on white, tables that scroll inside
themselves, and rules for paper. Markdown is for a repository, a wiki or a terminal, with tables in place of charts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from reticent import charts
from reticent.report.blocks import format_value

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
_NUMBERED_CHARACTER = re.compile(r"&amp;#(\d{1,7});")
PAGE_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; color: #1a1a1a; background: #fff;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.2rem 0 0.8rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 0.6rem; border-bottom: 2px solid #2b5c8a; }
.edition { margin: 0; color: #2b5c8a; font-weight: 600; }
.internal .edition { color: #a01818; }
header p { margin: 0.4rem 0; }
nav ul { columns: 2; padding-left: 1.2rem; }
a { color: #1b4f7f; }
.wide { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; min-width: 50%; }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.8rem 0.25rem 0; border-bottom: 1px solid #ccc; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
th, td { overflow-wrap: normal; } .long { overflow-wrap: anywhere; min-width: 14rem; }
.warning { border: 2px solid #a01818; padding: 0.5rem; font-weight: 600; }
pre { background: #f3f5f7; padding: 0.7rem; overflow-x: auto; font-size: 0.85rem; }
code { font-family: ui-monospace, "Liberation Mono", Consolas, monospace; font-size: 0.9em; }
figure { margin: 1.2rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-weight: 600; }
summary { cursor: pointer; color: #1b4f7f; padding: 0.3rem 0; }
@media (max-width: 32rem) { nav ul { columns: 1; } body { padding: 0.7rem; } }
@media print { nav, summary { display: none; } body { max-width: none; font-size: 10pt; }
  figure, tr { break-inside: avoid; } h2 { break-after: avoid; } .wide, pre { overflow: visible; } pre { white-space: pre-wrap; }
  table { font-size: 8pt; } th, td { padding-right: 0.4rem; } .long { min-width: 0; } }
"""
CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MAX_CELL_LETTERS = 400
MAX_UNBROKEN_LETTERS = 32  # letters of a cell, and of a word in it
_MARKUP_CHARACTERS = re.compile(r"[\\`*_<>&|\[\]#~$]")


def escape_html(text: str) -> str:
    """Escape a text so that nothing in it is markup, and every reader shows it in the same order."""
    return escape(escape_unprintable(text), quote=True)


def escape_unprintable(text: str) -> str:
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def render_inline_markdown(markdown: str) -> str:
    """Render a sentence of a README: code, bold and italic words are marked, numbered characters are shown, everything
    else is text.
    """
    pieces = markdown.split("`")
    if len(pieces) % 2 == 0:  # an odd backtick is a character
        return _render_emphasis(markdown)
    return "".join(
        f"<code>{escape_html(piece)}</code>" if number % 2 else _render_emphasis(piece)
        for number, piece in enumerate(pieces)
    )


def render_readme_markdown(markdown: str) -> str:
    """Render paragraphs, lists, tables and blocks of code of a README."""
    blocks = []
    for block in re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL):
        if block.startswith("```"):
            inside = block.split("\n", 1)[1].rsplit("\n", 1)[0]
            blocks.append(f'<pre tabindex="0"><code>{escape_html(inside)}</code></pre>')
        else:
            blocks += [_render_readme_block(part) for part in re.split(r"\n\s*\n", block) if part.strip()]
    return "\n".join(blocks)


def render_html(facts: Mapping[str, Any]) -> str:
    title = escape_html(facts["title"])
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title} ({facts["edition"]} edition)</title>
<style>{PAGE_STYLE}</style>
</head>
<body class="{facts["edition"]}">
{render_html_body(facts)}
</body>
</html>
"""


def render_html_body(facts: Mapping[str, Any]) -> str:
    lead = "".join(f"<p>{escape_html(sentence)}</p>" for sentence in facts["lead"])
    inside = "".join(
        f'<li><a href="#{section["id"]}">{escape_html(section["title"])}</a></li>' for section in facts["sections"]
    )
    sections = "\n".join(_render_html_section(section) for section in facts["sections"])
    return (
        f'<header><p class="edition">reticent: {facts["edition"]} edition</p><h1>{escape_html(facts["title"])}</h1>{lead}</header>\n'
        f'<nav aria-label="Sections"><ul>{inside}</ul></nav>\n<main>\n{sections}\n</main>'
    )


def render_markdown(facts: Mapping[str, Any]) -> str:
    parts = [
        f"# {_escape_markdown(facts['title'])} ({facts['edition']} edition)",
        *map(_escape_markdown, facts["lead"]),
    ]
    for section in facts["sections"]:
        parts += [f"## {section['title']}", *map(_format_block, section["parts"])]
    return "\n\n".join(parts) + "\n"


def _render_emphasis(text: str) -> str:
    marked = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escape_html(text))
    marked = re.sub(r"(?<![\w*])\*(\w[^*]*\w)\*(?![\w*])", r"<em>\1</em>", marked)
    return _NUMBERED_CHARACTER.sub(
        lambda match: escape_html(chr(int(match[1]))) if int(match[1]) < 0x110000 else "", marked
    )


def _render_readme_block(block: str) -> str:
    lines = block.strip().split("\n")
    if lines[0].startswith("|"):
        return _render_readme_table(lines)
    if lines[0].startswith("- "):
        items = re.split(r"^- ", "\n".join(lines), flags=re.MULTILINE)[1:]
        return (
            "<ul>" + "".join(f"<li>{render_inline_markdown(' '.join(item.split()))}</li>" for item in items) + "</ul>"
        )
    return f"<p>{render_inline_markdown(' '.join(lines))}</p>"


def _render_html_section(section: Mapping[str, Any]) -> str:
    parts = "\n".join(_render_html_block(part) for part in section["parts"])
    return f'<section id="{section["id"]}" aria-labelledby="{section["id"]}-title">\n<h2 id="{section["id"]}-title">{escape_html(section["title"])}</h2>\n{parts}\n</section>'


def _escape_markdown(text: str) -> str:
    """Escape a text so that nothing in it is markup, whatever column or value it names; line ends are spelled out."""
    spelled = escape_unprintable(text).replace("\n", "\\n").replace("\t", "\\t")
    return _MARKUP_CHARACTERS.sub(lambda mark: f"&#{ord(mark[0])};", spelled)


def _format_block(part: Mapping[str, Any]) -> str:
    if "text" in part:
        return _escape_markdown(part["text"])
    if "list" in part:
        return "\n".join(f"- {_escape_markdown(sentence)}" for sentence in part["list"])
    if "code" in part:
        return f"```{part['language']}\n{part['code']}\n```"
    return part["markdown"] if "markdown" in part else _format_table(part["table"])


def _render_readme_table(lines: list[str]) -> str:
    head, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    top = "".join(f'<th scope="col">{render_inline_markdown(cell)}</th>' for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{render_inline_markdown(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="wide" tabindex="0" role="region" aria-label="Columns"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _render_html_block(part: Mapping[str, Any]) -> str:
    if "text" in part:
        return f"<p>{escape_html(part['text'])}</p>"
    if "list" in part:
        return "<ul>" + "".join(f"<li>{escape_html(sentence)}</li>" for sentence in part["list"]) + "</ul>"
    if "code" in part:
        return f'<pre tabindex="0"><code>{escape_html(part["code"])}</code></pre>'
    if "markdown" in part:
        return render_readme_markdown(part["markdown"])
    return _render_figure(part) if "chart" in part else _render_html_table(part["table"])


def _format_table(table: Mapping[str, Any]) -> str:
    rows = [_format_row(table["head"]), "|" + "---|" * len(table["head"]), *map(_format_row, table["rows"])]
    return f"**{_escape_markdown(table['caption'])}**\n\n" + "\n".join(rows)


def _render_figure(part: Mapping[str, Any]) -> str:
    """Render the chart with its caption, and the same numbers as a table below it."""
    table = part["table"]
    label = part["chart"]["labels"]
    value = part["chart"]["values"]
    names = [escape_unprintable(str(row[label])) for row in table["rows"]]
    values = [row[value] for row in table["rows"]]
    svg = charts.draw_bars(names, values, table["caption"], table["head"][value]).svg
    return (
        f"<figure>{_label_svg(svg, table['caption'])}<figcaption>{escape_html(table['caption'])}</figcaption>"
        f"<details><summary>The numbers of {escape_html(table['caption'])}</summary>{_render_html_table(table)}</details></figure>"
    )


def _render_html_table(table: Mapping[str, Any]) -> str:
    rows = table["rows"]
    head = table["head"]
    right = [
        all(_is_number(row[column]) for row in rows) and any(row[column] is not None for row in rows)
        for column in range(len(head))
    ]
    top = "".join(
        f'<th scope="col"{_format_alignment(column)}>{escape_html(name)}</th>'
        for name, column in zip(head, right, strict=True)
    )
    lines = "".join(f"<tr>{''.join(map(_render_html_cell, row, right))}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape_html(table["caption"])}"><table><caption>{escape_html(table["caption"])}</caption>'
        f"<thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _format_row(values: list[Any]) -> str:
    return "| " + " | ".join(_format_cell(value) for value in values) + " |"


def _label_svg(svg: str, caption: str) -> str:
    """Label the picture with what it shows and drop the labels and roles of its parts; its table has the rest."""
    inside = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)
    return inside.replace("<svg ", f'<svg role="img" aria-label="Bars: {escape_html(caption)}" ', 1)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _format_alignment(right: bool) -> str:
    return ' class="number"' if right else ""


def _render_html_cell(value: Any, right: bool) -> str:
    """Render a cell; a text without a place to break, such as a checksum, may break anywhere."""
    text = format_value(value)
    long = ' class="long"' if any(len(word) > MAX_UNBROKEN_LETTERS for word in text.split()) else ""
    return f"<td{long or _format_alignment(right)}>{escape_html(text if len(text) <= MAX_CELL_LETTERS else text[: MAX_CELL_LETTERS - 1] + '…')}</td>"


def _format_cell(value: Any) -> str:
    return _escape_markdown(format_value(value))
