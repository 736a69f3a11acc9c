"""Small HTML tables for notebooks: what an object prints, as `_repr_html_` shows it.

No script, no style sheet of its own, no network: plain tables that a notebook styles as it does its others.  Every text is
escaped, long ones and long tables are cut, and nothing is shown that the object does not print anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from numbers import Integral, Real
from typing import Any

MOST_ROWS, MOST_LETTERS = 30, 120
_CELL = "text-align: left; vertical-align: top; padding: 0.15em 0.8em 0.15em 0;"
_NUMBER = "text-align: right; vertical-align: top; padding: 0.15em 0.8em 0.15em 0; font-variant-numeric: tabular-nums;"


def told(value: Any) -> str:
    """A value as people read it, short enough for a cell."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Fraction):
        return str(value) if value.limit_denominator(99) == value else f"{float(value):.4g}"
    if isinstance(value, Real):
        number = float(value)
        return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {told(inner)}" for name, inner in value.items())
    text = str(value)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table, numbers to the right; rows beyond the thirtieth are counted."""
    listed = [list(row) for row in rows]
    if not listed:
        return ""
    right = [all(_is_number(row[at]) for row in listed) for at in range(len(head))]
    top = "".join(_cell("th", name, at) for name, at in zip(head, right, strict=True))
    body = "".join(
        f"<tr>{''.join(_cell('td', told(cell), at) for cell, at in zip(row, right, strict=True))}</tr>"
        for row in listed[:MOST_ROWS]
    )
    more = len(listed) - MOST_ROWS
    below = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f"<table style='margin-bottom: 0.8em;'><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{below}"


def page(title: str, *parts: str) -> str:
    """A heading in words and what belongs under it."""
    return f"<div><p><strong>{_text(title)}</strong></p>{''.join(parts)}</div>"


def lines(sentences: Iterable[str]) -> str:
    """Sentences, one below the other."""
    said = "".join(f"<li>{_text(told(sentence))}</li>" for sentence in sentences)
    return f"<ul>{said}</ul>" if said else ""


def _cell(tag: str, text: str, right: bool) -> str:
    return f'<{tag} style="{_NUMBER if right else _CELL}">{_text(text)}</{tag}>'


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool))


def _text(value: Any) -> str:
    return escape(str(value), quote=True)
