"""What a shell completes after an option or as an argument: names of the catalogue, choices, release folders, job files.

A shell asks with every press of the key, so nothing of a file is read: a folder is a release if it has a manifest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reticent import catalogue

MANIFEST_FILE = "manifest.json"
TABLE_ENDINGS = (".csv", ".parquet")
MAX_ENTRIES = 2_000  # entries of a folder that are looked at
Completer = Callable[[Any, Any, str], list[str]]


def add_completions(parser: Any) -> None:
    """Let each option and argument of each command complete its values."""
    for name, command in parser.commands.items():
        for parameter in command.params:
            completer = choose_completer(name, parameter)
            if completer is not None:
                parameter._custom_shell_complete = completer


def choose_completer(command: str, parameter: Any) -> Completer | None:
    """Choose what completes a parameter: its own values, or by its metavar choices, releases or job files."""
    option = parameter.opts[0]
    metavar = parameter.metavar or ""
    if (command, option) in _OPTION_VALUES:
        return _complete_names(_OPTION_VALUES[command, option])
    if option in _LIST_VALUES:
        return _complete_list(_LIST_VALUES[option])
    if metavar == "RELEASE" and not option.startswith("-"):
        return complete_releases_and_tables if command in ("audit", "attack") else complete_releases
    if option == "--with" and command == "attack":
        return complete_releases
    if metavar == "JOB" and option != "--output":
        return complete_jobs
    if "|" in metavar and "," not in metavar:
        return _complete_names(lambda: metavar.split("|"))
    return None


def complete_releases(context: Any, parameter: Any, incomplete: str) -> list[str]:
    """Complete the path of a release folder; folders on the way to one end with a slash, and so can be entered."""
    return [
        str(path) if (path / MANIFEST_FILE).is_file() else f"{path}/"
        for path in _list_entries(incomplete)
        if path.is_dir()
    ]


def complete_releases_and_tables(context: Any, parameter: Any, incomplete: str) -> list[str]:
    """Complete the path of a release folder, or of a table that another tool made."""
    tables = [str(path) for path in _list_entries(incomplete) if path.suffix in TABLE_ENDINGS and path.is_file()]
    return sorted([*complete_releases(context, parameter, incomplete), *tables])


def complete_jobs(context: Any, parameter: Any, incomplete: str) -> list[str]:
    """Complete the path of a job file."""
    return [
        f"{path}/" if path.is_dir() else str(path)
        for path in _list_entries(incomplete)
        if path.is_dir() or path.suffix == ".toml"
    ]


def _list_entries(incomplete: str) -> list[Path]:
    """List what a path that is being typed may become; hidden entries only where a dot was typed."""
    folder, typed = os.path.split(incomplete)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for _, entry in zip(range(MAX_ENTRIES), entries, strict=False)]
    except OSError:
        return []
    fitting = [name for name in names if name.startswith(typed) and (typed or not name.startswith("."))]
    return [Path(folder) / name for name in sorted(fitting)]


def _complete_names(list_names: Callable[[], Sequence[str]]) -> Completer:
    def complete(context: Any, parameter: Any, incomplete: str) -> list[str]:
        return [name for name in list_names() if name.startswith(incomplete)]

    return complete


def _complete_list(list_names: Callable[[], Sequence[str]]) -> Completer:
    """Complete the last of several names with commas between them, without those that stand there already."""

    def complete(context: Any, parameter: Any, incomplete: str) -> list[str]:
        *given, typed = incomplete.split(",")
        before = "".join(f"{name}," for name in given)
        return [before + name for name in list_names() if name.startswith(typed) and name not in given]

    return complete


def _list_datasets() -> Sequence[str]:
    from reticent.datasets import names

    return names()


def _list_purposes() -> Sequence[str]:
    from reticent.compare.advise import PURPOSES

    return list(PURPOSES)


def _list_calibrated_methods() -> Sequence[str]:
    from reticent.cli.calibrate import CALIBRATION_MODULES

    return list(CALIBRATION_MODULES)


def _list_databases() -> Sequence[str]:
    from reticent.data.database import SCHEMES

    return SCHEMES


def _list_builders() -> Sequence[str]:
    from reticent.data.hierarchy_builders import BUILDERS

    return list(BUILDERS)


_OPTION_VALUES: dict[tuple[str, str], Callable[[], Sequence[str]]] = {
    ("attack", "--as"): lambda: list(catalogue.ATTACKS),
    ("calibrate", "method"): _list_calibrated_methods,
    ("advise", "--for"): _list_purposes,
    ("data", "name"): _list_datasets,
    ("query", "--print-sql"): _list_databases,
    ("hierarchy", "--build"): _list_builders,
}
_LIST_VALUES: dict[str, Callable[[], Sequence[str]]] = {
    "--methods": lambda: list(catalogue.METHODS),
    "--attacks": lambda: ["none", *catalogue.ATTACKS],
}
