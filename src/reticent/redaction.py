"""Removes the passwords of addresses from a text.

A mistyped address may have `@` or `/` unescaped in its password, and a path shortens `//` to `/`: everything from the
first colon behind the user's name to the last `@` of the line is taken for the password.  So is the value of
`password=` and its kin, as a parameter of an address or elsewhere.  `${NAME}` refers to an environment variable and is
no secret.
"""

from __future__ import annotations

import re

_PASSWORD_WORD = r"(?:ssl)?(?:password|passwd|pwd|passphrase)"
_USER_PASSWORD = re.compile(r"(?P<kept>[A-Za-z][A-Za-z0-9+.-]*:/+[^:/\s]*):(?P<secret>\S[^\n]*|)@")
_FIRST_PARAMETER = re.compile(rf"(?P<kept>\?){_PASSWORD_WORD}=(?P<secret>[^&\s]*)&", re.IGNORECASE)
_LATER_PARAMETER = re.compile(rf"(?P<kept>)[?&]{_PASSWORD_WORD}=(?P<secret>[^&\s]*)", re.IGNORECASE)
_KEYWORD_PASSWORD = re.compile(rf"(?P<kept>\b{_PASSWORD_WORD}\s*=\s*)(?P<secret>'[^'\n]*'|[^\s&'\"]+)", re.IGNORECASE)
_ENVIRONMENT_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_ADDRESS_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def redact(text: str) -> str:
    """Return the text without any password of an address."""
    if "@" in text:
        text = _remove_secret(_USER_PASSWORD, text, "@")
    return (
        _remove_secret(
            _KEYWORD_PASSWORD, _remove_secret(_LATER_PARAMETER, _remove_secret(_FIRST_PARAMETER, text), ""), "..."
        )
        if "=" in text
        else text
    )


def is_address(text: str) -> bool:
    """Tell whether a text is an address, `scheme://...`, also if a path has shortened it to `scheme:/...`."""
    return _ADDRESS_PATTERN.match(text) is not None


def _remove_secret(secret: re.Pattern[str], text: str, instead: str = "") -> str:
    return secret.sub(
        lambda at: at[0] if _ENVIRONMENT_REFERENCE.fullmatch(at["secret"]) else at["kept"] + instead, text
    )
