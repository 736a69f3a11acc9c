"""Long work: child processes of the command line, with progress, cancelling and results that outlive a page.

A run is `reticent WORDS --json --log-json` in the project's folder.  Its stages come from the lines of its log, its result
is the JSON that it prints.  Cancelling is Ctrl-C: the command line leaves the old release or the new one, never half.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import Any

from reticent.errors import DiskError
from reticent.operating_system import interrupt

MAX_LOG_LINES = 400
FAILURE_WORDS = {1: "refused", 2: "unreachable", 3: "broken", 5: "published before", 130: "cancelled"}


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How many results are kept, how large one may be, and how long a cancelled run has before it is killed."""

    finished_runs: int = 200
    result_bytes: int = 64 * 2**20
    seconds_to_end: float = 10.0


@dataclass(slots=True)
class RunStage:
    """A stage of a run: its name, when it began, and how much of the run was done then."""

    name: str
    seconds: float
    done: float | None


@dataclass(slots=True)
class Run:
    """One child process, running or ended."""

    words: tuple[str, ...]
    key: str
    process: subprocess.Popen[bytes]
    limits: RunLimits = RunLimits()
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    began: float = field(default_factory=time.time)
    ended: float | None = None
    stages: list[RunStage] = field(default_factory=list)
    exit_code: int | None = None
    result: Any = None
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_LOG_LINES))
    is_cancelled: bool = False
    version: int = 0  # grows with every change: a page that shows an older one is behind

    @property
    def is_running(self) -> bool:
        return self.exit_code is None

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0

    @property
    def seconds(self) -> float:
        return (self.ended or time.time()) - self.began

    @property
    def done(self) -> float | None:
        """The share of the work that is done, where the command says it."""
        shares = [stage.done for stage in self.stages if stage.done is not None]
        return max(shares) if shares else None

    @property
    def seconds_left(self) -> float | None:
        """About how long it will take, once a twentieth of it is done."""
        done = self.done
        if not self.is_running or done is None or done < 0.05:
            return None
        return max(self.seconds / done - self.seconds, 0.0)

    @property
    def outcome(self) -> str:
        """One word for how it ended."""
        if self.is_running:
            return "running"
        if self.succeeded:
            return "done"
        return "cancelled" if self.is_cancelled else FAILURE_WORDS.get(self.exit_code or 0, "failed")

    @property
    def error(self) -> Mapping[str, str]:
        """What the command said of its failure: `what`, `why` and `attempt`, as its JSON has them."""
        if isinstance(self.result, dict) and isinstance(self.result.get("error"), dict):
            return self.result["error"]
        if isinstance(self.result, dict) and isinstance(self.result.get("error"), str):
            return {"what": self.result["error"]}
        return {"what": self.messages[-1]} if self.messages else {"what": f"It ended with {self.exit_code}."}

    def cancel(self) -> None:
        """Ask the child to end, as Ctrl-C does; it is killed where it does not."""
        if not self.is_running:
            return
        self.is_cancelled = True
        interrupt(self.process)
        Thread(target=self._kill_later, daemon=True).start()

    def _kill_later(self) -> None:
        try:
            self.process.wait(self.limits.seconds_to_end)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Runs:
    """All runs of a studio, found by their key (what was asked of which job) or their id."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str] | None = None, limits: RunLimits | None = None
    ) -> None:
        self.folder = folder
        self.limits = limits or RunLimits()
        self.environment = dict(os.environ if environment is None else environment)
        self.environment["PYTHONSAFEPATH"] = (
            "1"  # no module of the folder is imported: a stranger may have put it there
        )
        self._runs: dict[str, Run] = {}
        self._lock = Lock()

    def start(self, words: Sequence[str], key: str, *, program: Sequence[str] = ("-m", "reticent")) -> Run:
        """Start a child, or return the one of the same key that is running; a result is never computed twice at once.

        Raises:
            DiskError: the project's folder is gone, or the system starts no more processes.
        """
        with self._lock:
            running = self._find(key)
            if running is not None and running.is_running:
                return running
            result = TemporaryFile()  # noqa: SIM115 - closed by the thread that follows the child
            try:
                process = subprocess.Popen(
                    [sys.executable, *program, *words, "--json", "--log-json"],
                    cwd=self.folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=result,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:  # no folder, no room; a word with a NUL
                result.close()
                raise DiskError(
                    f"The command could not be started: {getattr(error, 'strerror', None) or 'a word of it has a NUL'}.",
                    why="It runs in the project's folder.",
                    attempt="again, once the folder is there, and the machine has room.",
                ) from None
            run = Run(tuple(words), key, process, self.limits)
            self._runs[run.id] = run
            self._forget_oldest()
        Thread(target=_follow, args=(run, result), daemon=True).start()
        return run

    def find(self, key: str) -> Run | None:
        """Return the latest run of this key."""
        with self._lock:
            return self._find(key)

    def get(self, id: str) -> Run | None:
        return self._runs.get(id)

    def find_result(self, key: str) -> Any:
        """Return the result of the latest run of this key that succeeded; None where there is none."""
        with self._lock:
            for run in reversed(self._runs.values()):
                if run.key == key and run.succeeded:
                    return run.result
        return None

    def list_running(self) -> list[Run]:
        with self._lock:
            return [run for run in self._runs.values() if run.is_running]

    def end_all(self) -> None:
        """Cancel what runs, and wait for it: the studio ends."""
        running = self.list_running()
        for run in running:
            run.cancel()
        for run in running:
            try:
                run.process.wait(self.limits.seconds_to_end + 1)
            except subprocess.TimeoutExpired:
                run.process.kill()

    def _find(self, key: str) -> Run | None:
        return next((run for run in reversed(self._runs.values()) if run.key == key), None)

    def _forget_oldest(self) -> None:
        ended = [run.id for run in self._runs.values() if not run.is_running]
        for id in ended[: max(len(self._runs) - self.limits.finished_runs, 0)]:
            del self._runs[id]


def _follow(run: Run, result: Any) -> None:
    """Read the log of a child until it ends, then its result."""
    assert run.process.stderr is not None
    for line in run.process.stderr:
        _take_line(run, line)
        run.version += 1
    code = run.process.wait()
    run.process.stderr.close()
    with result:
        result.seek(0)
        content = result.read(run.limits.result_bytes + 1)
    run.result = _parse_result(content) if len(content) <= run.limits.result_bytes else None
    run.ended = time.time()
    run.exit_code = code if code >= 0 else 128 - code
    run.version += 1


def _take_line(run: Run, line: bytes) -> None:
    text = line.decode("utf-8", "replace").strip()
    try:
        entry = json.loads(text)
    except ValueError:
        entry = None
    if isinstance(entry, dict) and isinstance(entry.get("stage"), str):
        run.stages.append(RunStage(entry["stage"], time.time() - run.began, entry.get("done")))
        del run.stages[:-MAX_LOG_LINES]
    elif not isinstance(entry, dict) and text:
        run.messages.append(text.removeprefix("reticent: "))


def _parse_result(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
