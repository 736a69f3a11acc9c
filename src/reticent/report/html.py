"""Facts into one page of HTML: no script, nothing fetched, for a phone, a desk and paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reticent import charts
from reticent.report.inline import blocks, safe, seen
from reticent.report.parts import said
from reticent.report.style import STYLE

ALLOWED = "default-src 'none'; style-src 'unsafe-inline'"
LONGEST, UNBROKEN = 400, 32  # letters of a cell, and of a word in it


def page(facts: Mapping[str, Any]) -> str:
    title = safe(facts["title"])
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{ALLOWED}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title} ({facts["edition"]} edition)</title>
<style>{STYLE}</style>
</head>
<body class="{facts["edition"]}">
{body(facts)}
</body>
</html>
"""


def body(facts: Mapping[str, Any]) -> str:
    lead = "".join(f"<p>{safe(sentence)}</p>" for sentence in facts["lead"])
    inside = "".join(f'<li><a href="#{one["id"]}">{safe(one["title"])}</a></li>' for one in facts["sections"])
    sections = "\n".join(_section(one) for one in facts["sections"])
    return (
        f'<header><p class="edition">reticent: {facts["edition"]} edition</p><h1>{safe(facts["title"])}</h1>{lead}</header>\n'
        f'<nav aria-label="Sections"><ul>{inside}</ul></nav>\n<main>\n{sections}\n</main>'
    )


def _section(section: Mapping[str, Any]) -> str:
    parts = "\n".join(_part(part) for part in section["parts"])
    return f'<section id="{section["id"]}" aria-labelledby="{section["id"]}-title">\n<h2 id="{section["id"]}-title">{safe(section["title"])}</h2>\n{parts}\n</section>'


def _part(part: Mapping[str, Any]) -> str:
    if "text" in part:
        return f"<p>{safe(part['text'])}</p>"
    if "list" in part:
        return "<ul>" + "".join(f"<li>{safe(sentence)}</li>" for sentence in part["list"]) + "</ul>"
    if "code" in part:
        return f'<pre tabindex="0"><code>{safe(part["code"])}</code></pre>'
    if "markdown" in part:
        return blocks(part["markdown"])
    return _figure(part) if "chart" in part else _table(part["table"])


def _figure(part: Mapping[str, Any]) -> str:
    """The chart with its caption, and the same numbers as a table below it."""
    shown, (label, value) = part["table"], (part["chart"]["labels"], part["chart"]["values"])
    names, values = [seen(str(row[label])) for row in shown["rows"]], [row[value] for row in shown["rows"]]
    drawn = charts.bars(names, values, shown["caption"], shown["head"][value]).svg
    return (
        f"<figure>{_told(drawn, shown['caption'])}<figcaption>{safe(shown['caption'])}</figcaption>"
        f"<details><summary>The numbers of {safe(shown['caption'])}</summary>{_table(shown)}</details></figure>"
    )


def _told(svg: str, caption: str) -> str:
    """The picture says in words what it shows; its table says the rest, so its parts say nothing of their own."""
    inside = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)
    return inside.replace("<svg ", f'<svg role="img" aria-label="Bars: {safe(caption)}" ', 1)


def _table(table: Mapping[str, Any]) -> str:
    rows, head = table["rows"], table["head"]
    right = [
        all(_is_number(row[at]) for row in rows) and any(row[at] is not None for row in rows) for at in range(len(head))
    ]
    top = "".join(f'<th scope="col"{_side(at)}>{safe(name)}</th>' for name, at in zip(head, right, strict=True))
    lines = "".join(f"<tr>{''.join(map(_cell, row, right))}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{safe(table["caption"])}"><table><caption>{safe(table["caption"])}</caption>'
        f"<thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _cell(value: Any, right: bool) -> str:
    """A text without a place to break, such as a checksum, may break anywhere."""
    text = said(value)
    long = ' class="long"' if any(len(word) > UNBROKEN for word in text.split()) else ""
    return f"<td{long or _side(right)}>{safe(text if len(text) <= LONGEST else text[: LONGEST - 1] + '…')}</td>"


def _side(right: bool) -> str:
    return ' class="number"' if right else ""


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
