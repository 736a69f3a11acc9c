"""A text without the passwords of the addresses in it.

Who mistypes an address writes `@` or `/` unescaped into a password, and a path shortens `//` to `/`: everything from the
first colon behind the user's name to the last `@` of the line is taken for the password.  So is the value of `password=`
and its kin, as a parameter of an address or elsewhere.  `${NAME}` refers to an environment variable and is no secret.
"""

from __future__ import annotations

import re

_WORD = r"(?:ssl)?(?:password|passwd|pwd|passphrase)"
_OF_USER = re.compile(r"(?P<kept>[A-Za-z][A-Za-z0-9+.-]*:/+[^:/\s]*):(?P<secret>\S[^\n]*|)@")
_FIRST = re.compile(rf"(?P<kept>\?){_WORD}=(?P<secret>[^&\s]*)&", re.IGNORECASE)
_LATER = re.compile(rf"(?P<kept>)[?&]{_WORD}=(?P<secret>[^&\s]*)", re.IGNORECASE)
_ELSEWHERE = re.compile(rf"(?P<kept>\b{_WORD}\s*=\s*)(?P<secret>'[^'\n]*'|[^\s&'\"]+)", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def redacted(text: str) -> str:
    """The text with every password of an address left out."""
    if "@" in text:
        text = _without(_OF_USER, text, "@")
    return _without(_ELSEWHERE, _without(_LATER, _without(_FIRST, text), ""), "...") if "=" in text else text


def is_address(text: str) -> bool:
    """Whether a text is an address, `scheme://...`, also where a path has shortened it to `scheme:/...`."""
    return _ADDRESS.match(text) is not None


def _without(secret: re.Pattern[str], text: str, instead: str = "") -> str:
    return secret.sub(lambda at: at[0] if _REFERENCE.fullmatch(at["secret"]) else at["kept"] + instead, text)
