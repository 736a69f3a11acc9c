"""Hostile command lines: every option and argument of every command with values that it cannot mean.

The options are those that the parser knows, so a command or an option that is added is tried by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from reticent.cli.commands import build_parser
from tests.support.good_command_lines import GOOD

VALUES = {
    "an empty text": "",
    "blanks": "   ",
    "10,000 characters": "x" * 10_000,
    "terminal escapes": "\x1b[31m\x07",
    "a line end": "a\nb",
    "a turned reading direction": "a\u202eb",
    "a negative number": "-1",
    "0": "0",
    "a huge number": "1e999999999",
    "a tiny number": "1e-999999999",
    "5,000 digits": "9" * 5_000,
    "nan": "nan",
    "a division by zero": "1/0",
    "a folder": ".",
    "a table": "people.csv",
    "a job": "job.toml",
    "a release": "release",
    "an equals sign": "=",
    "a name without a value": "age=",
    "a huge number of a name": "age=1e999999999",
    "a huge number of k": "k=1e999999999",
    "a range without an end": "k=1..1e999999999",
    "a file of a name": "age=people.csv",
    "commas": ",,,",
    "a column twice": "age,age",
    "a sensitive column": "illness",
    "brackets": "[[1,",
    "an address": "sqlite:///none.db",
    "SQL": "SELECT * FROM release; DROP TABLE x",
}


@cache
def parameters() -> dict[str, list[tuple[str, bool]]]:
    """Of each command: how each option is given, or which argument it is; whether it takes a value."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for name, parser in build_parser().commands.items():
        arguments = [one for one in parser.params if one.param_type_name == "argument"]
        options = [one for one in parser.params if one not in arguments and one.opts[0] != "--help"]
        found[name] = [(f"argument {at}", True) for at, _ in enumerate(arguments, 1)]
        found[name] += [(one.opts[0], not getattr(one, "is_flag", False)) for one in options]
    return found


def _given(words: tuple[str, ...], option: str, value: str | None) -> tuple[str, ...]:
    """The command line with an option given, or an argument replaced, by this value."""
    if option.startswith("argument "):
        at = int(option.split()[1])
        taken = at < len(words) and not words[at].startswith("-")
        return (*words[:at], value or "", *words[at + taken :])
    if value is None:
        return (*words, option)
    if option in words:
        at = words.index(option)
        words = (*words[:at], *words[at + 2 :])
    return (*words, f"{option}={value}") if option.startswith("--") else (*words, option, value)


def lines(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is wrong with it, and the words, of each hostile command line that is made of a good one."""
    words = GOOD[name]
    for option, valued in parameters()[words[0]]:
        if not valued:
            yield option, _given(words, option, None)
            continue
        for what, value in VALUES.items():
            yield f"{option} is {what}", _given(words, option, value)


def contents(folder: Path) -> dict[str, bytes]:
    """Of every file: none is changed by a command that fails."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
