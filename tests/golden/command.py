"""The command line run in this process, in a folder of its own, with what truly varies taken out of its words."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SETTINGS = {"COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "LANG": "C.UTF-8"}
UNSET = ("RETICENT_OWNER", "RETICENT_TRACEBACK", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS")


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[Path]:
    """Make the folder and work in it, with an environment that is the same everywhere."""
    folder.mkdir(parents=True)
    folder = folder.resolve()
    before = dict(os.environ)
    working_directory = Path.cwd()
    os.environ.update(SETTINGS, RETICENT_LEDGER=str(folder / "ledger"), XDG_CACHE_HOME=str(folder / "cache"))
    for name in UNSET:
        os.environ.pop(name, None)
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(working_directory)
        os.environ.clear()
        os.environ.update(before)


def entry_point() -> Any:
    """The function behind the command `reticent`, by the name that pyproject.toml gives it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        module, _, function = tomllib.load(file)["project"]["scripts"]["reticent"].partition(":")
    return getattr(import_module(module), function)


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    def text(self) -> str:
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


def run(*words: object) -> Ran:
    """Run `reticent WORDS` in this process."""
    main = entry_point()
    out = io.StringIO()
    err = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    folder = Path.cwd()
    return Ran(code, normalize(out.getvalue(), folder), normalize(err.getvalue(), folder))


VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?"), "TIME"),
    (re.compile(r"(?<![\w.])\d[\d.,]* (?:CPU )?(?:s|seconds)\b"), "SECONDS"),
    (re.compile(r"   \d+\.\d{4}   \d+ *$", re.MULTILINE), "   SECONDS   MEGABYTES"),  # the last columns of `compare`
    # The machine, as an internal report has it.
    (re.compile(r"<td>system</td><td[^>]*>[^<]*"), "<td>system</td><td>SYSTEM"),
    (re.compile(r"<td>processors</td><td>\d+"), "<td>processors</td><td>PROCESSORS"),
    (re.compile(rf"\b{re.escape(platform.python_version())}\b"), "PYTHON"),
)
LONG_FRACTION = re.compile(r"(?<![\w.])-?\d+\.\d{11,}(?:e[-+]?\d+)?(?![\w.])")
VARYING_KEYS = {"seconds", "cpu_seconds", "memory"}


def normalize(text: str, folder: Path) -> str:
    """Take out the working directory, moments, today's date, the machine, what things took, and long fractions' last digits.

    Sums over threads are added in any order, so that the last digits of a double differ from run to run.
    """
    text = text.replace(str(folder), "FOLDER")
    if text[:1] in ("{", "[") and any(f'"{key}"' in text for key in VARYING_KEYS):
        text = json.dumps(without_varying(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    text = LONG_FRACTION.sub(lambda number: repr(float(f"{float(number[0]):.11g}")), text)
    for day in (datetime.now(tz=UTC).date(), date.today()):
        text = text.replace(day.isoformat(), "TODAY")
    return text


def without_varying(value: Any) -> Any:
    """JSON without the values of keys that are of time and memory."""
    if isinstance(value, dict):
        return {key: "VARIES" if key in VARYING_KEYS else without_varying(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_varying(item) for item in value]
    return value
