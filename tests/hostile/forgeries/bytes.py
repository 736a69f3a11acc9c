"""Manifests whose bytes are forged: what JSON itself can be made to say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

MANIFEST = "manifest.json"


def _text(change: Callable[[str], str]) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        path = folder / MANIFEST
        path.write_bytes(change(path.read_text(encoding="utf-8")).encode("utf-8", "surrogatepass"))

    return forge


def _raw(content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / MANIFEST).write_bytes(content) and None


BYTES: dict[str, Callable[[Path], None]] = {
    "a key twice": _text(lambda text: text.replace('"withheld"', '"withheld": 7,\n "withheld"', 1)),
    "a key twice, deep": _text(lambda text: text.replace('"role"', '"role": "sensitive", "role"', 1)),
    "another spelling": _text(lambda text: text.replace('"rows"', '"ro\\u0077s"', 1)),
    "another order": _text(lambda text: "{" + text[1:].replace("{\n", "{", 1)),
    "a space more": _text(lambda text: text + " "),
    "a comment": _text(lambda text: text.replace("{\n", "{ /* Ann */\n", 1)),
    "a number of a million digits": _text(lambda text: text.replace('"rows": ', '"rows": ' + "9" * 10**6, 1)),
    "an exponent of nine digits": _text(lambda text: text.replace('"rows": ', '"rows": 1e999999999, "rows": ', 1)),
    "not a number": _text(lambda text: text.replace('"rows": ', '"rows": NaN, "more": ', 1)),
    "infinity": _text(lambda text: text.replace('"rows": ', '"rows": -Infinity, "more": ', 1)),
    "half of a character": _text(lambda text: text.replace('"rows"', '"\\ud800"', 1)),
    "deep lists": _raw(b"[" * 100_000 + b"]" * 100_000),
    "deep tables": _raw(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "deep lists that never end": _raw(b"[" * 10**6),
    "millions of lists": _raw(b"[" + b"[]," * 5_000_000 + b"[]]"),
    "nothing": _raw(b""),
    "no JSON": _raw(b"\x89PNG\r\n"),
    "no UTF-8": _raw(b'{"kind": "\xff\xfe"}'),
    "a list": _raw(b"[]"),
    "a number": _raw(b"1"),
    "null": _raw(b"null"),
    "zeros": _raw(b"\x00" * 4096),
}
"""Each is refused by every reader."""

LARGE: dict[str, Callable[[Path], None]] = {
    "100 MB of keys": _text(
        lambda text: text.replace("{\n", "{\n" + "".join(f'"key {at}": {at},\n' for at in range(5 * 10**6)), 1)
    ),
    "60 MB of keys": _text(
        lambda text: text.replace("{\n", "{\n" + "".join(f'"key {at}": {at},\n' for at in range(3 * 10**6)), 1)
    ),
    "60 MB of lists": _raw(b"[" + b"[],   " * (10**7 - 1) + b"[]]"),
    "as many lists as may be": _raw(b"[" + b"[]," * 1_999_990 + b"[]]"),
    "a text of 60 MB": _raw(b'{"kind": "' + b"x" * (60 << 20) + b'"}'),
    "a number of 60 MB": _raw(b'{"kind": ' + b"9" * (60 << 20) + b"}"),
}
"""Each takes much memory, and is tried under a limit."""
