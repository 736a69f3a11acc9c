"""A preset: what a plugin proposes to promise, written into a draft by `reticent init --preset acme:strict`.

The draft has the preset's tables as a job file has them, under a comment that names who brings them. From then on they
are the job's own: neither the job nor its releases need the plugin, which decides nothing later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from reticent.errors import RequestError, quote_list, suggest
from reticent.job.job import Job, dump_toml
from reticent.plugins import find_plugin, is_plugin_name, list_plugins, load_plugin
from reticent.registry import check_known

PRESET_TABLES = ("promise", "prepare", "method", "release")


@dataclass(frozen=True, slots=True)
class Preset:
    """What a plugin proposes for a job: tables of it ([[promise]], [[prepare]], [method], [release]), by whom, and why."""

    name: str
    bringer: str
    reason: str
    tables: Mapping[str, Any]

    @classmethod
    def load(cls, name: str) -> Preset:
        """Load the preset of a plugin; refuse one that is no part of a good job, with the job's own error."""
        if not is_plugin_name(name):
            names = [plugin.name for plugin in list_plugins() if plugin.group == "presets" and not plugin.fault]
            raise RequestError(
                f"There is no preset {quote_list([name[:130]])}.",
                why="Presets are brought by plugins; reticent has none of its own.",
                attempt=suggest(name, names)
                if names
                else "leaving --preset out: no plugin that is installed brings one.",
            )
        row = load_plugin("presets", name)
        plugin = find_plugin("presets", name)
        check_known(f"the preset {name}", row.tables, PRESET_TABLES)
        try:
            Job.from_dict({"columns": {"column": "quasi-identifying"}, **row.tables})
        except RequestError as error:
            raise RequestError(
                f"The preset {name} of {plugin.bringer} is no part of a job: {error.what}",
                why=error.why,
                attempt=error.attempt,
            ) from None
        reason = "".join(letter for letter in " ".join(row.reason.split()) if letter.isprintable())
        return cls(name, plugin.bringer, reason, row.tables)

    def format_lines(self) -> list[str]:
        """Write its tables as a job file has them, below a comment that says whose they are."""
        introduction = f"What follows is the preset {self.name} of {self.bringer}, not reticent's advice. {self.reason}"
        return ["", *(f"# {line}" for line in wrap(introduction, 110)), dump_toml(self.tables).rstrip("\n")]
