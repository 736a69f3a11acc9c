"""A release's README as sections of a report: it says for every kind what is promised, what is not, and how to read the data."""

from __future__ import annotations

import re
from typing import Any

from reticent.report.parts import section

READING = "How to read the data"


def title_of(readme: str) -> str:
    return readme.partition("\n")[0].removeprefix("# ")


def sections(readme: str) -> dict[str, dict[str, Any]]:
    """Each section by its title; what stands before the first has the title of how to read the data."""
    lead, *rest = re.split(r"^## ", readme.partition("\n")[2], flags=re.MULTILINE)
    found = {READING: lead}
    for one in rest:
        name, _, body = one.partition("\n")
        found[name.strip()] = body
    return {name: section(_id(name), name, {"markdown": body.strip()}) for name, body in found.items()}


def _id(name: str) -> str:
    return re.sub(r"[^a-z]+", "-", name.lower()).strip("-")
