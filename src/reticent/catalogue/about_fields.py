"""Field specifications of `[about]`: what the publisher says of a release, published as it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reticent.catalogue.fields import Field

MAX_TITLE_LETTERS = 200
MAX_LINE_LETTERS = 2_000
MAX_LISTED_LINES = 50


def _make_line(doc: str, most: int = MAX_LINE_LETTERS) -> Field:
    """Make the field of one text."""
    return Field("line", doc, unset="not said", most=most)


def _make_lines(doc: str) -> Field:
    """Make the field of a text, or a list of texts."""
    line = Field("line", most=MAX_LINE_LETTERS)
    listed = Field("list", entries=(1, MAX_LISTED_LINES), each=line)
    return Field("either", doc, unset="not said", alternatives=(line, listed))


ABOUT_FIELDS: Mapping[str, Field] = {
    "title": _make_line("the name of the release, as its README and report are headed", MAX_TITLE_LETTERS),
    "publisher": _make_line("who publishes it"),
    "period": _make_line('the time that the data is about: `"2024"`, `"January to June 2024"`'),
    "contact": _make_line("whom a recipient asks"),
    "licence": _make_line("on what terms it may be used and passed on"),
    "citation": _make_line("how to cite it"),
    "purpose": _make_line("what it was published for"),
    "recipients": _make_lines("who receives it"),
    "earlier": _make_lines("earlier releases of the same people that recipients may know of, by their titles or dates"),
}

ABOUT_ENTRY_FIELDS: Mapping[str, Field] = {
    name: replace(field.alternatives[1], doc=field.doc) if field.kind == "either" else field
    for name, field in ABOUT_FIELDS.items()
}
"""The same fields as a manifest has them: lists are lists."""
