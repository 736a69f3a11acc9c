"""A job's query reads: one statement that begins as a question does.

This is looked at before a database is opened, so that the message can say what is wrong.  What a query may do is kept
by the databases themselves, which are opened for reading only (`database.py`).
"""

from __future__ import annotations

import re

from reticent.errors import SourceError

QUESTIONS = ("SELECT", "WITH", "VALUES", "TABLE", "FROM")
_BEFORE = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/", re.DOTALL)


def refuse_other(query: str) -> None:
    """Refuse a query that is no question, or several statements."""
    first = re.match(r"\w*", query[_BEFORE.match(query).end() :])  # type: ignore[union-attr]  # it matches nothing at least
    word = first[0].upper() if first else ""
    if word not in QUESTIONS:
        raise SourceError(
            "The query of [source] does not ask for rows.",
            why=f"A source is only read, and a query begins with one of {', '.join(QUESTIONS)}.",
            attempt='query = "SELECT age, illness FROM people".',
        )
    bare = _QUOTED.sub(lambda part: " " if part[0].startswith(("--", "/*")) else "''", query)
    statements = [part for part in bare.split(";") if part.strip()]
    if len(statements) > 1:
        raise SourceError(
            f"The query of [source] has {len(statements)} statements.",
            why="A source is read by one.",
            attempt="a view or a WITH clause in place of the first ones.",
        )
