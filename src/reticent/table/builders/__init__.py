"""Hierarchies without pain: built from a column's values, from groups a steward names, or from other tools' files.

A job file asks for one by name, `hierarchy = { build = "intervals", width = [5, 10] }`; `build` makes it from the column's
values and the rows that hold each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reticent.errors import HierarchyError, suggest
from reticent.table.builders.bands import edges, intervals, quantiles
from reticent.table.builders.built import BuiltHierarchy
from reticent.table.builders.calendar import dates
from reticent.table.builders.exchange import from_amnesia, from_frame, from_tree
from reticent.table.builders.groups import balanced, grouped, ordered
from reticent.table.builders.prefixes import prefixes
from reticent.table.hierarchy import Hierarchy

__all__ = ["BUILDERS", "BuiltHierarchy", "balanced", "build", "dates", "edges", "from_amnesia", "from_frame", "from_tree",
           "grouped", "intervals", "ordered", "prefixes", "quantiles"]  # fmt: skip


def _edges(values: Any, edges: Sequence[Any], *, rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """`edges = [18, 65]` or, with several levels, `edges = [[18, 30, 65], [18, 65]]`."""
    nested = bool(edges) and isinstance(edges[0], Sequence) and not isinstance(edges[0], str)
    return _bands_between(values, *(edges if nested else [edges]), rows=rows)


_bands_between = edges

BUILDERS: dict[str, Callable[..., BuiltHierarchy]] = {
    "intervals": intervals,
    "edges": _edges,
    "quantiles": quantiles,
    "prefixes": prefixes,
    "dates": dates,
    "balanced": balanced,
}
"""What a job file can ask for by name; each takes the column's values, and the rows that hold each, first."""


def build(
    asked: Mapping[str, Any], values: Any, rows: Sequence[int] | None = None, name: str = "hierarchy"
) -> Hierarchy:
    """A hierarchy as a job file asks for it: `{build = "intervals", width = 10}`."""
    given, asked = dict(asked), dict(asked)
    kind = asked.pop("build", None)
    if kind not in BUILDERS:
        raise HierarchyError(
            f"The hierarchy of {name!r} is to be built by {kind!r}.", attempt=suggest(str(kind), BUILDERS)
        )
    builder = BUILDERS[kind]
    known = [parameter for parameter in inspect.signature(builder).parameters if parameter not in ("values", "rows")]
    for parameter in asked:
        if parameter not in known:
            raise HierarchyError(
                f"The builder {kind!r} has no parameter {parameter!r}.", attempt=suggest(parameter, known)
            )
    try:
        return replace(builder(values, **asked, rows=rows), asked=given)
    except TypeError:
        raise HierarchyError(
            f"The builder {kind!r} lacks a parameter or has one of the wrong type.", attempt=f"{', '.join(known)}."
        ) from None
    except HierarchyError as error:
        raise HierarchyError(
            f"The hierarchy of {name!r}: {error.what}", why=error.why, attempt=error.attempt, values=error.values
        ) from None
