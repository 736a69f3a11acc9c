"""Facts as Markdown, for a repository, a wiki or a terminal; tables in place of charts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reticent.report.inline import seen
from reticent.report.parts import said

_MARKS = re.compile(r"[\\`*_<>&|\[\]#~$]")


def page(facts: Mapping[str, Any]) -> str:
    parts = [f"# {_sentence(facts['title'])} ({facts['edition']} edition)", *map(_sentence, facts["lead"])]
    for section in facts["sections"]:
        parts += [f"## {section['title']}", *map(_part, section["parts"])]
    return "\n\n".join(parts) + "\n"


def _part(part: Mapping[str, Any]) -> str:
    if "text" in part:
        return _sentence(part["text"])
    if "list" in part:
        return "\n".join(f"- {_sentence(sentence)}" for sentence in part["list"])
    if "code" in part:
        return f"```{part['language']}\n{part['code']}\n```"
    return part["markdown"] if "markdown" in part else _table(part["table"])


def _table(table: Mapping[str, Any]) -> str:
    rows = [_row(table["head"]), "|" + "---|" * len(table["head"]), *map(_row, table["rows"])]
    return f"**{_sentence(table['caption'])}**\n\n" + "\n".join(rows)


def _row(values: list[Any]) -> str:
    return "| " + " | ".join(_cell(value) for value in values) + " |"


def _cell(value: Any) -> str:
    return _sentence(said(value))


def _sentence(text: str) -> str:
    """A text in which nothing is markup, whatever column or value it names; line ends are spelled out."""
    spelled = seen(text).replace("\n", "\\n").replace("\t", "\\t")
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", spelled)
