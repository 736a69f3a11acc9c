"""Makes text safe for a terminal: what would move the cursor, change colours or turn the reading direction is spelled out.

Names of columns and files come from the data; a terminal obeys the escapes in them.
"""

from __future__ import annotations

import re

_CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def sanitize_text(text: str) -> str:
    """The text with every control character but tab and line end written as `\\x1b` or `\\u202e`."""
    return _CONTROL_CHARACTERS.sub(lambda match: _escape_mark(match[0]), text)


def sanitize_line(text: str) -> str:
    """Sanitize a text without line ends and tabs too, for a cell of a table."""
    return sanitize_text(text).replace("\n", "\\n").replace("\t", "\\t")


def sanitize_json(text: str) -> str:
    """Escape, as JSON does, the characters in a JSON text that would steer a terminal: they are in its strings only."""
    return _CONTROL_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape_mark(mark: str) -> str:
    return f"\\x{ord(mark):02x}" if ord(mark) < 256 else f"\\u{ord(mark):04x}"
