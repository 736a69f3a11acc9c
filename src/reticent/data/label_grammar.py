"""How a published value prints, and how it is parsed.

    [20, 29]              a range of numbers, dates or ordered values, both ends included
    {Private, State-gov}  a set of values
    Undergraduate         a hierarchy's node, or a single value
    *                     anything
    "[20, 29]"            a value that looks like one of the above or like a node with other values, JSON-quoted

A null prints as null: it is a value of its own. The schema in the manifest decides which form applies to a column.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

ANY_LABEL = "*"
_OPENING_MARKS = ("[", "{", '"')
_RESERVED_MARKS = frozenset(',"[]{}')


def format_value_label(text: str, quoted: bool = False) -> str:
    """Format a single value, quoted where it collides with the grammar, or with a node's label."""
    collides = quoted or text in ("", ANY_LABEL) or text.startswith(_OPENING_MARKS)
    return json.dumps(text, ensure_ascii=False) if collides else text


def format_range_label(lower: str, upper: str) -> str:
    """Format a range of values, both ends included; equal ends are a single value."""
    return format_value_label(lower) if lower == upper else f"[{format_member(lower)}, {format_member(upper)}]"


def format_set_label(texts: Iterable[str]) -> str:
    """Format a set of values; a single one prints as a value."""
    members = list(texts)
    return format_value_label(members[0]) if len(members) == 1 else "{" + ", ".join(map(format_member, members)) + "}"


def format_member(text: str) -> str:
    """Format a value inside a range or a set, quoted where it would end there."""
    awkward = not text or text != text.strip() or not _RESERVED_MARKS.isdisjoint(text)
    return json.dumps(text, ensure_ascii=False) if awkward else text


@lru_cache(maxsize=1 << 16)  # an audit reads each label for its loss, its cover, its entropy and its members
def parse_label(label: str) -> tuple[str, tuple[str, ...]]:
    """Parse a label into ('value', (text,)), ('range', (lower, upper)) or ('set', texts).

    Whether a value names a node depends on the schema.
    """
    if label.startswith('"'):
        return "value", (json.loads(label),)
    if label[:1] == "[" and label[-1:] == "]":
        ends = _split_members(label[1:-1])
        if len(ends) == 2:
            return "range", (ends[0], ends[1])
    if label[:1] == "{" and label[-1:] == "}":
        return "set", tuple(_split_members(label[1:-1]))
    return "value", (label,)


def parse_third_party_label(label: str) -> tuple[str, tuple[str, ...]]:
    """Parse a text of another tool's table as `parse_label` does.

    A text that is none of our labels is a value as it is.
    """
    try:
        return parse_label(label)
    except ValueError:
        return "value", (label,)


def format_decimal(value: Decimal) -> str:
    """Format a decimal without an exponent and without trailing zeros."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _split_members(body: str) -> list[str]:
    """Split comma-separated members; JSON-quoted ones are unquoted."""
    if '"' not in body:
        parts = [part.strip() for part in body.split(",")]
        return parts if parts[-1] or body[-1:] == " " else parts[:-1]
    members: list[str] = []
    decoder = json.JSONDecoder()
    position = 0
    while position < len(body):
        while position < len(body) and body[position] == " ":
            position += 1
        if body[position : position + 1] == '"':
            text, position = decoder.raw_decode(body, position)
            position = len(body) if (comma := body.find(",", position)) < 0 else comma + 1
        else:
            end = len(body) if (comma := body.find(",", position)) < 0 else comma
            text = body[position:end].strip()
            position = end + 1
        members.append(text)
    return members
