"""`report`: the facts of a release, and the three forms they are rendered in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reticent.errors import RequestError
from reticent.release.release import Release
from reticent.report import committee as committee_document
from reticent.report import internal, pdf, public, rendering
from reticent.validation import (
    flag,
    is_callable,
    mapping,
    null_values,
    optional,
    path_or_table,
    seconds,
    validate_arguments,
)


@dataclass(frozen=True, eq=False)
class Report:
    """What is known of a release; `facts` is plain JSON."""

    facts: Mapping[str, Any]

    def html(self) -> str:
        """Render one page that needs nothing else."""
        return rendering.render_html(self.facts)

    def markdown(self) -> str:
        return rendering.render_markdown(self.facts)

    def json(self) -> str:
        return json.dumps(self.facts, indent=1, ensure_ascii=False) + "\n"

    def pdf(self) -> bytes:
        """Print the page as PDF, by a Chromium that is installed; refuse where there is none."""
        return pdf.print_page(self.html())

    def render(self, form: str) -> bytes:
        """Render in the form that is named: "html", "md", "json" or "pdf"."""
        if form == "pdf":
            return self.pdf()
        return {"html": self.html, "md": self.markdown, "json": self.json}[form]().encode()

    def _repr_html_(self) -> str:
        return rendering.render_frame(self.facts)

    def __repr__(self) -> str:
        return f"<{self.facts['edition']} report: {self.facts['title']}>"


@validate_arguments(
    release=path_or_table,
    source=optional(path_or_table),
    missing=null_values,
    budget=optional(seconds),
    progress=is_callable,
    committee=flag,
    about=optional(mapping),
)
def report(
    release: Any,
    *,
    source: Any = None,
    missing: tuple[str, ...] = (),
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    committee: bool = False,
    about: Mapping[str, Any] | None = None,
) -> Report:
    """Report what is known of a release folder, or of a release that is open: `.html()`, `.markdown()`, `.json()`.

    Without a `source` it is the public edition, a function of the folder. With the data that the release was made from
    it is the internal one, which reveals what the release keeps back and stays with its owner; its attacks take about
    `budget` CPU seconds at most, the cheap ones first, and those left out are named.

    `committee=True` makes of the internal edition the document that a committee decides by, with fields to fill in;
    the request is filled from what the release says about itself, and from `about`, which wins: title, publisher, contact,
    period, purpose, recipients, licence, citation, earlier.
    """
    if committee and source is None:
        raise RequestError(
            "A committee's document compares the release with the data it was made from, and none is given.",
            attempt="source=..., the data that the release was made from.",
        )
    if about is not None and not committee:
        raise RequestError(
            "about fills the fields of a committee's document.", attempt="committee=True with source=..."
        )
    opened = release if isinstance(release, Release) else Release(release)
    if source is None:
        return Report(public.build_public_facts(opened))
    facts = internal.build_internal_facts(opened, source, missing, progress, budget)
    return Report(committee_document.build_committee_facts(facts, opened, about) if committee else facts)
