"""`report`: the facts of a release, and the three forms they are rendered in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reticent.release.release import Release
from reticent.report import internal, public, rendering
from reticent.validation import is_callable, null_values, optional, path_or_table, seconds, validate_arguments


@dataclass(frozen=True, eq=False)
class Report:
    """What is known of a release; `facts` is plain JSON."""

    facts: Mapping[str, Any]

    def html(self) -> str:
        """Render one page that needs nothing else. Its charts need the extra `charts`."""
        return rendering.render_html(self.facts)

    def markdown(self) -> str:
        return rendering.render_markdown(self.facts)

    def json(self) -> str:
        return json.dumps(self.facts, indent=1, ensure_ascii=False) + "\n"

    def text(self, form: str) -> str:
        """Render in the form that is named: "html", "md" or "json"."""
        return {"html": self.html, "md": self.markdown, "json": self.json}[form]()

    def _repr_html_(self) -> str:
        return rendering.render_html_body(self.facts)

    def __repr__(self) -> str:
        return f"<{self.facts['edition']} report: {self.facts['title']}>"


@validate_arguments(
    release=path_or_table,
    source=optional(path_or_table),
    missing=null_values,
    budget=optional(seconds),
    progress=is_callable,
)
def report(
    release: Any,
    *,
    source: Any = None,
    missing: tuple[str, ...] = (),
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Report:
    """Report what is known of a release folder, or of a release that is open: `.html()`, `.markdown()`, `.json()`.

    Without a `source` it is the public edition, a function of the folder. With the data that the release was made from
    it is the internal one, which reveals what the release keeps back and stays with its owner; its attacks take about
    `budget` CPU seconds at most, the cheap ones first, and those left out are named.
    """
    opened = release if isinstance(release, Release) else Release(release)
    if source is None:
        return Report(public.build_public_facts(opened))
    return Report(internal.build_internal_facts(opened, source, missing, progress, budget))
