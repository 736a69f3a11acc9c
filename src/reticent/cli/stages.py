"""What a command tells while it works: a live line on a terminal, lines where stderr is piped, and a log if asked.

A stage is named by words of ours and never by a value or a finding, so that a log can be kept.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from reticent.cli.far import Far
from reticent.cli.visible import visible
from reticent.errors import RequestError
from reticent.redaction import redacted
from reticent.step import done_of, finding_of

FLAGS = ("--quiet", "--log-json")
FILE = "--log"


@dataclass(slots=True)
class Telling:
    """How this run is told; `main` sets it from the options that every command takes."""

    quiet: bool = False
    as_json: bool = False
    file: TextIO | None = None
    command: str = ""
    began: float = field(default_factory=time.monotonic)

    def line(self, **facts: Any) -> None:
        """One line of the log: to its file, else to stderr."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        seconds = round(time.monotonic() - self.began, 3)
        if self.as_json:
            text = json.dumps({"time": now, "command": self.command, "seconds": seconds, **facts})
        else:
            text = f"{now} reticent {self.command}: {' '.join(str(fact) for fact in facts.values())}"
        if self.file is not None:
            print(text, file=self.file, flush=True)
        else:
            _to_stderr(text)

    @property
    def logs(self) -> bool:
        return self.as_json or self.file is not None

    @property
    def stderr_is_log(self) -> bool:
        """Whether stderr holds one JSON object a line, for a program that collects them."""
        return self.as_json and self.file is None


TOLD = Telling()


@contextmanager
def telling(words: Sequence[str]) -> Iterator[list[str]]:
    """The words without the options about telling, which hold inside; a log's file is closed at the end."""
    rest, given = taken(words)
    file = given[FILE]
    # A log is added to: one file can serve every run of a night.
    handle = _opened(Path(str(file))) if file is not None else None
    named = next((word for word in rest if not word.startswith("-")), "")
    _set(Telling(quiet=bool(given["--quiet"]), as_json=bool(given["--log-json"]), file=handle, command=named))
    try:
        yield rest
    finally:
        _set(Telling())
        if handle is not None:
            handle.close()


def taken(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """The options about telling, wherever they stand before a bare `--`, and the other words."""
    rest: list[str] = []
    given: dict[str, Any] = {**dict.fromkeys(FLAGS, False), FILE: None}
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return [*rest, *words[at:]], given
        if word in FLAGS:
            given[word] = True
        elif word == FILE and at + 1 < len(words):
            at += 1
            given[FILE] = words[at]
        elif word.startswith(f"{FILE}="):
            given[FILE] = word.removeprefix(f"{FILE}=")
        else:
            rest.append(word)
        at += 1
    return rest, given


def _opened(path: Path) -> TextIO:
    from reticent.release.disk import writing

    if path.is_dir():
        raise RequestError(f"The log {path} is a folder.", attempt="--log with a file's name.")
    with writing(path):
        return path.open("a", encoding="utf-8")


def _set(told: Telling) -> None:
    for name in ("quiet", "as_json", "file", "command", "began"):
        setattr(TOLD, name, getattr(told, name))


def ended(code: int) -> None:
    """The last line of a log: how the run ended."""
    if TOLD.logs and TOLD.command:
        TOLD.line(**({"exit_code": code} if TOLD.as_json else {"end": f"ended with {code}"}))


@contextmanager
def stages(json: bool = False) -> Iterator[Callable[[str], None]]:
    """Says which stage is at work.  With `--json` only a log is told, because the caller is a program."""
    if TOLD.logs:
        yield lambda stage: TOLD.line(stage=visible(redacted(stage)))
    elif json or TOLD.quiet:
        yield lambda stage: None
    elif sys.stdout.isatty() and sys.stderr.isatty():
        with _live() as show:
            yield show
    else:
        yield lambda stage: _to_stderr(f"reticent: {visible(redacted(stage))}")


def _to_stderr(text: str) -> None:
    """What is told on the way; nobody's work ends because nobody can read it."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def _live() -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    far = Far(TOLD.began)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.fields[far]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None, far=far)

        def show(stage: str) -> None:
            far.reach(done_of(stage), time.monotonic())
            finding = finding_of(stage)
            shown = f"{stage}, {finding}" if finding else stage
            progress.update(task, description=visible(redacted(shown)), refresh=True)

        yield show
