"""Which distributions others require, for tests about what is installed and shipped."""

from __future__ import annotations

from importlib.metadata import distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def list_required_distributions(requirements: list[str]) -> set[str]:
    """List, by name, what requirements bring, and what those require without extras and on this Python."""
    names: set[str] = set()
    waiting = [Requirement(each) for each in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in names or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        waiting += [Requirement(each) for each in distribution(name).requires or ()]
    return names
