"""Progress of a command: a live line on a terminal, lines if stderr is piped, and a log if asked.

A stage is named by words of ours and never by a value or a finding, so that a log can be kept. `EtaDisplay` shows on a
terminal how far a run is: a percentage, and the approximate time left.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from reticent.cli.sanitize import sanitize_line, sanitize_text
from reticent.errors import RequestError
from reticent.progress import format_duration, fraction_done, get_finding
from reticent.redaction import redact

MIN_FRACTION_FOR_ETA = 0.05  # of the run: before, what is left is a guess
MIN_SECONDS_FOR_ETA = 2.0  # seconds: of a shorter run nobody asks what is left
LOG_FLAGS = ("--quiet", "--log-json")
LOG_FILE_OPTION = "--log"


class EtaDisplay:
    """The progress that a stage last reported; as a text it is what the live line shows at this moment."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.done = 0.0
        self.whole = 0.0

    def reach(self, fraction: float | None, now: float) -> None:
        """Record progress; it never goes back: a share is rough, and a bar that shrinks is of no use."""
        if fraction is None or fraction < self.done:
            return
        self.done = fraction
        self.whole = (now - self.began) / fraction if fraction > MIN_FRACTION_FOR_ETA else 0.0

    def format_eta(self, now: float) -> str:
        if not self.done:
            return ""
        remaining = self.began + self.whole - now
        percentage = f"{self.done:.0%}"
        return (
            f"{percentage}, about {format_duration(remaining)} left"
            if self.whole > MIN_SECONDS_FOR_ETA and remaining > 0
            else percentage
        )

    def __str__(self) -> str:
        return self.format_eta(time.monotonic())


@dataclass(slots=True)
class LogSettings:
    """How this run reports its progress; `main` sets it from the options that every command takes."""

    quiet: bool = False
    as_json: bool = False
    file: TextIO | None = None
    command: str = ""
    release: str | None = None  # the folder that the run makes or looks at
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    began: float = field(default_factory=time.monotonic)

    def write_line(self, **facts: Any) -> None:
        """Write one line of the log: to its file, else to stderr."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        seconds = round(time.monotonic() - self.began, 3)
        release = None if self.release is None else sanitize_line(redact(self.release))
        identity = {"run": self.run, "pid": os.getpid(), "release": release}
        if self.as_json:
            text = json.dumps({"time": now, "command": self.command, **identity, "seconds": seconds, **facts})
        else:
            words = " ".join(str(fact) for fact in facts.values() if fact is not None)
            place = "" if release is None else f" {release}"
            text = f"{now} reticent[{os.getpid()}] {self.run}{place} {self.command}: {words}"
        if self.file is not None:
            print(text, file=self.file, flush=True)
        else:
            _print_to_stderr(text)

    @property
    def logs(self) -> bool:
        return self.as_json or self.file is not None

    @property
    def stderr_is_log(self) -> bool:
        """Whether stderr holds one JSON object a line, for a program that collects them."""
        return self.as_json and self.file is None


@contextmanager
def apply_log_options(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the words without the log options, which hold inside the block; a log's file is closed at the end."""
    rest, options = split_log_options(words)
    file = options[LOG_FILE_OPTION]
    # A log is added to: one file can serve every run of a night.
    handle = _open_log(Path(str(file))) if file is not None else None
    named = next((word for word in rest if not word.startswith("-")), "")
    _apply_settings(
        LogSettings(quiet=bool(options["--quiet"]), as_json=bool(options["--log-json"]), file=handle, command=named)
    )
    try:
        yield rest
    finally:
        _apply_settings(LogSettings())
        if handle is not None:
            handle.close()


def split_log_options(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Split words into the log options, wherever they stand before a bare `--`, and the other words."""
    rest: list[str] = []
    options: dict[str, Any] = {**dict.fromkeys(LOG_FLAGS, False), LOG_FILE_OPTION: None}
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            return [*rest, *words[position:]], options
        if word in LOG_FLAGS:
            options[word] = True
        elif word == LOG_FILE_OPTION and position + 1 < len(words):
            position += 1
            options[LOG_FILE_OPTION] = words[position]
        elif word.startswith(f"{LOG_FILE_OPTION}="):
            options[LOG_FILE_OPTION] = word.removeprefix(f"{LOG_FILE_OPTION}=")
        else:
            rest.append(word)
        position += 1
    return rest, options


def log_exit_code(code: int) -> None:
    """Write the last line of a log: how the run ended."""
    if LOG_SETTINGS.logs and LOG_SETTINGS.command:
        LOG_SETTINGS.write_line(**({"exit_code": code} if LOG_SETTINGS.as_json else {"end": f"ended with {code}"}))


@contextmanager
def show_progress(json: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a callback that shows the stage at work.  With `--json` it only writes to a log, because the caller is a program."""
    if LOG_SETTINGS.logs:
        yield _log_stage
    elif json or LOG_SETTINGS.quiet:
        yield lambda stage: None
    elif sys.stdout.isatty() and sys.stderr.isatty():
        with _show_live_line() as show:
            yield show
    else:
        yield lambda stage: _print_to_stderr(f"reticent: {sanitize_text(redact(stage))}")


def note_release(release: object) -> None:
    """Note which release the lines of the log are about; a command's own words say it."""
    LOG_SETTINGS.release = None if release is None else str(release)


def _log_stage(stage: str) -> None:
    """Log a stage; a JSON log also has the share of the run that was done before it, where that is known."""
    text = sanitize_text(redact(stage))
    if not LOG_SETTINGS.as_json:
        LOG_SETTINGS.write_line(stage=text)
        return
    done = fraction_done(stage)
    LOG_SETTINGS.write_line(stage=text, done=None if done is None else round(done, 3))


def _print_to_stderr(text: str) -> None:
    """Print progress; a stream that cannot be written to ends no command."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


LOG_SETTINGS = LogSettings()


def _open_log(path: Path) -> TextIO:
    from reticent.format.folder import translate_disk_errors

    if path.is_dir():
        raise RequestError(f"The log {path} is a folder.", attempt="--log with a file's name.")
    with translate_disk_errors(path):
        return path.open("a", encoding="utf-8", newline="\n")


def _apply_settings(settings: LogSettings) -> None:
    for name in ("quiet", "as_json", "file", "command", "release", "run", "began"):
        setattr(LOG_SETTINGS, name, getattr(settings, name))


@contextmanager
def _show_live_line() -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    eta = EtaDisplay(LOG_SETTINGS.began)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.fields[far]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None, far=eta)

        def show(stage: str) -> None:
            eta.reach(fraction_done(stage), time.monotonic())
            finding = get_finding(stage)
            text = f"{stage}, {finding}" if finding else stage
            progress.update(task, description=sanitize_text(redact(text)), refresh=True)

        yield show
