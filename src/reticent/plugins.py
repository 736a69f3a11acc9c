"""Plugins: catalogue rows that other distributions bring, by entry points (docs/plugins.md).

A distribution `acme` with an entry point `fast` of the group `reticent.methods` brings the method `acme:fast`. The name
of the distribution is the namespace: it shadows nothing of ours and nobody else's, and it says whose code will run.

`list_plugins` reads the entry points and imports nothing. `load_plugin` imports the one that is asked for by its name
and puts its row into the catalogue's table. Only a person's own words lead here: a job, an argument, an option. A
manifest never does: what it names, `format/manifest.py` reads without its plugin.

What an entry point says (its name, its target, its distribution's name and version) is a stranger's text. Names and
versions of another shape are listed as faulty, by how long they are and not as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import metadata
from itertools import islice
from typing import Any, Final

from reticent import catalogue
from reticent.catalogue import (
    AttackRow,
    EngineRow,
    HierarchyRow,
    MethodRow,
    PresetRow,
    PromiseRow,
    load_object,
)
from reticent.errors import RequestError, quote_list, suggest

PLUGIN_NAME_PATTERN: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?:[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
"""A namespace, which is the normalized name of a distribution, a colon, and the name of an entry point."""
VERSION_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+!_-]{0,63}")
_TARGET_PATTERN: Final = re.compile(r"[A-Za-z_][\w.]{0,200}:[A-Za-z_]\w{0,100}")
_LOCAL_NAME_PATTERN: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
GROUP_PREFIX: Final = "reticent."
OUR_NAMESPACE: Final = "reticent"
"""No distribution of another may speak in this name: `reticent:fast` would pass for ours."""
MAX_PLUGINS: Final = 1000
"""The most entry points of a group that are listed."""

ROW_TYPES: Final[Mapping[str, type]] = {
    "methods": MethodRow,
    "attacks": AttackRow,
    "promises": PromiseRow,
    "engines": EngineRow,
    "hierarchies": HierarchyRow,
    "presets": PresetRow,
}
"""What an entry point of each group that can be used points at."""
REFUSED_GROUPS: Final[Mapping[str, str]] = {
    "kinds": "who opens a release reads it by its kind, and no release may make its reader load a plugin",
}
"""Groups of which entry points are listed and refused, each with the reason."""
GROUPS: Final = ("methods", "attacks", "promises", "kinds", "engines", "hierarchies", "presets")
_SINGULARS: Final[Mapping[str, str]] = {
    "methods": "method",
    "attacks": "attack",
    "promises": "promise",
    "kinds": "kind",
    "engines": "engine",
    "hierarchies": "hierarchy",
    "presets": "preset",
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point: its group without `reticent.`, its full name, what it points at, and who brings it.

    `fault` says why it cannot be used, and is empty where it can.
    """

    group: str
    name: str
    target: str
    distribution: str
    version: str
    fault: str = ""

    @property
    def bringer(self) -> str:
        """The distribution and its version: "acme 1.2"."""
        return f"{self.distribution} {self.version}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": _SINGULARS[self.group],
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "target": self.target,
            "usable": not self.fault,
            **({"why": self.fault} if self.fault else {}),
        }


def is_plugin_name(name: object) -> bool:
    """Tell whether this is a name that only a plugin can have; nothing is read for that."""
    return isinstance(name, str) and PLUGIN_NAME_PATTERN.fullmatch(name) is not None


def get_namespace(name: str) -> str:
    """Return the distribution that a plugin's name names."""
    return name.partition(":")[0]


def require_judging_plugins(namespaces: Iterable[str]) -> None:
    """Refuse a name that is none of an installed distribution with a promise that can be used."""
    wanted = list(dict.fromkeys(namespaces))
    if not wanted:
        return
    judging = {plugin.distribution for plugin in list_plugins() if plugin.group == "promises" and not plugin.fault}
    for namespace in wanted:
        if namespace not in judging:
            raise RequestError(
                f"There is no plugin {quote_list([namespace[:64]])} that judges promises.",
                why="No installed distribution brings it: a distribution of this name, with a promise, has to be installed "
                "beside reticent.",
                attempt=suggest(namespace, judging),
            )


def list_namespaces(names: Iterable[str]) -> tuple[str, ...]:
    """List the distributions that plugins' names among these name."""
    return tuple(dict.fromkeys(get_namespace(name) for name in names if is_plugin_name(name)))


def list_plugins() -> list[Plugin]:
    """List the entry points of all groups, by group and name, without importing any of them."""
    entry_points = metadata.entry_points()
    plugins = [
        _describe_entry_point(group, entry_point)
        for group in GROUPS
        for entry_point in islice(entry_points.select(group=f"{GROUP_PREFIX}{group}"), MAX_PLUGINS)
    ]
    return sorted(plugins, key=lambda plugin: (GROUPS.index(plugin.group), plugin.name, plugin.fault))


def find_plugin(group: str, name: str) -> Plugin:
    """Find a plugin by its full name; refuse a name that no installed distribution brings, or that cannot be used."""
    singular = _SINGULARS[group]
    plugins = [plugin for plugin in list_plugins() if plugin.group == group]
    for plugin in plugins:
        if plugin.name == name and not plugin.fault:
            return plugin
        if plugin.name == name:
            raise RequestError(f"The {singular} {name} cannot be used: {plugin.fault}.", attempt="`reticent plugins`.")
    names = [plugin.name for plugin in plugins if not plugin.fault]
    tables = list(catalogue.PLUGIN_TABLES.get(group, ()))
    raise RequestError(
        f"There is no {singular} {quote_list([name[:130]])}.",
        why=f"No installed distribution brings it: {get_namespace(name)[:64]!r} has to be installed beside reticent.",
        attempt=suggest(name, [*names, *tables]),
    )


def load_plugin(group: str, name: str) -> Any:
    """Load the row of a plugin, import what it names, and put it into the catalogue's table; later calls return it."""
    table = catalogue.PLUGIN_TABLES[group]
    row = table.plugin_rows.get(name)
    if row is not None:
        return row
    plugin = find_plugin(group, name)
    try:
        row = load_object(plugin.target)
        _require_usable_row(group, row, plugin)
    except RequestError:
        raise
    except Exception as error:
        raise _make_load_error(plugin, error) from None
    table.plugin_rows[name] = row
    return row


def load_judge(name: str) -> Any:
    """Load the function by which a plugin judges its promise.

    The audit loads nothing else of a plugin, unless a job that is passed to it names one itself.
    """
    row = load_plugin("promises", name)
    try:
        return load_object(row.judge)
    except Exception as error:
        raise _make_load_error(find_plugin("promises", name), error) from None


def load_plugin_if_named(group: str, name: object) -> bool:
    """Load a plugin where a name is one; tell whether it is."""
    if not is_plugin_name(name):
        return False
    load_plugin(group, str(name))
    return True


def require_loaded_class(group: str, thing: Any) -> None:
    """Refuse an object that bears a plugin's name and is not of the class that the plugin's row names."""
    row = load_plugin(group, thing.name)
    expected = load_object(row.made_by if isinstance(row, MethodRow) else row.model)
    if type(thing) is not expected:
        raise RequestError(
            f"The {_SINGULARS[group]} bears the name {thing.name}, and is not of the class that this plugin names.",
            attempt="a name of its own, or the class that the entry point's row names.",
        )


def call_plugin(group: str, name: str, function: Callable[[], Any]) -> Any:
    """Call a function of a loaded plugin; whatever it raises is its fault, and is reported by the error's type alone."""
    try:
        return function()
    except RequestError:
        raise
    except Exception as error:
        plugin = find_plugin(group, name)
        raise RequestError(
            f"The {_SINGULARS[group]} {name} of {plugin.bringer} fails ({type(error).__name__}).",
            attempt=f"another version of {plugin.distribution}, or reporting this to its authors.",
        ) from None


def describe_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the version of each distribution whose plugins are among these names."""
    used = {name for name in names if is_plugin_name(name)}
    if not used:
        return {}
    versions = {plugin.distribution: plugin.version for plugin in list_plugins() if plugin.name in used}
    return dict(sorted(versions.items()))


def list_loaded_plugins() -> list[str]:
    """List the names of the plugins whose code this process has loaded."""
    return sorted({name for table in catalogue.PLUGIN_TABLES.values() for name in table.plugin_rows})


def _describe_entry_point(group: str, entry_point: Any) -> Plugin:
    """Describe an entry point in texts that are safe to show; a text of another shape is replaced by its length."""
    faults: list[str] = []
    found = getattr(entry_point, "dist", None)
    try:
        raw_distribution = "" if found is None else str(found.metadata["Name"])
        raw_version = "" if found is None else str(found.version)
    except Exception:  # a distribution's files may be anything
        raw_distribution = raw_version = ""
    distribution = _accept_text(_normalize_distribution(raw_distribution), _LOCAL_NAME_PATTERN, "distribution", faults)
    version = _accept_text(raw_version, VERSION_PATTERN, "version", faults)
    local_name = _accept_text(str(entry_point.name), _LOCAL_NAME_PATTERN, "name", faults)
    target = _accept_text(str(entry_point.value), _TARGET_PATTERN, "target", faults)
    if not faults and not is_plugin_name(f"{distribution}:{local_name}"):
        faults.append("its name and that of its distribution make no name of a plugin")
    if distribution == OUR_NAMESPACE:
        faults.append("a plugin of a distribution called reticent would pass for ours")
    if not faults and group in REFUSED_GROUPS:
        faults.append(REFUSED_GROUPS[group])
    return Plugin(group, f"{distribution}:{local_name}", target, distribution, version, "; ".join(faults))


def _normalize_distribution(name: str) -> str:
    """Normalize a distribution's name as package indexes do."""
    return re.sub(r"[-_.]+", "-", name[:200]).lower()


def _accept_text(text: str, pattern: re.Pattern[str], what: str, faults: list[str]) -> str:
    if pattern.fullmatch(text):
        return text
    faults.append(f"its {what} is none that a plugin may have ({len(text):,} characters)")
    return "?"


def _require_usable_row(group: str, row: Any, plugin: Plugin) -> None:
    """Refuse a row that is none of its group, or whose parts are not what the group's contract says."""
    if not isinstance(row, ROW_TYPES[group]):
        raise _make_row_error(plugin, f"{plugin.target} is no {ROW_TYPES[group].__name__}")
    if isinstance(row, PromiseRow | MethodRow):
        made = load_object(row.model if isinstance(row, PromiseRow) else row.made_by)
        if getattr(made, "name", None) != plugin.name:
            raise _make_row_error(plugin, f"its class must have name = {plugin.name!r}")
        if not is_dataclass(made):
            raise _make_row_error(plugin, "its class is no dataclass")
        if set(row.fields) != {each.name.removesuffix("_") for each in fields(made)}:
            raise _make_row_error(plugin, "the row's fields are not those of its class")
        if isinstance(row, MethodRow) and row.kind not in catalogue.KINDS:
            raise _make_row_error(plugin, f"its kind must be one of {', '.join(catalogue.KINDS)}")
    if isinstance(row, AttackRow):
        load_object(row.function)
    if isinstance(row, EngineRow | HierarchyRow):
        load_object(row.made_by)
    if isinstance(row, PresetRow) and not (isinstance(row.tables, Mapping) and isinstance(row.reason, str)):
        raise _make_row_error(plugin, "its tables are no table of tables, or its reason is no text")


def _make_load_error(plugin: Plugin, error: Exception) -> RequestError:
    return RequestError(
        f"The {_SINGULARS[plugin.group]} {plugin.name} of {plugin.bringer} cannot be loaded ({type(error).__name__}).",
        attempt=f"another version of {plugin.distribution}, or reporting this to its authors.",
    )


def _make_row_error(plugin: Plugin, why: str) -> RequestError:
    return RequestError(
        f"The {_SINGULARS[plugin.group]} {plugin.name} of {plugin.bringer} cannot be used.",
        why=f"{why[0].upper()}{why[1:]}.",
        attempt=f"another version of {plugin.distribution}; `reticent.testing` tells its authors more.",
    )
