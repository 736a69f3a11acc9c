"""Rendering of facts: as one page of HTML (no script, nothing fetched, for phone, desk and paper), or as Markdown.

Every text is escaped in HTML, characters without a printed form are spelled out, and of Markdown only what our READMEs
use is rendered. The page's style sheet is `drawing/style.css`, its drawings are those of `drawing.plots`. Markdown is
for a repository, a wiki or a terminal, with tables in place of drawings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from reticent.attacks.excess import exceeds_chance, find_control, find_guessing
from reticent.drawing import plots
from reticent.report.blocks import format_value

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
_NUMBERED_CHARACTER = re.compile(r"&amp;#(\d{1,7});")
CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
VERDICT_MARKS = {
    "kept": ("kept", "✓"),
    "broken": ("unkept", "!"),
    "differs": ("unkept", "!"),
    "undecided": ("undecided", "?"),
    "none": ("undecided", "–"),
}
"""The class and the mark of each verdict."""
MAX_LABEL_LETTERS = 80
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
    """Render the page of an edition."""
    title = escape_html(facts["title"])
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title} ({facts["edition"]} edition)</title>
<style>{read_style_sheet()}</style>
</head>
<body class="{facts["edition"]}">
{render_html_body(facts)}
</body>
</html>
"""


def read_style_sheet() -> str:
    """Read the style sheet of our pages, without its comments."""
    text = files("reticent.drawing").joinpath("style.css").read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/\n?", "", text, flags=re.DOTALL)


def render_frame(facts: Mapping[str, Any]) -> str:
    """Render the page inside a frame, which a notebook shows without that its style touches the notebook's."""
    page = escape(render_html(facts), quote=True)
    return (
        f'<iframe srcdoc="{page}" sandbox="" title="{escape_html(facts["title"])}" width="100%" height="900"></iframe>'
    )


def render_html_body(facts: Mapping[str, Any]) -> str:
    open_sections = [section for section in facts["sections"] if not section.get("folded")]
    folded = [section for section in facts["sections"] if section.get("folded")]
    inside = "".join(
        f'<li><a href="#{section["id"]}">{escape_html(section["title"])}</a></li>' for section in facts["sections"]
    )
    parts = "\n".join(_render_html_section(section) for section in open_sections)
    if folded:
        parts += '\n<section aria-labelledby="rest-title"><h2 id="rest-title">Everything else</h2>\n'
        parts += "\n".join(_render_folded_section(section) for section in folded) + "\n</section>"
    return (
        f'<div class="page">\n{_render_header(facts)}\n'
        f'<nav aria-label="Sections"><ul>{inside}</ul></nav>\n<main>\n{parts}\n</main>\n</div>'
    )


def render_markdown(facts: Mapping[str, Any]) -> str:
    parts = [
        f"# {_escape_markdown(facts['title'])} ({facts['edition']} edition)",
        *map(_escape_markdown, _list_first_sentences(facts)),
    ]
    if facts.get("figures"):
        rows = [
            (entry["label"], f"{entry['figure']} {entry['unit']}".strip(), entry["means"]) for entry in facts["figures"]
        ]
        parts.append(_format_rows(("figure", "value", "what it means"), rows))
    parts += map(_escape_markdown, facts["lead"])
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


def _list_first_sentences(facts: Mapping[str, Any]) -> list[str]:
    """List the warning of an edition that stays with its owner, and the verdict, where there are such."""
    warning = [facts["warning"]] if facts.get("warning") else []
    verdict = facts.get("verdict")
    return [*warning, *([f"{verdict['headline']} {verdict['sentence']}"] if verdict else [])]


def _render_header(facts: Mapping[str, Any]) -> str:
    """Render the first screen: what it is about, the verdict, four figures with a sentence each, and what else is said first."""
    parts = [f'<p class="edition"><strong>reticent</strong>{facts["edition"]} edition</p>']
    if facts.get("warning"):
        parts.append(f'<p class="warning">{escape_html(facts["warning"])}</p>')
    parts.append(f"<h1>{escape_html(facts['title'])}</h1>")
    if verdict := facts.get("verdict"):
        classes, mark = VERDICT_MARKS[verdict["word"]]
        parts.append(
            f'<p class="verdict {classes}"><span class="mark" aria-hidden="true">{mark}</span>'
            f"<span><strong>{escape_html(verdict['headline'])}</strong> {escape_html(verdict['sentence'])}</span></p>"
        )
    if facts.get("figures"):
        entries = "".join(map(_render_key_figure, facts["figures"]))
        parts.append(f'<ul class="figures">{entries}</ul>')
    parts += [f"<p>{escape_html(sentence)}</p>" for sentence in facts["lead"]]
    return f"<header>{''.join(parts)}</header>"


def _render_key_figure(entry: Mapping[str, str]) -> str:
    unit = f" <small>{escape_html(entry['unit'])}</small>" if entry["unit"] else ""
    return (
        f'<li><span class="label">{escape_html(entry["label"])}</span>'
        f'<span class="figure">{escape_html(entry["figure"])}{unit}</span>{escape_html(entry["means"])}</li>'
    )


def _render_html_section(section: Mapping[str, Any]) -> str:
    is_pictured = any("figure" in part or "chart" in part for part in section["parts"])
    parts = "\n".join(
        _render_folded_table(part["table"]) if is_pictured and set(part) == {"table"} else _render_html_block(part)
        for part in section["parts"]
    )
    return f'<section id="{section["id"]}" aria-labelledby="{section["id"]}-title">\n<h2 id="{section["id"]}-title">{escape_html(section["title"])}</h2>\n{parts}\n</section>'


def _render_folded_section(section: Mapping[str, Any]) -> str:
    return f"<details><summary>{escape_html(section['title'])}</summary>\n{_render_html_section(section)}\n</details>"


def _render_folded_table(table: Mapping[str, Any]) -> str:
    """Render a table that stands beside pictures, folded below its caption."""
    return f'<details class="numbers"><summary>{escape_html(table["caption"])}</summary>{_render_html_table(table)}</details>'


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
    if "sides" in part:
        return "\n\n".join(f"### {side['title']}\n\n{side['markdown']}" for side in part["sides"])
    if "figure" in part:
        figure = part["figure"]
        sentences = f"**{_escape_markdown(figure['title'])}**\n\n{_escape_markdown(figure['drawn'])}"
        return f"{sentences}\n\n{_format_rows(part['table']['head'], part['table']['rows'])}"
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
    if "sides" in part:
        return _render_sides(part["sides"])
    if "figure" in part:
        return _render_figure(part)
    return _render_bar_table(part) if "chart" in part else _render_html_table(part["table"])


def _render_sides(sides: Sequence[Mapping[str, str]]) -> str:
    """Render what is and what is not, side by side, in the same size."""
    columns = [
        f'<div class="{classes}"><h3>{escape_html(side["title"])}</h3>{render_readme_markdown(side["markdown"])}</div>'
        for classes, side in zip(("is", "not"), sides, strict=True)
    ]
    return f'<div class="sides">{"".join(columns)}</div>'


def _format_table(table: Mapping[str, Any]) -> str:
    return f"**{_escape_markdown(table['caption'])}**\n\n{_format_rows(table['head'], table['rows'])}"


def _format_rows(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    return "\n".join([_format_row(head), "|" + "---|" * len(head), *map(_format_row, rows)])


def _render_figure(part: Mapping[str, Any]) -> str:
    """Render a drawing below its title, how it is read, and the same numbers as a table that is folded."""
    figure = part["figure"]
    reading = ""
    classes = ""
    if figure["reading"]:
        reading = f'<p class="reading"><strong>How to read it.</strong> {escape_html(figure["reading"])}</p>'
        classes = ' class="explained"'
    return (
        f"<figure{classes}><figcaption><strong>{escape_html(figure['title'])}</strong>"
        f"<span>{escape_html(figure['drawn'])}</span></figcaption>{_draw(figure['plot'])}{reading}"
        f"<details><summary>The numbers</summary>{_render_html_table(part['table'])}</details></figure>"
    )


def _draw(plot: Mapping[str, Any]) -> str:
    """Draw the figures of a plot by its type."""
    kind = plot["type"]
    if kind == "group-sizes":
        sizes = [size for size, groups in plot["sizes"] for _ in range(groups)]
        return plots.draw_group_sizes(sizes, plot["promised"], plot["unit"])
    if kind == "ranges":
        ranges = [(low, high, rows) for low, high, rows in plot["ranges"]]
        return plots.draw_ranges(ranges, escape_unprintable(plot["name"]), plot["value_width"])
    if kind == "comparison":
        names = [escape_unprintable(name) for name in plot["names"]]
        return plots.draw_comparison(names, plot["whole"], plot["group"], escape_unprintable(plot["name"]))
    if kind == "levels":
        return _render_levels(plot["rows"])
    if kind == "pairs":
        return _render_pairs(plot["head"], plot["rows"])
    if kind == "attacks":
        return _render_attacks(plot["rows"])
    return _render_bars([(name, value / (plot["full"] or 1), text, "") for name, value, text in plot["rows"]])


def _render_levels(rows: Sequence[Sequence[Any]]) -> str:
    lines = []
    for name, exact, several, anything in rows:
        bar = plots.draw_shares([(exact, "exact-4"), (several, "exact-2"), (anything, "exact-0")])
        said = f"as it was {plots.format_share(exact)}, one of several {plots.format_share(several)}, any value {plots.format_share(anything)}"
        lines.append(
            f'<tr><th scope="row" class="label">{escape_html(name)}</th><td class="bar">{bar}'
            f'<span class="unseen">{said}</span></td></tr>'
        )
    keys = "".join(
        f'<li><svg aria-hidden="true"><rect width="100%" height="100%" class="{classes}"/></svg>{words}</li>'
        for classes, words in (("exact-4", "as it was"), ("exact-2", "one of several"), ("exact-0", "any value: *"))
    )
    return f'<table class="bars"><tbody>{"".join(lines)}</tbody></table><ul class="keys">{keys}</ul>'


def _render_pairs(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Render pairs of bars: before, hollow, above after, filled."""
    full = max(max(before, after) for _, before, after in rows) or 1
    lines = [
        f'<tr><th scope="row" class="label">{escape_html(name)}</th>'
        f'<td class="bar">{plots.draw_pair(before / full, after / full)}</td>'
        f'<td class="number">{before:,}</td><td class="number"><strong>{after:,}</strong></td></tr>'
        for name, before, after in rows
    ]
    top = (
        f'<tr><th scope="col" class="label">{escape_html(head[0])}</th><th scope="col">{escape_html(head[1])}</th>'
        f'<th scope="col" class="number">{escape_html(head[2])}</th><th scope="col" class="number">{escape_html(head[3])}</th></tr>'
    )
    return f'<table class="bars pairs"><thead>{top}</thead><tbody>{"".join(lines)}</tbody></table>'


def _render_attacks(rows: Sequence[Mapping[str, Any]]) -> str:
    """Render what each adversary reaches as a filled disc with its interval, beside the hollow disc of its control."""
    numbers = [
        row[name] for row in rows for name in ("success", "high", "control", "baseline") if row[name] is not None
    ]
    top = min(max([*numbers, 0.01]) * 1.05, 1.0)
    lines = []
    for row in rows:
        control = find_control(row)
        guessing = find_guessing(row)
        word = "guessing" if guessing is None else "control"
        beside = "" if control is None else f"<span>{word} {plots.format_share(control)}</span>"
        chance = "<span>more than chance</span><br>" if exceeds_chance(row) else ""
        interval = None if row["low"] is None or row["high"] is None else (row["low"], row["high"])
        lines.append(
            f'<tr><th scope="row" class="who"><strong>{escape_html(row["adversary"])}</strong><span>{escape_html(row["says"])}</span></th>'
            f'<td class="discs">{plots.draw_attack(row["success"], control, top, interval, guessing)}</td>'
            f'<td class="reached"><strong>{plots.format_share(row["success"])}</strong>{chance}{beside}</td></tr>'
        )
    head = (
        f'<tr><th scope="col" class="who">adversary</th><th scope="col" class="discs">{plots.draw_attack_axis(top)}'
        '<span class="unseen">share of guesses that are right</span></th><th scope="col" class="reached">right guesses</th></tr>'
    )
    return f'<table class="attacks"><thead>{head}</thead><tbody>{"".join(lines)}</tbody></table>'


def _render_bar_table(part: Mapping[str, Any]) -> str:
    """Render a table that has a column of bars as a table of bars: the label, its bar, its number and what stands beside."""
    table = part["table"]
    label = part["chart"]["labels"]
    value = part["chart"]["values"]
    full = max((row[value] or 0 for row in table["rows"]), default=0) or 1
    rest = [column for column in range(len(table["head"])) if column not in (label, value)]
    rows = [
        (
            format_value(row[label]),
            (row[value] or 0) / full,
            format_value(row[value]),
            ", ".join(format_value(row[column]) for column in rest),
        )
        for row in table["rows"]
    ]
    return f"<figure><figcaption><strong>{escape_html(table['caption'])}</strong></figcaption>{_render_bars(rows, table['head'][label], table['head'][value])}</figure>"


def _render_bars(rows: Sequence[tuple[str, float, str, str]], label: str = "", unit: str = "") -> str:
    lines = []
    for name, share, text, beside in rows:
        why = f'<td class="why">{escape_html(beside)}</td>' if beside else ""
        lines.append(
            f'<tr><th scope="row" class="label">{escape_html(_shorten(name))}</th><td class="bar">{plots.draw_bar(share)}</td>'
            f'<td class="number">{escape_html(text)}</td>{why}</tr>'
        )
    more = '<th scope="col" class="why"><span class="unseen">share</span></th>' if rows and rows[0][3] else ""
    top = (
        f'<thead><tr><th scope="col" class="label">{escape_html(label)}</th><th scope="col"><span class="unseen">bar</span></th>'
        f'<th scope="col" class="number">{escape_html(unit)}</th>{more}</tr></thead>'
        if label
        else ""
    )
    return f'<table class="bars">{top}<tbody>{"".join(lines)}</tbody></table>'


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_LABEL_LETTERS else text[: MAX_LABEL_LETTERS - 1] + "…"


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


def _format_row(values: Sequence[Any]) -> str:
    return "| " + " | ".join(_format_cell(value) for value in values) + " |"


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
