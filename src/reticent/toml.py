"""Writing the small part of TOML that a job needs (the standard library only reads it)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any


def dumps(table: Mapping[str, Any]) -> str:
    """Top-level values, then [tables] of inline values, then [[lists of tables]]."""
    lines = [
        f"{key_text(name)} = {value_text(value)}"
        for name, value in table.items()
        if not isinstance(value, Mapping) and not _tables(value) and value != []
    ]
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            lines += [
                "",
                f"[{key_text(name)}]",
                *(f"{key_text(key)} = {value_text(entry)}" for key, entry in value.items() if entry is not None),
            ]
        elif _tables(value):
            for entry in value:
                lines += [
                    "",
                    f"[[{key_text(name)}]]",
                    *(f"{key_text(key)} = {value_text(item)}" for key, item in entry.items() if item is not None),
                ]
    return "\n".join(lines).lstrip("\n") + "\n"


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def key_text(name: str) -> str:
    plain = name and all(mark.isascii() and (mark.isalnum() or mark in "-_") for mark in name)
    return name if plain else _quoted(name)


def value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_text(key)} = {value_text(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_text(entry) for entry in value) + "]"
    if isinstance(value, Fraction) and value != int(value):
        return json.dumps(str(value))
    return str(value)


def _quoted(text: str) -> str:
    """JSON's escapes are TOML's, but JSON lets DEL pass."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
