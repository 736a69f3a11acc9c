"""`reticent plugins`: what other installed distributions bring, without running any of their code."""

from __future__ import annotations

from reticent.cli.options import Json

EXAMPLE = "reticent plugins --json"


def plugins(json: Json = False) -> None:
    """List the methods, promises, attacks, engines, hierarchies and presets of installed plugins. None is loaded.

    A plugin is used by its name in a job, an argument or an option, such as acme:fast. It is another author's code.
    """
    from reticent.cli.output import say, say_json, say_table
    from reticent.errors import pluralize
    from reticent.plugins import list_plugins

    listed = list_plugins()
    if json:
        say_json({"plugins": [plugin.to_dict() for plugin in listed]})
        return
    if not listed:
        say("No plugin is installed.")
        return
    head = ("kind", "name", "distribution", "version", "target", "usable")
    rows = [[plugin.to_dict()[name] for name in head[:-1]] + ["no" if plugin.fault else "yes"] for plugin in listed]
    say_table(head, rows)
    faulty = [plugin for plugin in listed if plugin.fault]
    if faulty:
        say("", *(f"{plugin.name} cannot be used: {plugin.fault}." for plugin in faulty))
    say("", f"{pluralize(len(listed), 'entry point')}. None was loaded; what they do is not reticent's word.")
