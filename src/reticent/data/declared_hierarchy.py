"""A hierarchy as a column declares it: a path, rows, a table that asks a builder for it, or one that a plugin brings.

A builder makes a hierarchy of the values that occur, so it can be made only once these are known; any other hierarchy is
complete before. One of a plugin is asked for as a builder's is, `hierarchy = { build = "acme:states", coarse = true }`,
gets no data, and is published as rows, like a steward's file: whoever reads the release needs no plugin.

Only what a job declares is resolved here. What a manifest says of a hierarchy never is: no release makes its reader load
a plugin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reticent.catalogue import load_object
from reticent.data.hierarchy import Hierarchy
from reticent.errors import HierarchyError, suggest
from reticent.plugins import call_plugin, is_plugin_name, load_plugin
from reticent.validation import accept_parameter


def get_plugin_name(declared: Any) -> str | None:
    """Return the name of the plugin that is to bring a declared hierarchy; None if it is none of a plugin."""
    name = declared.get("build") if isinstance(declared, Mapping) else None
    return name if is_plugin_name(name) else None


def is_built_from_values(declared: Any) -> bool:
    """Tell whether a declared hierarchy is made of the values that occur in its column."""
    return isinstance(declared, Mapping) and get_plugin_name(declared) is None


def read_declared_hierarchy(declared: Any, name: str = "hierarchy") -> Hierarchy:
    """Read a declared hierarchy that is complete before any value is known: a file's, rows, or a plugin's."""
    plugin_name = get_plugin_name(declared)
    if plugin_name is None:
        return Hierarchy.of(declared, name)
    row = load_plugin("hierarchies", plugin_name)
    options = {option: value for option, value in declared.items() if option != "build"}
    for option in options:
        if option not in row.fields:
            raise HierarchyError(
                f"The hierarchy {plugin_name} has no option {option!r}.", attempt=suggest(option, row.fields)
            )
    accepted = {
        option: accept_parameter(row.fields[option], value, option, f"the hierarchy {plugin_name}")
        for option, value in options.items()
    }
    rows = call_plugin("hierarchies", plugin_name, lambda: load_object(row.made_by)(**accepted))
    if not isinstance(rows, list | tuple):
        raise HierarchyError(
            f"The hierarchy {plugin_name} is no list of rows.",
            attempt="a file, or reporting this to the plugin's authors.",
        )
    return Hierarchy.of(rows, name)
